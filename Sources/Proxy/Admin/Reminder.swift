internal import Synchronization

/// Limits how often a message is logged: at once the first time, then once a minute.
///
/// Safe from any thread.
final class Reminder: Sendable {
    private static let milliseconds: Int64 = 60_000

    /// The time from which the message may be logged again.
    private let next = Atomic<Int64>(.min)

    /// Returns true, and starts the next minute, if the message is due.
    ///
    /// - Parameter now: milliseconds of a monotonic clock.
    func take(now: Int64) -> Bool {
        let due = next.load(ordering: .relaxed)
        guard now >= due else { return false }
        let later = now + Self.milliseconds
        return next.compareExchange(expected: due, desired: later, ordering: .relaxed).exchanged
    }
}
