/// The versions and chains of an index in the order in which they go.
///
/// A value beside the index, which it does not hold: who changes the index tells it. Each thing is in one place, which
/// it notes itself, so a copy must not go on where the original does.
struct EvictionOrder: Sendable {
    private var versions = [DemandQueue<Version>](repeating: .init(), count: EvictionClass.allCases.count)
    private var chainsInProbation = DemandQueue<Chain>()
    private var establishedChains = DemandQueue<Chain>()

    /// How many versions and chains are in it.
    var counts: (versions: Int, chains: Int) {
        (versions.reduce(0) { $0 + $1.count }, chainsInProbation.count + establishedChains.count)
    }

    /// Gives a version its place in a class; it leaves the one that it had.
    mutating func insert(_ version: Version, _ evictionClass: EvictionClass) {
        remove(version)
        versions[evictionClass.rawValue].insert(
            version, lastWanted: version.wantedUntil, rank: version.rank)
    }

    /// Forgets a version.
    mutating func remove(_ version: Version) {
        for place in versions.indices where versions[place].remove(version) { return }
    }

    /// Gives a chain its place among those in probation, or those that are established; it leaves the one that it had.
    mutating func insert(_ versions: ChainVersions) {
        let chain = versions.chain
        remove(chain)
        let (lastWanted, rank) = (versions.wantedUntil, versions.all.first?.rank ?? 0)
        if chain.isEstablished {
            establishedChains.insert(chain, lastWanted: lastWanted, rank: rank)
        } else {
            chainsInProbation.insert(chain, lastWanted: lastWanted, rank: rank)
        }
    }

    /// Forgets a chain.
    mutating func remove(_ chain: Chain) {
        if !establishedChains.remove(chain) { chainsInProbation.remove(chain) }
    }

    /// Takes the version of a class that goes first; nil where all that are left are named in Links.
    mutating func popVersion(_ evictionClass: EvictionClass, now: Int) -> Version? {
        let version = versions[evictionClass.rawValue].popFirst { $0.wantedUntil }
        guard let version, version.isPinned(at: now) else { return version }
        insert(version, evictionClass)
        return nil
    }

    /// Takes the chain that goes first among those in probation.
    mutating func popChainInProbation(in index: DictionaryIndex, now: Int) -> Chain? {
        unpinned(chainsInProbation.popFirst { index[$0.key]?.wantedUntil ?? 0 }, index, now)
    }

    /// Takes the chain that goes first among the established ones.
    mutating func popEstablishedChain(in index: DictionaryIndex, now: Int) -> Chain? {
        unpinned(establishedChains.popFirst { index[$0.key]?.wantedUntil ?? 0 }, index, now)
    }

    /// Puts a chain back of which a version is named in Links: then so it is with all that come after it.
    private mutating func unpinned(_ chain: Chain?, _ index: DictionaryIndex, _ now: Int) -> Chain? {
        guard let chain, let versions = index[chain.key], versions.isNamed(now: now) else { return chain }
        insert(versions)
        return nil
    }
}
