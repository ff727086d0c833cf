internal import Synchronization

/// How many client connections are open, counted by all loops together.
package final class ConnectionCount: Sendable {
    /// Connections beyond the limit that get a word before they are closed; further ones are closed at once, so that
    /// they take no descriptors from those who are served.
    package static let refusedMax = 32

    private let value = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)

    package init() {}

    package var current: Int { value.load(ordering: .relaxed) }

    /// Counts one more, unless there are `limit` already.
    func enter(limit: Int) -> Bool {
        if value.add(1, ordering: .relaxed).newValue <= limit { return true }
        leave()
        return false
    }

    func leave() {
        value.subtract(1, ordering: .relaxed)
    }

    /// Counts one more that is refused with a word, unless there are enough of them.
    func enterRefused() -> Bool {
        if refused.add(1, ordering: .relaxed).newValue <= Self.refusedMax { return true }
        leaveRefused()
        return false
    }

    func leaveRefused() {
        refused.subtract(1, ordering: .relaxed)
    }
}
