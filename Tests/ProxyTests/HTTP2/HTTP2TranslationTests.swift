internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

extension TestProxy {
    /// Opens an HTTP/2 connection without TLS.
    func connectHTTP2(settings: [(UInt16, UInt32)] = []) throws -> HTTP2Peer {
        try HTTP2Peer(port: Self.port(server.endpoints.first), settings: settings)
    }
}

private let ok = wire("HTTP/1.1 200 OK", body: Array("ok".utf8))

/// Requests and responses between HTTP/2 clients and an HTTP/1.1 upstream (RFC 9113 section 8).
@Suite(.timeLimit(.minutes(40))) struct HTTP2TranslationTests {
    @Test func `a request goes on as HTTP/1.1 with Host, one Cookie, TE and Via`() throws {
        let proxy = try TestProxy(ok)
        let peer = try proxy.connectHTTP2()
        peer.request(
            1, "/feed?a=1",
            [("cookie", "a=1"), ("accept", "*/*"), ("cookie", "b=2"), ("te", "trailers"), ("x-own", "1")])
        let response = try #require(peer.response(1))
        #expect(response.status == "200")
        #expect(response.text == "ok")
        let seen = try #require(proxy.origin.requests.first)
        #expect(seen.startLine == "GET /feed?a=1 HTTP/1.1")
        #expect(seen.values("Host") == ["api.test"])
        #expect(seen.values("Cookie") == ["a=1; b=2"])
        #expect(seen["TE"] == "trailers")
        #expect(seen.members("Connection") == ["te"])
        #expect(seen["Via"]?.hasPrefix("2.0 dictum-") == true)
        #expect(seen["X-Forwarded-Host"] == "api.test")
        #expect(seen["x-own"] == "1")
        #expect(!seen.fields.contains { $0.name.hasPrefix(":") })
    }

    @Test func `the fields of an HTTP/1.1 connection do not reach the client`() throws {
        let proxy = try TestProxy(
            wire(
                "HTTP/1.1 200 OK", "Connection: keep-alive, x-hop", "x-hop: 1", "Keep-Alive: timeout=5",
                "Proxy-Connection: keep-alive", "Upgrade: h3", "Set-Cookie: a=1", "Set-Cookie: b=2",
                "X-Mixed-Case: Yes", body: Array("ok".utf8)))
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/")
        let response = try #require(peer.response(1))
        let names = response.fields.map { String($0.prefix { $0 != " " }) }
        for name in [
            "connection:", "x-hop:", "keep-alive:", "proxy-connection:", "upgrade:", "transfer-encoding:",
        ] {
            #expect(!names.contains(name))
        }
        #expect(
            response.fields.filter { $0.hasPrefix("set-cookie") } == ["set-cookie: a=1", "set-cookie: b=2"])
        #expect(response["x-mixed-case"] == "Yes")
        #expect(response.text == "ok")
    }

    @Test func `interim responses and trailers reach the client`() throws {
        let proxy = try TestProxy(
            wire("HTTP/1.1 103 Early Hints", "Link: </a.css>; rel=preload")
                + wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Transfer-Encoding: chunked")
                + Array("3\r\nabc\r\n0\r\nX-Sum: 7\r\nContent-Length: 9\r\n\r\n".utf8))
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/image")
        let response = try #require(peer.response(1))
        #expect(response.interim == [[":status: 103", "link: </a.css>; rel=preload"]])
        #expect(response.status == "200")
        #expect(response.text == "abc")
        #expect(response.trailers == ["x-sum: 7"])
    }

    @Test func `the bytes on the wire include interim heads and trailers`() throws {
        let hint = wire("HTTP/1.1 103 Early Hints", "Link: </a.css>; rel=preload")
        let body =
            wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Transfer-Encoding: chunked")
            + Array("3\r\nabc\r\n0\r\n".utf8)
        let origin = try Origin { request, connection in
            let isPlain = request.target == "/plain"
            let end = isPlain ? "\r\n" : "X-Sum: 7\r\n\r\n"
            connection.send((isPlain ? [] : hint) + body + Array(end.utf8))
        }
        let proxy = try TestProxy(origin, isLogged: true)
        let peer = try proxy.connectHTTP2()
        for (stream, target) in [(1, "/plain"), (3, "/image")] as [(Int32, String)] {
            peer.request(stream, target)
            #expect(peer.response(stream)?.text == "abc")
        }
        let sent = proxy.lastLines().compactMap { line in
            line.firstMatch(of: /"wire_bytes":([0-9]+)/).flatMap { Int($0.output.1) }
        }
        try #require(sent.count == 2)
        // Field lines count as they are before HPACK.
        #expect(sent[1] - sent[0] == "link: </a.css>; rel=preload\r\nx-sum: 7\r\n".utf8.count)
    }

    @Test func `trailers follow a held response too`() throws {
        let proxy = try TestProxy(
            wire("HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked")
                + Array("3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n".utf8), "routes: [{match: /*}]")
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/feed")
        let response = try #require(peer.response(1))
        #expect(response.text == "abc")
        #expect(response.trailers == ["x-sum: 7"])
    }

    @Test func `HEAD, 204 and 304 end with their head`() throws {
        let proxy = try TestProxy(
            Origin { request, connection in
                switch request.target {
                case "/empty": connection.send(wire("HTTP/1.1 204 No Content"))
                case "/same": connection.send(wire("HTTP/1.1 304 Not Modified", "ETag: \"a\""))
                default: connection.send(wire("HTTP/1.1 200 OK", "Content-Length: 5"))
                }
            })
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/head", method: "HEAD")
        #expect(peer.response(1)?["content-length"] == "5")
        peer.request(3, "/empty")
        #expect(peer.response(3)?.status == "204")
        peer.request(5, "/same", [("if-none-match", "\"a\"")])
        #expect(peer.response(5)?.status == "304")
        #expect(!peer.frames.contains { $0.type == HTTP2Peer.Kind.data })
    }

    @Test func `an upload without a length is chunked, and its trailers pass`() throws {
        let taken = Guarded<[UInt8]>([])
        let origin = try Origin { request, connection in
            taken.withLock { $0 = request.body }
            connection.send(ok)
        }
        let proxy = try TestProxy(origin)
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/up", method: "POST", [("te", "trailers")], endsStream: false)
        peer.data(1, Array("abc".utf8))
        peer.data(1, Array("def".utf8))
        peer.send(
            HTTP2Peer.Kind.headers, 5, stream: 1,
            payload: HTTP2Peer.block([("x-sum", "6"), ("content-length", "6"), ("host", "evil")]))
        #expect(peer.response(1)?.status == "200")
        #expect(taken.withLock { $0 } == Array("abcdef".utf8))
        let seen = try #require(proxy.origin.requests.first)
        #expect(seen["Transfer-Encoding"] == "chunked")
        #expect(seen["Content-Length"] == nil)
    }

    @Test func `an upload with a length keeps it`() throws {
        let proxy = try TestProxy(ok)
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/up", method: "POST", [("content-length", "6")], endsStream: false)
        peer.data(1, Array("abcdef".utf8), endsStream: true)
        #expect(peer.response(1)?.status == "200")
        let seen = try #require(proxy.origin.requests.first)
        #expect(seen.values("Content-Length") == ["6"])
        #expect(seen["Transfer-Encoding"] == nil)
        #expect(seen.text == "abcdef")
    }

    @Test(arguments: [3, 9])
    func `DATA that does not agree with Content-Length never makes a whole request`(length: Int) throws {
        let proxy = try TestProxy(ok)
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/up", method: "POST", [("content-length", "6")], endsStream: false)
        peer.data(1, [UInt8](repeating: 0x61, count: length), endsStream: true)
        #expect(peer.response(1)?.resetCode == 1)
        peer.request(3, "/next")
        #expect(peer.response(3)?.status == "200")
        #expect(proxy.origin.requests.map(\.target) == ["/next"], "and the connection is not used again")
    }

    @Test func `a client that waits for 100 gets it`() throws {
        let proxy = try TestProxy(ok)
        let peer = try proxy.connectHTTP2()
        peer.request(
            1, "/up", method: "POST", [("expect", "100-continue"), ("content-length", "3")], endsStream: false
        )
        _ = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.headers })
        peer.data(1, Array("abc".utf8), endsStream: true)
        let response = try #require(peer.response(1))
        #expect(response.interim == [[":status: 100"]])
        #expect(response.status == "200")
        #expect(proxy.origin.requests.first?.text == "abc")
    }

    /// Fields with which a request is malformed (RFC 9113 sections 8.2 and 8.3).
    static let malformed: [[(String, String)]] = {
        let get = [(":method", "GET"), (":scheme", "http"), (":authority", "api.test"), (":path", "/")]
        let fields = [
            ("connection", "close"), ("connection", "x-own"), ("keep-alive", "timeout=5"),
            ("proxy-connection", "close"), ("transfer-encoding", "chunked"),
            ("transfer-encoding", "identity"),
            ("upgrade", "websocket"), ("upgrade", "h2c"), ("te", "gzip"), ("te", "trailers, gzip"),
            ("Accept", "*/*"),
            ("x own", "1"), ("x:own", "1"), ("", "1"), ("x\r\nhost", "b"), ("x\u{0}", "1"),
            ("x-own", "1\r\ntransfer-encoding: chunked"), ("x-own", "1\r"), ("x-own", "1\n2"),
            ("x-own", "\u{0}"),
            ("x-own", " 1"), ("x-own", "1 "), (":unknown", "1"), (":status", "200"), (":path", "/two"),
            ("content-length", "1, 1"), ("content-length", "-1"), ("content-length", "1e1"),
        ]
        let orders: [[(String, String)]] = [
            [get[0], get[1], get[3], ("accept", "*/*"), get[2]],
            [get[1], get[2], get[3]], [get[0], get[2], get[3]], [get[0], get[1], get[2]],
            [get[0], get[0], get[1], get[2], get[3]],
            [get[0], get[1], get[2], (":path", "")],
            [get[0], get[1], get[2], (":path", "two")],
            [(":method", "GE T"), get[1], get[2], get[3]],
            [get[0], get[1], (":authority", "a b"), get[3]],
            [get[0], get[1], get[2], (":path", "/a b")],
            [(":method", "CONNECT"), (":scheme", "http"), (":authority", "a:1"), (":path", "/")],
            [(":method", "GET"), (":protocol", "websocket"), get[1], get[2], get[3]],
        ]
        return fields.map { get + [$0] } + orders
    }()

    @Test(arguments: malformed)
    func `a malformed request is reset or refused, and never forwarded`(fields: [(String, String)]) throws {
        let proxy = try TestProxy(ok)
        let peer = try proxy.connectHTTP2()
        peer.send(HTTP2Peer.Kind.headers, 5, stream: 1, payload: HTTP2Peer.block(fields))
        let response = try #require(peer.response(1))
        #expect(response.resetCode == 1 || response.status == "400", "\(response)")
        #expect(proxy.origin.requests.isEmpty)
        #expect(try proxy.metric("dictum_rejected_requests_total{reason=\"malformed\"}") == 1)
        peer.request(3, "/good")
        #expect(peer.response(3)?.status == "200", "the connection goes on")
    }

    @Test func `the log and the metrics tell the protocol`() throws {
        let proxy = try TestProxy(Origin(ok), isLogged: true)
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/two")
        #expect(peer.response(1)?.status == "200")
        _ = try proxy.fetch("/one")
        #expect(try proxy.metric("dictum_requests_by_protocol_total{protocol=\"HTTP/2.0\"}") == 1)
        #expect(try proxy.metric("dictum_requests_by_protocol_total{protocol=\"HTTP/1.1\"}") == 1)
        let lines = proxy.lastLines()
        #expect(
            lines.contains { $0.contains(#""target":"/two""#) && $0.contains(#""protocol":"HTTP/2.0""#) })
        #expect(
            lines.contains { $0.contains(#""target":"/one""#) && $0.contains(#""protocol":"HTTP/1.1""#) })
    }

    @Test func `each limit that a client exceeds is counted by its name`() throws {
        let proxy = try TestProxy(ok)
        let resets = try proxy.connectHTTP2()
        for number: Int32 in 0..<600 {
            resets.request(1 + 2 * number, method: "POST", endsStream: false)
            resets.send(HTTP2Peer.Kind.reset, stream: 1 + 2 * number, payload: HTTP2Peer.number(8))
        }
        #expect(resets.endingCode() == 11)
        let pings = try proxy.connectHTTP2()
        for _ in 0..<1_100 { pings.send(HTTP2Peer.Kind.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8]) }
        #expect(pings.endingCode() == 11)
        let heads = try proxy.connectHTTP2()
        // Sixty-four have room.
        for number: Int32 in 0..<65 {
            let value = String(repeating: "v", count: 16_000)
            heads.request(1 + 2 * number, method: "POST", [("x-own", value)], endsStream: false)
        }
        #expect(heads.response(129)?.resetCode == 7)
        let many = try proxy.connectHTTP2()
        for number: Int32 in 0..<101 { many.request(1 + 2 * number, method: "POST", endsStream: false) }
        #expect(many.response(201)?.resetCode == 7)
        for limit in ["resets", "control-frames", "heads", "streams"] {
            #expect(try proxy.metric("dictum_http2_limits_total{limit=\"\(limit)\"}") == 1, "\(limit)")
        }
        let hasty = try TestProxy(ok, "limits: {head_timeout: 2s}")
        let late = try hasty.connectHTTP2()
        late.send(HTTP2Peer.Kind.headers, 0, stream: 1, payload: HTTP2Peer.block([(":method", "GET")]))
        #expect(late.endingCode() == 1)
        #expect(try hasty.metric("dictum_http2_limits_total{limit=\"head-timeout\"}") == 1)
        let patient = try TestProxy(Origin(ok), upstream: "idle_timeout: 1s")
        let stalled = try patient.connectHTTP2()
        stalled.request(1, method: "POST", endsStream: false)
        #expect(stalled.response(1)?.resetCode == 8)
        #expect(try patient.metric("dictum_http2_limits_total{limit=\"stalled-request\"}") == 1)
        #expect(try patient.metric("dictum_http2_limits_total{limit=\"stalled-response\"}") == 0)
    }

    @Test func `what clients have exceeded on a listener that is gone is counted still`() throws {
        let (proxy, folder) = (try TestProxy(ok), try TemporaryFolder())
        do {
            let peer = try proxy.connectHTTP2()
            for _ in 0..<1_100 { peer.send(HTTP2Peer.Kind.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8]) }
            #expect(peer.endingCode() == 11)
        }
        try waitUntil("its connection has gone") {
            try ["active", "idle"].allSatisfy {
                try proxy.metric("dictum_connections{side=\"client\",state=\"\($0)\"}") == 0
            }
        }
        let count = #"dictum_http2_limits_total{limit="control-frames"}"#
        #expect(try proxy.metric(count) == 1)
        try proxy.reload("listeners: [{address: \"unix:\(folder.file("a.sock"))\"}]")
        #expect(try proxy.metric(count) == 1)
    }

    @Test func `a delta goes out from the second fetch on, and is exact`() throws {
        let bodies = (1...3).map { Feed.bytes(version: $0, items: 100) }
        let origin = try Origin(
            bodies.map { body in
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                    body: body)
            })
        let proxy = try TestProxy(origin, "explain: on\nroutes: [{match: /*}]")
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/feed", [("accept-encoding", "dcz, dcb")])
        let first = try #require(peer.response(1))
        #expect(first.body == bodies[0])
        let offer = try #require(first["use-as-dictionary"].flatMap { UseAsDictionary.parse([$0]) })
        for (number, coding) in [(1, "dcz"), (2, "dcb")] {
            var fields = [("accept-encoding", coding)]
            let name = available(bodies[0]).dropFirst("Available-Dictionary: ".count)
            fields.append(("available-dictionary", String(name)))
            if !offer.id.isEmpty { fields.append(("dictionary-id", "\"\(offer.id)\"")) }
            peer.request(Int32(1 + 2 * number), "/feed", fields)
            let next = try #require(peer.response(Int32(1 + 2 * number)))
            #expect(next["content-encoding"] == coding, "\(next.fields)")
            #expect(next.body.count < bodies[number].count / 4)
            let decoded = try Codec.decode(
                next.body.span, coding == "dcz" ? .dcz : .dcb, dictionary: Body(bodies[0]),
                limits: DecoderLimits(maxBytes: 1 << 28, maxRatio: 1 << 20))
            #expect(decoded == bodies[number])
        }
    }
}
