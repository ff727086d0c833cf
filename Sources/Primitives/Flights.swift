/// Callers that wait for the same work, so that it is done once for all of them.
///
/// A value behind its owner's lock: whoever is first does the work, and calls those who wait outside the lock.
package struct Flights<Key: Hashable & Sendable, Waiter: Sendable>: Sendable {
    package enum Turn: Sendable {
        /// The caller does the work, and lands it.
        case first
        case waits
        /// Too many wait already.
        case refused
    }

    private var waiting: [Key: [Waiter]] = [:]
    private let worksMax: Int
    private let waitersMax: Int

    /// - Parameters:
    ///   - worksMax: The bound on different works under way.
    ///   - waitersMax: The bound on those who wait for one of them, the first included, who does the work.
    package init(worksMax: Int, waitersMax: Int) {
        (self.worksMax, self.waitersMax) = (worksMax, waitersMax)
    }

    package var isEmpty: Bool { waiting.isEmpty }
    package var hasRoom: Bool { waiting.count < worksMax }

    package func isUnderWay(_ key: Key) -> Bool { waiting[key] != nil }

    package mutating func join(_ key: Key, _ waiter: Waiter) -> Turn {
        guard let waiters = waiting[key]?.count else {
            guard hasRoom else { return .refused }
            waiting[key] = [waiter]
            return .first
        }
        guard waiters < waitersMax else { return .refused }
        waiting[key]?.append(waiter)
        return .waits
    }

    /// Ends a work, and returns all who wait for it, in their order.
    package mutating func land(_ key: Key) -> [Waiter] { waiting.removeValue(forKey: key) ?? [] }
}
