internal import Dictionaries
internal import HTTP

/// A stored version that a request asks for by the URL that a Link gave it.
///
/// A class, so that a request for anything else holds one empty reference.
final class LinkedDictionary: Sendable {
    let version: Dictionaries.Version
    /// The route of the URL that the body is from, whose settings hold for it.
    let route: Route
    private let lifeSeconds: Int

    private init(version: Dictionaries.Version, route: Route, lifeSeconds: Int) {
        self.version = version
        self.route = route
        self.lifeSeconds = lifeSeconds
    }

    /// The version that a request is for; nil where there is none that a Link of this authority may name now.
    static func find(_ head: RequestHead, of proxy: ReverseProxy) -> LinkedDictionary? {
        guard head.method == .get || head.method == .head, head.target.query == nil,
            let authority = head.authority, proxy.context.authorities.contains(authority),
            let path = DictionaryPath(head.target.path),
            let version = proxy.index.linked(path, authority: authority, now: Clock.unixSeconds)
        else { return nil }
        let route = proxy.context.routes.route(of: version)
        guard proxy.context.routes.mayName(route), let dictionary = route.dictionary else { return nil }
        let lifeSeconds = proxy.context.linkDesk.life(of: version, atMost: dictionary.linkMaxAge / 1000)
        return LinkedDictionary(version: version, route: route, lifeSeconds: lifeSeconds)
    }

    /// Its life, or what is left of the time for which the store keeps it.
    private func cacheControl(now: Int) -> String {
        "public, max-age=\(max(1, min(version.pinnedUntil - now, lifeSeconds))), immutable"
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
    ///
    /// The responses of an API offer themselves under the same match. RFC 9842 section 2.2.3 prefers a dictionary whose
    /// match-dest matches, so that one for `fetch()` alone, whose destination is empty, is not replaced by such an offer with a
    /// shorter life.
    var offer: UseAsDictionary? {
        let chain = version.chain
        let isForFetch = chain.matchDest.isEmpty && !MediaTypes.isDocument(version.contentType)
        return UseAsDictionary(
            match: chain.match, matchDest: isForFetch ? [""] : chain.matchDest,
            ttl: route.dictionary?.ttlSeconds)
    }
}
