internal import Storage

/// An order to forget on its way to the other nodes.
struct SharedOrder: Sendable {
    /// The order, with at most as many users as an entry has room for.
    let order: PurgeOrder
    /// Its time by the monotonic clock, in milliseconds.
    let givenAt: Int64
}

/// The orders to forget that the shared store has not confirmed, until it does; a pure value.
struct WaitingOrders: Sendable {
    /// The news about them for the operator.
    enum Notice: Sendable, Equatable {
        /// Some wait, and none did before.
        case waits
        /// There are too many, and the oldest go, for the first time since some wait.
        case overflows
        /// None waits any more.
        case isOver
    }

    static let countMax = 10_000
    /// The number that is sent at a time, which the gate to the shared store always has room for.
    static let batchCount = 16

    private var orders: [SharedOrder] = []
    /// True while some are on their way.
    private var isSending = false
    /// True from the first one to the last.
    private var isTold = false
    private var isFull = false

    /// The number that waits, without those on their way.
    var count: Int { orders.count }

    /// Adds orders that were not confirmed.
    mutating func add(_ some: [SharedOrder]) -> [Notice] {
        orders += some
        return (exchange(&isTold, with: true) ? [] : [.waits]) + dropSurplus()
    }

    /// Takes the oldest ones; none while others are on their way.
    mutating func take() -> [SharedOrder] {
        guard !isSending else { return [] }
        let taken = Array(orders.prefix(Self.batchCount))
        orders.removeFirst(taken.count)
        isSending = !taken.isEmpty
        return taken
    }

    /// Notes whether those that were taken have been confirmed; others wait on.
    mutating func end(_ taken: [SharedOrder], isConfirmed: Bool) -> [Notice] {
        isSending = false
        guard isConfirmed else {
            orders.insert(contentsOf: taken, at: 0)
            return dropSurplus()
        }
        guard orders.isEmpty else { return [] }
        (isTold, isFull) = (false, false)
        return [.isOver]
    }

    private mutating func dropSurplus() -> [Notice] {
        guard orders.count > Self.countMax else { return [] }
        orders.removeFirst(orders.count - Self.countMax)
        return exchange(&isFull, with: true) ? [] : [.overflows]
    }
}
