internal import Dictionaries
internal import Storage

/// The routes in the order of the configuration; the first match wins.
///
/// A class, since each request asks the table and would copy a value.
package final class RouteTable: Sendable {
    private let routes: [Route]
    private let matches: PatternIndex
    /// The routes by host; nil if all routes are for every host.
    private let hosts: HostIndex?
    /// The route's position for each pattern.
    private let positions: [Int]
    private let unmatched: Route
    /// The positions of the routes with a built dictionary.
    private let withBuilt: [Int]
    let announces: Bool
    /// The routes with `scope: private`, observed or live.
    let privateRoutes: [Route]

    /// - Parameter upstreams: the upstreams of the routes; nil where nothing is forwarded.
    init(_ configuration: Configuration, names: RouteNames, upstreams: UpstreamGroups? = nil) {
        routes = configuration.routes.map {
            .make($0, names, in: configuration, upstream: upstreams?[$0.upstream])
        }
        hosts = HostIndex(configuration.routes.map(\.hosts))
        matches = PatternIndex(routes.flatMap(\.match.patterns))
        positions = routes.enumerated().flatMap { position, route in
            Array(repeating: position, count: route.match.patterns.count)
        }
        var none = RouteConfiguration.implied
        none.dictionary = nil
        none.announcement = .off
        unmatched = Route(index: nil, none, in: configuration, upstream: upstreams?[nil])
        announces = routes.contains { $0.announcement != .off }
        privateRoutes = routes.filter(\.isPrivate)
        withBuilt = routes.indices.filter { [routes] in
            routes[$0].withDictionaries.dictionary?.built != nil
        }
    }

    package func has(_ text: String) -> Bool { routes.contains { $0.text == text } }

    /// True if a route makes versions for one client.
    var hasPersonal: Bool {
        routes.lazy.map(\.withDictionaries).contains {
            $0.dictionary != nil && ($0.policy.scope == .private || $0.policy.personalUse == .capability)
        }
    }

    func route(of version: Storage.Version) -> Route {
        builtRoute(where: { $0.hasBuilt(version) }, authority: version.chainKey.authority)
            ?? route(of: PathAndQuery(version.url), authority: version.chainKey.authority)
    }

    func builtRoute(of chain: ChainKey) -> Route? {
        builtRoute(where: { $0.builtChain(authority: chain.authority) == chain }, authority: chain.authority)
    }

    /// Returns the route whose built dictionary of the operator has this path.
    func builtRoute(of path: DictionaryPath, authority: String) -> Route? {
        builtRoute(
            where: {
                $0.dictionary?.built?.body?.digest == path.digest
                    && $0.builtChain(authority: authority)?.name == path.chainName
            }, authority: authority)
    }

    private func builtRoute(where isMeant: (Route) -> Bool, authority: String) -> Route? {
        withBuilt.lazy.filter { [self] in hosts?.routes(for: authority).contains($0) ?? true }
            .map { [self] in routes[$0] }
            .first { isMeant($0.withDictionaries) }
    }

    var learners: [Route] { withBuilt.map { routes[$0] }.filter(\.learnsBuilt) }

    /// The routes whose dictionaries are off after an inexact delta.
    var distrusted: [Route] { routes.filter { $0.dictionarySwitch != nil } }

    /// Returns true if bodies of the route may have URLs of their own.
    func mayName(_ route: Route) -> Bool {
        route.usesDictionaries && route.policy.scope == .public && (announces || route.delivery != .inBand)
    }

    /// Returns the route of a request, and what other spellings of its path mean for it.
    ///
    /// The authority is in normal form; its port does not count.
    func choose(_ url: PathAndQuery, authority: String?) -> RouteChoice {
        let form = NormalPath.form(of: url.path)
        guard form != .plain else { return RouteChoice(plain: url, match(url, authority: authority)) }
        let readings = PathReadings(url.path)
        let route = { [self] (path: String) in
            match(PathAndQuery(path: path, query: url.query), authority: authority)
        }
        return RouteChoice(url.path, form, readings, of: route)
    }

    /// Returns the route of a URL, or a route without dictionaries, by the normal form of its path.
    func route(of url: PathAndQuery, authority: String?) -> Route {
        guard NormalPath.form(of: url.path) != .plain else { return match(url, authority: authority) }
        return match(
            PathAndQuery(path: PathReadings.routed(url.path), query: url.query), authority: authority)
    }

    /// Returns the first route that matches a URL as it is written, or a route without dictionaries.
    private func match(_ url: PathAndQuery, authority: String?) -> Route {
        // Without a closure over the table, which would copy it.
        guard let hosts else {
            guard let match = matches.first(path: url.path, query: url.query) else { return unmatched }
            return routes[positions[match]]
        }
        let (members, positions) = (hosts.routes(for: authority), positions)
        let match = matches.first(path: url.path, query: url.query) { members.contains(positions[$0]) }
        guard let match else { return unmatched }
        return routes[positions[match]]
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
    /// The limits of their messages; a route without a position gets new ones at each reload.
    private(set) var reminders: [RouteReminders] = []
    private var positions: [String: Int] = [:]

    init(_ configuration: Configuration, after former: RouteNames? = nil) {
        if let former { self = former }
        for route in configuration.routes where positions[route.text] == nil && texts.count < Self.countMax {
            positions[route.text] = texts.count
            texts.append(route.text)
            reminders.append(RouteReminders())
        }
    }

    func position(of text: String) -> Int? { positions[text] }
}
