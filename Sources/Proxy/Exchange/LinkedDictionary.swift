internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

/// A stored version that a request addresses by the URL of a Link.
///
/// A class, so that all other requests hold one nil reference.
final class LinkedDictionary: Sendable {
    let version: Storage.Version
    /// The route of the body's own URL, whose settings apply.
    let route: Route
    private let lifeSeconds: Int

    private init(version: Storage.Version, route: Route, lifeSeconds: Int) {
        self.version = version
        self.route = route
        self.lifeSeconds = lifeSeconds
    }

    /// Returns the version that a request addresses, or nil if no Link of this authority may name it now.
    static func find(_ head: RequestHead, of proxy: ReverseProxy) -> LinkedDictionary? {
        guard head.method == .get || head.method == .head, head.target.query == nil,
            let authority = head.authority, proxy.context.authorities.contains(authority),
            let path = DictionaryPath(head.target.path),
            let version = proxy.index.linked(path, authority: authority, now: SystemClock.unixSeconds)
                ?? builtVersion(path, authority: authority, proxy)
        else { return nil }
        let route = proxy.context.routes.route(of: version)
        guard proxy.context.routes.mayName(route), let dictionary = route.dictionary else { return nil }
        let lifeSeconds = proxy.context.linkRegistry.life(of: version, atMost: dictionary.linkLifeSeconds)
        return LinkedDictionary(version: version, route: route, lifeSeconds: lifeSeconds)
    }

    /// Returns the built dictionary of a route, which another node with the same configuration may have announced.
    private static func builtVersion(
        _ path: DictionaryPath, authority: String, _ proxy: ReverseProxy
    ) -> Storage.Version? {
        guard let route = proxy.context.routes.builtRoute(of: path, authority: authority),
            let chain = route.builtChain(authority: authority)
        else { return nil }
        return proxy.context.named(builtOf: route, in: chain, proxy.index, now: SystemClock.unixSeconds)
    }

    /// The advertised life, but not more than the store guarantees.
    private func cacheControl(now: Int) -> String {
        "public, max-age=\(max(1, min(version.pinnedUntil - now, lifeSeconds))), immutable"
    }

    func head(now: Int) -> ResponseHead {
        var headers = Headers()
        headers.append(.contentType, "application/octet-stream")
        headers.append(.contentLength, String(version.bytes))
        headers.append(.cacheControl, cacheControl(now: now))
        headers.append(.etag, ETagForm.made(of: version.digest))
        // The body comes from the origin but under an unexpected path: forbid execution, embedding and cross-origin
        // reads.
        headers.append(.xContentTypeOptions, "nosniff")
        headers.append(.contentSecurityPolicy, "sandbox; default-src 'none'")
        headers.append(.contentDisposition, "attachment; filename=\"dictionary\"")
        headers.append(.crossOriginResourcePolicy, "same-origin")
        return ResponseHead(status: .ok, headers: headers)
    }

    /// Returns the facts for the negotiation, with the content type recorded at admission.
    func facts(now: Int) -> ResponseFacts {
        var facts = ResponseFacts()
        facts.contentType = version.contentType
        facts.cacheControl = CacheControl([cacheControl(now: now)])
        facts.sentCacheControl = facts.cacheControl
        facts.bodyBytes = version.bytes
        facts.isBodyWhole = true
        return facts
    }

    var offer: UseAsDictionary? {
        let chain = version.chainKey
        let offer = UseAsDictionary(
            match: chain.match, matchDest: chain.matchDest, ttl: route.dictionary?.ttlSeconds)
        // A built dictionary yields to the versions of the paths.
        return route.hasBuilt(version) ? offer : offer?.outranking(version.contentType)
    }
}

extension ProxyContext {
    /// Returns the built dictionary of a route as a version that Links name from now on; nil if they may not, or without one.
    func named(
        builtOf route: Route, in chain: ChainKey, _ index: DictionaryIndex.Reader, now: Int
    ) -> Storage.Version? {
        // Asked first, since the look-up admits a version that is missing.
        guard routes.mayName(route), let dictionary = route.dictionary, let built = dictionary.built,
            let version = linkRegistry.version(of: built, in: chain, route.admission, index: index, now: now)
        else { return nil }
        return linkRegistry.named(version, index: index, lifeSeconds: dictionary.linkLifeSeconds, now: now)
    }
}
