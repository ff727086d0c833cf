internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let routes = """
    routes: [{match: "/*", dictionary: {revalidate: true, ignore_set_cookie: [lb]}}]
    """

/// Returns an upstream that responds with 304 if the request names its entity tag, else with the whole body.
func conditional(
    _ body: [UInt8] = first, tag: String = #""v1""#, fields: [String] = [], on304: [String]? = nil
) throws -> Origin {
    let life = fields.contains { $0.hasPrefix("Cache-Control") } ? [] : ["Cache-Control: public, max-age=60"]
    return try Origin { request, connection in
        let isKnown = request["If-None-Match"] == tag
        let status = isKnown ? "304 Not Modified" : "200 OK"
        let lines =
            ["HTTP/1.1 \(status)", "Content-Type: application/json"]
            + (isKnown ? on304 ?? ["ETag: \(tag)"] : ["ETag: \(tag)"] + life + fields)
        connection.send(wire(lines.joined(separator: "\r\n"), body: isKnown ? nil : body))
    }
}

extension TestProxy {
    /// The If-None-Match field of each upstream request.
    var conditions: [String?] { origin.requests.map { $0["If-None-Match"] } }
}

@Suite(.timeLimit(.minutes(40))) struct RevalidationTests {
    // MARK: No revalidation

    @Test func `without the setting the upstream hears no condition`() throws {
        let proxy = try TestProxy(conditional())
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed").carries(first))
        #expect(proxy.conditions == [nil, nil])
    }

    @Test(arguments: [
        "Cookie: a=b", "Authorization: Basic eDp5", "X-Api-Key: k", "Range: bytes=0-9",
        #"If-Range: "v1""#, "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
        "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT", #"If-Match: "v1""#,
        "Cache-Control: no-cache", "Cache-Control: no-store", "Cache-Control: no-transform",
        "Pragma: no-cache",
    ])
    func `a request with personal fields, a part, a condition or no-cache is sent as it is`(
        field: String
    ) throws {
        let proxy = try TestProxy(conditional(), routes)
        _ = try proxy.fetch("/feed")
        _ = try proxy.fetch("/feed", field)
        _ = try proxy.fetch("/feed")
        #expect(proxy.conditions == [nil, nil, #""v1""#])
    }

    @Test func `another query, path, authority or method is not asked about`() throws {
        let proxy = try TestProxy(conditional(), routes)
        _ = try proxy.fetch("/feed?page=1")
        _ = try proxy.fetch("/feed?page=2")
        _ = try proxy.fetch("/feed")
        _ = try proxy.fetch("/feed/")
        _ = try proxy.fetch("/feed?page=1", host: "other.test")
        _ = try proxy.fetch("/feed?page=1", method: "HEAD")
        _ = try proxy.fetch("/feed?page=1", method: "POST", body: [0x7b, 0x7d])
        _ = try proxy.fetch("/feed?page=1&token=x")
        #expect(proxy.conditions.allSatisfy { $0 == nil })
        _ = try proxy.fetch("/feed?page=1")
        #expect(proxy.conditions.last == #""v1""#)
    }

    /// RFC 9111 section 4: the scheme is a part of the target URI, and a tag says nothing of another resource.
    @Test func `a page of http is not asked about for https, nor the reverse`() throws {
        let origin = try Origin { request, connection in
            let isKnown = request["If-None-Match"] != nil
            let body = request["X-Forwarded-Proto"] == "https" ? second : first
            let head = ["HTTP/1.1 \(isKnown ? "304 Not Modified" : "200 OK")", #"ETag: "v1""#]
            let fields = ["Content-Type: application/json", "Cache-Control: public, max-age=60"]
            connection.send(wire((head + fields).joined(separator: "\r\n"), body: isKnown ? nil : body))
        }
        let proxy = try TestProxy(origin, routes)
        for _ in 1...2 {
            #expect(try proxy.fetch("/feed", "X-Forwarded-Proto: http").carries(first))
            #expect(try proxy.fetch("/feed", "X-Forwarded-Proto: https").carries(second))
        }
        #expect(proxy.conditions == [nil, nil, nil, nil])
        #expect(try proxy.fetch("/feed", "X-Forwarded-Proto: https").carries(second))
        #expect(proxy.conditions.last == #""v1""#)
    }

    @Test func `a client's own If-None-Match goes upstream, and the 304 to the client`() throws {
        let proxy = try TestProxy(conditional(), routes)
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed", #"If-None-Match: "v1""#).status == 304)
        #expect(try proxy.fetch("/feed", #"If-None-Match: "old""#).carries(first))
        #expect(proxy.conditions == [nil, #""v1""#, #""old""#])
    }

    @Test(arguments: [
        [#"ETag: W/"v1""#], [], [#"ETag: "v1""#, #"ETag: "v2""#], ["ETag: v1"],
        [#"ETag: "v1""#, "Cache-Control: no-store"],
        [#"ETag: "v1""#, "Cache-Control: private=\"x\", public"],
        [#"ETag: "v1""#, "Vary: *"], [#"ETag: "v1""#, "Set-Cookie: id=1"],
        [#"ETag: "v1""#, "Vary: X-Forwarded-For"], [#"ETag: "v1""#, "Vary: X-Forwarded-Host"],
        [#"ETag: "v1""#, "Vary: X-Forwarded-Proto"], [#"ETag: "v1""#, "Vary: Forwarded, Via"],
        [#"ETag: "v1""#, "Access-Control-Allow-Origin: https://page.test"],
        [#"ETag: "v1""#, "X-Long: \(String(repeating: "x", count: 8 * 1024))"],
    ])
    func `an answer without a strong tag, or that no shared cache may store, is not asked about`(
        fields: [String]
    ) throws {
        let proxy = try TestProxy(
            wire(
                (["HTTP/1.1 200 OK", "Content-Type: application/json"] + fields).joined(separator: "\r\n"),
                body: first), routes)
        _ = try proxy.fetch("/feed")
        _ = try proxy.fetch("/feed")
        #expect(proxy.conditions == [nil, nil])
    }

    @Test func `an answer that the upstream coded is not asked about`() throws {
        let coded = try Codec.encode(first.span, .gzip)
        let proxy = try TestProxy(json(coded, "Content-Encoding: gzip", #"ETag: "v1""#), routes)
        for accept in ["gzip", "identity"] {
            _ = try proxy.fetch("/feed", "Accept-Encoding: \(accept)")
        }
        #expect(proxy.conditions == [nil, nil])
    }

    @Test func `an answer to a request with credentials is not asked about, though it is public`() throws {
        let proxy = try TestProxy(conditional(fields: ["Cache-Control: public"]), routes)
        _ = try proxy.fetch("/feed", "Authorization: Basic eDp5")
        _ = try proxy.fetch("/feed")
        _ = try proxy.fetch("/feed")
        #expect(proxy.conditions == [nil, nil, #""v1""#])
    }

    // MARK: Fields of other clients

    /// An upstream that writes a field of the request into its page; the tag is the resource's alone.
    private func echoing(_ name: String, _ fields: String...) throws -> Origin {
        try Origin { request, connection in
            let page = Array(String(repeating: "<p>home of \(request[name] ?? "nobody")</p>", count: 20).utf8)
            let isKnown = request["If-None-Match"] == #""v1""#
            let status = isKnown ? "304 Not Modified" : "200 OK"
            let lines = ["HTTP/1.1 \(status)", "Content-Type: text/html", #"ETag: "v1""#] + fields
            connection.send(wire(lines.joined(separator: "\r\n"), body: isKnown ? nil : page))
        }
    }

    @Test(arguments: [
        ("X-Host", "evil.test"), ("X-Forwarded-Host", "evil.test"), ("X-Forwarded-Prefix", "/evil"),
        ("X-Original-URL", "/evil"), ("X-Requested-With", "XMLHttpRequest"), ("Forwarded", "host=evil.test"),
        ("Referer", "https://evil.test/"), ("Origin", "https://evil.test"), ("Save-Data", "on"),
    ])
    func `a field that Vary does not name is in nobody else's page`(name: String, value: String) throws {
        let proxy = try TestProxy(echoing(name), routes)
        #expect(try proxy.fetch("/home", "\(name): \(value)").text.contains(value))
        for _ in 0..<2 { #expect(try !proxy.fetch("/home").text.contains(value)) }
        // The other clients' page is not for this user, who gets the upstream's response.
        #expect(try proxy.fetch("/home", "\(name): \(value)").text.contains(value))
        #expect(proxy.conditions == [nil, nil, #""v1""#, nil])
    }

    @Test func `a field that Vary names tells variants apart, and is asked about`() throws {
        let proxy = try TestProxy(echoing("X-Theme", "Vary: X-Theme"), routes)
        for lines in [["dark"], ["dark", "wide"], ["dark", "light"], ["dark"], ["dark", "wide"]] {
            let page = try proxy.fetch("/home", lines.map { "X-Theme: \($0)" }.joined(separator: "\r\n"))
            #expect(page.text.contains("home of \(lines.joined(separator: ", "))<"), "all lines count")
        }
        #expect(proxy.conditions == [nil, nil, nil, #""v1""#, #""v1""#])
    }

    @Test func `a field that the connection removes before the upstream sees it is not ordinary`() throws {
        let proxy = try TestProxy(echoing("Accept-Language", "Vary: Accept-Language"), routes)
        _ = try proxy.fetch("/home", "Accept-Language: de", "Connection: close, Accept-Language")
        for _ in 0..<2 {
            #expect(try proxy.fetch("/home", "Accept-Language: de").text.contains("home of de<"))
        }
    }

    // MARK: A 304 that confirms

    @Test func `a 304 with the stored tag is answered whole, offered, and coded as the client can`() throws {
        let proxy = try TestProxy(conditional(second, fields: ["X-Kind: feed"]), routes)
        #expect(try proxy.fetch("/feed").carries(second))
        let plain = try proxy.fetch("/feed")
        #expect(plain.carries(second))
        #expect(plain.status == 200)
        #expect(plain["ETag"] == #""v1""#)
        #expect(plain["X-Kind"] == "feed")
        #expect(plain["Use-As-Dictionary"] == #"match="/feed""#)
        #expect(plain.members("Vary") == ["accept-encoding", "available-dictionary"])
        for coding in ["gzip", "br", "zstd", "dcz", "dcb"] {
            let answer = try proxy.fetch("/feed", over: second, accept: coding)
            #expect(answer.coding == coding)
            #expect(answer["ETag"] == #"W/"v1""#)
            #expect(try answer.carriesDecoded(second, over: second))
        }
        #expect(proxy.conditions.dropFirst().allSatisfy { $0 == #""v1""# })
        #expect(proxy.origin.requests.allSatisfy { $0["If-Modified-Since"] == nil })
        #expect(try proxy.metrics().contains(#"dictum_revalidations_total{result="hit"} 6"#))
    }

    @Test func `the fields of the 304 replace the stored ones, but for those of the body`() throws {
        let fields = [
            "Cache-Control: max-age=1", "X-Kept: a", "X-Both: old", "X-Both: older", "X-Request-ID: 1",
            "Date: Sun, 06 Nov 1994 08:49:37 GMT", "Age: 5", "Via: 1.1 cdn", "Set-Cookie: lb=1",
            "Content-Location: /feed.json", "Warning: 110 - a", "X-Cache: HIT", "X-Runtime: 1",
            "Clear-Site-Data: \"storage\"", "Server-Timing: db", "Traceresponse: a",
        ]
        let on304 = [
            #"ETag: "v1""#, "Cache-Control: max-age=2", "X-Both: new", "Content-Length: 7",
            "Content-Range: bytes 0-6/7", "Date: Sun, 06 Nov 1994 08:50:00 GMT", "Keep-Alive: timeout=5",
        ]
        let proxy = try TestProxy(conditional(fields: fields, on304: on304), routes)
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed")
        #expect(answer.carries(first))
        #expect(answer.values("X-Both") == ["new"])
        #expect(answer.values("Cache-Control") == ["max-age=2"])
        #expect(answer["X-Kept"] == "a")
        #expect(answer["Content-Location"] == "/feed.json")
        #expect(answer["Content-Type"] == "application/json")
        #expect(answer["Content-Length"] == "\(first.count)")
        #expect(answer["Date"] == "Sun, 06 Nov 1994 08:50:00 GMT")
        for name in [
            "X-Request-ID", "Age", "Set-Cookie", "Content-Range", "Keep-Alive", "Warning", "X-Cache",
            "X-Runtime", "Clear-Site-Data", "Server-Timing", "Traceresponse",
        ] {
            #expect(answer[name] == nil, "\(name)")
        }
    }

    @Test func `the head is kept as the upstream sent it, whatever the route puts on the answer`() throws {
        let proxy = try TestProxy(
            conditional(fields: ["Cache-Control: max-age=7"]),
            #"routes: [{match: "/*", dictionary: {revalidate: true, cache_control: "max-age=300"}}]"#)
        for _ in 1...2 { #expect(try proxy.fetch("/feed")["Cache-Control"] == "max-age=300") }
        try proxy.reload(routes)
        #expect(try proxy.fetch("/feed")["Cache-Control"] == "max-age=7")
        #expect(proxy.conditions == [nil, #""v1""#, #""v1""#])
    }

    @Test func `what a 304 has changed is kept for the next one`() throws {
        let turn = Guarded(0)
        let origin = try Origin { request, connection in
            let turn = turn.withLock { turn in
                turn += 1
                return turn
            }
            switch turn {
            case 1: connection.send(json(first, #"ETag: "v1""#, "Cache-Control: max-age=1", "X-Old: 1"))
            case 2:
                connection.send(
                    wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#, "Cache-Control: max-age=2", "X-New: 1"))
            default: connection.send(wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#))
            }
        }
        let proxy = try TestProxy(origin, routes)
        for _ in 1...2 { _ = try proxy.fetch("/feed") }
        let answer = try proxy.fetch("/feed")
        #expect(answer["Cache-Control"] == "max-age=2")
        #expect(answer["X-New"] == "1")
        #expect(answer["X-Old"] == "1")
    }

    @Test(arguments: [
        ("Cache-Control", "private"), ("Cache-Control", "no-store"), ("Vary", "*"),
        ("Access-Control-Allow-Origin", "https://a.test"),
    ])
    func `a 304 after which nobody may be answered from the store is answered, and not asked about again`(
        field: String, value: String
    ) throws {
        let proxy = try TestProxy(conditional(on304: [#"ETag: "v1""#, "\(field): \(value)"]), routes)
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: first)
        #expect(try answer.carriesDecoded(first, over: first))
        #expect(answer.values(field).joined().contains(value))
        _ = try proxy.fetch("/feed")
        #expect(proxy.conditions == [nil, #""v1""#, nil])
    }

    @Test func `after a 304 that varies by another field only a request that agrees in that is asked about`()
        throws
    {
        let proxy = try TestProxy(conditional(on304: [#"ETag: "v1""#, "Vary: Accept-Language"]), routes)
        for _ in 0..<2 { _ = try proxy.fetch("/feed") }
        _ = try proxy.fetch("/feed", "Accept-Language: de")
        #expect(proxy.conditions == [nil, #""v1""#, nil])
        #expect(try proxy.fetch("/feed")["Vary"]?.contains("Accept-Language") == true)
    }

    @Test func `only a request that agrees in all that Vary names is asked about`() throws {
        let proxy = try TestProxy(
            conditional(fields: ["Vary: Accept-Language, accept-encoding"]), routes)
        _ = try proxy.fetch("/feed", "Accept-Language: de")
        _ = try proxy.fetch("/feed", "Accept-Language: en")
        _ = try proxy.fetch("/feed")
        #expect(proxy.conditions == [nil, nil, nil])
        for language in ["de", "en"] { _ = try proxy.fetch("/feed", "Accept-Language: \(language)") }
        #expect(proxy.conditions.suffix(2) == [#""v1""#, #""v1""#])
    }

    @Test func `where the client's own Accept-Encoding goes upstream, what varies by it is not asked about`()
        throws
    {
        let proxy = try TestProxy(
            conditional(fields: ["Vary: accept-encoding"]), upstream: "accept_encoding: pass", routes)
        for _ in 1...2 { _ = try proxy.fetch("/feed") }
        #expect(proxy.conditions == [nil, nil])
    }

    @Test(arguments: [[], ["X-Sum: 7"]])
    func `a body that went out piece by piece is asked about, unless trailers followed it`(trailers: [String])
        throws
    {
        let origin = try Origin { request, connection in
            guard request["If-None-Match"] == nil else {
                return _ = connection.send(wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#))
            }
            let head = json([], "Transfer-Encoding: chunked", #"ETag: "v1""#)
            connection.send(head + chunk(Array(first.prefix(1_000))))
            pauseBeyondTheHold()
            let end = (["0"] + trailers + ["", ""]).joined(separator: "\r\n")
            connection.send(chunk(Array(first.dropFirst(1_000))) + Array(end.utf8))
        }
        let proxy = try TestProxy(origin, routes)
        for _ in 1...2 { #expect(try proxy.fetch("/feed").carries(first)) }
        let isAsked = proxy.conditions.contains(#""v1""#)
        #expect(isAsked == trailers.isEmpty)
    }

    @Test func `a changed body comes whole, and its tag is the next one asked about`() throws {
        let proxy = try TestProxy(
            Origin([
                json(first, #"ETag: "v1""#), json(second, #"ETag: "v2""#),
                wire("HTTP/1.1 304 Not Modified", #"ETag: "v2""#),
            ]), routes)
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed").carries(second))
        #expect(try proxy.fetch("/feed").carries(second))
        #expect(proxy.conditions == [nil, #""v1""#, #""v2""#])
        #expect(try proxy.metrics().contains(#"dictum_revalidations_total{result="changed"} 1"#))
    }

    @Test(arguments: [false, true])
    func `after a restart, too, the upstream is asked about the newest body, not about a former one`(
        isWrittenAtOnce: Bool
    ) throws {
        let folder = try TemporaryFolder()
        let origin = try Origin([
            json(first, #"ETag: "v1""#), json(second, #"ETag: "v2""#), json(first, #"ETag: "v1""#),
            wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#),
        ])
        let before = try TestProxy(origin, routes, store: "\(folder.path)/store.sqlite")
        for number in 1...3 {
            _ = try before.fetch("/feed")
            if isWrittenAtOnce || number == 3 { #expect(before.server.context.store.upkeep.flush()) }
        }
        before.server.stop(drainMilliseconds: 2_000)
        let after = try TestProxy(origin, routes, store: "\(folder.path)/store.sqlite")
        try waitUntil("the store is read") { after.server.context.store.statistics.versions == 2 }
        #expect(try after.fetch("/feed").carries(first))
        #expect(after.conditions == [nil, #""v1""#, #""v2""#, #""v1""#])
    }

    @Test func `an HTTP 1.0 client gets the confirmed body with its length`() throws {
        let proxy = try TestProxy(conditional(), routes)
        _ = try proxy.fetch("/feed")
        let client = try proxy.connect()
        client.send(wire("GET /feed HTTP/1.0", "Host: api.test"))
        let answer = try client.receive()
        #expect(answer.carries(first))
        #expect(answer["Content-Length"] == "\(first.count)")
        #expect(proxy.conditions.last == #""v1""#)
    }

    @Test func `the access log says what came of it`() throws {
        let proxy = try TestProxy(conditional(), routes, isLogged: true)
        _ = try proxy.fetch("/feed")
        _ = try proxy.fetch("/feed")
        let lines = proxy.lastLines()
        let asked = lines.filter { $0.contains(#""upstream_status":304"#) }
        #expect(asked.count == 1)
        #expect(lines.filter { $0.contains(#""revalidation":"hit""#) } == asked)
    }
}
