internal import Dictionaries
internal import Primitives

/// Remembers when a message about each route was logged, so that reloads do not repeat it.
///
/// Safe from any thread.
final class RouteReminders: Sendable {
    /// The least time between two messages about a route.
    static let seconds = 3600
    /// The bound of the table, because each reload can bring other routes.
    private static let countMax = 4_000

    private let saidAt = Guarded<[String: Int]>([:])

    /// Returns true, and remembers the time, if the message about a route is due.
    func isDue(_ text: String, now: Int) -> Bool {
        saidAt.withLock { saidAt in
            if let last = saidAt[text], now - last < Self.seconds { return false }
            if saidAt.count >= Self.countMax { saidAt = saidAt.filter { now - $0.value < Self.seconds } }
            // If the table is full, repeat the message.
            if saidAt.count < Self.countMax { saidAt[text] = now }
            return true
        }
    }
}
