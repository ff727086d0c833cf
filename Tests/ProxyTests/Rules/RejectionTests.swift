internal import Glibc
internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 40)
private let zeros = [UInt8](repeating: 0, count: 1 << 20)

/// Clients that take places and time without end: each is let go, counted under its reason, and others are served.
@Suite(.timeLimit(.minutes(40))) struct RejectionTests {
    private func rejected(_ reason: String, of proxy: TestProxy) throws -> Int {
        try proxy.metric(#"dictum_rejected_requests_total{reason="\#(reason)"}"#)
    }

    @Test func `heads that drip (slowloris) get 408 and are counted, and others are served meanwhile`() throws
    {
        let proxy = try TestProxy(json(body), "limits: {head_timeout: 3s}")
        let slow = try (0..<20).map { _ in try proxy.connect() }
        for client in slow { client.send("GET /feed HTTP/1.1\r\nHost: api.test\r\nX-A") }
        #expect(try proxy.fetch("/feed").carries(body))
        // A byte now and then buys no time.
        var count = 0
        while count < 1_000, let first = slow.first, first.isQuiet(milliseconds: 20) {
            first.send("a")
            count += 1
        }
        #expect(count < 1_000)
        for client in slow {
            #expect(try client.receive().status == 408)
            _ = client.receiveAll()
        }
        #expect(try rejected("head-timeout", of: proxy) == 20)
        #expect(try proxy.fetch("/feed").carries(body))
    }

    @Test func `a client that takes its answer by drops (slow read) is reset and counted, upstream too`()
        throws
    {
        let isLetGo = Gate()
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Content-Length: 1073741824"))
            while connection.send(zeros) {}
            isLetGo.open()
        }
        let proxy = try TestProxy(origin, upstream: "idle_timeout: 300ms", "limits: {body_rate: 64KiB}")
        let client = try proxy.connect(receiveBytes: 4 * 1024)
        client.send(request("/image", []))
        _ = try client.receiveHead()
        // The kernel holds enough for more drops than there is time for.
        try waitUntil("the time-out of the response is counted") {
            _ = client.receiveExactly(16)
            usleep(20_000)
            return try rejected("answer-timeout", of: proxy) > 0
        }
        #expect(isLetGo.wait(seconds: 300))
        _ = client.receiveAll()
        #expect(client.ending == .reset, "it cannot take what it has for whole")
        #expect(try rejected("answer-timeout", of: proxy) == 1)
    }

    @Test func `a head of request_head is served, and one byte more is 431 and counted`() throws {
        let proxy = try TestProxy(json(body), "limits: {request_head: 1KiB}")
        func head(_ count: Int) -> [UInt8] {
            let start = "GET /feed HTTP/1.1\r\nHost: api.test\r\nX-A: "
            return Array(
                (start + String(repeating: "a", count: count - start.utf8.count - 4) + "\r\n\r\n").utf8)
        }
        for (count, status) in [(1_024, 200), (1_025, 431)] {
            let client = try proxy.connect()
            client.send(head(count))
            #expect(try client.receive().status == status, "\(count) bytes")
        }
        #expect(try rejected("head-too-large", of: proxy) == 1)
    }

    @Test(arguments: [("", 64 << 10), ("limits: {response_head: 2KiB}", 2 << 10)])
    func `a response head of response_head is passed on, one byte more is a 502`(
        setting: String, limit: Int
    ) throws {
        let origin = try Origin { request, connection in
            let start = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: "
            let count = Int(request.target.dropFirst()) ?? 0
            let filler = String(repeating: "a", count: count - start.utf8.count - 4)
            connection.send(Array((start + filler + "\r\n\r\n{}").utf8))
        }
        let proxy = try TestProxy(origin, setting)
        #expect(try proxy.fetch("/\(limit)").status == 200)
        #expect(try proxy.fetch("/\(limit + 1)").status == 502)
    }

    @Test func `a body of request_body is served, and one byte more is 413 and counted, however it comes`()
        throws
    {
        let origin = try Origin { _, connection in connection.send(json(body)) }
        let proxy = try TestProxy(origin, "limits: {request_body: 1KiB}")
        for (count, status) in [(1_024, 200), (1_025, 413)] {
            let bytes = [UInt8](repeating: 0x61, count: count)
            let sized = try proxy.connect()
            sized.send(request("/feed", [], method: "POST", body: bytes))
            #expect(try sized.receive().status == status, "\(count) bytes of known length")
            let chunked = try proxy.connect()
            chunked.send(request("/feed", ["Transfer-Encoding: chunked"], method: "POST"))
            chunked.send(chunk(Array(bytes.prefix(1_000))))
            chunked.send(chunk(Array(bytes.dropFirst(1_000))) + chunk([]))
            #expect(try chunked.receive().status == status, "\(count) bytes in chunks")
        }
        #expect(try rejected("body-too-large", of: proxy) == 2)
        #expect(
            origin.requests.map(\.body.count) == [1_024, 1_024], "what is too large reaches nobody whole")
    }
}
