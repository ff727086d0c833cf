internal import TestSupport
internal import Testing

@testable import Proxy

/// Tests a listener with `proxy_protocol`, which requires the header and believes it.
@Suite(.timeLimit(.minutes(40)))
struct ProxyProtocolTests {
    private static let header = "PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n"

    private func proxy(_ settings: String = "") throws -> TestProxy {
        try TestProxy(
            try Origin(json(Array("{}".utf8))), upstream: "", settings, isLogged: true,
            listener: { $0.proxyProtocol = true })
    }

    @Test("The client that the header names is the one forwarded and logged")
    func client() throws {
        let proxy = try proxy()
        let client = try proxy.connect()
        client.send(Self.header + "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receive().status == 200)
        client.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receive().status == 200)
        #expect(proxy.origin.requests.map { $0["X-Forwarded-For"] } == ["203.0.113.7", "203.0.113.7"])
        #expect(proxy.lastLines().first?.contains("203.0.113.7") == true)
    }

    @Test("The header may come byte by byte, and what follows it is not lost")
    func slowly() throws {
        let proxy = try proxy()
        let client = try proxy.connect()
        for byte in (Self.header + "GET / HT").utf8 { client.send([byte]) }
        client.send("TP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receive().status == 200)
    }

    @Test("The client's own forwarding fields do not count: it is not among the trusted proxies")
    func untrustedClient() throws {
        let proxy = try proxy()
        let client = try proxy.connect()
        client.send(Self.header + "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.9.9.9\r\n\r\n")
        #expect(try client.receive().status == 200)
        #expect(proxy.origin.requests.first?["X-Forwarded-For"] == "203.0.113.7")
    }

    @Test(
        "Clients are sent on to https as the listener says, unless the header tells of TLS",
        arguments: [(nil, 301), (0, 301), (1, 200)] as [(UInt8?, Int)])
    func redirect(flags: UInt8?, status: Int) throws {
        let proxy = try TestProxy(
            try Origin(json(Array("{}".utf8))),
            listener: {
                $0.proxyProtocol = true
                $0.redirectPort = 443
            })
        let client = try proxy.connect()
        // PP2_TYPE_SSL with its flags, of which the first stands for TLS, and five bytes.
        let addition: [UInt8] = flags.map { [0x20, 0, 5, $0, 0, 0, 0, 0] } ?? []
        var bytes: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]
        bytes += [0x21, 0x11, 0, 12 + UInt8(addition.count)]
        bytes += [203, 0, 113, 7, 192, 0, 2, 1, 0xDC, 0x04, 0x01, 0xBB]
        client.send(bytes + addition + Array("GET /b HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        let answer = try client.receive()
        #expect(answer.status == status)
        #expect(answer["Location"] == (status == 301 ? "https://a/b" : nil))
    }

    @Test("A connection whose header is awaited counts among the open ones, as it takes a place")
    func awaited() throws {
        let proxy = try proxy("limits: { head_timeout: 10m }")
        let clients = try (1...5).map { _ in try proxy.connect() }
        try waitUntil("all are accepted") {
            try proxy.metric(#"dictum_connections_total{side="client"}"#) == clients.count
        }
        #expect(try proxy.metric(#"dictum_connections{side="client",state="idle"}"#) == clients.count)
        for client in clients {
            client.send(Self.header + "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.receive().status == 200)
        }
    }

    @Test("A connection without the header is closed without a word, and counted")
    func missing() throws {
        let proxy = try proxy()
        let client = try proxy.connect()
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.receiveAll().isEmpty)
        #expect(client.ending != nil)
        #expect(proxy.origin.requests.isEmpty)
        #expect(try proxy.metrics().contains(#"dictum_rejected_requests_total{reason="bad-proxy-header"} 1"#))
    }

    @Test("A peer that is no trusted proxy cannot claim an address")
    func untrustedPeer() throws {
        let proxy = try proxy("trusted_proxies: [10.0.0.0/8]")
        let client = try proxy.connect()
        client.send(Self.header + "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.receiveAll().isEmpty)
        #expect(proxy.origin.requests.isEmpty)
    }

    @Test("A header that does not come in time ends the connection")
    func timeout() throws {
        let proxy = try proxy("limits: { head_timeout: 100ms }")
        let client = try proxy.connect()
        client.send("PROXY TC")
        #expect(client.receiveAll().isEmpty)
        #expect(client.ending == .closed || client.ending == .reset)
    }
}
