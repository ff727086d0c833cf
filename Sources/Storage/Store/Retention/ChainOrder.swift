internal import Dictionaries

/// The chains of an index in the order in which they are evicted.
///
/// The owner of the index keeps it up to date. Every chain stores its index into this structure, so it must not be
/// copied. `StoreState.firstToGo` decides what is evicted.
struct ChainOrder: ~Copyable, Sendable {
    /// The class of a chain; the first class goes first.
    enum Class: Int, CaseIterable, Sendable {
        /// It has had fewer requests than `Chain.requestsToEstablish`, and its route is the implied one.
        case inProbation
        /// No client has come back to its authority.
        case withoutReturn
        /// No client has come back to it.
        case newcomer
        case returned
    }

    private var queues = InlineArray<4, DemandQueue> { _ in DemandQueue() }

    var count: Int { queues.indices.reduce(0) { $0 + queues[$1].count } }

    /// Puts a chain into a class and takes it out of any other.
    mutating func insert(_ chain: Chain, _ place: Class) {
        remove(chain)
        queues[place.rawValue].insert(chain)
    }

    mutating func remove(_ chain: Chain) {
        for place in queues.indices where queues[place].remove(chain) { return }
    }

    /// Takes the first chain of a class; nil if Links name versions of all that are left.
    mutating func pop(_ place: Class, now: Int) -> Chain? {
        let chain = queues[place.rawValue].popFirst()
        guard let chain, now < chain.pinnedUntil else { return chain }
        insert(chain, place)
        return nil
    }
}

/// A priority queue of chains by the time of the last demand, the least wanted first.
///
/// A renewed demand does not move an entry at once, which would cost a lock per request: the entry is
/// corrected when it comes to the front. The order stays exact, because demand never moves to an earlier
/// time. Operations cost O(log n), and nearly O(1) for chains wanted lately.
///
/// This is a binary heap of our own, because it needs `remove`. The library's heap cannot do that: removed
/// entries stayed until they were the majority, and then an event loop that held the store's lock read
/// 200,000 of them in 0.13 s.
struct DemandQueue: Sendable {
    private struct Entry: Sendable {
        var lastWanted: Int
        /// The tie breaker within a second: the older goes first.
        let rank: Int64
        let chain: Chain

        func precedes(_ other: Entry) -> Bool {
            (lastWanted, rank) < (other.lastWanted, other.rank)
        }
    }

    /// The heap: no entry precedes its parent at `(place - 1) / 2`.
    private var entries = BlockList<Entry>()

    var count: Int { entries.count }

    /// Inserts a chain; moves one that is here already.
    mutating func insert(_ chain: Chain) {
        remove(chain)
        entries.append(Entry(lastWanted: chain.wantedUntil, rank: chain.firstRank, chain: chain))
        rise(from: entries.count - 1)
    }

    /// Removes a chain wherever it stands; returns false if it is not here.
    @discardableResult
    mutating func remove(_ chain: Chain) -> Bool {
        let place = chain.queuePlace
        guard entries.indices.contains(place), entries[place].chain === chain,
            let last = entries.popLast()
        else { return false }
        guard place < entries.count else { return true }
        entries[place] = last
        sink(from: rise(from: place))
        return true
    }

    /// Removes and returns the least wanted chain.
    mutating func popFirst() -> Chain? {
        while !entries.indices.isEmpty {
            let first = entries[0]
            let now = first.chain.wantedUntil
            guard now > first.lastWanted else {
                remove(first.chain)
                return first.chain
            }
            entries[0].lastWanted = now
            sink(from: 0)
        }
        return nil
    }

    // MARK: The heap

    /// Moves an entry towards the front; returns its new place.
    @discardableResult
    private mutating func rise(from start: Int) -> Int {
        let entry = entries[start]
        var place = start
        while place > 0, case let parent = (place - 1) / 2, entry.precedes(entries[parent]) {
            put(entries[parent], at: place)
            place = parent
        }
        put(entry, at: place)
        return place
    }

    /// Moves an entry away from the front.
    private mutating func sink(from start: Int) {
        let entry = entries[start]
        var place = start
        while let child = firstChild(of: place), entries[child].precedes(entry) {
            put(entries[child], at: place)
            place = child
        }
        put(entry, at: place)
    }

    private func firstChild(of place: Int) -> Int? {
        let (left, right) = (2 * place + 1, 2 * place + 2)
        guard right < count else { return left < count ? left : nil }
        return entries[right].precedes(entries[left]) ? right : left
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        entries[place] = entry
        entry.chain.queuePlace = place
    }
}
