internal import Dictionaries
internal import Proxy

struct RouteSuggestion: Encodable, Sendable {
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

    static func all(
        of estimates: [(history: ResourceHistory, estimate: ResourceEstimate)],
        _ measurement: CodingMeasurement
    ) -> [RouteSuggestion] {
        let groups = Dictionary(grouping: estimates) { item in
            let url = item.history.url
            return [item.history.isReal ? url.origin : "", PathShape.pattern(of: url.path)]
        }
        return groups.sorted {
            ($0.key[0], $0.value[0].history.name) < ($1.key[0], $1.value[0].history.name)
        }
        .compactMap { key, items in
            RouteSuggestion(origin: key[0], match: key[1], items, measurement)
        }
    }

    /// Judges the URLs of one pattern by their histories.
    private init?(
        origin: String, match: String,
        _ items: [(history: ResourceHistory, estimate: ResourceEstimate)], _ measurement: CodingMeasurement
    ) {
        let usable = items.filter { $0.estimate.obstacle == nil }
        guard !usable.isEmpty else { return nil }
        var evidence = Evidence(origin: origin, match: match, urls: items.count)
        for nearest in usable.compactMap(\.estimate.nearest) {
            evidence.own.add(deltaBytes: nearest.dcz.bytes, plainBytes: nearest.plainBytes)
        }
        evidence.others = Self.sizesAcross(usable.map(\.history), measurement)
        evidence.isOnePath = Set(usable.map(\.history.url.path)).count == 1
        evidence.methods = Set(usable.map(\.history.method))
        evidence.key = Set(usable.flatMap(\.history.operationKey))
        evidence.hasAuthorization = usable.contains { $0.history.credentials.contains(.authorization) }
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
        var (own, others) = (DeltaSizes(), DeltaSizes())
        var isOnePath = true
        var hasAuthorization = false
        /// The methods of the requests, and the members that name operations.
        var (methods, key): (Set<String>, Set<String>) = ([], [])
        /// The times for which browsers keep responses, in seconds.
        var lives: [Int] = []
        /// The names of the doctor's findings.
        var findings: Set<String> = []

        init(origin: String, match: String, urls: Int) {
            (self.origin, self.match, self.urls) = (origin, match, urls)
        }

        /// The only path; nil if the match is a pattern.
        var path: String? {
            (try? URLPattern(match))?.isLiteral == true ? URLPattern.unescaped(match) : nil
        }

        /// False if no request was a GET, for which alone there are twin URLs and pages that announce.
        var hasGET: Bool { methods.isEmpty || methods.contains("GET") }
    }

    /// Judges the URLs of one pattern; nil if too little was seen.
    init?(_ evidence: Evidence) {
        guard evidence.own.count + evidence.others.count > 0 else { return nil }
        origin = evidence.origin
        match = evidence.match
        urls = evidence.urls
        methods = evidence.methods.contains("POST") ? ["GET", "QUERY", "POST"] : []
        key = evidence.key.sorted()
        (use, reasons) = Self.use(own: evidence.own, others: evidence.others, isOnePath: evidence.isOnePath)
        (considered, page) = use == .off ? ([], []) : Self.considered(evidence)
    }

    /// Returns the average sizes of deltas over the body of another URL; none for a single URL.
    private static func sizesAcross(
        _ histories: [ResourceHistory], _ measurement: CodingMeasurement
    ) -> DeltaSizes {
        let bodies = histories.compactMap(\.versions.last)
        let pairs = zip(bodies, bodies.dropFirst()).filter { $0.digest != $1.digest }
        guard !pairs.isEmpty else { return DeltaSizes() }
        return DeltaSizes(
            count: 1, deltaBytes: measurement.averageBytes(of: pairs),
            plainBytes: measurement.bestPlainBytes(pairs.map(\.1)))
    }

    private static func use(own: DeltaSizes, others: DeltaSizes, isOnePath: Bool) -> (Use, [String]) {
        var reasons: [String] = []
        for (name, sizes) in [("version before", own), ("body of another URL", others)] where sizes.count > 0
        {
            reasons.append(
                "over the \(name): \(OutputFormat.grouped(sizes.meanDeltaBytes)) bytes (dcz) instead of "
                    + "\(OutputFormat.grouped(sizes.meanPlainBytes)) in the best other coding, "
                    + EstimateText.change(saved: sizes.savedShare ?? 0))
        }
        let othersSaved = others.savedShare ?? 0
        guard max(own.savedShare ?? 0, othersSaved) >= leastSaved else {
            return (.off, reasons + ["deltas save too little here, so the responses are only compressed"])
        }
        guard others.count > 0 else { return (.path, reasons) }
        let areOthersAsGood =
            own.count > 0
            ? Double(others.meanDeltaBytes) <= othersMost * Double(own.meanDeltaBytes)
            : othersSaved >= othersSavedLeast
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
        let findings = evidence.findings
        guard let life = evidence.lives.min(), life < Int(ResponseJudgement.shortLifeSeconds) else {
            return ([], [])
        }
        var lines = ["Browsers keep this dictionary for \(life) s, so pages get few deltas."]
        let path = evidence.path
        let line = TwinLine(path: path ?? TwinLine.anyPath, hasAuthorization: evidence.hasAuthorization)
        if !evidence.hasGET {
            lines.append("If everybody gets the same responses: cache_control: \"public, max-age=86400\"")
        } else if findings.contains("needs-twin") {
            lines += ["The responses belong to one user each. On the page that fetches them:", line.text]
        } else if findings.contains("not-announceable") {
            lines.append(
                "If everybody gets the same responses, and pages call fetch(url, {cache: \"no-cache\"}):")
            lines.append("cache_control: \"public, max-age=86400\"")
            lines.append("If they belong to users who are logged in, on the page that fetches them:")
            lines.append(line.text)
        } else if let path {
            lines.append(
                "Announce it on the route of the page that fetches it, such as this one of the page /:")
            return (lines, ["- match: \"/\"", "  announce: [\(EstimateText.quoted(path))]"])
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
    /// The same with exact paths first and patterns of any length last, since `serve` takes the first route that matches.
    var exactFirst: [RouteSuggestion] { sorted { Self.width(of: $0) < Self.width(of: $1) } }

    private static func width(of route: RouteSuggestion) -> Int {
        if (try? URLPattern(route.match))?.isLiteral == true { return 0 }
        return route.match.contains("*") ? 2 : 1
    }
}
