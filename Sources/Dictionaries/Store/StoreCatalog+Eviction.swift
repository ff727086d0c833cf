/// The order in which a store makes room, for who has its versions as a list.
extension StoreCatalog {
    /// The chains that may go, the first to go first: those in probation, then by when they were wanted last.
    ///
    /// In each the oldest version comes first. A chain of which Links name a version is not among them.
    package static func chainsInOrderOfEviction(_ versions: [Version], now: Int) -> [[Version]] {
        chains(versions).filter { !$0.isNamed(now: now) }.sorted { place($0) < place($1) }.map(\.all)
    }

    /// The versions that may go, the first to go first: by their class, then by when they were wanted last.
    ///
    /// What Links name is not among them, and is the newest of its chain none the less if it is.
    package static func versionsInOrderOfEviction(_ versions: [Version], now: Int) -> [Version] {
        var places: [(version: Version, evictionClass: EvictionClass)] = []
        for chain in chains(versions) {
            for version in chain.all where !version.isPinned(at: now) {
                places.append((version, chain.evictionClass(of: version) ?? .newest))
            }
        }
        return places.sorted {
            ($0.evictionClass, $0.version.wantedUntil, $0.version.rank)
                < ($1.evictionClass, $1.version.wantedUntil, $1.version.rank)
        }.map(\.version)
    }

    private static func chains(_ versions: [Version]) -> [ChainVersions] {
        Dictionary(grouping: versions, by: \.chain).values.compactMap { versions in
            versions.first.map { first in
                ChainVersions(chain: first.home, all: versions.sorted { $0.isOlder(than: $1) })
            }
        }
    }

    private static func place(_ chain: ChainVersions) -> (Int, Int, Int64) {
        (chain.chain.isEstablished ? 1 : 0, chain.wantedUntil, chain.all.first?.rank ?? 0)
    }
}
