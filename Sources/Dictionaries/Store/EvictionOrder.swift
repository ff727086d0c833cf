/// The chains of an index in the order in which they go.
///
/// A value beside the index, which it does not hold: who changes the index tells it. Each chain is in one place, which
/// it notes itself, so a copy must not go on where the original does.
struct EvictionOrder: Sendable {
    private var inProbation = DemandQueue<Chain>()
    private var established = DemandQueue<Chain>()

    /// The number of chains in it.
    var count: Int { inProbation.count + established.count }

    /// Gives a chain its place among those in probation, or those that are established; it leaves the one that it had.
    mutating func insert(_ chain: Chain) {
        remove(chain)
        if chain.isEstablished {
            established.insert(chain, lastWanted: chain.wantedUntil, rank: chain.firstRank)
        } else {
            inProbation.insert(chain, lastWanted: chain.wantedUntil, rank: chain.firstRank)
        }
    }

    /// Forgets a chain.
    mutating func remove(_ chain: Chain) {
        if !established.remove(chain) { inProbation.remove(chain) }
    }

    /// Takes the chain that goes first among those in probation.
    mutating func popInProbation(now: Int) -> Chain? {
        unpinned(inProbation.popFirst { $0.wantedUntil }, now)
    }

    /// Takes the chain that goes first among the established ones.
    mutating func popEstablished(now: Int) -> Chain? {
        unpinned(established.popFirst { $0.wantedUntil }, now)
    }

    /// Puts a chain back of which a version is named in Links: then so it is with all that come after it.
    private mutating func unpinned(_ chain: Chain?, _ now: Int) -> Chain? {
        guard let chain, now < chain.pinnedUntil else { return chain }
        insert(chain)
        return nil
    }
}
