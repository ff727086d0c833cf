internal import Synchronization

/// The number of open client connections, over all loops.
package final class ConnectionCount: Sendable {
    /// The maximum number of connections that get a refusal in words.
    ///
    /// Further ones are closed at once, so that they take no descriptors from served clients.
    package static let refusedMax = 32

    private let value = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)

    package init() {}

    package var current: Int { value.load(ordering: .relaxed) }

    /// Counts one more connection; returns false if there are `limit` already.
    func enter(limit: Int) -> Bool {
        if value.add(1, ordering: .relaxed).newValue <= limit { return true }
        leave()
        return false
    }

    func leave() {
        value.subtract(1, ordering: .relaxed)
    }

    /// Counts one more refusal in words; returns false if there are too many.
    func enterRefused() -> Bool {
        if refused.add(1, ordering: .relaxed).newValue <= Self.refusedMax { return true }
        leaveRefused()
        return false
    }

    func leaveRefused() {
        refused.subtract(1, ordering: .relaxed)
    }
}
