internal import Primitives

/// Limits how often messages about a route are logged; reloads keep it.
final class RouteReminders: Sendable {
    private static let hour: Int64 = 3_600_000

    /// The warning that clients do not keep the route's offers.
    let unkept = Reminder(milliseconds: RouteReminders.hour)
    /// The hint at an obstacle to deltas.
    let hint = Reminder(milliseconds: RouteReminders.hour)
    /// The warning about Links that no browser follows.
    let link = Reminder(milliseconds: RouteReminders.hour)
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
