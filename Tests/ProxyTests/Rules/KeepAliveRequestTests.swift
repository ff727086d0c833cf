internal import TestSupport
internal import Testing

@testable import Proxy

/// `limits.keepalive_requests`.
@Suite(.timeLimit(.minutes(40))) struct KeepAliveRequestTests {
    private func proxy() throws -> TestProxy {
        try TestProxy(wire("HTTP/1.1 200 OK", body: Array("ok".utf8)), "limits: {keepalive_requests: 2}")
    }

    @Test
    func `the last request of an HTTP/1.1 connection gets Connection close, even with others behind it`()
        throws
    {
        let proxy = try proxy()
        let client = try proxy.connect()
        let one = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
        client.send(one + one + one)
        let first = try client.receive()
        #expect(first.status == 200 && !first.members("Connection").contains("close"))
        let last = try client.receive()
        #expect(last.text == "ok" && last.members("Connection") == ["close"])
        #expect(client.receiveAll().isEmpty)
        #expect(proxy.origin.requests.count == 2)
        #expect(try proxy.fetch("/a").status == 200, "on a new connection")
    }

    @Test func `an HTTP/2 connection ends in two steps, and serves what is on its way`() throws {
        let proxy = try proxy()
        let peer = try proxy.connectHTTP2()
        peer.request(1)
        #expect(peer.response(1)?.text == "ok")
        #expect(!peer.frames.contains { $0.type == HTTP2Peer.Kind.goAway })
        peer.request(3)
        let notice = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.goAway })
        #expect(notice.payload == [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])
        peer.request(5)
        #expect(peer.response(3)?.text == "ok" && peer.response(5)?.text == "ok")
        #expect(peer.endingCode() == 0)
        let last = peer.frames.last { $0.type == HTTP2Peer.Kind.goAway }
        #expect(last?.payload.prefix(4) == [0, 0, 0, 5])
    }
}
