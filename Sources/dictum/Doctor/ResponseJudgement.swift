internal import Dictionaries
internal import HTTP
internal import Proxy

/// The judgement of a response by its fields alone, whichever server sends it.
struct ResponseJudgement: Sendable {
    /// A dictionary with a shorter lifetime is gone when the browser comes back.
    static let shortLifeSeconds: Int64 = 60

    let headers: Headers
    /// The time at which the response came, in seconds since 1970.
    let receivedAt: Int64
    var credentials: RequestCredentials = []
    /// The line by which the user's pages have the twin URL fetched.
    var line = TwinLine(path: TwinLine.anyPath, hasAuthorization: false)
    /// True if every response has another body.
    var changesEachTime = false
    /// True if the request was a GET, for which alone there are twin URLs and a heuristic lifetime.
    var isOfGET = true

    /// The reason why Chromium does not keep the response as a dictionary; nil if it does.
    var unkept: UnkeptReason? { freshness.obstacle }

    /// The seconds for which Chromium keeps it, from when it came.
    var remainingSeconds: Int64 { freshness.remainingSeconds }

    /// True if Chromium keeps it until the user comes back.
    var isKeptLong: Bool { unkept == nil && remainingSeconds >= Self.shortLifeSeconds }

    private var freshness: BrowserFreshness {
        BrowserFreshness(
            headers, CacheControl(headers.values(.cacheControl)), hasHeuristic: isOfGET,
            receivedAt: receivedAt)
    }

    /// The reason why the response is no dictionary for anybody; nil if there is none.
    var obstacle: UnofferedReason? {
        if CacheControl(headers.values(.cacheControl)).noStore { return .noStore }
        return headers.containsToken(.vary, "*") ? .varyAny : nil
    }

    /// The finding about a response to another method than GET that is not offered; nil for GET.
    func missing(for method: Method, at url: FetchURL) -> DoctorFinding? {
        guard method != .get else { return nil }
        let freshness = Freshness(
            cacheControl: CacheControl(headers.values(.cacheControl)), age: headers.values(.age),
            date: headers.values(.date), expires: headers.values(.expires), receivedAt: receivedAt)
        if freshness.remainingSeconds(at: receivedAt) <= 0 { return .noLifetime(method) }
        let values = headers.values(.contentLocation)
        let target = PathAndQuery(path: url.path, query: url.query)
        if method == .post, ContentLocation(values, url: target.text, authority: url.authority) == .other {
            return .contentLocation(values.joined(separator: ", "))
        }
        return .methodNotListed(method)
    }

    /// True if the response belongs to one user, by the rules and settings that `serve` has by default.
    var isPersonal: Bool {
        var request = RequestFacts()
        credentials.note(in: &request)
        let policy = Self.policy
        var response = ResponseFacts()
        response.read(
            ResponseHead(status: .ok, headers: headers), framing: .none, types: policy.types)
        return Personal.cause(request: request, response: response, policy: policy.personal) != nil
    }

    private static let policy = Configuration().policy(of: .implied)

    /// True if clients could share dictionaries and deltas, but every response has another body.
    var sharesTooLittle: Bool { changesEachTime && !isPersonal }

    /// The finding that no page can announce the response; nil if one can, or if more is wrong than the lifetime.
    var announcement: DoctorFinding? {
        guard obstacle == nil else { return nil }
        let cacheControl = CacheControl(headers.values(.cacheControl))
        if !cacheControl.permitsSharing || cacheControl.isPrivate {
            return .notAnnounceable(credentials.isEmpty ? .notPublic : .credentials)
        }
        if headers.contains(.setCookie) { return .notAnnounceable(.setsCookie) }
        if !credentials.isEmpty { return .notAnnounceable(.credentials) }
        return changesEachTime ? .notAnnounceable(.changesEachTime) : nil
    }

    /// The findings about fields that make a response personal, or one of very many variants.
    var variants: [DoctorFinding] {
        var findings: [DoctorFinding] = []
        if let field = DeltaHint.wideField(of: Vary.names(headers.values(.vary))) {
            findings.append(.variesWidely(field))
        }
        let names = headers.values(.setCookie).compactMap { $0.split(separator: "=").first.map(String.init) }
            .filter { $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) } }
        let harmless = names.filter(IgnoredCookies.ofBalancers.contains)
        if !harmless.isEmpty { findings.append(.setsHarmlessCookie(harmless)) }
        if harmless.count < names.count {
            findings.append(.setsCookie(names.filter { !harmless.contains($0) }))
        }
        return findings
    }

    /// The findings about a response that offers no dictionary yet: what keeps a browser from using it as one.
    var findings: [DoctorFinding] {
        if let obstacle { return [.notOfferable(obstacle)] + variants }
        var findings: [DoctorFinding] = []
        if !isKeptLong {
            findings =
                isPersonal && isOfGET
                ? [.needsTwin(unkept, seconds: remainingSeconds, line)]
                : [unkept.map { .unkept($0) } ?? .shortLife(remainingSeconds)]
                    + [announcement].compactMap { $0 }
        }
        // It has been said already where it is what keeps the response from being announced.
        let isSaid = findings.contains(.notAnnounceable(.changesEachTime))
        return findings + (sharesTooLittle && !isSaid ? [.changesEachTime] : []) + variants
    }
}
