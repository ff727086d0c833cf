internal import Dictionaries
internal import Storage

/// The resource that a request names: its route, and the chains that its responses belong to.
///
/// Each value is found out when it is first asked for, as few requests need all of them.
struct RequestedResource: Sendable {
    let url: PathAndQuery
    let route: Route
    /// The host, and the port if given, that the request is for; nil in HTTP/1.0 without Host.
    let authority: String?
    /// The client's identity on a private route, as the scope of its chains; nil as long as it is not known.
    var userScope: ChainKey.Scope?
    /// The hash of the public chain that the response belongs to, if a page's script fetched it.
    var fetchedAfterPage: Int?
    /// The route's offer, without an id; nil where the route has no dictionary, or no match can express it.
    private(set) lazy var routeOffer = makeOffer(route.dictionary?.covers)
    /// The same for a personal response on a public route.
    private lazy var personalOffer = makePersonalOffer()
    /// The chain of the route's offer for everybody.
    private(set) lazy var publicChain = makeChain(.public)
    /// The chain of the same offer for clients that send its id.
    private(set) lazy var unlistedChain = makeChain(.unlisted)

    init(authority: String?, url: PathAndQuery, route: Route) {
        self.authority = authority
        self.url = url
        self.route = route
    }

    /// The chain of the route's offer for the client's identity.
    var privateChain: ChainKey? {
        mutating get {
            guard let userScope else { return nil }
            return makeChain(userScope)
        }
    }

    /// Returns the route's offer for an audience, without an id; nil where it cannot be expressed.
    mutating func offer(to audience: Audience) -> UseAsDictionary? {
        guard audience == .personal, route.policy.scope == .public else { return routeOffer }
        return personalOffer
    }

    /// Returns the upstream's own offer, its match as clients resolve it (RFC 9842 section 2.1.1); nil if no client can use it,
    /// so that no body is kept for it.
    func usableOffer(_ values: [String]) -> UseAsDictionary? {
        guard let offer = UseAsDictionary.parse(values), let authority else { return nil }
        let match = ["https", "http"].lazy.compactMap {
            URLPattern.absolute(offer.match, basePath: url.path, origin: "\($0)://\(authority)")
        }.first
        return match.flatMap {
            UseAsDictionary(match: $0, matchDest: offer.matchDest, id: offer.id, ttl: offer.ttl)
        }
    }

    private func makeOffer(_ covers: Covers?) -> UseAsDictionary? {
        guard let dictionary = route.dictionary else { return nil }
        return covers?.matchValue(for: url, route: route.match.first(url)).flatMap {
            UseAsDictionary(match: $0, matchDest: dictionary.matchDest, ttl: dictionary.ttlSeconds)
        }
    }

    private mutating func makePersonalOffer() -> UseAsDictionary? {
        if case .url? = route.dictionary?.personalCovers { makeOffer(.url) } else { routeOffer }
    }

    private mutating func makeChain(_ scope: ChainKey.Scope) -> ChainKey? {
        guard let authority, let routeOffer else { return nil }
        return ChainKey(
            authority: authority, scope: scope, match: routeOffer.match, matchDest: routeOffer.matchDest)
    }
}
