internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy

/// The maximum number of requests at upstreams: who waits, who gets a 503, and that every place comes back.
@Suite(.timeLimit(.minutes(40))) struct RequestPlaceTests {
    private static let two = "max_requests: 2\n  queue_timeout: 5m"
    private static let impatient = "max_requests: 2\n  queue_timeout: 20ms"

    /// An upstream that answers `/slow` once its gate is opened, and everything else at once with what was sent.
    private func origin(_ gate: Gate) throws -> Origin {
        try Origin { request, connection in
            if request.startLine.contains("/slow") { gate.wait() }
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: image/png", body: Array("ok".utf8) + request.body))
        }
    }

    /// Begins requests that the upstream keeps, one connection each.
    private func occupy(_ proxy: TestProxy, _ count: Int, client: Int? = nil) throws -> [WireSocket] {
        let before = proxy.origin.requests.count
        let sockets = try (0..<count).map { _ in
            let socket = try proxy.connect()
            socket.send(request("/slow", client.map { [forwarded(for: $0)] } ?? []))
            return socket
        }
        try waitUntil("the upstream has the requests") { proxy.origin.requests.count == before + count }
        return sockets
    }

    private func untilAllIsBack(_ proxy: TestProxy) throws {
        let shared = proxy.server.context.shared
        try waitUntil("every place and all memory is given back") {
            shared.places.counts.taken == 0 && shared.places.counts.waiting == 0
                && shared.coding.memory.takenBytes == 0
        }
    }

    @Test func `a request waits until another has ended, and then goes on`() throws {
        let gate = Gate()
        let proxy = try TestProxy(origin(gate), upstream: Self.two)
        let slow = try occupy(proxy, 2)
        let waiting = try proxy.connect()
        waiting.send(request("/quick", [forwarded(for: 2)]))
        try waitUntil("it waits") { proxy.server.context.shared.places.counts.waiting == 1 }
        func count(_ state: String) throws -> Int {
            try proxy.metric(#"dictum_upstream_requests{state="\#(state)"}"#)
        }
        #expect(try count("active") == 2 && count("waiting") == 1)
        #expect(try count("max") == proxy.server.context.shared.places.counts.max)
        #expect(proxy.origin.requests.count == 2)
        gate.open()
        #expect(try waiting.receive().text == "ok")
        gate.open()
        for socket in slow { #expect(try socket.receive().status == 200) }
        try untilAllIsBack(proxy)
    }

    @Test func `after queue_timeout it gets 503 with Retry-After, and its connection goes on`() throws {
        let gate = Gate()
        let proxy = try TestProxy(origin(gate), upstream: Self.impatient)
        let slow = try occupy(proxy, 2)
        let client = try proxy.connect()
        client.send(request("/quick", [forwarded(for: 2), "Accept: application/json"]))
        let refusal = try client.receive()
        #expect(refusal.status == 503)
        #expect(refusal["Retry-After"] == "1")
        #expect(refusal["Content-Type"] == "application/problem+json")
        #expect(try proxy.metric(#"dictum_rejected_requests_total{reason="upstream-requests"}"#) == 1)
        for _ in slow { gate.open() }
        for socket in slow { _ = try socket.receive() }
        client.send(request("/quick", [forwarded(for: 2)]))
        #expect(try client.receive().text == "ok")
        try untilAllIsBack(proxy)
    }

    @Test func `without a queue the answer comes at once`() throws {
        let gate = Gate()
        let proxy = try TestProxy(origin(gate), upstream: "max_requests: 1\n  queue_timeout: 0ms")
        let slow = try occupy(proxy, 1)
        #expect(try proxy.fetch("/quick").status == 503)
        gate.open()
        #expect(try slow[0].receive().status == 200)
        #expect(try proxy.fetch("/quick").status == 200)
    }

    @Test func `a body that comes while its request waits arrives whole`() throws {
        let gate = Gate()
        let proxy = try TestProxy(origin(gate), upstream: Self.two)
        let slow = try occupy(proxy, 2)
        let body = Noise.bytes(300_000, seed: 1)
        let http1 = try proxy.connect()
        http1.send(request("/quick", [forwarded(for: 2)], method: "POST", body: Array(body[..<100_000])))
        let http2 = try proxy.connectHTTP2()
        http2.request(
            1, "/quick", method: "POST", [("x-forwarded-for", "203.0.113.3"), ("content-length", "60000")],
            endsStream: false)
        for start in stride(from: 0, to: 60_000, by: 10_000) {
            http2.data(1, Array(body[start..<start + 10_000]), endsStream: start == 50_000)
        }
        try waitUntil("both wait") { proxy.server.context.shared.places.counts.waiting == 2 }
        for _ in slow { gate.open() }
        #expect(try http1.receive().body == Array("ok".utf8) + body[..<100_000])
        #expect(http2.response(1)?.body == Array("ok".utf8) + body[..<60_000])
        for socket in slow { _ = try socket.receive() }
        try untilAllIsBack(proxy)
    }

    @Test func `the body of a request that waits stays at its client`() throws {
        let gate = Gate()
        let proxy = try TestProxy(origin(gate), upstream: Self.two)
        let slow = try occupy(proxy, 2)
        let client = try proxy.connect()
        let bytes = 60_000_000
        client.send(
            wire("POST /quick HTTP/1.1", "Host: api.test", forwarded(for: 2), "Content-Length: \(bytes)"))
        try waitUntil("it waits") { proxy.server.context.shared.places.counts.waiting == 1 }
        let piece = [UInt8](repeating: 7, count: 64 * 1024)
        // The system takes a few megabytes itself.
        #expect(client.flood(with: piece, limit: bytes, quietMilliseconds: 500) < bytes)
        #expect(proxy.server.context.shared.places.counts.waiting == 1)
        client.reset()
        for _ in slow { gate.open() }
        for socket in slow { _ = try socket.receive() }
        try untilAllIsBack(proxy)
    }

    @Test func `trailers that come while their request waits reach the upstream`() throws {
        let gate = Gate()
        let proxy = try TestProxy(origin(gate), upstream: Self.two)
        let slow = try occupy(proxy, 2)
        let client = try proxy.connect()
        let head = request(
            "/quick", [forwarded(for: 2), "Transfer-Encoding: chunked", "Trailer: X-Sum"], method: "POST")
        // In one piece, so that all of it is read before the request has a place.
        client.send(head + chunk([1, 2]) + Array("0\r\nX-Sum: 7\r\n\r\n".utf8))
        try waitUntil("it waits") { proxy.server.context.shared.places.counts.waiting == 1 }
        for _ in slow { gate.open() }
        #expect(try client.receive().body == Array("ok".utf8) + [1, 2])
        #expect(proxy.origin.requests.last?.trailers == ["X-Sum: 7"])
        for socket in slow { _ = try socket.receive() }
        try untilAllIsBack(proxy)
    }

    @Test func `a client that leaves while it waits gives up its turn`() throws {
        let gate = Gate()
        let proxy = try TestProxy(origin(gate), upstream: Self.two)
        let slow = try occupy(proxy, 2)
        var waiting: WireSocket? = try proxy.connect()
        waiting?.send(request("/quick", [forwarded(for: 2)]))
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/quick", [("x-forwarded-for", "203.0.113.2")])
        let places = proxy.server.context.shared.places
        try waitUntil("both wait") { places.counts.waiting == 2 }
        waiting?.finish()
        waiting = nil
        peer.send(HTTP2Peer.Kind.reset, stream: 1, payload: HTTP2Peer.number(8))
        try waitUntil("nobody waits") { places.counts.waiting == 0 }
        for _ in slow { gate.open() }
        for socket in slow { #expect(try socket.receive().status == 200) }
        #expect(proxy.origin.requests.count == 2)
        try untilAllIsBack(proxy)
    }

    @Test func `one connection with a hundred requests leaves places to others`() throws {
        let gate = Gate()
        let proxy = try TestProxy(origin(gate), upstream: "max_requests: 20\n  queue_timeout: 5m")
        let peer = try proxy.connectHTTP2()
        for number in 0..<100 {
            peer.request(Int32(2 * number + 1), "/slow", [("x-forwarded-for", "203.0.113.1")])
        }
        let places = proxy.server.context.shared.places
        try waitUntil("the greedy client has its share") {
            places.counts.taken == 10 && places.counts.waiting == 90
        }
        for client in 2...9 { #expect(try proxy.fetch("/quick", forwarded(for: client)).status == 200) }
        for _ in 0..<100 { gate.open() }
        for number in 0..<100 { #expect(peer.response(Int32(2 * number + 1))?.status == "200") }
        try untilAllIsBack(proxy)
    }

    @Test func `a connection of a trusted peer that names nobody leaves places to others, too`() throws {
        let gate = Gate()
        let proxy = try TestProxy(origin(gate), upstream: "max_requests: 20\n  queue_timeout: 5m")
        let peer = try proxy.connectHTTP2()
        for number in 0..<60 { peer.request(Int32(2 * number + 1), "/slow") }
        let places = proxy.server.context.shared.places
        try waitUntil("the connection has its share") {
            places.counts.taken == 10 && places.counts.waiting == 50
        }
        for _ in 0..<8 { #expect(try proxy.fetch("/quick").status == 200) }
        for _ in 0..<60 { gate.open() }
        for number in 0..<60 { #expect(peer.response(Int32(2 * number + 1))?.status == "200") }
        try untilAllIsBack(proxy)
    }

    @Test func `a client has at most limits.client.requests, others and unnamed ones are free`() throws {
        let gate = Gate()
        let proxy = try TestProxy(
            origin(gate), upstream: "queue_timeout: 20ms", "limits: {client: {requests: 1}}")
        let slow = try occupy(proxy, 1, client: 1)
        #expect(try proxy.fetch("/quick", forwarded(for: 1)).status == 503)
        #expect(try proxy.fetch("/quick", forwarded(for: 2)).status == 200)
        let unnamed = try proxy.connectHTTP2()
        unnamed.request(1, "/slow")
        try waitUntil("the upstream has it") { proxy.origin.requests.last?.target == "/slow" }
        unnamed.request(3, "/quick")
        #expect(unnamed.response(3)?.status == "200", "the connection is that of any number of clients")
        #expect(try proxy.metric(#"dictum_rejected_requests_total{reason="client-requests"}"#) == 1)
        try proxy.reload("limits: {client: {requests: 2}}", upstream: "queue_timeout: 20ms")
        #expect(try proxy.fetch("/quick", forwarded(for: 1)).status == 200, "a reload counts at once")
        for _ in 0..<2 { gate.open() }
        #expect(unnamed.response(1)?.status == "200")
        #expect(try slow[0].receive().status == 200)
        try untilAllIsBack(proxy)
    }

    @Test func `an upstream at its maximum does not concern another`() throws {
        let (gate, other) = (Gate(), try Origin(wire("HTTP/1.1 200 OK", body: Array("other".utf8))))
        let settings = """
            upstreams:
              other: {urls: ["http://127.0.0.1:\(other.port)"]}
            routes: [{match: /other, upstream: other}, {match: /*}]
            """
        let proxy = try TestProxy(
            origin(gate), upstream: "max_requests: 1\n  queue_timeout: 0ms", settings)
        let slow = try occupy(proxy, 1)
        #expect(try proxy.fetch("/quick").status == 503)
        #expect(try proxy.fetch("/other").text == "other")
        gate.open()
        #expect(try slow[0].receive().status == 200)
    }

    @Test(arguments: ["whole", "client leaves", "upstream closes", "no upstream", "HEAD", "304", "stream"])
    func `whatever ends a request, its place and its memory come back`(end: String) throws {
        let origin = try Origin { request, connection in
            switch end {
            case "client leaves":
                connection.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhalf".utf8))
            case "upstream closes":
                connection.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8))
                connection.finish()
            case "no upstream": connection.finish()
            case "304": connection.send(wire("HTTP/1.1 304 Not Modified", #"ETag: "1""#))
            case "stream":
                connection.send(
                    Array(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
                            .utf8))
                for _ in 0..<50 {
                    connection.send(Array("400\r\n".utf8) + Noise.bytes(1024, seed: 3) + Array("\r\n".utf8))
                }
                connection.send(Array("0\r\n\r\n".utf8))
            default: connection.send(json(Feed.bytes(version: 0, items: 50)))
            }
        }
        let proxy = try TestProxy(origin, upstream: "retries: 0")
        for _ in 0..<5 {
            let client = try proxy.connect()
            client.send(request("/a", ["Accept-Encoding: gzip"], method: end == "HEAD" ? "HEAD" : "GET"))
            if end == "client leaves" {
                try waitUntil("it is under way") { proxy.server.context.shared.places.counts.taken == 1 }
                client.finish()
            } else {
                _ = try? client.receive(isBodiless: end == "HEAD")
            }
            try untilAllIsBack(proxy)
        }
    }
}
