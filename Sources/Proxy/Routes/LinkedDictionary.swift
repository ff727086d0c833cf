internal import Dictionaries
internal import HTTP

/// A stored version that a request asks for by the URL that a Link gave it.
///
/// A class, so that a request for anything else holds one empty reference.
final class LinkedDictionary: Sendable {
    let version: Dictionaries.Version
    /// The route of the URL that the body is from, whose settings hold for it.
    let route: Route

    private init(version: Dictionaries.Version, route: Route) {
        self.version = version
        self.route = route
    }

    /// The version that a request is for; nil where there is none that a Link of this authority may name now.
    static func find(_ head: RequestHead, of proxy: ReverseProxy) -> LinkedDictionary? {
        guard head.method == .get || head.method == .head, head.target.query == nil,
            let authority = head.authority, let path = DictionaryPath(head.target.path),
            let version = proxy.index.linked(path, authority: authority, now: Clock.unixSeconds)
        else { return nil }
        let parts = version.url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let route = proxy.context.routes.route(
            path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil)
        guard route.usesDictionaries, route.policy.scope == .public,
            let delivery = route.delivery, delivery != .inBand
        else { return nil }
        return LinkedDictionary(version: version, route: route)
    }

    /// What is left of its life as a named version; a little where the name has just gone to another.
    private func cacheControl(now: Int) -> String {
        let life = max(version.pinnedUntil - now, Int(OfferForm.usableSecondsMin))
        return "public, max-age=\(life), immutable"
    }

    /// The head of its answer.
    func head(now: Int) -> ResponseHead {
        var headers = Headers()
        headers.append(.contentType, "application/octet-stream")
        headers.append(.contentLength, String(version.bytes))
        headers.append(.cacheControl, cacheControl(now: now))
        headers.append(.etag, Delivery.entityTag(of: version.digest))
        // A body of the origin's, under a path where nobody expects it: nothing may run, be embedded or be read elsewhere.
        headers.append(.xContentTypeOptions, "nosniff")
        headers.append(.contentSecurityPolicy, "sandbox; default-src 'none'")
        headers.append(.contentDisposition, "attachment; filename=\"dictionary\"")
        headers.append(.crossOriginResourcePolicy, "same-origin")
        return ResponseHead(status: .ok, headers: headers)
    }

    /// What the decisions need to know of it: the type is the one that it was admitted with.
    func facts(now: Int) -> ResponseFacts {
        ResponseFacts(
            contentType: version.contentType, cacheControl: CacheControl([cacheControl(now: now)]),
            bodyBytes: version.bytes, isBodyWhole: true)
    }

    /// What the body is a dictionary for.
    var offer: UseAsDictionary? {
        UseAsDictionary(
            match: version.chain.match, matchDest: version.chain.matchDest, ttl: route.dictionary?.ttlSeconds)
    }
}
