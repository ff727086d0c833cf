package import Dictionaries

/// The requests that a route is for: one pattern, or several of which any may match.
package struct RouteMatch: Sendable {
    /// The most patterns of one route.
    static let countMax = 64

    /// The patterns as they were written, in order.
    package let patterns: [URLPattern]

    init(_ patterns: [URLPattern]) { self.patterns = patterns }

    /// The patterns as metrics, logs and reports name the route.
    var text: String { patterns.map(\.text).joined(separator: ", ") }

    /// The names of the groups that every pattern has.
    var groupNames: [String] {
        let others = patterns.dropFirst().map { Set($0.groupNames) }
        return patterns.first?.groupNames.filter { name in others.allSatisfy { $0.contains(name) } } ?? []
    }

    /// Returns the first pattern that matches a URL; the query is without its question mark.
    package func first(path: String, query: String?) -> URLPattern? {
        patterns.first { $0.matches(path: path, query: query) }
    }

    /// Returns true if it is plain that these patterns match all that the other ones do.
    func covers(_ other: RouteMatch) -> Bool {
        other.patterns.allSatisfy { pattern in patterns.contains { $0.covers(pattern) } }
    }
}
