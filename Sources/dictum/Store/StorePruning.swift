internal import Dictionaries
internal import Proxy

/// Which versions a store is to lose, and why; pure.
struct StorePruning {
    /// Why a version goes.
    enum Cause: String, Encodable {
        case age, versions, route, chains, size
    }

    /// The time, in seconds since 1970.
    let now: Int
    /// Everything that was not wanted for so long goes, whatever its route says.
    var olderThanSeconds: Int?
    /// Whether versions that no route would make go.
    var removesUnusedRoutes = false
    /// The routes and limits; nil where there is no configuration.
    var configuration: Configuration?

    /// What goes; `versions` stand chain by chain, in each the oldest first.
    ///
    /// `diskBytes` is what the files take now.
    func victims(among versions: [Version], diskBytes: Int) -> [(version: Version, cause: Cause)] {
        let routes = configuration.map { CurrentRoutes($0) }
        var victims: [(version: Version, cause: Cause)] = []
        var kept: [Version] = []
        var newer: [ChainKey: Int] = [:]
        for version in versions.reversed() {
            let policy = routes?.policy(for: version)
            let maxAge = min(version.maxAge, policy.map { $0.maxAge / 1000 } ?? .max)
            let place = newer[version.chain, default: 0]
            if isOld(version, maxAge: maxAge) {
                victims.append((version, .age))
            } else if removesUnusedRoutes, routes != nil, policy == nil {
                victims.append((version, .route))
            } else if let policy, place >= policy.versions {
                victims.append((version, .versions))
            } else {
                newer[version.chain] = place + 1
                kept.append(version)
            }
        }
        return victims
            + beyondLimits(kept, diskBytes: diskBytes - victims.reduce(0) { $0 + $1.version.bytes })
    }

    private func isOld(_ version: Version, maxAge: Int) -> Bool {
        if now - version.lastWanted >= maxAge { return true }
        return olderThanSeconds.map { now - version.lastWanted >= $0 } ?? false
    }

    /// The chains beyond `max_chains`, and what `max_size` has no place for: the least wanted first.
    private func beyondLimits(_ versions: [Version], diskBytes: Int) -> [(version: Version, cause: Cause)] {
        guard let store = configuration?.store else { return [] }
        var victims: [(version: Version, cause: Cause)] = []
        let chains = Dictionary(grouping: versions, by: \.chain).values
            .sorted { ($0.map(\.lastWanted).max() ?? 0) < ($1.map(\.lastWanted).max() ?? 0) }
        let surplus = max(0, chains.count - store.maxChains)
        for chain in chains.prefix(surplus) { victims += chain.map { ($0, .chains) } }
        var excess = diskBytes - store.maxSize - victims.reduce(0) { $0 + $1.version.bytes }
        for version in chains.dropFirst(surplus).joined().sorted(by: { $0.lastWanted < $1.lastWanted })
        where excess > 0 {
            victims.append((version, .size))
            excess -= version.bytes
        }
        return victims
    }
}
