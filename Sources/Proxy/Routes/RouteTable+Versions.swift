internal import Dictionaries
package import Storage

/// Judges stored versions by the routes of the current configuration.
///
/// The setting `dictionaries` does not count: it prevents all use by itself, and all versions are usable once it is
/// on again.
extension RouteTable {
    package convenience init(_ configuration: Configuration) {
        self.init(configuration, names: RouteNames(configuration))
    }

    /// Returns true if the routes could still make this version.
    package func makes(_ version: Version) -> Bool {
        // A private version stores no path. It is found by the chain that a present route makes for a request, and so is
        // missed where no route makes its chain.
        guard !version.chainKey.scope.isSealed else { return hasPersonal }
        return policy(for: version) != nil
    }

    /// Returns the dictionary settings of the route that would make a public version, or nil.
    package func policy(for version: Version) -> DictionaryPolicy? {
        let url = PathAndQuery(version.url)
        let route = route(of: version).withDictionaries
        if route.hasBuilt(version) { return route.dictionary }
        guard !version.chainKey.scope.isSealed, let dictionary = route.dictionary,
            route.policy.scope == .public, route.policy.admits(version),
            isChain(of: version, url, dictionary, route)
        else { return nil }
        return dictionary
    }

    /// Returns true if a chain is of the route with this text; the URL is that of a version, if it is known.
    package func makes(_ chain: ChainKey, url: String?, route text: String) -> Bool {
        // The match of most chains is their path; that of others is one of the paths that the route is for.
        let url = PathAndQuery(url ?? URLPattern.unescaped(chain.match))
        return route(of: url, authority: chain.authority).text == text
    }

    private func isChain(
        of version: Version, _ url: PathAndQuery, _ dictionary: DictionaryPolicy, _ route: Route
    ) -> Bool {
        // The upstream chose this match, and would choose it again.
        if version.isUpstreamMatch { return true }
        return route.matchValue(of: url) == version.chainKey.match
            && dictionary.matchDest == version.chainKey.matchDest
    }
}

extension Purge {
    /// An order by these routes; without any, no version is of a route.
    package init(_ order: PurgeOrder, rankMax: Int64 = .max, isFormer: Bool = false, routes: RouteTable?) {
        self.init(order, rankMax: rankMax, isFormer: isFormer) { route, chain, url in
            routes?.makes(chain, url: url, route: route) ?? false
        }
    }
}

extension RoutePolicy {
    fileprivate func admits(_ version: Version) -> Bool {
        types.contains(version.contentType) && version.bytes >= max(1, bodyBytesMin)
            && version.bytes <= bodyBytesMax
    }
}
