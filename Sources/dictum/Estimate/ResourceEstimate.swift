internal import Dictionaries
internal import HTTP
internal import Proxy
internal import Storage

struct ResourceEstimate: Encodable, Sendable {
    /// The codings without a dictionary.
    struct Plain: Encodable, Sendable {
        let gzip: CodingCost
        let br: CodingCost
        let zstd: CodingCost

        var named: [(name: String, cost: CodingCost)] { [("gzip", gzip), ("br", br), ("zstd", zstd)] }
        var best: (name: String, cost: CodingCost) {
            named.min { $0.cost.bytes < $1.cost.bytes } ?? ("gzip", gzip)
        }
    }

    /// The behaviour of browsers at the response as it is.
    struct Browser: Encodable, Sendable {
        /// The seconds for which Chromium keeps the response as a dictionary.
        let keepsSeconds: Int
        let findings: [DoctorReport.Entry]
    }

    struct Clients: Encodable, Sendable {
        let count: Int
        let mix: String
        /// With the life that the response has; nil if it is not known, or if nobody keeps it.
        var asIs: ClientOutcome?
        /// With dictionaries that live for a day: by `announce`, `cache_control` or the twin URL.
        var day: ClientOutcome?
    }

    let name: String
    /// The URL; nil for a folder.
    let url: String?
    let responses: Int
    let versions: Int
    let seconds: Double
    let unchangedShare: Double?
    /// The average seconds between versions; nil if the body changes with each response, or never changed.
    let periodSeconds: Double?
    let changesEachTime: Bool
    let bodyBytes: Int
    /// The average bytes of the body as the server sends it; nil if unknown.
    let sentBytes: Int?
    let plain: Plain
    let deltas: [DeltaCosts]
    /// The reason why Dictum makes no dictionary of the response, from its closed list.
    let obstacle: String?
    /// The cause that makes the response personal, from Dictum's closed list.
    let personal: String?
    let browser: Browser?
    var clients: Clients?

    var nearest: DeltaCosts? { deltas.first { $0.versionsBack == 1 } }

    /// The share of bytes that a delta over the version before saves against the best other coding.
    var savedShare: Double? {
        nearest.map { 1 - Double(min($0.dcz.bytes, $0.plainBytes)) / Double(max(1, $0.plainBytes)) }
    }
}

struct Estimator {
    private static let daySeconds = 86_400

    let plan: ClientPlan
    let measurement: CodingMeasurement
    let policy: RoutePolicy

    /// Uses the defaults of `serve`.
    init(plan: ClientPlan) {
        self.plan = plan
        let configuration = Configuration()
        let compression = configuration.compression
        measurement = CodingMeasurement(
            sizes: CodedSizes(
                levels: compression.levels, preparedBytes: Budgets(configuration.memory)[.prepared],
                verify: compression.verify))
        policy = configuration.policy(of: .implied)
    }

    /// Measures a history and simulates its clients.
    func estimate(_ history: ResourceHistory) -> ResourceEstimate {
        let versions = history.versions
        let plain = ResourceEstimate.Plain(
            gzip: measurement.plain(versions, .gzip), br: measurement.plain(versions, .br),
            zstd: measurement.plain(versions, .zstd))
        let deltas = CodingMeasurement.distances.compactMap {
            measurement.deltas(versions, versionsBack: $0)
        }
        let sent = history.responses.compactMap(\.sentBytes)
        let (request, response) = facts(of: history, headers: history.lastHead?.headers ?? Headers())
        let obstacle = Admission.obstacle(request: request, response: response, policy: policy)
        let judgement = judgement(of: history, obstacle)
        var estimate = ResourceEstimate(
            name: history.name, url: history.isReal ? history.url.text : nil,
            responses: history.responses.count, versions: versions.count,
            seconds: history.seconds.rounded(places: 1),
            unchangedShare: history.unchangedShare?.rounded(places: 4),
            periodSeconds: history.periodSeconds?.rounded(places: 2),
            changesEachTime: history.changesEachTime,
            bodyBytes: versions.reduce(0) { $0 + $1.count } / max(1, versions.count),
            sentBytes: sent.isEmpty ? nil : sent.reduce(0, +) / sent.count, plain: plain, deltas: deltas,
            obstacle: obstacle?.text,
            personal: Personal.cause(request: request, response: response, policy: policy.personal)?.rawValue,
            browser: judgement.map(Self.browser))
        estimate.clients = clients(estimate, history)
        return estimate
    }

    // MARK: Judgement

    /// Returns the facts of a response of the URL, by which `serve` would judge it.
    func facts(of history: ResourceHistory, headers: Headers) -> (RequestFacts, ResponseFacts) {
        var request = RequestFacts()
        request.hasPersonalQuery = policy.personal.hasPersonalQuery(history.url.query)
        request.isPathNormal = NormalPath.isNormal(history.url.path)
        history.credentials.note(in: &request)
        var response = ResponseFacts()
        response.read(
            ResponseHead(status: .ok, headers: headers), framing: .none, types: policy.types)
        // The bodies of a history have no coding.
        response.coding = .none
        response.contentType =
            response.contentType ?? history.mediaType?.prefix { $0 != ";" }.lowercased()
        response.bodyBytes = history.versions.last?.count
        return (request, response)
    }

    private func judgement(of history: ResourceHistory, _ obstacle: Reason?) -> ResponseJudgement? {
        history.lastHead.map {
            ResponseJudgement(
                headers: $0.headers, receivedAt: $0.receivedAt, credentials: history.credentials,
                line: TwinLine(
                    path: history.url.pathAndQuery,
                    hasAuthorization: history.credentials.contains(.authorization)),
                // Nothing is stored of what can be no dictionary.
                changesEachTime: history.changesEachTime && obstacle == nil, isOfGET: history.method == "GET")
        }
    }

    private static func browser(_ judgement: ResponseJudgement) -> ResourceEstimate.Browser {
        ResourceEstimate.Browser(
            keepsSeconds: judgement.unkept == nil ? Int(max(0, judgement.remainingSeconds)) : 0,
            findings: judgement.findings.map(DoctorReport.Entry.init))
    }

    // MARK: Clients

    private func clients(
        _ estimate: ResourceEstimate, _ history: ResourceHistory
    ) -> ResourceEstimate.Clients? {
        guard estimate.obstacle == nil, let last = history.versions.last,
            let sizes = MeasuredSizes(
                estimate.deltas, plainBytes: estimate.plain.best.cost.bytes,
                // A copy, since a body is no dictionary at its own address.
                sameBytes: measurement.averageBytes(of: [(Body(last.bytes.map { $0 }), last)]),
                secondsPerVersion: estimate.periodSeconds
                    ?? history.seconds / Double(max(1, history.versions.count - 1)))
        else { return nil }
        func outcome(_ life: Int) -> ClientOutcome? {
            ClientOutcome(
                sizes, plan: plan, periodSeconds: estimate.periodSeconds, lifeSeconds: life,
                isPersonal: estimate.personal != nil)
        }
        var clients = ResourceEstimate.Clients(count: plan.clients, mix: plan.mix.name)
        clients.asIs = estimate.browser.flatMap { outcome($0.keepsSeconds) }
        clients.day = outcome(Self.daySeconds)
        return clients
    }
}
