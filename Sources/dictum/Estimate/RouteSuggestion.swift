internal import Dictionaries

/// A route that the estimate suggests, with its reasons.
struct RouteSuggestion: Encodable, Sendable {
    /// The use of dictionaries.
    enum Use: String, Encodable, Sendable {
        case path, url, pattern
        /// Deltas are hardly smaller, so the route has none.
        case off
    }

    let origin: String
    let match: String
    let use: Use
    /// The number of URLs that were seen.
    let urls: Int
    let reasons: [String]
    /// The methods beyond GET and QUERY, and the members that name operations, for `methods` and `key`.
    let methods: [String]
    let key: [String]
    /// Settings of the dictionary to consider, which the operator must decide on; they are comments in the YAML.
    let considered: [String]
    /// A route to consider, for the page that announces the dictionary; its lines are comments in the YAML.
    let page: [String]

    /// The share of bytes that a delta must save against the best other coding.
    static let leastSaved = 0.1
    /// A dictionary of another URL is as good as one of the same if its deltas are at most so many times larger.
    private static let othersMost = 1.5
    private static let othersSavedLeast = 0.25

    /// Suggests routes for all URLs, the more exact patterns first, as `serve` reads them.
    static func all(
        of estimates: [(history: ResourceHistory, estimate: ResourceEstimate)],
        _ measurement: CodingMeasurement
    ) -> [RouteSuggestion] {
        struct Key: Hashable {
            let origin: String
            let match: String
        }
        var groups: [Key: [(history: ResourceHistory, estimate: ResourceEstimate)]] = [:]
        for item in estimates {
            let key = Key(
                origin: item.history.isReal ? item.history.url.origin : "",
                match: PathShape.pattern(of: item.history.url.path))
            groups[key, default: []].append(item)
        }
        return groups.sorted {
            ($0.key.origin, $0.value[0].history.name) < ($1.key.origin, $1.value[0].history.name)
        }
        .compactMap { key, items in
            RouteSuggestion(origin: key.origin, match: key.match, items, measurement)
        }
        .exactFirst
    }

    /// Judges the URLs of one pattern by their histories.
    private init?(
        origin: String, match: String,
        _ items: [(history: ResourceHistory, estimate: ResourceEstimate)], _ measurement: CodingMeasurement
    ) {
        let usable = items.filter { $0.estimate.obstacle == nil }
        guard !usable.isEmpty else { return nil }
        var evidence = Evidence(origin: origin, match: match, urls: items.count)
        evidence.own = Sizes(
            usable.compactMap { $0.estimate.nearest.map { Sizes($0.dcz.bytes, $0.plainBytes) } })
        evidence.others = Self.sizesAcross(usable.map(\.history), measurement)
        evidence.isOnePath = Set(usable.map(\.history.url.path)).count == 1
        evidence.methods = Set(usable.map(\.history.method))
        evidence.key = Set(usable.flatMap(\.history.operationKey))
        evidence.lives = usable.compactMap { $0.estimate.browser?.keepsSeconds }
        evidence.findings = Set(usable.flatMap { $0.estimate.browser?.findings.map(\.finding) ?? [] })
        self.init(evidence)
    }

    /// What is known of the URLs of one pattern.
    struct Evidence {
        let origin: String
        let match: String
        /// The number of URLs that were seen.
        let urls: Int
        /// The sizes over the version before, and over the body of another URL.
        var own: Sizes?
        var others: Sizes?
        var isOnePath = true
        /// The methods of the requests, and the members that name operations.
        var (methods, key): (Set<String>, Set<String>) = ([], [])
        /// The times for which browsers keep responses, in seconds.
        var lives: [Int] = []
        /// The names of the doctor's findings.
        var findings: Set<String> = []

        init(origin: String, match: String, urls: Int) {
            (self.origin, self.match, self.urls) = (origin, match, urls)
        }
    }

    /// Judges the URLs of one pattern; nil if too little was seen.
    init?(_ evidence: Evidence) {
        guard evidence.own != nil || evidence.others != nil else { return nil }
        origin = evidence.origin
        match = evidence.match
        urls = evidence.urls
        methods = evidence.methods.contains("POST") ? ["GET", "QUERY", "POST"] : []
        key = evidence.key.sorted()
        (use, reasons) = Self.use(own: evidence.own, others: evidence.others, isOnePath: evidence.isOnePath)
        (considered, page) = use == .off ? ([], []) : Self.considered(evidence)
    }

    /// The average sizes of deltas, and of the same bodies in the best other coding.
    struct Sizes {
        let delta: Int
        let plain: Int

        init(_ delta: Int, _ plain: Int) { (self.delta, self.plain) = (delta, plain) }

        init?(_ all: [Sizes]) {
            guard !all.isEmpty else { return nil }
            delta = all.reduce(0) { $0 + $1.delta } / all.count
            plain = all.reduce(0) { $0 + $1.plain } / all.count
        }

        var saved: Double { 1 - Double(delta) / Double(max(1, plain)) }

        var text: String {
            "\(OutputFormat.grouped(delta)) bytes (dcz) instead of \(OutputFormat.grouped(plain)) in the best other coding, "
                + EstimateText.percent(max(0, saved)) + " less"
        }
    }

    /// Returns the sizes of deltas over the body of another URL; nil for a single URL.
    private static func sizesAcross(_ histories: [ResourceHistory], _ measurement: CodingMeasurement)
        -> Sizes?
    {
        let bodies = histories.compactMap(\.versions.last)
        let pairs = zip(bodies, bodies.dropFirst()).filter { $0.digest != $1.digest }
        guard !pairs.isEmpty else { return nil }
        return Sizes(measurement.averageBytes(of: pairs), measurement.bestPlainBytes(pairs.map(\.1)))
    }

    private static func use(own: Sizes?, others: Sizes?, isOnePath: Bool) -> (Use, [String]) {
        var reasons: [String] = []
        if let own { reasons.append("over the version before: \(own.text)") }
        if let others { reasons.append("over the body of another URL: \(others.text)") }
        let best = max(own?.saved ?? 0, others?.saved ?? 0)
        guard best >= leastSaved else {
            return (.off, reasons + ["deltas save too little here, so the responses are only compressed"])
        }
        guard let others else { return (.path, reasons) }
        let areOthersAsGood =
            own.map { Double(others.delta) <= othersMost * Double($0.delta) }
            ?? (others.saved >= othersSavedLeast)
        switch (areOthersAsGood, isOnePath) {
        case (true, true):
            return (.path, reasons + ["one dictionary serves all queries"])
        case (true, false):
            return (.pattern, reasons + ["one dictionary serves all URLs of the pattern"])
        case (false, true):
            return (.url, reasons + ["each query keeps its own dictionary, which is better than another's"])
        case (false, false):
            return (.path, reasons + ["each path keeps its own dictionary, which is better than another's"])
        }
    }

    /// Returns the settings that make browsers keep the dictionary, and the route of a page.
    private static func considered(_ evidence: Evidence) -> ([String], page: [String]) {
        let (match, findings) = (evidence.match, evidence.findings)
        guard let life = evidence.lives.min(), life < Int(ResponseJudgement.shortLifeSeconds) else {
            return ([], [])
        }
        var lines = ["Browsers keep this dictionary for \(life) s, so pages get few deltas."]
        if findings.contains("not-announceable") {
            lines.append(
                "If everybody gets the same responses, and pages call fetch(url, {cache: \"no-cache\"}):")
            lines.append("cache_control: \"public, max-age=86400\"")
            lines.append("If they belong to users who are logged in, on the page that fetches them:")
            lines.append(TwinLine(path: match, hasAuthorization: false).text)
        } else if !match.contains("/:") {
            lines.append(
                "Announce it on the route of the page that fetches it, such as this one of the page /:")
            return (lines, ["- match: \"/\"", "  announce: [\(EstimateText.quoted(match))]"])
        } else {
            lines.append("If pages call fetch(url, {cache: \"no-cache\"}):")
            lines.append("cache_control: \"max-age=86400\"")
        }
        return (lines, [])
    }

    /// Returns the routes of one origin as YAML; every reason is a comment.
    static func yaml(_ routes: [RouteSuggestion]) -> String {
        guard !routes.isEmpty else { return "" }
        var lines = ["routes:"]
        for route in routes {
            let seen = route.urls > 1 ? ["\(route.urls) URLs"] : []
            lines += (seen + route.reasons).map { "  # \(OutputFormat.plain($0))" }
            lines.append("  - match: \(EstimateText.quoted(route.match))")
            if route.use == .off {
                lines.append("    dictionary: off")
                continue
            }
            lines += ["    dictionary:", "      covers: \(route.use.rawValue)"]
            for (name, values) in [("methods", route.methods), ("key", route.key)] where !values.isEmpty {
                lines.append("      \(name): [\(values.joined(separator: ", "))]")
            }
            lines += route.considered.map { "      # \(OutputFormat.plain($0))" }
            lines += route.page.map { "  # \(OutputFormat.plain($0))" }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension [RouteSuggestion] {
    /// The same with patterns after exact paths, as `serve` reads them.
    var exactFirst: [RouteSuggestion] {
        sorted { first, second in
            let (one, other) = (first.match.contains("/:"), second.match.contains("/:"))
            return first.origin == second.origin && one != other && other
        }
    }
}
