import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@Suite struct KeepingTests {
    private let folder = ClientFolder()

    /// Returns what the second of two requests names.
    private func named(
        first: String = "https://api.test/feed", _ fields: [(String, String)], match: String? = "/feed",
        second: String = "https://api.test/feed"
    ) async throws -> String? {
        let client = try folder.client()
        let server = ScriptedTransport([try response(feed(0), fields, match: match), try response(feed(1))])
        for url in [first, second] {
            _ = try await client.data(from: try #require(URL(string: url)), using: server)
        }
        return server.named.last ?? nil
    }

    /// Waits until the clock shows a later millisecond.
    private static func untilClockGoesOn() throws {
        let start = Date()
        try waitUntil("the clock has gone on") { Date().timeIntervalSince(start) > 0.001 }
    }

    @Test(arguments: [
        [("Cache-Control", "max-age=600")], [("Cache-Control", "private, max-age=600, must-revalidate")],
        [("Cache-Control", "max-age=0, stale-while-revalidate=60")],
        [("Expires", "Fri, 01 Jan 2100 00:00:00 GMT")], [("Last-Modified", "Sat, 01 Jan 2000 00:00:00 GMT")],
    ])
    func `a response that may be reused is a dictionary`(fields: [(String, String)]) async throws {
        #expect(try await named(fields) == name(of: feed(0)))
    }

    @Test(arguments: [
        [], [("Cache-Control", "no-store, max-age=600")], [("Cache-Control", "no-cache, max-age=600")],
        [("Cache-Control", "max-age=600"), ("Age", "600")],
        [("Cache-Control", "max-age=600"), ("Vary", "*")],
        [("Cache-Control", "max-age=0, must-revalidate, stale-while-revalidate=60")], [("Expires", "0")],
    ])
    func `a response that may not be reused is no dictionary`(fields: [(String, String)]) async throws {
        #expect(try await named(fields) == nil)
    }

    @Test func `ttl counts before the freshness of the response`() async throws {
        let offer = ("Use-As-Dictionary", "match=\"/feed\", ttl=60")
        #expect(try await named([("Cache-Control", "no-cache"), offer], match: nil) == name(of: feed(0)))
    }

    @Test(arguments: [
        ("/feed/*", "https://api.test/feed/7", true), ("/feed/*", "https://api.test/other", false),
        ("/feed/:id(\\\\d+)", "https://api.test/feed/7", false),
        ("https://other.test/*", "https://other.test/feed", false),
        ("/feed/*", "https://other.test/feed/7", false), ("/feed/*", "https://api.test:8443/feed/7", false),
        ("/feed/*", "http://api.test/feed/7", false),
        ("/feed/*\\\\?a=*", "https://api.test/feed/7?a=1", true),
        ("/feed/*\\\\?a=*", "https://api.test/feed/7?b=1", false),
    ])
    func `a dictionary is named where its pattern matches, at its origin`(
        match: String, url: String, isNamed: Bool
    ) async throws {
        let fields = [("Cache-Control", "max-age=600")]
        #expect(try await named(fields, match: match, second: url) == (isNamed ? name(of: feed(0)) : nil))
    }

    @Test(arguments: ["https://api.test:8443/feed", "https://api.test.other/feed"])
    func `a dictionary of an origin that begins like another one is not named there`(first: String)
        async throws
    {
        let fields = [("Cache-Control", "max-age=600")]
        let second = "https://api.test/feed/7"
        #expect(try await named(first: first, fields, match: "/feed/*", second: second) == nil)
    }

    @Test(arguments: [
        ("http://api.test/feed", false), ("http://localhost:8080/feed", true),
        ("http://127.0.0.1/feed", true),
        ("http://[::1]/feed", true), ("http://app.localhost/feed", true),
        ("http://127.0.0.1.test/feed", false),
    ])
    func `without TLS only the device itself has dictionaries`(url: String, isNamed: Bool) async throws {
        let fields = [("Cache-Control", "max-age=600")]
        #expect(try await named(first: url, fields, second: url) == (isNamed ? name(of: feed(0)) : nil))
    }

    @Test func `the destination comes before the longer match, and that before the newer`() async throws {
        let client = try folder.client()
        let life = ("Cache-Control", "max-age=600")
        func offer(_ text: String) -> [(String, String)] { [life, ("Use-As-Dictionary", text)] }
        let offers = [
            offer("match=\"/*\", match-dest=(\"\")"), offer("match=\"/feed\", match-dest=(\"document\")"),
            offer("match=\"/feed/*\""), offer("match=\"/fee*\""),
        ]
        for (version, fields) in offers.enumerated() {
            let server = ScriptedTransport([try response(feed(version), fields, match: nil)])
            _ = try await client.data(
                from: try #require(URL(string: "https://api.test/\(version)")), using: server)
        }
        let server = ScriptedTransport([try response(feed(9), match: nil)])
        for path in ["feed/1", "other"] {
            _ = try await client.data(
                from: try #require(URL(string: "https://api.test/\(path)")), using: server)
        }
        #expect(server.named == [name(of: feed(0)), name(of: feed(0))])
    }

    @Test func `what comes last is the newest, also if it was asked for first`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport { _ in
            try Self.untilClockGoesOn()
            let other = ScriptedTransport([try response(feed(1), match: "/*ed")])
            _ = try await client.data(from: feedURL, using: other)
            try Self.untilClockGoesOn()
            return try response(feed(0), match: "/fe*")
        }
        _ = try await client.data(from: feedURL, using: server)
        #expect(try await client.named("feed") == name(of: feed(0)))
    }

    @Test(arguments: [
        ("Range", "bytes=0-1"), ("Accept-Encoding", "identity"), ("Accept-Encoding", "gzip, dcz;q=0"),
        ("Available-Dictionary", ":mine:"), ("Dictionary-ID", "\"mine\""),
    ])
    func `a request for a part, for a plain body or over a dictionary of the app's own names no other`(
        field: String, value: String
    ) async throws {
        let client = try folder.client()
        let server = ScriptedTransport([try response(feed(0)), try response(feed(1))])
        _ = try await client.data(from: feedURL, using: server)
        var request = URLRequest(url: feedURL)
        request.setValue(value, forHTTPHeaderField: field)
        _ = try await client.data(for: request, using: server)
        #expect(server.named == [nil, field == "Available-Dictionary" ? value : nil])
        let id = server.requests[1].value(forHTTPHeaderField: "Dictionary-ID")
        #expect(id == (field == "Dictionary-ID" ? value : nil))
    }

    @Test func `of a request with no-store nothing is stored`() async throws {
        let client = try folder.client()
        let tag = ("ETag", "\"a\"")
        let server = ScriptedTransport([
            try response(feed(0), [("Cache-Control", "max-age=600"), tag]),
            TransportResponse(status: 304, fields: [tag, ("X-Secret", "1")], body: Data()),
            try response(feed(1), coding: .dcz, over: feed(0)), try response(feed(2)),
        ])
        _ = try await client.data(from: feedURL, using: server)
        var request = URLRequest(url: feedURL)
        request.setValue("no-cache, no-store", forHTTPHeaderField: "Cache-Control")
        for version in 0..<2 {
            #expect(try await client.data(for: request, using: server).0 == feed(version))
        }
        let records = try folder.files(endingIn: ".dictum.json").map {
            try String(contentsOf: $0, encoding: .utf8)
        }
        #expect(records.count == 1 && !records.joined().contains("X-Secret"))
        #expect(folder.unkeptCauses == ["no-store"] && folder.metrics.map(\.isKept) == [true, false, false])
        #expect(try await client.named("feed") == name(of: feed(0)))
    }

    @Test func `of what was kept of a URL the server is asked about the latest`() async throws {
        let client = try folder.client()
        // Neither match covers the URL itself, so each is a dictionary of its own.
        let answers = try ["/a", "/b", "/c"].enumerated().map { number, match in
            try response(
                feed(number), [("Cache-Control", "max-age=600"), ("ETag", "\"\(number)\"")], match: match)
        }
        let server = ScriptedTransport(answers)
        for _ in 0..<3 { _ = try await client.data(from: feedURL, using: server) }
        let asked = server.requests.map { $0.value(forHTTPHeaderField: "If-None-Match") }
        #expect(asked == [nil, "\"0\"", "\"1\""])
    }
}
