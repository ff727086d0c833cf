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
    /// True if the request carries credentials.
    var hasCredentials = false
    /// True if every response has another body.
    var changesEachTime = false

    /// The reason why Chromium does not keep the response as a dictionary; nil if it does.
    var unkept: UnkeptReason? { freshness.obstacle }

    /// The seconds for which Chromium keeps it, from when it came.
    var remainingSeconds: Int64 { freshness.remainingSeconds }

    private var freshness: BrowserFreshness {
        BrowserFreshness(headers, CacheControl(headers.values(.cacheControl)), receivedAt: receivedAt)
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

    /// The finding that no page can announce the response; nil if one can, or if more is wrong than the lifetime.
    var announcement: DoctorFinding? {
        guard obstacle == nil else { return nil }
        let cacheControl = CacheControl(headers.values(.cacheControl))
        if !cacheControl.permitsSharing || cacheControl.isPrivate { return .notAnnounceable(.notPublic) }
        if headers.contains(.setCookie) { return .notAnnounceable(.setsCookie) }
        if hasCredentials { return .notAnnounceable(.credentials) }
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
        if let unkept {
            findings = [.unkept(unkept)] + [announcement].compactMap { $0 }
        } else if remainingSeconds < Self.shortLifeSeconds {
            findings = [.shortLife(remainingSeconds)] + [announcement].compactMap { $0 }
        }
        return findings + (changesEachTime ? [.changesEachTime] : []) + variants
    }
}
