internal import Dictionaries

/// The routes in the order of the configuration; the first match wins.
struct RouteTable: Sendable {
    private let routes: [Route]
    private let matches: PatternIndex
    /// The routes by host; nil if all routes are for every host.
    private let hosts: HostIndex?
    /// The route's position for each pattern.
    private let places: [Int]
    private let unmatched: Route
    /// True if any route announces dictionaries.
    let announces: Bool

    /// - Parameter upstreams: the upstreams of the routes; nil where nothing is forwarded.
    init(_ configuration: Configuration, names: RouteNames, upstreams: UpstreamGroups? = nil) {
        routes = configuration.routes.map {
            Route(index: names.place(of: $0.text), $0, in: configuration, upstream: upstreams?[$0.upstream])
        }
        hosts = HostIndex(configuration.routes.map(\.hosts))
        matches = PatternIndex(routes.flatMap(\.match.patterns))
        places = routes.enumerated().flatMap { place, route in
            Array(repeating: place, count: route.match.patterns.count)
        }
        var none = RouteConfiguration.implied
        none.dictionary = nil
        none.announcement = .off
        unmatched = Route(index: nil, none, in: configuration, upstream: upstreams?[nil])
        announces = routes.contains { $0.announcement != .off }
    }

    /// The routes with private dictionaries or personal responses.
    var withPersonal: [Route] {
        routes.filter { $0.policy.scope == .private || $0.policy.personalUse == .capability }
    }

    func route(of version: Dictionaries.Version) -> Route {
        let (path, query) = version.pathAndQuery
        return route(authority: version.chainKey.authority, path: path, query: query)
    }

    /// Returns true if bodies of the route may have URLs of their own.
    func mayName(_ route: Route) -> Bool {
        route.usesDictionaries && route.policy.scope == .public && (announces || route.delivery != .inBand)
    }

    /// Returns the route of a request, or a route without dictionaries.
    ///
    /// The authority is in normal form; its port does not count.
    func route(authority: String?, path: String, query: String?) -> Route {
        // Without a closure over the table, which would copy it.
        guard let hosts else {
            guard let match = matches.first(path: path, query: query) else { return unmatched }
            return routes[places[match]]
        }
        let (members, places) = (hosts.routes(for: authority), places)
        let match = matches.first(path: path, query: query) { members.contains(places[$0]) }
        guard let match else { return unmatched }
        return routes[places[match]]
    }
}

extension Dictionaries.Version {
    /// The path and query of its URL, split by bytes: opening a store judges all of its versions by their paths.
    var pathAndQuery: (path: String, query: String?) {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (url, nil) }
        return (String(url[..<mark]), String(url[url.utf8.index(after: mark)...]))
    }
}

/// The matches that label counters and log lines; each keeps its position for the life of the process.
///
/// A reload only appends. Counters continue if the same match is still configured, and requests in progress keep their
/// label.
struct RouteNames: Sendable {
    /// The bound over all reloads; requests of further matches count as requests without a route.
    private static let countMax = 4_000

    /// The matches in the order of their positions.
    private(set) var texts: [String] = []
    private var places: [String: Int] = [:]

    init(_ configuration: Configuration, after former: RouteNames? = nil) {
        if let former { self = former }
        for route in configuration.routes where places[route.text] == nil && texts.count < Self.countMax {
            places[route.text] = texts.count
            texts.append(route.text)
        }
    }

    /// Returns the position of a match.
    func place(of text: String) -> Int? { places[text] }
}
