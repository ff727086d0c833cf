/// The order of eviction for a list of versions that a command has read.
extension StoreCatalog {
    /// Returns the chains that may be evicted, the first to go first: those in probation, then by the time
    /// they were last wanted.
    ///
    /// Each chain lists its oldest version first. Chains of which a Link names a version are left out.
    package static func chainsInOrderOfEviction(_ versions: [Version], now: Int) -> [[Version]] {
        let chains = Dictionary(grouping: versions, by: \.chain).values.filter { versions in
            !versions.contains { $0.isPinned(at: now) }
        }
        return chains.map { $0.sorted { $0.isOlder(than: $1) } }.sorted { place($0) < place($1) }
    }

    /// Returns the versions that may be evicted, the first to go first.
    ///
    /// Versions of chains in probation come first, then the order is by the standing of their holders, then
    /// by the last contact. Versions that a Link names are left out.
    package static func versionsInOrderOfEviction(_ versions: [Version], now: Int) -> [Version] {
        versions.filter { !$0.isPinned(at: now) }.sorted { place($0) < place($1) }
    }

    private static func place(_ chain: [Version]) -> (Int, Int, Int64) {
        (
            chain.first?.home.isEstablished == true ? 1 : 0, chain.reduce(0) { max($0, $1.wantedUntil) },
            chain.first?.rank ?? 0
        )
    }

    private static func place(_ version: Version) -> (Int, Int, Int, Int64) {
        (
            version.home.isEstablished ? 1 : 0, version.standing.rawValue, version.lastContact, version.rank
        )
    }
}
