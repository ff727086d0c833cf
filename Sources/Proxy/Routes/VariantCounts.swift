internal import Dictionaries

/// The variants of the responses of each route, counted as far as it takes to tell that there are many.
///
/// Safe from any thread, and bounded: a client can make up variants as it likes.
final class VariantCounts: Sendable {
    /// With more of them hardly any is shared.
    static let many = 64
    private static let routesMax = 1_000

    private let variants = Guarded<[String: Set<Int>]>([:])

    /// Notes the variant of a version, and returns true where its route has many.
    func note(_ variant: String, route: String) -> Bool {
        variants.withLock { variants in
            guard variants[route] != nil || variants.count < Self.routesMax else { return false }
            guard variants[route, default: []].count < Self.many else { return true }
            variants[route, default: []].insert(variant.hashValue)
            return false
        }
    }
}
