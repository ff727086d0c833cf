package import Dictionaries
package import HTTP

/// A route: the requests it is for, and its use of dictionaries.
package struct RouteConfiguration: Sendable {
    /// The requests it is for; without patterns until it has been read.
    package var match: RouteMatch
    /// The name of the route in metrics, logs and reports.
    package var text: String { match.text }
    /// The dictionaries of other paths that its documents announce; nil for the default.
    package var announcement: Announcement?
    /// The parameters that its responses' priorities have, whatever client and upstream say; nil for none.
    package var priority: Priority?
    /// The use of dictionaries; nil if they are off.
    package var dictionary: DictionaryPolicy?
    /// True for the default route: it accepts any path, so its chains start on probation.
    var isImplied = false

    /// Makes a route.
    init(match: RouteMatch, dictionary: DictionaryPolicy?) {
        self.match = match
        self.dictionary = dictionary
    }

    /// The default route: everything, with each path a dictionary for itself.
    package static let implied = {
        var policy = DictionaryPolicy()
        policy.delivery = .inBand
        var route = RouteConfiguration(match: RouteMatch([everything]), dictionary: policy)
        route.isImplied = true
        route.announcement = .off
        return route
    }()

    /// The starting point of a configured route.
    static let fresh = RouteConfiguration(match: RouteMatch([]), dictionary: DictionaryPolicy())

    private static let everything: URLPattern = {
        do {
            return try URLPattern("/*")
        } catch {
            preconditionFailure("/* is a pattern: \(error)")
        }
    }()
}

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

extension Settings {
    static let route: [Setting<RouteConfiguration>] = [
        .value(
            "match", \.match, .routeMatch, required: true, example: "/*",
            """
            A URL Pattern for the whole path; it begins with /, and /api/* matches everything below /api/. Without a search \
            part it matches any query. Or a list of patterns, such as ["/v1/*", "/v2/*"], any of which may match. Regular \
            expressions are not allowed.
            """),
        .value(
            "announce", \.announcement, .announcement, example: "[/api/feed]",
            """
            The dictionaries of other paths that documents of this route announce by Link, at most four per document. auto: \
            those of public paths that clients fetch after the document, as long as that saves bytes; nothing if dictionary is \
            off. A list: the dictionaries of these paths.
            """),
        .value(
            "priority", \.priority, .optional(.priority), example: "interactive",
            """
            The order of this route's responses on an HTTP/2 connection, in place of what the client and the upstream say \
            (RFC 9218). interactive is urgency 1, background 5 and bulk 7; a client's default is 3. Responses carry it as \
            Priority, for proxies before this one.
            """),
        .sectionOrOff(
            "dictionary", \.dictionary, dictionary, fresh: DictionaryPolicy(),
            "The use of dictionaries on this route. on: the defaults; off: none, and those of the upstream pass."
        ),
    ]
}
