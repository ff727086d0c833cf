internal import Dictionaries
internal import Proxy

/// The choice of the versions that `store prune` removes, as a pure function.
struct StorePruning {
    /// The reason to remove a version.
    enum Cause: String, Encodable {
        case age, versions, route, chains, size
    }

    /// The time in seconds since 1970.
    let now: Int
    /// The age after which a version goes, whatever its route says.
    var olderThanSeconds: Int?
    /// True if versions that no configured route would create go.
    var removesUnusedRoutes = false
    /// The routes and limits; nil without a configuration.
    var configuration: Configuration?

    /// Returns the versions to remove; `versions` are grouped by chain, oldest first.
    ///
    /// Versions that a Link may name stay, since a browser may be about to fetch them. `usedBytes` is the current
    /// size of the files.
    func victims(among versions: [Version], usedBytes: Int) -> [(version: Version, cause: Cause)] {
        let routes = configuration.map { CurrentRoutes($0) }
        var victims: [(version: Version, cause: Cause)] = []
        var kept: [Version] = []
        var newer: [ChainKey: Int] = [:]
        for version in versions.reversed() {
            let place = newer[version.chainKey, default: 0]
            if let cause = cause(of: version, place: place, routes) {
                victims.append((version, cause))
            } else {
                newer[version.chainKey] = place + 1
                kept.append(version)
            }
        }
        return victims
            + beyondLimits(kept, usedBytes: usedBytes - victims.reduce(0) { $0 + $1.version.bytes })
    }

    /// Returns why a version goes when its chain has `place` newer ones, regardless of the store's limits; nil if
    /// it stays.
    private func cause(of version: Version, place: Int, _ routes: CurrentRoutes?) -> Cause? {
        if version.isPinned(at: now) { return nil }
        let policy = routes?.policy(for: version)
        let maxAge = min(version.maxAge, policy.map { $0.maxAge / 1000 } ?? .max)
        if isOld(version, maxAge: maxAge) { return .age }
        if removesUnusedRoutes, routes != nil, policy == nil { return .route }
        if let policy, place >= policy.versions { return .versions }
        return nil
    }

    private func isOld(_ version: Version, maxAge: Int) -> Bool {
        if now - version.lastWanted >= maxAge { return true }
        return olderThanSeconds.map { now - version.lastWanted >= $0 } ?? false
    }

    /// Returns the chains beyond `max_chains` and the versions beyond `max_size`, in the proxy's order of
    /// eviction.
    private func beyondLimits(_ versions: [Version], usedBytes: Int) -> [(version: Version, cause: Cause)] {
        guard let store = configuration?.store else { return [] }
        let surplus = max(0, Set(versions.map(\.chainKey)).count - store.maxChains)
        let chains = StoreCatalogue.chainsInOrderOfEviction(versions, now: now).prefix(surplus)
        var victims: [(version: Version, cause: Cause)] = chains.joined().map { ($0, .chains) }
        let gone = Set(victims.map(\.version.id))
        var excess = usedBytes - store.maxSize - victims.reduce(0) { $0 + $1.version.bytes }
        let rest = versions.filter { !gone.contains($0.id) }
        for version in StoreCatalogue.versionsInOrderOfEviction(rest, now: now) where excess > 0 {
            victims.append((version, .size))
            excess -= version.bytes
        }
        return victims
    }
}
