internal import Primitives
internal import TestSupport
internal import Testing

@testable import HTTP
@testable import Proxy

/// WebSocket by extended CONNECT (RFC 8441).
@Suite(.timeLimit(.minutes(40))) struct HTTP2TunnelTests {
    /// An upstream that agrees, and sends back each five bytes that it gets.
    private static func echo(accept: @escaping @Sendable (String) -> String = WebSocketKey.accept) throws
        -> Origin
    {
        try Origin { request, connection in
            connection.send(
                wire(
                    "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket",
                    "Sec-WebSocket-Accept: \(accept(request["Sec-WebSocket-Key"] ?? ""))",
                    "Sec-WebSocket-Protocol: chat"))
            while let bytes = connection.receiveExactly(5) { connection.send(bytes) }
            connection.finish()
        }
    }

    private func open(_ proxy: TestProxy, protocol name: String = "websocket") throws -> HTTP2Peer {
        let peer = try proxy.connectHTTP2()
        peer.send(
            HTTP2Peer.Kind.headers, 4, stream: 1,
            payload: HTTP2Peer.block([
                (":method", "CONNECT"), (":protocol", name), (":scheme", "http"), (":path", "/chat"),
                (":authority", "api.test"), ("sec-websocket-version", "13"),
                ("sec-websocket-protocol", "chat"),
                ("origin", "http://api.test"),
            ]))
        return peer
    }

    @Test func `the settings offer extended CONNECT`() throws {
        let proxy = try TestProxy(Self.echo())
        let peer = try proxy.connectHTTP2()
        let settings = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.settings })
        let pairs = stride(from: 0, to: settings.payload.count, by: 6).map {
            Array(settings.payload[$0..<$0 + 6])
        }
        #expect(pairs.contains([0, 8, 0, 0, 0, 1]))
    }

    @Test func `the upstream sees a handshake of HTTP/1.1, and bytes pass both ways`() throws {
        let proxy = try TestProxy(Self.echo())
        let peer = try open(proxy)
        let head = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.headers })
        #expect(!head.endsStream)
        for text in ["hello", "\u{0}\u{1}\r\n!"] {
            peer.data(1, Array(text.utf8))
            let piece = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.data })
            #expect(piece.payload == Array(text.utf8))
        }
        peer.data(1, [], endsStream: true)
        let response = try #require(peer.response(1))
        #expect(response.status == "200")
        #expect(response["sec-websocket-protocol"] == "chat")
        #expect(response["sec-websocket-accept"] == nil && response["upgrade"] == nil)
        let seen = try #require(proxy.origin.requests.first)
        #expect(seen.startLine == "GET /chat HTTP/1.1")
        #expect(seen.members("Connection") == ["upgrade"])
        #expect(seen["Upgrade"] == "websocket")
        #expect(seen["Sec-WebSocket-Version"] == "13")
        #expect(seen["Sec-WebSocket-Key"]?.utf8.count == 24)
    }

    @Test func `the bytes on the wire include the head of a tunnel without content`() throws {
        let proxy = try TestProxy(Self.echo(), isLogged: true)
        let peer = try open(proxy)
        peer.data(1, [], endsStream: true)
        #expect(peer.response(1)?.body == [])
        let line = try #require(proxy.lastLines().first)
        #expect(line.contains(#""sent_body_bytes":0,"wire_bytes":"#))
        #expect(!line.contains(#""wire_bytes":0,"#))
    }

    @Test func `an upstream that has not understood the key gets no tunnel, and keeps nothing of the client`()
        throws
    {
        let endings = Guarded(0)
        let origin = try Origin { _, connection in
            connection.send(
                wire(
                    "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket",
                    "Sec-WebSocket-Accept: c3RhbGU="))
            if connection.receiveExactly(1) == nil { endings.withLock { $0 += 1 } }
        }
        let proxy = try TestProxy(origin, isLogged: true)
        let peer = try open(proxy)
        #expect(peer.response(1)?.status == "502")
        try waitUntil("the upstream's connection ends") { endings.withLock { $0 } == 1 }
        let shared = proxy.server.context.shared
        try waitUntil("its place is free") { shared.places.counts.taken == 0 }
        #expect(try proxy.metrics().contains("dictum_upgrades_total 0"))
        let lines = proxy.lastLines()
        #expect(lines.count == 1)
        #expect(lines.first?.contains("\"status\":502") == true)
    }

    @Test func `what a client sends and ends before the tunnel is open reaches the upstream, with the end`()
        throws
    {
        let gate = Gate()
        let origin = try Origin { request, connection in
            gate.wait()
            connection.send(
                wire(
                    "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket",
                    "Sec-WebSocket-Accept: \(WebSocketKey.accept(request["Sec-WebSocket-Key"] ?? ""))"))
            let bytes = connection.receiveExactly(5) ?? []
            guard connection.receiveExactly(1) == nil else { return }
            connection.send(bytes + Array("!".utf8))
            connection.finish()
        }
        let proxy = try TestProxy(origin)
        let peer = try open(proxy)
        peer.data(1, Array("early".utf8), endsStream: true)
        peer.send(HTTP2Peer.Kind.ping, payload: [UInt8](repeating: 1, count: 8))
        _ = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.ping })
        gate.open()
        #expect(peer.response(1)?.text == "early!")
    }

    @Test func `a refusal of the upstream passes, and its success without a tunnel does not`() throws {
        let proxy = try TestProxy(
            Origin([
                wire("HTTP/1.1 403 Forbidden", body: Array("no".utf8)),
                wire("HTTP/1.1 200 OK", body: Array("page".utf8)),
            ]))
        let refused = try open(proxy)
        #expect(refused.response(1)?.status == "403")
        #expect(refused.response(1)?.text == "no")
        let wrong = try open(proxy)
        #expect(wrong.response(1)?.status == "502", "a 200 would say that the tunnel is open")
        #expect(wrong.response(1)?.body == [])
    }

    @Test func `h2c is never tunnelled`() throws {
        let proxy = try TestProxy(Self.echo())
        let peer = try open(proxy, protocol: "h2c")
        _ = try #require(peer.response(1))
        #expect(proxy.origin.requests.first?["Upgrade"] == nil)
    }

    @Test func `five megabytes pass each way`() throws {
        let body = Noise.bytes(5_000_000, seed: 7)
        let origin = try Origin { request, connection in
            connection.send(
                wire(
                    "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket",
                    "Sec-WebSocket-Accept: \(WebSocketKey.accept(request["Sec-WebSocket-Key"] ?? ""))"))
            guard let all = connection.receiveExactly(body.count) else { return }
            connection.send(all)
            connection.finish()
        }
        let proxy = try TestProxy(origin)
        let peer = try open(proxy)
        var (window, whole) = (65_535, 65_535)
        // The server's SETTINGS and updates tell how much may go; its window for a stream is 64 KiB.
        func note(_ frame: HTTP2Peer.Frame) {
            let count = Int(frame.payload.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
            guard frame.type == HTTP2Peer.Kind.windowUpdate else { return }
            if frame.stream == 0 { whole += count } else { window += count }
        }
        _ = try #require(
            peer.readFrame {
                note($0)
                return $0.type == HTTP2Peer.Kind.headers
            })
        var offset = 0
        while offset < body.count {
            let count = min(16_384, body.count - offset, window, whole)
            if count > 0 {
                peer.data(1, Array(body[offset..<offset + count]))
                (offset, window, whole) = (offset + count, window - count, whole - count)
            } else {
                note(try #require(peer.readFrame()))
            }
        }
        peer.send(HTTP2Peer.Kind.windowUpdate, stream: 0, payload: HTTP2Peer.number(10_000_000))
        peer.send(HTTP2Peer.Kind.windowUpdate, stream: 1, payload: HTTP2Peer.number(10_000_000))
        #expect(peer.response(1)?.body == body)
    }
}
