internal import Dictionaries

/// When something was said of a route last, by its text: a reload makes other routes, but is no reason to say it again.
///
/// Safe from any thread.
final class RouteReminders: Sendable {
    /// At the most so often is it said.
    static let seconds = 3600
    /// Reloads with other routes each could go on for ever.
    private static let countMax = 4_000

    private let saidAt = Guarded<[String: Int]>([:])

    /// Whether it is time to say it of a route, and notes that it is said now; linear once there are very many.
    func isDue(_ text: String, now: Int) -> Bool {
        saidAt.withLock { saidAt in
            if let last = saidAt[text], now - last < Self.seconds { return false }
            if saidAt.count >= Self.countMax { saidAt = saidAt.filter { now - $0.value < Self.seconds } }
            // Of what has no place it is said too often rather than never.
            if saidAt.count < Self.countMax { saidAt[text] = now }
            return true
        }
    }
}
