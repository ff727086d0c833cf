internal import Primitives

/// Remembers when a message about each route was logged, so that reloads do not repeat it.
///
/// Safe from any thread.
final class RouteReminders: Sendable {
    /// The least time between two messages about a route.
    static let seconds = 3600
    static let milliseconds = Int64(1000 * seconds)
    /// The bound of the table, because each reload can bring other routes.
    private static let countMax = 4_000

    private let saidAt = Guarded<[String: Int]>([:])

    /// Takes the message about a route; returns true if it is due.
    func take(_ text: String, now: Int) -> Bool {
        saidAt.withLock { saidAt in
            if let last = saidAt[text], now - last < Self.seconds { return false }
            if saidAt.count >= Self.countMax { saidAt = saidAt.filter { now - $0.value < Self.seconds } }
            // If the table is full, repeat the message.
            if saidAt.count < Self.countMax { saidAt[text] = now }
            return true
        }
    }
}

/// Detects routes whose responses have many variants.
///
/// Safe from any thread. Memory is bounded, because clients can invent variants.
final class VariantCounts: Sendable {
    /// From this number on, responses hardly share dictionaries.
    static let many = 64
    private static let routesMax = 1_000

    private let variants = Guarded<[String: Set<Int>]>([:])

    /// Counts the variant of a version; returns true if its route has many.
    func record(_ variant: String, route: String) -> Bool {
        variants.withLock { variants in
            guard variants[route] != nil || variants.count < Self.routesMax else { return false }
            guard variants[route, default: []].count < Self.many else { return true }
            variants[route, default: []].insert(variant.hashValue)
            return false
        }
    }
}
