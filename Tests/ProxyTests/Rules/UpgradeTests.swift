internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// RFC 9110 section 7.8: Upgrade, and the tunnel that a 101 makes.
@Suite(.timeLimit(.minutes(40)))
struct UpgradeTests {
    private static let switching = wire(
        "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    private static let asking = [
        "Connection: keep-alive, Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    /// An upstream that agrees, then sends back each five bytes that it gets.
    private static func echo(first: String = "") throws -> Origin {
        try Origin { _, connection in
            connection.send(switching + Array(first.utf8))
            while let bytes = connection.receiveExactly(5) { connection.send(bytes) }
            connection.finish()
        }
    }

    private func open(_ proxy: TestProxy, behind early: String = "") throws -> (WireSocket, WireMessage) {
        let client = try proxy.connect()
        client.send(request("/socket", Self.asking) + Array(early.utf8))
        return (client, try client.receiveHead())
    }

    @Test("A 101 passes with its fields, and what the upstream sent behind it is not lost")
    func agreed() throws {
        let proxy = try TestProxy(try Self.echo(first: "hello"))
        let (client, head) = try open(proxy)
        #expect(head.status == 101)
        #expect(head["Upgrade"] == "websocket")
        #expect(head["Connection"]?.lowercased() == "upgrade")
        #expect(head["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(head["Content-Length"] == nil && head["Transfer-Encoding"] == nil)
        #expect(client.receiveExactly(5) == Array("hello".utf8))
        let asked = proxy.origin.requests.first
        #expect(asked?["Upgrade"] == "websocket")
        #expect(asked?["Connection"]?.lowercased() == "upgrade")
    }

    @Test("Bytes pass both ways as they are, whatever they look like")
    func bothWays() throws {
        let proxy = try TestProxy(try Self.echo())
        let (client, _) = try open(proxy)
        for text in ["GET /", "0\r\n\r\n", "\u{0}\u{1}\u{2}\u{3}\u{4}", "\r\n\r\n\r"] {
            client.send(text)
            #expect(client.receiveExactly(5) == Array(text.utf8))
        }
    }

    @Test("Megabytes pass each way, also while one side takes nothing")
    func large() throws {
        let body = Noise.bytes(5_000_000, seed: 7)
        let origin = try Origin { _, connection in
            connection.send(Self.switching)
            // The upstream reads everything before it sends, so the proxy and the client have to buffer bytes.
            guard let all = connection.receiveExactly(body.count) else { return }
            connection.send(all)
            connection.finish()
        }
        let proxy = try TestProxy(origin)
        let (client, head) = try open(proxy)
        #expect(head.status == 101)
        client.send(body)
        #expect(client.receiveExactly(body.count) == body)
    }

    @Test("Bytes behind the request stay here until the upstream has said 101")
    func earlyBytes() throws {
        let early = Guarded<[UInt8]?>(nil)
        let origin = try Origin { _, connection in
            let isQuiet = connection.isQuiet(milliseconds: 200)
            connection.send(Self.switching)
            let bytes = connection.receiveExactly(5)
            early.withLock { $0 = isQuiet ? bytes : nil }
            connection.send("taken")
        }
        let proxy = try TestProxy(origin)
        let (client, _) = try open(proxy, behind: "early")
        #expect(client.receiveExactly(5) == Array("taken".utf8))
        #expect(early.withLock { $0 } == Array("early".utf8))
    }

    @Test("Without a 101 there is no tunnel: the next bytes are the next request")
    func refused() throws {
        let refusal = wire(
            "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: Upgrade",
            body: Array("no".utf8))
        let proxy = try TestProxy(try Origin([refusal, json(Array("{}".utf8))]))
        let client = try proxy.connect()
        client.send(request("/socket", Self.asking))
        let answer = try client.receive()
        #expect(answer.status == 426)
        // RFC 9110 section 15.5.22: a 426 says which protocol is required.
        #expect(answer["Upgrade"] == "websocket")
        // RFC 9110 section 7.8: whoever sends Upgrade names it in Connection, as it is for this hop alone.
        #expect(answer["Connection"]?.lowercased() == "upgrade")
        client.send(request("/next", []))
        #expect(try client.receive().status == 200)
        #expect(proxy.origin.requests.count == 2)
    }

    @Test("When the client ends, the upstream is told, and what it still says arrives")
    func clientEnds() throws {
        let origin = try Origin { _, connection in
            connection.send(Self.switching)
            _ = connection.receiveAll()
            connection.send("last words")
            connection.finish()
        }
        let proxy = try TestProxy(origin)
        let (client, _) = try open(proxy)
        client.send("end")
        client.closeWriting()
        #expect(client.receiveAll() == Array("last words".utf8))
        #expect(client.ending == .closed)
    }

    @Test("When the upstream ends, the client gets what it sent and then the end")
    func upstreamEnds() throws {
        let origin = try Origin { _, connection in
            connection.send(Self.switching + Array("last words".utf8))
            connection.finish()
        }
        let proxy = try TestProxy(origin)
        let (client, _) = try open(proxy)
        #expect(client.receiveAll() == Array("last words".utf8))
        #expect(client.ending == .closed)
    }

    @Test("When the upstream resets, the client is reset: it does not look ended in good order")
    func upstreamResets() throws {
        let origin = try Origin { _, connection in
            connection.send(Self.switching)
            _ = connection.receiveExactly(5)
            connection.reset()
        }
        let proxy = try TestProxy(origin)
        let (client, _) = try open(proxy)
        client.send("break")
        _ = client.receiveAll()
        #expect(client.ending == .reset)
    }

    @Test("A tunnel that is silent both ways for tunnel_timeout ends on both sides")
    func silence() throws {
        let ended = Gate()
        let origin = try Origin { _, connection in
            connection.send(Self.switching)
            _ = connection.receiveAll()
            ended.open()
        }
        let proxy = try TestProxy(origin, upstream: "", "limits: { tunnel_timeout: 2s }")
        let (client, head) = try open(proxy)
        #expect(head.status == 101)
        _ = client.receiveAll()
        #expect(client.ending == .reset || client.ending == .closed)
        #expect(ended.wait())
        for reason in ["answer-timeout", "body-timeout"] {
            let refused = try proxy.metric(#"dictum_rejected_requests_total{reason="\#(reason)"}"#)
            #expect(refused == 0, "a tunnel's end is no refusal")
        }
    }

    @Test("What goes through a tunnel has no limit of a request's body")
    func unlimited() throws {
        let proxy = try TestProxy(try Self.echo(), "limits: {request_body: 3}")
        let (client, head) = try open(proxy)
        #expect(head.status == 101)
        for text in ["first", "other"] {
            client.send(text)
            #expect(client.receiveExactly(5) == Array(text.utf8))
        }
    }

    @Test("A 101 has the fields and the priority of its route")
    func fieldsOfTheRoute() throws {
        let origin = try Origin { _, connection in
            connection.send(
                wire(
                    "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket",
                    "Server: inner"))
            _ = connection.receiveAll()
        }
        let proxy = try TestProxy(
            origin,
            """
            routes:
            - match: /*
              priority: bulk
              headers: {response: {set: {X-Own: a}, remove: [Server]}}
            """)
        let (_, head) = try open(proxy)
        #expect(head.status == 101 && head["Upgrade"] == "websocket")
        #expect(head["X-Own"] == "a" && head["Server"] == nil)
        #expect(head["Priority"] == "u=7")
    }

    @Test("h2c is never passed on, alone or in a list: its requests would go by unseen")
    func cleartextHTTP2() throws {
        let proxy = try TestProxy(json(Array("{}".utf8)))
        let settings = "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"
        _ = try proxy.fetch("/a", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", settings)
        _ = try proxy.fetch("/b", "Connection: Upgrade, HTTP2-Settings", "Upgrade: H2C, chat/2", settings)
        for name in ["HTTP/2.0", "http", "h2", "h3", "H3-29", "HTTP/1.1"] {
            _ = try proxy.fetch("/c", "Connection: Upgrade", "Upgrade: \(name), chat/2")
            #expect(proxy.origin.requests.last?["Upgrade"] == "chat/2", "\(name)")
        }
        let requests = proxy.origin.requests
        #expect(requests.first?["Upgrade"] == nil)
        #expect(requests[1]["Upgrade"] == "chat/2")
        #expect(requests.allSatisfy { $0["HTTP2-Settings"] == nil })
    }

    @Test(
        "An Upgrade is not passed on without its connection option, with a body, or from HTTP/1.0",
        arguments: [
            "GET /socket HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n",
            "POST /socket HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\n{}",
            "GET /socket HTTP/1.0\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        ])
    func notAsked(_ bytes: String) throws {
        let proxy = try TestProxy(json(Array("{}".utf8)))
        let client = try proxy.connect()
        client.send(bytes)
        #expect(try client.receive().status == 200)
        #expect(proxy.origin.requests.first?["Upgrade"] == nil)
    }

    @Test(
        "A 101 that nobody asked for, or to another protocol, is a bad gateway, and ends its connection",
        arguments: [
            ("", "websocket"), ("Connection: upgrade\r\nUpgrade: websocket\r\n", "chat"),
            ("Connection: upgrade\r\nUpgrade: websocket\r\n", "websocket, chat"),
        ])
    func wrongProtocol(asked: String, chosen: String) throws {
        let ended = Gate()
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 101 Switching Protocols", "Connection: upgrade", "Upgrade: \(chosen)"))
            _ = connection.receiveAll()
            if connection.ending != .timedOut { ended.open() }
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        client.send("GET /socket HTTP/1.1\r\nHost: a\r\n\(asked)\r\n")
        #expect(try client.receive().status == 502)
        #expect(ended.wait(), "the upstream believes in the tunnel")
    }

    @Test("Tunnels are counted and logged with their status and bytes")
    func accounting() throws {
        let proxy = try TestProxy(try Self.echo(), isLogged: true)
        let (client, _) = try open(proxy)
        client.send("bytes")
        _ = client.receiveExactly(5)
        #expect(try proxy.metrics().contains("dictum_upgrades_total 1"))
        client.closeWriting()
        _ = client.receiveAll()
        let lines = proxy.lastLines()
        #expect(lines.contains { $0.contains("\"status\":101") })
    }
}
