internal import Synchronization

/// Limits how often something is said: the first time at once, and then once a minute.
///
/// Safe from any thread.
final class Reminder: Sendable {
    private static let milliseconds: Int64 = 60_000

    /// When it may be said again.
    private let next = Atomic<Int64>(.min)

    /// Returns true if it is time to say it, and takes it as said.
    ///
    /// `now` is in milliseconds of a clock that only grows.
    func take(now: Int64) -> Bool {
        let due = next.load(ordering: .relaxed)
        guard now >= due else { return false }
        let later = now + Self.milliseconds
        return next.compareExchange(expected: due, desired: later, ordering: .relaxed).exchanged
    }
}
