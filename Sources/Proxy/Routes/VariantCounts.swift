internal import Dictionaries
internal import Primitives

/// Detects routes whose responses have many variants.
///
/// Safe from any thread. Memory is bounded, because clients can invent variants.
final class VariantCounts: Sendable {
    /// From this number on, responses hardly share dictionaries.
    static let many = 64
    private static let routesMax = 1_000

    private let variants = Guarded<[String: Set<Int>]>([:])

    /// Counts the variant of a version; returns true if its route has many.
    func note(_ variant: String, route: String) -> Bool {
        variants.withLock { variants in
            guard variants[route] != nil || variants.count < Self.routesMax else { return false }
            guard variants[route, default: []].count < Self.many else { return true }
            variants[route, default: []].insert(variant.hashValue)
            return false
        }
    }
}
