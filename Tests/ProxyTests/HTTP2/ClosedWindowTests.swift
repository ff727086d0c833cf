internal import Dictionaries
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy

private let feed = Feed.bytes(version: 0, items: 300)
private let small = Feed.bytes(version: 0, items: 60)
/// Longer than a window that no client has changed.
private let medium = Noise.bytes(120_000, seed: 6).map { UInt8(ascii: "a") + $0 % 16 }
private let large = Noise.bytes(900_000, seed: 5).map { UInt8(ascii: "a") + $0 % 16 }

/// Streams whose clients open no window cost those clients their deltas, and nobody else.
@Suite(.timeLimit(.minutes(40))) struct ClosedWindowTests {
    private static let closed: [(UInt16, UInt32)] = [(4, 0)]

    private func proxy(_ settings: String = "memory: {total: 1600MiB, coding: 1%}") throws -> TestProxy {
        try TestProxy(
            Origin { request, connection in
                let bodies = ["/large": large, "/medium": medium, "/small": small]
                connection.send(json(bodies[request.target] ?? feed))
            }, settings)
    }

    private func taken(_ proxy: TestProxy) -> Int { proxy.server.context.shared.coding.memory.takenBytes }

    /// Opens connections of one client that ask for a hundred bodies each, and waits until the upstream has answered.
    private func stall(_ proxy: TestProxy, _ count: Int, client: String = "203.0.113.1") throws -> [HTTP2Peer]
    {
        let before = proxy.origin.requests.count
        let peers = try (0..<count).map { _ in
            let peer = try proxy.connectHTTP2(settings: Self.closed)
            for number in 0..<100 {
                peer.request(
                    Int32(2 * number + 1), number < 30 ? "/large" : "/feed",
                    [("x-forwarded-for", client), ("accept-encoding", "gzip, br")])
            }
            return peer
        }
        try waitUntil("the upstream has the requests") { proxy.origin.requests.count == before + 100 * count }
        for peer in peers {
            try waitUntil("each has its head") {
                guard peer.readFrame() != nil else { return true }
                return peer.frames.count { $0.type == HTTP2Peer.Kind.headers } == 100
            }
        }
        return peers
    }

    @Test(arguments: [0, 1, 4095])
    func `a body whose window has no room for it is not held, and comes whole once it opens`(window: UInt32)
        throws
    {
        let proxy = try proxy()
        let peer = try proxy.connectHTTP2(settings: [(4, window)])
        peer.request(1, "/large")
        _ = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.headers })
        #expect(taken(proxy) < large.count, "no body is in memory")
        for stream: Int32 in [0, 1] {
            peer.send(HTTP2Peer.Kind.windowUpdate, stream: stream, payload: HTTP2Peer.number(1 << 20))
        }
        let response = try #require(peer.response(1))
        #expect(response.body == large)
        try waitUntil("the memory is given back") { taken(proxy) == 0 }
    }

    @Test(arguments: [("/feed", feed), ("/large", large)])
    func `a body whose window is closed costs no coding before it opens`(path: String, body: [UInt8]) throws {
        let proxy = try proxy()
        let peer = try proxy.connectHTTP2(settings: Self.closed)
        peer.request(1, path, [("accept-encoding", "gzip")])
        _ = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.headers })
        #expect(try codingSeconds(proxy) == 0)
        for stream: Int32 in [0, 1] {
            peer.send(HTTP2Peer.Kind.windowUpdate, stream: stream, payload: HTTP2Peer.number(1 << 20))
        }
        let response = try #require(peer.response(1))
        let limits = DecoderLimits(maxBytes: 1 << 20, maxRatio: 1 << 20)
        #expect(try Codec.decode(response.body.span, .gzip, dictionary: nil, limits: limits) == body)
        #expect(try codingSeconds(proxy) > 0)
        try waitUntil("the memory is given back") { taken(proxy) == 0 }
    }

    @Test func `a body that may go out once the pool is full is coded, as its head has said`() throws {
        let proxy = try proxy()
        let peer = try proxy.connectHTTP2(settings: Self.closed)
        peer.request(1, "/feed", [("accept-encoding", "gzip")])
        _ = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.headers })
        let gates = try proxy.blockPool(bytes: 16 << 20)
        let pool = proxy.server.context.compressionPool
        let full = pool.waitingBytes
        for stream: Int32 in [0, 1] {
            peer.send(HTTP2Peer.Kind.windowUpdate, stream: stream, payload: HTTP2Peer.number(1 << 20))
        }
        try waitUntil("its encoder waits with the others") { pool.waitingBytes > full }
        for gate in gates { gate.open() }
        let response = try #require(peer.response(1))
        #expect(response["content-encoding"] == "gzip")
        let limits = DecoderLimits(maxBytes: 1 << 20, maxRatio: 1 << 20)
        #expect(try Codec.decode(response.body.span, .gzip, dictionary: nil, limits: limits) == feed)
    }

    private func codingSeconds(_ proxy: TestProxy) throws -> Double {
        let series = #"dictum_compression_seconds_total{coding="gzip"} "#
        let line = try proxy.metrics().split(separator: "\n").first { $0.hasPrefix(series) }
        return line.flatMap { Double($0.dropFirst(series.count)) } ?? 0
    }

    @Test func `a response that waits for its window is reset at the end of its time`() throws {
        let proxy = try TestProxy(
            Origin { _, connection in connection.send(json(feed)) }, upstream: "idle_timeout: 300ms")
        let peer = try proxy.connectHTTP2(settings: Self.closed)
        peer.request(1, "/feed", [("accept-encoding", "gzip")])
        #expect(peer.response(1)?.resetCode == 8)
        let shared = proxy.server.context.shared
        try waitUntil("all is given back") { taken(proxy) == 0 && shared.places.counts.taken == 0 }
    }

    @Test func `connections that never open a window leave memory for everybody else`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/feed", forwarded(for: 2))
        let peers = try stall(proxy, 4)
        for client in 2...30 {
            let response = try proxy.fetch("/feed", over: feed, forwarded(for: client))
            #expect(response.coding == "dcz")
            #expect(try response.carriesDecoded(feed, over: feed))
            #expect(
                try proxy.fetch("/feed", forwarded(for: client), "Accept-Encoding: gzip").coding == "gzip")
        }
        #expect(taken(proxy) <= 16 << 20)
        for peer in peers { peer.send(HTTP2Peer.Kind.goAway, payload: Array(repeating: 0, count: 8)) }
    }

    @Test func `what waits for a window after its response has ended counts until the stream is gone`() throws
    {
        let proxy = try proxy()
        var peer: HTTP2Peer? = try proxy.connectHTTP2(settings: [(4, 1)])
        for number in 0..<50 { peer?.request(Int32(2 * number + 1), "/small") }
        let shared = proxy.server.context.shared
        let stuck = small.count - 1
        try waitUntil("all responses have ended, and one byte of each has gone") {
            shared.places.counts.taken == 0 && taken(proxy) == 50 * stuck
        }
        peer?.send(HTTP2Peer.Kind.reset, stream: 1, payload: HTTP2Peer.number(8))
        try waitUntil("a stream that is reset gives back") { taken(proxy) == 49 * stuck }
        peer = nil
        try waitUntil("all is given back") { taken(proxy) == 0 }
    }

    @Test
    func
        `a client that opens its window late gets its response whole, though its address has used up its share`()
        throws
    {
        let proxy = try proxy()
        let peers = try stall(proxy, 4)
        let late = try (0..<4).map { _ in try proxy.connectHTTP2() }
        for peer in late { peer.request(1, "/medium", [("x-forwarded-for", "203.0.113.1")]) }
        for peer in late {
            var received = 0
            while received < 65_535 {
                let frame = try #require(
                    peer.readFrame { [HTTP2Peer.Kind.data, HTTP2Peer.Kind.reset].contains($0.type) })
                try #require(frame.type == HTTP2Peer.Kind.data)
                received += frame.payload.count
            }
        }
        for peer in late {
            for stream: Int32 in [0, 1] {
                peer.send(HTTP2Peer.Kind.windowUpdate, stream: stream, payload: HTTP2Peer.number(1 << 20))
            }
            #expect(peer.response(1)?.body == medium)
        }
        withExtendedLifetime(peers) {}
    }

    @Test func `a client without memory keeps a place until its window opens`() throws {
        let proxy = try proxy()
        let shared = proxy.server.context.shared
        // Others have all of the memory.
        #expect(shared.coding.memory.reserve(shared.coding.memory.limitBytes))
        let peer = try proxy.connectHTTP2(settings: [(4, 1)])
        peer.request(1, "/small")
        peer.request(3, "/small")
        try waitUntil("both responses wait with a place") {
            proxy.origin.requests.count == 2 && shared.places.counts.taken == 2
        }
        peer.send(HTTP2Peer.Kind.reset, stream: 3, payload: HTTP2Peer.number(8))
        try waitUntil("the place of one that is reset is free") { shared.places.counts.taken == 1 }
        peer.send(HTTP2Peer.Kind.windowUpdate, stream: 1, payload: HTTP2Peer.number(1 << 20))
        #expect(peer.response(1)?.body == small)
        try waitUntil("all places are free") { shared.places.counts.taken == 0 }
        shared.coding.memory.release(shared.coding.memory.limitBytes)
    }

    @Test func `a response of Dictum's own that waits with neither memory nor a place is reset`() throws {
        let proxy = try TestProxy(
            Origin { _, connection in connection.send(json(small)) }, upstream: "max_requests: 1")
        let shared = proxy.server.context.shared
        // Others have all of the memory.
        #expect(shared.coding.memory.reserve(shared.coding.memory.limitBytes))
        let peer = try proxy.connectHTTP2(settings: [(4, 1)])
        peer.request(1, "/small")
        try waitUntil("a response waits with the only place") {
            proxy.origin.requests.count == 1 && shared.places.counts.taken == 1
        }
        peer.request(3, "/.dictum/none")
        // INTERNAL_ERROR.
        #expect(peer.response(3)?.resetCode == 2)
        shared.coding.memory.release(shared.coding.memory.limitBytes)
    }

    @Test func `an upload is refused once, whatever follows of it, while its client's window is closed`()
        throws
    {
        let proxy = try TestProxy(
            Origin { _, connection in connection.send(json(small)) },
            "routes: [{match: /*, requests: dictionary, limits: {request_body: 1KiB}}]")
        let shared = proxy.server.context.shared
        // Others have all of the memory.
        #expect(shared.coding.memory.reserve(shared.coding.memory.limitBytes))
        let peer = try proxy.connectHTTP2(settings: [(4, 1)])
        peer.request(1, "/small", method: "POST", [("content-encoding", "dcz")], endsStream: false)
        peer.data(1, [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0] + [UInt8](repeating: 7, count: 32))
        peer.request(3, "/small", method: "POST", endsStream: false)
        for _ in 0..<40 { peer.data(3, [UInt8](repeating: 7, count: 64)) }
        func refused(_ reason: String) throws -> Int {
            try proxy.metric("dictum_rejected_requests_total{reason=\"\(reason)\"}")
        }
        try waitUntil("both are refused") {
            try refused("request-dictionary") >= 1 && refused("body-too-large") >= 1
        }
        peer.data(3, [UInt8](repeating: 7, count: 64))
        #expect(try proxy.fetch("/small", forwarded(for: 2)).carries(small), "no loop is busy")
        #expect(try refused("request-dictionary") == 1 && refused("body-too-large") == 1)
        for stream: Int32 in [0, 1, 3] {
            peer.send(HTTP2Peer.Kind.windowUpdate, stream: stream, payload: HTTP2Peer.number(1 << 20))
        }
        for (stream, status) in [(Int32(1), "415"), (3, "413")] {
            let response = try #require(peer.response(stream))
            #expect(response.status == status)
            #expect(response["content-length"] == "\(response.body.count)")
        }
        try waitUntil("all places are free") { shared.places.counts.taken == 0 }
        shared.coding.memory.release(shared.coding.memory.limitBytes)
    }

    @Test func `a request that is refused while it waits for a place keeps one place at most`() throws {
        let proxy = try TestProxy(
            Origin { _, connection in connection.send(json(small)) }, upstream: "max_requests: 4")
        let shared = proxy.server.context.shared
        // Others have all of the memory.
        #expect(shared.coding.memory.reserve(shared.coding.memory.limitBytes))
        let peer = try proxy.connectHTTP2(settings: [(4, 1)])
        peer.request(1, "/small")
        peer.request(3, "/small")
        try waitUntil("the client has its half of the places") {
            proxy.origin.requests.count == 2 && shared.places.counts.taken == 2
        }
        peer.request(5, "/small", method: "POST", endsStream: false)
        try waitUntil("a third waits") { shared.places.counts.waiting == 1 }
        let malformed = HTTP2Peer.block([("content_length", "1")])
        peer.send(
            HTTP2Peer.frame(HTTP2Peer.Kind.reset, stream: 1, payload: HTTP2Peer.number(8))
                + HTTP2Peer.frame(HTTP2Peer.Kind.reset, stream: 3, payload: HTTP2Peer.number(8))
                + HTTP2Peer.frame(HTTP2Peer.Kind.headers, 5, stream: 5, payload: malformed))
        peer.send(HTTP2Peer.Kind.reset, stream: 5, payload: HTTP2Peer.number(8))
        try waitUntil("all places are free") {
            shared.places.counts.taken == 0 && shared.places.counts.waiting == 0
        }
        shared.coding.memory.release(shared.coding.memory.limitBytes)
    }

    @Test func `what such a client holds comes back when it leaves`() throws {
        let proxy = try proxy()
        var peers = try stall(proxy, 2)
        #expect(!peers.isEmpty)
        peers = []
        let shared = proxy.server.context.shared
        try waitUntil("all is given back") {
            taken(proxy) == 0 && shared.places.counts.taken == 0 && shared.clientResources.uses.count == 0
        }
    }
}
