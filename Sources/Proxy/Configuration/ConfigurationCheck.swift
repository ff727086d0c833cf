internal import Dictionaries
package import Foundation

/// The output of `dictum check` for a valid configuration: its routes, and examples for templates.
package struct ConfigurationCheck: Sendable, Encodable {
    struct Route: Sendable, Encodable {
        let match: String
        let covers: String
        var upstream: String?
        var stripPrefix: String?
        var mode: String?
        var delivery: String?
        var scope: String?
        /// The time for which clients may use a dictionary.
        var life: String?
        /// The behaviour of Chromium, as far as the settings determine it.
        var browsers: String?
        let examples: [Example]
    }

    /// A URL that a route matches, and the `match` of the chain that its responses join.
    struct Example: Sendable, Encodable, Equatable {
        let url: String
        let chain: String
    }

    private let valid = true
    let routes: [Route]
    let warnings: [ConfigurationError.Problem]

    package init(_ configuration: Configuration) {
        warnings = configuration.warnings
        routes = configuration.routes.map { route in
            guard configuration.dictionariesOn, let policy = route.dictionary else {
                let covers = configuration.dictionariesOn ? "off" : "off (dictionaries: off)"
                return Route(
                    match: route.text, covers: covers, upstream: route.upstream,
                    stripPrefix: route.stripPrefix?.text, examples: [])
            }
            var examples: [Example] = []
            if case .template(let template) = policy.covers {
                examples = Self.examples(of: route, policy, template)
            }
            let personal = policy.personal ?? configuration.personal
            return Route(
                match: route.text, covers: policy.coversText, upstream: route.upstream,
                stripPrefix: route.stripPrefix?.text,
                mode: configuration.observes(route) ? "observe: nothing of it is sent" : nil,
                delivery: Self.delivery(policy), scope: Self.scope(policy, personal),
                life: Self.life(policy), browsers: Self.browsers(policy, personal), examples: examples)
        }
    }

    private static func examples(
        of route: RouteConfiguration, _ policy: DictionaryPolicy, _ template: Template
    ) -> [Example] {
        let urls = route.match.patterns.flatMap {
            Self.urls(of: $0, keeping: { template.text.contains("<\($0)>") })
        }
        return urls.compactMap { url in
            let parts = PathAndQuery(url)
            guard let pattern = route.match.first(parts) else { return nil }
            return policy.covers.matchValue(for: parts, route: pattern).map { Example(url: url, chain: $0) }
        }
    }

    /// Returns three URLs: two that differ only in the groups that are not kept, and one that differs in the others.
    private static func urls(of pattern: URLPattern, keeping isKept: (String) -> Bool) -> [String] {
        var urls: [String] = []
        for (kept, other) in [("one", "1a2b"), ("one", "3c4d"), ("two", "1a2b")] {
            let url = pattern.example { isKept($0) ? kept : other }
            if !urls.contains(url) { urls.append(url) }
        }
        return urls
    }

    /// The result for people, one fact per line.
    package var lines: [String] {
        ["the configuration is valid"]
            + routes.flatMap { route in
                let isTemplate = route.covers.hasPrefix("/")
                let none = ["  no example; try URLs of your own"]
                let examples = route.examples.map { "  \($0.url) joins \($0.chain)" }
                let outlook = [
                    ("upstream", route.upstream), ("strip_prefix", route.stripPrefix),
                    ("mode", route.mode), ("delivery", route.delivery), ("scope", route.scope),
                    ("life", route.life), ("browsers", route.browsers),
                ].compactMap { name, text in text.map { "  \(name): \($0)" } }
                return ["route \(route.match) covers \(route.covers)"] + outlook
                    + (isTemplate && examples.isEmpty ? none : examples)
            }
    }

    package var json: String { JSONEncoder.line(self, keys: .useDefaultKeys) ?? "{}" }

    /// Returns the errors of an invalid configuration for programs.
    package static func json(of error: ConfigurationError) -> String {
        struct Report: Encodable {
            let valid = false
            let problems: [ConfigurationError.Problem]
        }
        return JSONEncoder.line(Report(problems: error.problems), keys: .useDefaultKeys) ?? "{}"
    }
}

extension JSONEncoder {
    /// Returns a value as JSON on one line, with keys in snake case by default; nil if it has a number that is not finite.
    package static func line(
        _ value: some Encodable, keys: KeyEncodingStrategy = .convertToSnakeCase
    ) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = keys
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }
}

// The effect of a route's settings on clients, as far as it is known in advance.
extension ConfigurationCheck {
    private static func scope(_ policy: DictionaryPolicy, _ personal: RoutePolicy.PersonalUse) -> String {
        switch (policy.scope, personal) {
        case (.private, _): "private: every response belongs to the user whom identity names"
        case (.public, .off): "public; a response that belongs to one user is no dictionary"
        case (.public, .capability):
            "public; a response that belongs to one user is a dictionary for its client only"
        }
    }

    private static func delivery(_ policy: DictionaryPolicy) -> String {
        // Links never name private chains.
        (policy.scope == .public ? policy.delivery : .inBand).rawValue
    }

    private static func life(_ policy: DictionaryPolicy) -> String {
        let days = Quantity.duration
        if policy.scope == .public, policy.delivery == .link {
            return "\(days.text(of: policy.linkMaxAge)) (link_max_age)"
        }
        if let value = policy.cacheControl {
            return "\(usableSeconds(value)) s (cache_control: \"\(value)\")"
        }
        let own = policy.ttl.map { "; \(days.text(of: $0)) for clients that know ttl" } ?? ""
        return "as long as the upstream's response is fresh" + own
    }

    private static func browsers(_ policy: DictionaryPolicy, _ personal: RoutePolicy.PersonalUse) -> String {
        if policy.scope == .public, policy.delivery == .link {
            return "follow Links of documents only: fetch() gets no delta"
        }
        guard let value = policy.cacheControl else {
            let script = "include /.dictum/own.js on the pages of users who are logged in"
            let shared = "announce the path on the pages that fetch it, or set cache_control"
            let remedy =
                switch (policy.scope, personal) {
                case (.private, _): script
                case (.public, .off): shared
                case (.public, .capability): "\(shared); for those of one user, \(script)"
                }
            return """
                keep no response with no-store, no-cache, max-age=0 or without a lifetime; for such responses, \(remedy) (see \
                BROWSERS.md)
                """
        }
        guard usableSeconds(value) > 0 else {
            return "keep nothing: cache_control gives responses no lifetime"
        }
        return """
            keep each response for that time; fetch(url, {cache: "no-cache"}) then gets a delta, while a plain fetch() \
            reads the browser's own cache
            """
    }

    private static func usableSeconds(_ value: String) -> Int64 {
        let freshness = Freshness(cacheControl: CacheControl([value]), receivedAt: 0)
        return max(0, freshness.remainingSeconds(at: 0))
    }
}
