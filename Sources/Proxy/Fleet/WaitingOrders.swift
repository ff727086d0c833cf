internal import Storage

/// An order to forget on its way to the other nodes.
struct SharedOrder: Sendable {
    /// The order, with at most as many users as an entry has room for.
    let order: PurgeOrder
    /// Its time by the monotonic clock, in milliseconds.
    let givenAt: Int64
    /// The keys of the versions that go from the shared store with it.
    var keys: [[UInt8]] = []
}

/// The orders to forget that the shared store has not confirmed, until it does; a pure value.
struct WaitingOrders: Sendable {
    /// What the operator is to know of them.
    enum Notice: Sendable, Equatable {
        /// Some wait, and none did before.
        case waits
        /// There are too many, and the oldest go, for the first time since some wait.
        case overflows
        /// None waits any more.
        case isOver
    }

    static let countMax = 10_000
    /// The keys that they have together; versions beyond these go from the shared store by themselves, in a week.
    static let keysMax = 50_000
    /// The number that is sent at a time.
    private static let batchCount = 100

    private var orders: [SharedOrder] = []
    private var keyCount = 0
    /// True while some are on their way.
    private var isSending = false
    /// True from the first one to the last.
    private var isTold = false
    private var isFull = false

    /// Adds orders that were not confirmed.
    mutating func add(_ some: [SharedOrder]) -> [Notice] {
        insert(some, at: orders.count)
        defer { isTold = true }
        return (isTold ? [] : [.waits]) + dropSurplus()
    }

    /// Takes the oldest ones; none while others are on their way.
    mutating func take() -> [SharedOrder] {
        guard !isSending else { return [] }
        let taken = Array(orders.prefix(Self.batchCount))
        orders.removeFirst(taken.count)
        keyCount -= taken.reduce(0) { $0 + $1.keys.count }
        isSending = !taken.isEmpty
        return taken
    }

    /// Notes whether those that were taken have been confirmed; others wait on.
    mutating func end(_ taken: [SharedOrder], isConfirmed: Bool) -> [Notice] {
        isSending = false
        guard isConfirmed else {
            insert(taken, at: 0)
            return dropSurplus()
        }
        guard orders.isEmpty else { return [] }
        (isTold, isFull) = (false, false)
        return [.isOver]
    }

    private mutating func insert(_ some: [SharedOrder], at place: Int) {
        var some = some
        for index in some.indices {
            if keyCount + some[index].keys.count > Self.keysMax { some[index].keys = [] }
            keyCount += some[index].keys.count
        }
        orders.insert(contentsOf: some, at: place)
    }

    private mutating func dropSurplus() -> [Notice] {
        let surplus = orders.prefix(max(0, orders.count - Self.countMax))
        guard !surplus.isEmpty else { return [] }
        keyCount -= surplus.reduce(0) { $0 + $1.keys.count }
        orders.removeFirst(surplus.count)
        defer { isFull = true }
        return isFull ? [] : [.overflows]
    }
}
