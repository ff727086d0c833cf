internal import Dictionaries
internal import Primitives

/// The response to `/routes`.
struct RouteReports: Encodable, Sendable {
    /// Seconds since 1970.
    let time: Int
    let routes: [RouteReport]

    /// Makes the reports of all configured routes, and of others that have had requests.
    init(_ snapshot: AdminStatus.Snapshot) {
        let table = SampleTable(snapshot.samples)
        let context = snapshot.context
        let configured = context.configuration.routes
        let requests = table.rows("dictum_requests_total")
        let bytes = table.rows("dictum_body_bytes_total")
        let deltaBytes = table.rows("dictum_delta_body_bytes_total")
        time = Int(SystemClock.unixSeconds)
        let names = context.routeNames
        let all = configured.map(\.text) + names.texts.filter { requests[$0] != nil } + ["none"]
        var seen: Set<String> = []
        routes = all.filter { seen.insert($0).inserted }.compactMap { text in
            let route = configured.first { $0.text == text }
            guard route != nil || requests[text] != nil else { return nil }
            let position = names.position(of: text)
            return RouteReport(
                route: text, requests: requests[text] ?? [],
                bytes: BodyBytes(
                    body: bytes[text]?.count(of: "before") ?? 0, sent: bytes[text]?.count(of: "after") ?? 0,
                    deltaBody: deltaBytes[text]?.count(of: "before") ?? 0,
                    deltaSent: deltaBytes[text]?.count(of: "after") ?? 0, gain: context.gain.total(of: text)),
                configured: route != nil,
                dictionaries: Self.dictionaries(of: route, in: context),
                slowest: snapshot.slowest[text == "none" ? 0 : (position ?? -1) + 1])
        }
    }

    private static func dictionaries(
        of route: RouteConfiguration?, in context: ProxyContext
    ) -> RouteReport.Dictionaries {
        guard let route, route.dictionary != nil else { return .off }
        if context.routes.distrusted.contains(where: { $0.text == route.text }) { return .distrusted }
        return context.configuration.observes(route) ? .observe : .on
    }
}

/// The requests of one route since the start of the process.
struct RouteReport: Encodable, Sendable {
    enum Dictionaries: String, Encodable, Sendable {
        case on, off
        /// Nothing is sent differently, but it is measured what dictionaries would save.
        case observe
        /// Off after a delta that did not decode to its body.
        case distrusted
    }

    struct ReasonCount: Encodable, Sendable {
        let reason: String
        let requests: Int
    }

    struct Coding: Encodable, Sendable {
        let coding: String
        let bodyBytes: Int
        let sentBytes: Int
        let seconds: Double
        /// Seconds since 1970.
        let time: Int
    }

    /// The route's hosts and match; `none` for requests without a route.
    let route: String
    let configured: Bool
    let dictionaries: Dictionaries
    let requests: Int
    let deltas: Int
    /// The share of deltas in all requests; nil without requests.
    let hitRate: Double?
    /// The requests by the coding of their responses.
    let codings: [String: Int]
    /// The reasons of all responses that are not deltas, the most frequent first.
    let reasons: [ReasonCount]
    let bytes: BodyBytes
    let slowestCodings: [Coding]

    /// - Parameter samples: those of `dictum_requests_total`, with the labels route, coding and reason.
    init(
        route: String, requests samples: [MetricSample], bytes: BodyBytes, configured: Bool,
        dictionaries: Dictionaries, slowest: [SlowestCodings.Entry]
    ) {
        self.route = route
        self.configured = configured
        self.dictionaries = dictionaries
        self.bytes = bytes
        requests = samples.reduce(0) { $0 + $1.count }
        let deltaCodings = ContentCoding.allCases.filter(\.usesDictionary).map(\.rawValue)
        let others = samples.filter { !deltaCodings.contains($0.labels[1]) }
        deltas = requests - others.reduce(0) { $0 + $1.count }
        hitRate = requests > 0 ? Double(deltas) / Double(requests) : nil
        codings = samples.reduce(into: [:]) { $0[$1.labels[1], default: 0] += $1.count }
        reasons = Dictionary(grouping: others) { $0.labels[2] }
            .map { ReasonCount(reason: $0, requests: $1.reduce(0) { $0 + $1.count }) }
            .sorted { ($1.requests, $0.reason) < ($0.requests, $1.reason) }
        slowestCodings = slowest.map {
            Coding(
                coding: $0.coding.rawValue, bodyBytes: $0.bodyBytes, sentBytes: $0.sentBytes,
                seconds: Double($0.nanoseconds) / 1e9, time: $0.timeMicroseconds / 1_000_000)
        }
    }
}

/// The bytes of response bodies, and what they would have been without dictionaries.
struct BodyBytes: Encodable, Sendable, Equatable {
    /// The basis of `plain`, from the best to the least.
    enum Basis: String, Encodable, Sendable, CaseIterable {
        /// No response was a delta, so nothing was saved.
        case asSent = "as-sent"
        /// Deltas count with the best coding without a dictionary, as their samples were measured.
        case sampled
        /// Deltas count with their uncompressed bodies, because there are no samples yet.
        case uncompressed
    }

    /// Before coding.
    let body: Int
    let sent: Int
    let plain: Int
    let plainBasis: Basis
    /// `plain - sent`; negative if dictionaries cost more than they save.
    let saved: Int
    /// The number of deltas that were compared with the best other coding.
    let samples: Int

    /// - Parameters:
    ///   - deltaBody: the part of `body` that went out as deltas, and `deltaSent` these deltas.
    ///   - gain: the measured samples.
    init(body: Int, sent: Int, deltaBody: Int, deltaSent: Int, gain: Gain?) {
        self.body = body
        self.sent = sent
        samples = gain?.samples ?? 0
        if deltaBody == 0 {
            (plain, plainBasis) = (sent, .asSent)
        } else if let gain, gain.deltaBytes > 0 {
            let ratio = Double(gain.plainBytes) / Double(gain.deltaBytes)
            (plain, plainBasis) = (sent - deltaSent + Int(Double(deltaSent) * ratio), .sampled)
        } else {
            (plain, plainBasis) = (sent - deltaSent + deltaBody, .uncompressed)
        }
        saved = plain - sent
    }

    /// Makes the sum; its basis is the least of all.
    init(_ parts: [BodyBytes]) {
        body = parts.reduce(0) { $0 + $1.body }
        sent = parts.reduce(0) { $0 + $1.sent }
        plain = parts.reduce(0) { $0 + $1.plain }
        plainBasis = Basis.allCases.last { basis in parts.contains { $0.plainBasis == basis } } ?? .asSent
        saved = plain - sent
        samples = parts.reduce(0) { $0 + $1.samples }
    }
}

extension [MetricSample] {
    /// Returns the number of the sample whose second label has a value; 0 without one.
    fileprivate func count(of label: String) -> Int { first { $0.labels[1] == label }?.count ?? 0 }
}
