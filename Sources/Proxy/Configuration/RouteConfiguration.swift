package import Dictionaries
package import HTTP

/// A route: the requests it is for, and its use of dictionaries.
package struct RouteConfiguration: Sendable {
    /// The requests it is for; without patterns until it has been read.
    package var match: RouteMatch
    package var hosts: HostPatterns?
    package var upstream: String?
    package var stripPrefix: PathPrefix?
    package var headers = HeaderSettings()
    package var limits = Limits()
    /// The name of the route in metrics, logs and reports: its hosts and its match.
    package var text: String { (hosts?.text ?? "") + match.text }
    package var announcement: Announcement?
    package var priority: Priority?
    package var requests = Requests.pass
    package var mode: Configuration.Mode?
    package var dictionary: DictionaryPolicy?
    /// True for the default route: it accepts any path, so its chains start on probation.
    var isImplied = false

    package enum Requests: Sendable {
        /// They go to the upstream as they come.
        case pass
        /// They may be coded over dictionaries that were offered.
        case dictionary
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

    /// Returns true if the route is certainly for every request that another one is for.
    func covers(_ other: RouteConfiguration) -> Bool {
        guard match.covers(other.match) else { return false }
        guard let hosts else { return true }
        return other.hosts.map(hosts.covers) ?? false
    }

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

    package let patterns: [URLPattern]

    init(_ patterns: [URLPattern]) { self.patterns = patterns }

    var text: String { patterns.map(\.text).joined(separator: ", ") }

    var groupNames: [String] {
        let others = patterns.dropFirst().map { Set($0.groupNames) }
        return patterns.first?.groupNames.filter { name in others.allSatisfy { $0.contains(name) } } ?? []
    }

    /// Returns the first pattern that matches a URL; the query is without its question mark.
    package func first(_ url: PathAndQuery) -> URLPattern? {
        patterns.first { $0.matches(path: url.path, query: url.query) }
    }

    /// True if one of the patterns certainly matches every path.
    var isEverything: Bool { covers(RouteConfiguration.implied.match) }

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
            "host", \.hosts, .hosts, example: "api.example.com",
            """
            The host of the requests, without its port and in any case, or a list of hosts. *.example.com stands for all names \
            below example.com. The order of the routes counts, not how exact their hosts are. Without it, the route is for \
            every host.
            """),
        .value(
            "upstream", \.upstream, .optional(.upstreamName), example: "shop",
            "The upstream, by its name in upstreams. Without it, the setting upstream."),
        .value(
            "strip_prefix", \.stripPrefix, .optional(.pathPrefix), example: "/api",
            """
            The start of the path that the upstream does not get: with /api, it gets /api/feed as /feed, and X-Forwarded-Prefix. \
            Dictionaries, logs and limits go by the client's path.
            """),
        .section(
            "headers", \.headers, routeHeaders,
            """
            Fields to set and remove. Fields of one connection, those that frame or describe a body, and those that Dictum sets \
            itself are refused. Values may contain ${NAME}.
            """),
        .section("limits", \.limits, routeLimits, "Limits of this route."),
        .value(
            "announce", \.announcementInUse, .announcement, example: "[/api/feed]",
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
        .value(
            "requests", \.requests, .choice(["pass": .pass, "dictionary": .dictionary]),
            """
            dictionary: clients may code the body of a request in dcz, over a dictionary that they were offered for its URL. \
            Dictum decodes it for the upstream, and announces this by Accept-Encoding in responses. request_body limits both \
            forms. pass: bodies go to the upstream as they come.
            """),
        .value(
            "mode", \.mode, .optional(.mode), example: "observe",
            "Overrides the top-level setting mode for this route."),
        .sectionOrOff(
            "dictionary", \.dictionary, dictionary, fresh: DictionaryPolicy(),
            "The use of dictionaries on this route. on: the defaults; off: none, and those of the upstream pass."
        ),
    ]
}
