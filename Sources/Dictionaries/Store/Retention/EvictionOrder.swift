/// The chains of an index in the order in which they go.
///
/// A value beside the index, which it does not hold: who changes the index tells it. Each chain is in one place, which
/// it notes itself, so a copy must not go on where the original does.
struct EvictionOrder: Sendable {
    /// What is known of a chain; those of the first go first.
    enum Class: Int, CaseIterable, Sendable {
        /// Nobody has asked for it again, and its route is the implied one.
        case inProbation
        /// No client has come back to its authority.
        case unproven
        /// No client has come back to it.
        case newcomer
        case established
    }

    private var queues = InlineArray<4, DemandQueue<Chain>> { _ in DemandQueue() }

    /// The number of chains in it.
    var count: Int { queues.indices.reduce(0) { $0 + queues[$1].count } }

    /// Gives a chain its place in a class; it leaves the one that it had.
    mutating func insert(_ chain: Chain, _ place: Class) {
        remove(chain)
        queues[place.rawValue].insert(chain, lastWanted: chain.wantedUntil, rank: chain.firstRank)
    }

    /// Forgets a chain.
    mutating func remove(_ chain: Chain) {
        for place in queues.indices where queues[place].remove(chain) { return }
    }

    /// Takes the chain of a class that goes first; nil where Links name versions of all that are left.
    mutating func pop(_ place: Class, now: Int) -> Chain? {
        let chain = queues[place.rawValue].popFirst { $0.wantedUntil }
        guard let chain, now < chain.pinnedUntil else { return chain }
        insert(chain, place)
        return nil
    }
}
