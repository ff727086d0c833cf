/// The order in which a store makes room, for who has its versions as a list.
extension StoreCatalog {
    /// The chains that may go, the first to go first: those in probation, then by when they were wanted last.
    ///
    /// In each the oldest version comes first. A chain of which Links name a version is not among them.
    package static func chainsInOrderOfEviction(_ versions: [Version], now: Int) -> [[Version]] {
        let chains = Dictionary(grouping: versions, by: \.chain).values.filter { versions in
            !versions.contains { $0.isPinned(at: now) }
        }
        return chains.map { $0.sorted { $0.isOlder(than: $1) } }.sorted { place($0) < place($1) }
    }

    /// The versions that may go, the first to go first: those of chains in probation, then by what is known of their
    /// holders, then by when they were wanted last.
    ///
    /// What Links name is not among them.
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
