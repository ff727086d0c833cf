/// The chains of an index in the order in which they are evicted.
///
/// The owner of the index keeps it up to date. Every chain stores its own place in it, so this order exists
/// once: a copy would corrupt it.
struct EvictionOrder: Sendable {
    /// The class of a chain; the first class goes first.
    enum Class: Int, CaseIterable, Sendable {
        /// No request has come for it since the first, and its route is the implied one.
        case inProbation
        /// No client has come back to its authority.
        case unproven
        /// No client has come back to it.
        case newcomer
        case established
    }

    private var queues = InlineArray<4, DemandQueue<Chain>> { _ in DemandQueue() }

    /// The number of chains.
    var count: Int { queues.indices.reduce(0) { $0 + queues[$1].count } }

    /// Puts a chain into a class and takes it out of any other.
    mutating func insert(_ chain: Chain, _ place: Class) {
        remove(chain)
        queues[place.rawValue].insert(chain, lastWanted: chain.wantedUntil, rank: chain.firstRank)
    }

    mutating func remove(_ chain: Chain) {
        for place in queues.indices where queues[place].remove(chain) { return }
    }

    /// Takes the first chain of a class; nil if Links name versions of all that are left.
    mutating func pop(_ place: Class, now: Int) -> Chain? {
        let chain = queues[place.rawValue].popFirst { $0.wantedUntil }
        guard let chain, now < chain.pinnedUntil else { return chain }
        insert(chain, place)
        return nil
    }
}
