internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)

@Suite(.timeLimit(.minutes(40))) struct ExplainTests {
    @Test func `a delta is explained with its dictionary, sizes and time`() throws {
        let proxy = try TestProxy(Origin([json(first), json(second)]), "explain: true")
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: first)
        // The gain of the route is known a moment after its first delta.
        let parts = try #require(answer["Dictum-Explain"]).split(separator: ";").map { String($0) }
            .filter { !$0.hasPrefix("route-gain=") }
        #expect(
            parts.dropLast() == [
                "dcz", "reason=delta", "dictionary=:\(Digest(of: first.span).base64):",
                "from=\(second.count)",
                "to=\(answer.body.count)",
            ])
        #expect(try #require(parts.last).hasPrefix("micros="))
    }

    @Test(
        arguments: [
            ("X-A: 1", "dcz", nil, "client-new"), ("X-A: 1", "gzip, deflate, br, zstd", nil, "client-new"),
            (#"If-None-Match: "former""#, "gzip, deflate, br, zstd", nil, "dictionary-not-kept"),
            (#"If-None-Match: "former""#, "dcz", nil, "dictionary-not-kept"),
            ("If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT", "dcb", nil, "dictionary-not-kept"),
            ("X-A: 1", "gzip", first, "coding-not-accepted"),
            ("X-A: 1", "dcz", second, "dictionary-unknown"),
            ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors", "dcz", first, "cross-origin"),
            ("X-Forwarded-Proto: http", "dcz", first, "insecure-transport"),
            ("X-A: 1", "dcz;q=0.1, gzip", first, "other-coding-preferred"),
            ("Range: bytes=0-1", "dcz", first, "range"),
            ("Cache-Control: no-transform", "dcz", first, "no-transform"),
        ] as [(String, String, [UInt8]?, String)])
    func `a reason of the request is named`(
        field: String, accept: String, dictionary: [UInt8]?, reason: String
    ) throws {
        let proxy = try TestProxy(json(first), "explain: true")
        _ = try proxy.fetch("/feed")
        let offered = dictionary.map { available($0) } ?? "X-B: 1"
        let answer = try proxy.fetch("/feed", "Accept-Encoding: \(accept), gzip;q=0.5", offered, field)
        #expect(
            answer["Dictum-Explain"]?.contains("reason=\(reason)") == true,
            "\(answer["Dictum-Explain"] ?? "-")")
    }

    @Test(arguments: [
        (wire("HTTP/1.1 404 Not Found", "Content-Type: application/json", body: first), "ineligible-status"),
        (wire("HTTP/1.1 200 OK", "Content-Type: image/png", body: first), "ineligible-type"),
        (wire("HTTP/1.1 200 OK", "Content-Type: text/event-stream", body: first), "event-stream"),
        (json([0x7b, 0x7d]), "ineligible-size"), (json(first, "Cache-Control: no-transform"), "no-transform"),
        (json(first, "Content-Encoding: compress"), "coded-upstream"),
        (wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#), "not-modified"),
        (wire("HTTP/1.1 204 No Content"), "ineligible-status"),
    ])
    func `a reason of the answer is named, on every answer`(bytes: [UInt8], reason: String) throws {
        let proxy = try TestProxy(bytes, "explain: true")
        let answer = try proxy.fetch("/feed", over: second)
        #expect(
            answer["Dictum-Explain"]?.contains("reason=\(reason)") == true,
            "\(answer["Dictum-Explain"] ?? "-")")
    }

    @Test(arguments: [
        ("Cache-Control: no-store", "no-store"), ("Vary: *", "vary-any"),
        (#"Use-As-Dictionary: match="/feed""#, "offered-upstream"),
    ])
    func `what forbids the offer alone is named beside the reason`(field: String, obstacle: String) throws {
        let answer = try TestProxy(json(first, field), "explain: true")
            .fetch("/feed", "Accept-Encoding: dcz, gzip")
        let explanation = try #require(answer["Dictum-Explain"])
        #expect(explanation.contains("reason=client-new;"))
        #expect(explanation.hasSuffix(";not-offered=\(obstacle)"), "\(explanation)")
    }

    @Test func `what is offered, and what one reason forbids as well, names no other`() throws {
        let offered = try TestProxy(json(first), "explain: true").fetch("/feed")
        #expect(offered["Use-As-Dictionary"] != nil)
        #expect(offered["Dictum-Explain"]?.contains("not-offered") == false)
        let personal = try TestProxy(json(first, "Set-Cookie: a=b"), "explain: true\npersonal: off")
            .fetch("/feed")
        #expect(personal["Dictum-Explain"]?.hasPrefix("identity;reason=personal") == true)
        #expect(personal["Dictum-Explain"]?.contains("not-offered") == false)
    }

    @Test(arguments: [
        ("dictionaries: off", "switched-off"), (#"routes: [{match: "/*", dictionary: off}]"#, "route-off"),
    ])
    func `a reason of the settings is named`(settings: String, reason: String) throws {
        let proxy = try TestProxy(json(first), "explain: true\n\(settings)")
        let answer = try proxy.fetch("/feed", over: second, accept: "dcz, gzip")
        #expect(answer["Dictum-Explain"]?.hasPrefix("gzip;reason=\(reason)") == true)
    }

    @Test func `a cookie that is listed as harmless is named, and nothing becomes personal for it`() throws {
        let answer = try TestProxy(
            json(first, "Set-Cookie: AWSALB=x; Path=/\r\nSet-Cookie: AWSALBCORS=x"), "explain: true"
        ).fetch("/feed")
        let explanation = try #require(answer["Dictum-Explain"])
        #expect(explanation.contains(";harmless-set-cookie=AWSALB,AWSALBCORS"))
        #expect(!explanation.contains("personal="))
    }

    @Test func `the log names what keeps a route from deltas, once an hour`() throws {
        let proxy = try TestProxy(
            Origin { request, connection in
                connection.send(
                    json(
                        first + Array((request["Accept-Language"] ?? "").utf8),
                        request.target == "/store" ? "Cache-Control: no-store" : "Vary: Accept-Language"))
            }, "routes: [{match: /store}, {match: /*}]")
        func hints(_ text: String) -> Int {
            proxy.events.withLock { events in
                events.count { $0.level == .info && $0.text.contains(text) }
            }
        }
        for _ in 0..<3 { _ = try proxy.fetch("/store") }
        #expect(hints("responses of route /store say no-store") == 1)
        // The variants of all its paths count.
        for number in 0..<VariantCounts.many {
            _ = try proxy.fetch(number % 2 == 0 ? "/feed" : "/news", "Accept-Language: x-\(number)")
        }
        #expect(hints("very many variants") == 0)
        for number in 0..<3 { _ = try proxy.fetch("/feed", "Accept-Language: y-\(number)") }
        #expect(hints("responses of route /* came in very many variants by accept-language") == 1)
    }

    @Test func `unless it is switched on nothing is explained`() throws {
        #expect(try TestProxy(json(first)).fetch("/feed")["Dictum-Explain"] == nil)
    }
}
