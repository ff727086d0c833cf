internal import Dictionaries
internal import Foundation
internal import Proxy
internal import Storage
internal import TestSupport
internal import Testing

@testable internal import dictum

/// The routes that `dictum estimate` suggests.
@Suite(.timeLimit(.minutes(40))) struct EstimateRouteTests {
    /// Returns the suggestions for a HAR file; the configuration of each origin must be valid.
    private func suggestions(_ entries: [ArchiveEntry]) throws -> [Estimating.Routes] {
        let folder = try TemporaryFolder()
        try ArchiveEntry.write(entries, to: folder)
        let suggestions = try Estimating.of("\(folder.path)/session.har").suggestions
        for suggestion in suggestions { try Estimating.check(suggestion.yaml) }
        return suggestions
    }

    /// Returns bodies without anything in common.
    private func noise(_ number: Int) -> [UInt8] {
        var random = SplitMix(seed: UInt64(number))
        return Array("\"\((0..<400).map { _ in String(random.next(), radix: 36) }.joined())\"".utf8)
    }

    @Test func `URLs that differ in an identifier become one route that covers its pattern`() throws {
        let entries = [17, 18, 19, 20].map { number in
            ArchiveEntry(
                url: "https://api.test/v1/products/\(number)", second: number % 60,
                body: Feed.bytes(version: number, items: 20))
        }
        let route = try #require(try suggestions(entries).first?.routes.first)
        #expect(route.match == "/v1/products/:id" && route.use == "pattern" && route.urls == 4)
    }

    @Test func `queries share a dictionary if another's is as good, and otherwise have their own`() throws {
        let alike = (0..<6).map { number in
            ArchiveEntry(
                url: "https://api.test/feed?user=\(number % 2)", second: number * 60,
                body: Feed.bytes(version: number, items: 40))
        }
        #expect(try suggestions(alike).first?.routes.map(\.use) == ["path"])
        let different = (0..<6).map { number in
            // The version of a page changes little, but the pages have nothing in common.
            ArchiveEntry(
                url: "https://api.test/feed?page=\(number % 2)", second: number * 60,
                body: noise(number % 2) + Array("\(number)".utf8))
        }
        #expect(try suggestions(different).first?.routes.map(\.use) == ["url"])
    }

    @Test(arguments: [
        ("Cookie", "sid=1", #"<script src="/.dictum/own.js" data-paths="/feed" async></script>"#),
        ("Authorization", "Bearer x", #"fetch("/feed?dictum-own", {headers: {"#),
    ])
    func `the route of a response of one user names the script for its page, and never public`(
        field: String, value: String, line: String
    ) throws {
        let entries = (0..<4).map {
            ArchiveEntry(
                second: $0 * 60, requestFields: [field: value], fields: ["Cache-Control": "no-cache"],
                body: Feed.bytes(version: $0, items: 20))
        }
        let yaml = try #require(try suggestions(entries).first?.yaml)
        #expect(yaml.contains("# " + line), "\(yaml)")
        #expect(!yaml.contains("public") && !yaml.contains("announce"), "\(yaml)")
    }

    @Test func `no script is named for responses to POST, which have no twin URL`() throws {
        let entries = (0..<4).map {
            ArchiveEntry(
                url: "https://api.test/graphql", second: $0 * 60, method: "POST",
                requestFields: ["Cookie": "sid=1"], fields: ["Cache-Control": "no-cache"],
                body: Feed.bytes(version: $0, items: 20))
        }
        let yaml = try suggestions(entries).first?.yaml ?? ""
        #expect(yaml.contains("methods: [GET, QUERY, POST]") && !yaml.contains("own.js"), "\(yaml)")
    }

    @Test func `a route that matches everything comes last, and its page is told of no path`() {
        let routes = ["/*", "/items/:id", "/pub/feed"].compactMap { match in
            var evidence = RouteSuggestion.Evidence(origin: "", match: match, urls: 2)
            evidence.own.add(deltaBytes: 100, plainBytes: 1_000)
            (evidence.lives, evidence.findings) = ([0], ["needs-twin"])
            return RouteSuggestion(evidence)
        }
        let found = EstimateReport.Routes.all(of: routes)[0].routes
        #expect(found.map(\.match) == ["/pub/feed", "/items/:id", "/*"])
        #expect(found.map { $0.considered[2].contains(#"data-paths="/PATH""#) } == [false, true, true])
    }

    @Test func `a route whose deltas save little has no dictionaries`() throws {
        let entries = (0..<4).map { ArchiveEntry(second: $0 * 60, body: noise($0)) }
        let suggestion = try #require(try suggestions(entries).first)
        #expect(suggestion.routes.map(\.use) == ["off"])
        #expect(suggestion.yaml.hasSuffix("    dictionary: off\n"))
    }

    // MARK: Evidence

    /// Returns the suggestion for deltas of so many bytes, in place of 1,000, over the version before and over another URL.
    private func suggestion(
        own: Int? = 100, others: Int? = nil, isOnePath: Bool = true,
        _ change: (inout RouteSuggestion.Evidence) -> Void = { _ in }
    ) throws -> RouteSuggestion {
        var evidence = RouteSuggestion.Evidence(
            origin: "https://api.test", match: isOnePath ? "/feed" : "/items/:id", urls: 1)
        if let own { evidence.own.add(deltaBytes: own, plainBytes: 1_000) }
        if let others { evidence.others.add(deltaBytes: others, plainBytes: 1_000) }
        evidence.isOnePath = isOnePath
        change(&evidence)
        return try #require(RouteSuggestion(evidence))
    }

    @Test(
        arguments: [
            (900, nil, true, "path"), (901, nil, true, "off"), (100, 150, true, "path"),
            (100, 151, true, "url"), (100, 150, false, "pattern"), (100, 151, false, "path"),
            (nil, 750, false, "pattern"), (nil, 751, false, "path"),
        ] as [(Int?, Int?, Bool, String)])
    func `a route has dictionaries from 10 % on, and shares them where others are as good`(
        own: Int?, others: Int?, isOnePath: Bool, use: String
    ) throws {
        let found = try suggestion(own: own, others: others, isOnePath: isOnePath)
        #expect(found.use.rawValue == use, "\(found.reasons)")
    }

    @Test func `a life of under a minute needs something, and the shortest counts`() throws {
        let long = try suggestion { $0.lives = [60, 600] }
        #expect(long.considered.isEmpty && long.page.isEmpty)
        let short = try suggestion { $0.lives = [600, 59] }
        #expect(
            short.considered.first == "Browsers keep this dictionary for 59 s, so pages get few deltas.")
    }

    @Test func `what the operator must decide on is a comment in the YAML`() throws {
        let route = try suggestion { $0.lives = [0] }
        let expected = """
            routes:
              # over the version before: 100 bytes (dcz) instead of 1,000 in the best other coding, 90.0 % less
              - match: "/feed"
                dictionary:
                  covers: path
                  # Browsers keep this dictionary for 0 s, so pages get few deltas.
                  # Announce it on the route of the page that fetches it, such as this one of the page /:
              # - match: "/"
              #   announce: ["/feed"]

            """
        #expect(RouteSuggestion.yaml([route]) == expected)
    }

    @Test func `nothing is called public but what everybody gets`() throws {
        let pattern = try suggestion(isOnePath: false) { $0.lives = [0] }
        #expect(pattern.considered.last == #"cache_control: "max-age=86400""#)
        let either = try suggestion { ($0.lives, $0.findings) = ([0], ["not-announceable"]) }.considered
        try #require(either.count == 5)
        #expect(either[1].hasPrefix("If everybody gets the same responses, "))
        #expect(either[2] == #"cache_control: "public, max-age=86400""#)
        #expect(either[3].hasPrefix("If they belong to users ") && either[4].contains(#"data-paths="/feed""#))
    }

    @Test func `each origin has routes of its own, literal paths before patterns`() throws {
        let paths = [
            "https://b.test/items/1", "https://b.test/items/2", "https://b.test/items/all",
            "https://a.test/x",
        ]
        let entries = paths.flatMap { url in
            (0..<2).map {
                ArchiveEntry(url: url, second: $0 * 60, body: Feed.bytes(version: $0, items: 20))
            }
        }
        let found = try suggestions(entries)
        #expect(found.map(\.origin) == ["https://a.test", "https://b.test"])
        #expect(found.last?.routes.map(\.match) == ["/items/all", "/items/:id"])
    }

    @Test func `paths with the syntax of patterns and of YAML stay literal`() throws {
        let entries = (0..<2).map {
            ArchiveEntry(
                url: "https://api.test/a:b/(c)*+/{d}/%22e", second: $0 * 60,
                fields: ["Cache-Control": "public, max-age=10"], body: Feed.bytes(version: $0, items: 20))
        }
        let found = try suggestions(entries)
        #expect(found.flatMap(\.routes).map(\.match) == [#"/a{\:}b/\(c\)\*\+/\{d\}/%22e"#])
        #expect(
            found.first?.yaml.contains(#"announce: ["/a:b/(c)*+/{d}/%22e"]"#) == true, "a path is no pattern")
    }

    @Test(arguments: [
        ("/", "/"), ("/api/feed", "/api/feed"), ("/api/v2/feed", "/api/v2/feed"), ("/users/42", "/users/:id"),
        ("/users/42/posts/7/", "/users/:id/posts/:id2/"),
        ("/o/123e4567-e89b-12d3-a456-426614174000", "/o/:id"), ("/c/deadbeef01", "/c/:id"),
        ("/c/deadbeef", "/c/deadbeef"), ("/t/01HZX3N8Q4V9W2K7", "/t/:id"), ("/2fast", "/2fast"),
        ("/articles/how-to-bake-bread-2", "/articles/how-to-bake-bread-2"),
        ("/c/abcdef12", "/c/:id"), ("/c/abcde12", "/c/abcde12"), ("/c/abcdefa1", "/c/abcdefa1"),
        ("/t/abcxyzghijkl1234", "/t/:id"), ("/t/abcxyzghijklm123", "/t/abcxyzghijklm123"),
        ("/t/abcxyzghijk1234", "/t/abcxyzghijk1234"), ("/t/abcxyzghijklmnop1234", "/t/:id"),
    ])
    func `identifiers in a path are recognised by their form`(path: String, pattern: String) {
        #expect(PathShape.pattern(of: path) == pattern)
    }
}
