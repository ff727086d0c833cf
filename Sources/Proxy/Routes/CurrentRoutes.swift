package import Dictionaries

/// The routes of a configuration, as they judge versions that were made under earlier ones.
///
/// The switch `dictionaries` does not count here: it bars every use by itself, and turned on again it finds all.
package struct CurrentRoutes: Sendable {
    private let routes: RouteTable

    /// The routes of a configuration that was read.
    package init(_ configuration: Configuration) {
        routes = RouteTable(configuration, names: RouteNames(configuration))
    }

    init(_ routes: RouteTable) {
        self.routes = routes
    }

    /// Whether the answer that made the version would make it again, as far as that is known.
    package func makes(_ version: Version) -> Bool {
        guard !version.chain.scope.isPrivate else {
            return routes.withPersonal.contains { isPrivateChain(version.chain, of: version, $0) }
        }
        return policy(for: version) != nil
    }

    /// How the route that would make a public version uses dictionaries; nil where none would.
    package func policy(for version: Version) -> DictionaryPolicy? {
        let parts = version.url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first.map(String.init) ?? ""
        let query = parts.count > 1 ? String(parts[1]) : nil
        let route = routes.route(path: path, query: query)
        guard !version.chain.scope.isPrivate, let dictionary = route.dictionary,
            route.policy.scope == .public, route.policy.admits(version),
            isChain(version.chain, of: version, path: path, query: query, dictionary, route)
        else { return nil }
        return dictionary
    }

    /// Of a private version nothing tells the path but what its chain may: one route must be able to name it.
    ///
    /// Whoever asks for it has the identity, or the id, that this route makes: others never find it.
    private func isPrivateChain(_ chain: ChainKey, of version: Version, _ route: Route) -> Bool {
        guard let dictionary = route.dictionary, route.policy.admits(version) else { return false }
        let covers = route.policy.scope == .private ? dictionary.covers : dictionary.personalCovers
        return dictionary.matchDest == chain.matchDest
            && route.match.patterns.contains { covers.mayMake(chain.match, route: $0) }
    }

    private func isChain(
        _ chain: ChainKey, of version: Version, path: String, query: String?, _ dictionary: DictionaryPolicy,
        _ route: Route
    ) -> Bool {
        // What the upstream names is the upstream's: it would name it again.
        if version.isUpstreamMatch { return true }
        return route.matchValue(path: path, query: query) == chain.match
            && dictionary.matchDest == chain.matchDest
    }
}

extension RoutePolicy {
    /// Whether type and size of the body are such as are admitted.
    fileprivate func admits(_ version: Version) -> Bool {
        types.contains(version.contentType) && version.bytes >= max(1, bodyBytesMin)
            && version.bytes <= bodyBytesMax
    }
}
