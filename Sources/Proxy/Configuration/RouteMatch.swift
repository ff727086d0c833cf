package import Dictionaries

/// The requests of a route: those that any of its patterns match.
package struct RouteMatch: Sendable {
    /// The maximum number of patterns per route.
    static let countMax = 64

    /// The patterns in their order.
    package let patterns: [URLPattern]

    init(_ patterns: [URLPattern]) { self.patterns = patterns }

    /// The name of the route in metrics, logs and reports.
    var text: String { patterns.map(\.text).joined(separator: ", ") }

    /// The names of the groups that all patterns have in common.
    var groupNames: [String] {
        let others = patterns.dropFirst().map { Set($0.groupNames) }
        return patterns.first?.groupNames.filter { name in others.allSatisfy { $0.contains(name) } } ?? []
    }

    /// Returns the first pattern that matches a URL; the query is without its question mark.
    package func first(path: String, query: String?) -> URLPattern? {
        patterns.first { $0.matches(path: path, query: query) }
    }

    /// Returns true if these patterns certainly match everything that the others match.
    func covers(_ other: RouteMatch) -> Bool {
        other.patterns.allSatisfy { pattern in patterns.contains { $0.covers(pattern) } }
    }
}
