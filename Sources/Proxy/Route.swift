internal import Dictionaries

/// One route, ready to decide: its pattern and everything that holds for the requests it matches.
///
/// A class, so that a request holds one reference and not a copy of all its lists.
final class Route: Sendable {
    /// Its place in the configuration; nil for requests that no route matches.
    let index: Int?
    let match: URLPattern
    /// How dictionaries are used; nil where they are off.
    let dictionary: DictionaryPolicy?
    /// Whether caches on the way may store its deltas; nil where dictionaries are off, so that answers do not vary
    /// by them.
    let sharedCaches: DictionaryPolicy.SharedCaches?
    /// What the pure decisions need to know of it.
    let policy: RoutePolicy

    init(index: Int?, _ route: RouteConfiguration, in configuration: Configuration) {
        self.index = index
        match = route.match
        dictionary = route.dictionary
        policy = configuration.policy(of: route)
        sharedCaches = route.dictionary?.sharedCaches
    }

    /// Whether this route may use and offer dictionaries at all.
    var usesDictionaries: Bool { policy.areDictionariesOn && policy.hasDictionary }
}

/// The routes in the order of the configuration, of which the first that matches counts.
struct RouteTable: Sendable {
    private let routes: [Route]
    private let unmatched: Route

    init(_ configuration: Configuration) {
        routes = configuration.routes.enumerated().map {
            Route(index: $0.offset, $0.element, in: configuration)
        }
        var none = RouteConfiguration.implied
        none.dictionary = nil
        unmatched = Route(index: nil, none, in: configuration)
    }

    /// The route of a request; one without dictionaries where none matches.
    func route(path: String, query: String?) -> Route {
        for route in routes where route.match.matches(path: path, query: query) { return route }
        return unmatched
    }
}
