internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)

/// Digest and id are credentials: they stand in the fields that carry them, and nowhere else.
@Suite(.timeLimit(.minutes(40))) struct CapabilitySecrecyTests {
    /// Returns the spellings of a body's digest.
    private static func spellings(_ body: [UInt8]) -> [String] {
        let digest = Digest(of: body.span)
        return [digest.base64, digest.base64URL, digest.hex, digest.hex.uppercased()]
    }

    /// Returns a proxy whose upstream sends `first`, `second` for `X-Version: 1`, and no response for `X-Fail`.
    private func proxy() throws -> TestProxy {
        try TestProxy(
            Origin { request, connection in
                if request["X-Fail"] != nil { return connection.finish() }
                connection.send(
                    json(
                        request["X-Version"] == nil ? first : second,
                        "Cache-Control: \(request["X-Public"] == nil ? "max-age=60" : "public, max-age=60")"))
            }, "explain: true", isLogged: true)
    }

    @Test(arguments: ["Authorization: Bearer ann", "Cookie: session=ann", "X-A: 1"])
    func `no log, metric, status or explanation has an id, or the digest of what needs one`(asked: String)
        throws
    {
        let proxy = try proxy()
        var ids: Set<String> = []
        var texts: [String] = []
        func note(_ answer: WireMessage) {
            texts.append(answer["Dictum-Explain"] ?? "")
            if let offer = answer["Use-As-Dictionary"].flatMap({ UseAsDictionary.parse([$0]) }) {
                ids.insert(offer.id)
            }
        }
        note(try proxy.fetch("/feed", asked))
        let id = try #require(ids.first)
        for coding in ["dcz", "dcb"] {
            let delta = try proxy.fetch("/feed", over: first, asked, "X-Version: 1", accept: coding)
            #expect(delta.coding == coding)
            note(delta)
        }
        // Refused, unknown, malformed, and to an upstream that fails.
        for field in ["Dictionary-ID: \(id)", "Dictionary-ID: \"\(id)x\"", "X-Fail: 1", "Range: bytes=0-1"] {
            note(try proxy.fetch("/feed", over: first, asked, field))
        }
        let bad = try proxy.connect()
        bad.send(wire("GET /feed HTTP/1.1", "Host: a b", "Dictionary-ID: \"\(id)\"", available(first)))
        texts.append(try bad.receive().text)
        for path in ["/metrics", "/", "/status"] {
            texts.append(try proxy.admin("GET \(path) HTTP/1.1", "Host: localhost").text)
        }
        texts += proxy.events.withLock { $0.map { "\($0)" } }
        let lines = proxy.lastLines()
        #expect(lines.count >= 7)
        for text in texts + lines {
            for secret in ids + Self.spellings(first) + Self.spellings(second) {
                #expect(!text.contains(secret), "\(text)")
            }
        }
    }

    @Test func `a probe with another's digest counts in the metrics as one with an unknown digest`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/feed", "Authorization: Bearer ann")
        var sent = 1
        // Metrics that change independently of requests: times, samples, connections, transactions; and the bytes of
        // heads, whose Dictum-Explain has the microseconds of the coding.
        let beside = [
            "#", "seconds", "gain", "connections", "transactions", "store_body_bytes", "wire_bytes",
        ]
        func counters() throws -> [String: Int] {
            // A line is counted when a thread of its own has written it, so the last ones may still be under way.
            try waitUntil("every request has its line") { try proxy.metric("dictum_log_lines_total") == sent }
            let lines = try proxy.metrics().split(separator: "\n").filter { line in
                line.contains("_total") && !beside.contains { line.contains($0) }
            }
            return Dictionary(
                uniqueKeysWithValues: lines.compactMap { line in
                    let parts = line.split(separator: " ")
                    return parts.count == 2 ? Int(parts[1]).map { (String(parts[0]), $0) } : nil
                })
        }
        func counted(_ body: [UInt8]) throws -> [String: Int] {
            let before = try counters()
            for id in ["X-A: 1", #"Dictionary-ID: "AAAAAAAAAAAAAAAAAAAAAA""#] {
                let socket = try proxy.connect()
                socket.send(
                    request(
                        "/feed",
                        [
                            "Authorization: Bearer eve", "X-Version: 1", "Accept-Encoding: dcz",
                            available(body), id,
                        ]))
                #expect(try socket.receive().coding == "identity")
                sent += 1
            }
            return try counters().merging(before) { $0 - $1 }.filter { $0.value != 0 }
        }
        // Eve's own response is new once.
        _ = try counted(Noise.bytes(9_000, seed: 1))
        let unknown = try counted(Noise.bytes(9_000, seed: 2))
        #expect(unknown[#"dictum_advertised_dictionaries_total{result="unknown"}"#] == 2)
        let known = try counted(first)
        #expect(known == unknown, "\(known) instead of \(unknown)")
    }

    @Test func `the digest of what is for everybody stands in the explanation`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/feed", "X-Public: 1")
        let delta = try proxy.fetch("/feed", over: first, "X-Public: 1", "X-Version: 1")
        #expect(delta["Dictum-Explain"]?.contains(Self.spellings(first)[0]) == true)
    }
}
