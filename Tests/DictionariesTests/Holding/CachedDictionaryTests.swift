import Dictionaries
import Testing

/// A client keeps a response as a dictionary, and names it for later requests (RFC 9842 sections 2.1 and 2.2).
@Suite struct CachedDictionaryTests {
    private static let target = TargetURI(
        isTLS: true, host: "api.test", port: nil, path: "/feed/1", query: nil)
    private static let offer = [
        "use-as-dictionary": ["match=\"/feed/*\", match-dest=(\"script\"), id=\"v1\""]
    ]
    private static let life = offer.merging(["cache-control": ["max-age=600"]]) { $1 }

    private func held(
        _ match: String, for destinations: [String] = [], id: String = "", storedAt: Int64 = 0,
        operation: String? = nil
    ) -> CachedDictionary {
        CachedDictionary(
            url: "https://api.test/feed", match: match, matchDest: destinations, id: id,
            digest: String(repeating: "0a", count: 32), bytes: 1, etag: nil, storedAt: storedAt,
            usableSeconds: 100, expiresAt: 100, operation: operation)
    }

    private func kept(
        _ fields: [String: [String]], status: Int = 200, bytes: Int = 1,
        confirming old: CachedDictionary? = nil, at now: Int64 = 50
    ) throws(UnkeptCause) -> CachedDictionary {
        try CachedDictionary(
            status: status, fields: { fields[$0] ?? [] }, of: Self.target,
            digest: Digest(of: Array("body".utf8).span), bytes: bytes, confirming: old, receivedAt: now,
            storedAt: now * 1000)
    }

    @Test func `the destination comes before the longer match, and that before the newer`() {
        let all = [
            held("/*", storedAt: 4), held("/feed/*", storedAt: 1), held("/feed/*", storedAt: 2),
            held("/*", for: ["", "script"], storedAt: 3), held("/feed/*", for: ["script"], storedAt: 0),
            held("/other", storedAt: 5), held("/feed/*", storedAt: 6, operation: "Feed"),
        ]
        func ranked(_ destination: String, at now: Int64 = 99) -> [Int64] {
            CachedDictionary.ranked(all, for: Self.target, destination: destination, at: now)
                .map(\.storedAt)
        }
        #expect(ranked("") == [3, 2, 1, 4])
        #expect(ranked("script") == [0, 3, 2, 1, 4])
        #expect(ranked("style") == [2, 1, 4])
        #expect(ranked("", at: 100).isEmpty, "their time is over")
    }

    @Test func `dictionaries for other destinations or operations do not replace each other`() {
        let keys = [
            held("/a"), held("/a", for: ["script"]), held("/a", for: ["style"]),
            held("/a", operation: "script"), held("/a", for: ["script"], operation: "style"),
            held("/a", for: ["script", "style"]),
        ].map(\.key)
        #expect(Set(keys).count == keys.count)
    }

    @Test func `an id is sent exactly if there is one`() {
        let lines = [held("/a"), held("/a", id: "v1")].map { dictionary in
            dictionary.advertisement.map { "\($0.name): \($0.value)" }
        }
        let name = "available-dictionary: :" + String(repeating: "CgoK", count: 10) + "Cgo=:"
        #expect(lines[0] == [name])
        #expect(lines[1] == [name, "dictionary-id: \"v1\""])
    }

    @Test(
        arguments: [
            (200, [:], 1, nil), (404, [:], 1, .status), (304, [:], 1, .status), (200, [:], 0, .empty),
            (200, ["use-as-dictionary": []], 1, .notOffered),
            (200, ["use-as-dictionary": ["match=\"https://other.test/*\""]], 1, .match),
            (200, ["cache-control": ["no-store, max-age=600"]], 1, .noStore),
            (200, ["vary": ["accept", "*"]], 1, .noStore), (200, ["cache-control": []], 1, .noLifetime),
            (200, ["cache-control": ["max-age=0"]], 1, .stale),
            (200, ["cache-control": ["max-age=0"], "etag": ["\"a\""]], 1, .stale),
            (200, ["cache-control": [], "last-modified": ["Thu, 01 Jan 1970 00:00:50 GMT"]], 1, .stale),
            (200, ["age": ["599"]], 1, nil), (200, ["age": ["600"]], 1, .stale),
            (200, ["age": ["600"], "etag": ["\"a\""]], 1, nil),
        ] as [(Int, [String: [String]], Int, UnkeptCause?)])
    func `what is not kept has its cause`(
        status: Int, change: [String: [String]], bytes: Int, cause: UnkeptCause?
    ) {
        let fields = Self.life.merging(change) { $1 }
        var found: UnkeptCause?
        do throws(UnkeptCause) {
            _ = try kept(fields, status: status, bytes: bytes)
        } catch { found = error }
        #expect(found == cause)
    }

    @Test func `a 304 gives what is held a new time, and what it does not say stays`() throws {
        let old = try kept(Self.life.merging(["etag": ["\"a\""], "age": ["100"]]) { $1 })
        #expect(old.usableSeconds == 600 && old.expiresAt == 550 && old.storedAt == 50_000)
        let silent = try kept([:], status: 304, confirming: old, at: 1000)
        #expect(silent.match == "/feed/*" && silent.matchDest == ["script"] && silent.id == "v1")
        #expect(silent.etag == "\"a\"" && silent.usableSeconds == 600 && silent.expiresAt == 1600)
        let fields = ["cache-control": ["max-age=60"], "etag": ["W/\"a\""]]
        let told = try kept(fields, status: 304, confirming: old, at: 1000)
        #expect(told.etag == "W/\"a\"" && told.usableSeconds == 60 && told.expiresAt == 1060)
    }
}

struct TargetURITests {
    @Test(
        arguments: [
            ("HTTPS", "API.test", 443, "", nil, "https://api.test/"),
            ("http", "a.test", 80, "/x", "q", "http://a.test/x?q"),
            ("http", "a.test", 443, "/", nil, "http://a.test:443/"),
            ("https", "a.test", 80, "/", "", "https://a.test:80/?"),
            ("http", "::1", 8080, "/a", nil, "http://[::1]:8080/a"),
            ("https", "[::1]", nil, "/", nil, "https://[::1]/"),
            ("ftp", "a.test", nil, "/", nil, nil), ("https", "", nil, "/", nil, nil),
        ] as [(String, String, Int?, String, String?, String?)])
    func `an origin has one spelling, without the port of its scheme`(
        scheme: String, host: String, port: Int?, path: String, query: String?, text: String?
    ) {
        let target = TargetURI(scheme: scheme, host: host, port: port, path: path, query: query)
        #expect(target?.text == text)
    }
}
