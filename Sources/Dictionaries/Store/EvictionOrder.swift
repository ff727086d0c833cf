/// The versions and chains of an index in the order in which they go.
///
/// A value beside the index, which it does not hold: who changes the index tells it.
struct EvictionOrder: Sendable {
    private var versions = [DemandQueue<Version>](repeating: .init(), count: EvictionClass.allCases.count)
    private var chainsInProbation = DemandQueue<Chain>()
    private var establishedChains = DemandQueue<Chain>()

    /// Notes that a version belongs to a class from now on; where it was before it no longer counts.
    mutating func insert(_ version: Version, _ evictionClass: EvictionClass, in index: DictionaryIndex) {
        let place = evictionClass.rawValue
        versions[place].insert(version, lastWanted: version.wantedUntil, rank: version.rank)
        versions[place].compact(liveCount: index.versionCount) {
            Self.lastWanted($0, of: evictionClass, in: index)
        }
    }

    /// Notes that a chain is in probation, or established, from now on.
    mutating func insert(_ chain: Chain, in index: DictionaryIndex) {
        guard let lastWanted = Self.lastWanted(chain, in: index) else { return }
        let rank = index.versions(of: chain.key).first?.rank ?? 0
        let isEstablished = chain.isEstablished
        func add(to queue: inout DemandQueue<Chain>) {
            queue.insert(chain, lastWanted: lastWanted, rank: rank)
            queue.compact(liveCount: index.chainCount) {
                $0.isEstablished == isEstablished ? Self.lastWanted($0, in: index) : nil
            }
        }
        if isEstablished { add(to: &establishedChains) } else { add(to: &chainsInProbation) }
    }

    /// Takes the version of a class that goes first; nil where all that are left are named in Links.
    mutating func popVersion(_ evictionClass: EvictionClass, in index: DictionaryIndex, now: Int) -> Version?
    {
        let version = versions[evictionClass.rawValue].popFirst {
            Self.lastWanted($0, of: evictionClass, in: index)
        }
        guard let version, version.isPinned(at: now) else { return version }
        insert(version, evictionClass, in: index)
        return nil
    }

    /// Takes the chain that goes first among those in probation.
    mutating func popChainInProbation(in index: DictionaryIndex, now: Int) -> Chain? {
        unpinned(
            chainsInProbation.popFirst { $0.isEstablished ? nil : Self.lastWanted($0, in: index) }, index, now
        )
    }

    /// Takes the chain that goes first among the established ones.
    mutating func popEstablishedChain(in index: DictionaryIndex, now: Int) -> Chain? {
        unpinned(
            establishedChains.popFirst { $0.isEstablished ? Self.lastWanted($0, in: index) : nil }, index, now
        )
    }

    /// Puts a chain back of which a version is named in Links: then so it is with all that come after it.
    private mutating func unpinned(_ chain: Chain?, _ index: DictionaryIndex, _ now: Int) -> Chain? {
        guard let chain, index.versions(of: chain.key).contains(where: { $0.isPinned(at: now) }) else {
            return chain
        }
        insert(chain, in: index)
        return nil
    }

    /// When a version was last wanted; nil unless it is in the index and of the class.
    private static func lastWanted(
        _ version: Version, of evictionClass: EvictionClass, in index: DictionaryIndex
    ) -> Int? {
        index.evictionClass(of: version) == evictionClass ? version.wantedUntil : nil
    }

    /// When the last of a chain's versions was wanted; nil unless the chain is in the index.
    private static func lastWanted(_ chain: Chain, in index: DictionaryIndex) -> Int? {
        guard index.chain(chain.key) === chain else { return nil }
        return index.versions(of: chain.key).reduce(0) { max($0, $1.wantedUntil) }
    }
}

extension DictionaryIndex {
    /// The class of a version as things stand; nil if it is not in the index.
    ///
    /// Linear in the versions of its chain.
    func evictionClass(of version: Version) -> EvictionClass? {
        let versions = versions(of: version.chain)
        let isNewest = versions.last === version
        guard isNewest || versions.contains(where: { $0 === version }) else { return nil }
        return !version.home.isEstablished ? .probation : isNewest ? .newest : .past
    }
}
