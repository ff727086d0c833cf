internal import Primitives
internal import TestSupport
internal import Testing

@testable import HTTP

/// The order of responses (RFC 9218), as the DATA frames tell it.
@Suite(.timeLimit(.minutes(40))) struct HTTP2PriorityTests {
    /// The DATA frames of each body: one full, and the rest.
    private static let bodyBytes = 20_000

    /// Has a body of two DATA frames for every request.
    private let server: TestServer

    init() throws {
        server = try TestServer { request in
            let body = String(repeating: "x", count: Self.bodyBytes)
            var head = testHead()
            // A path such as /u=1 is the Priority of the response.
            if request.path != "/" { head.headers.append(.priority, String(request.path.dropFirst())) }
            request.connection.start(head, body: .length(UInt64(body.utf8.count)))
            request.connection.write(body.utf8.span)
            request.connection.finish()
        }
    }

    /// Waits until the streams' heads have come, then opens all windows by one frame; returns the order of the bodies.
    ///
    /// Until then the windows are closed, so that all bodies wait. Frames of one stream in a row are named once.
    private func order(of streams: [Int32], _ peer: HTTP2Peer) -> [Int32] {
        var heads: Set<Int32> = []
        while heads.count < streams.count {
            guard let frame = peer.readFrame(where: { $0.type == HTTP2Peer.Kind.headers }) else { return [] }
            heads.insert(frame.stream)
        }
        let before = peer.frames.count
        peer.send(HTTP2Peer.Kind.settings, payload: [0, 4] + HTTP2Peer.number(100_000))
        for stream in streams { guard peer.response(stream)?.body.count == Self.bodyBytes else { return [] } }
        var order: [Int32] = []
        for frame in peer.frames[before...] where frame.type == HTTP2Peer.Kind.data {
            if order.last != frame.stream { order.append(frame.stream) }
        }
        return order
    }

    private func makePeer() throws -> HTTP2Peer { try HTTP2Peer(server, settings: [(4, 0)]) }

    @Test func `the first SETTINGS say that RFC 7540's priorities are not used`() throws {
        let peer = try HTTP2Peer(server)
        let settings = try #require(peer.readFrame())
        #expect(settings.type == HTTP2Peer.Kind.settings)
        let entries = stride(from: 0, to: settings.payload.count, by: 6).map {
            Array(settings.payload[$0..<$0 + 6])
        }
        #expect(entries.contains([0, 9, 0, 0, 0, 1]))
    }

    @Test func `a more urgent response goes first, whichever was asked for first`() throws {
        let peer = try makePeer()
        peer.request(1, "/", [("priority", "u=5")])
        peer.request(3, "/", [("priority", "u=0")])
        peer.request(5)
        #expect(order(of: [1, 3, 5], peer) == [3, 5, 1])
    }

    @Test func `responses of one urgency go one after the other, incremental ones in turns`() throws {
        let peer = try makePeer()
        for stream: Int32 in [1, 3] { peer.request(stream, "/", [("priority", "u=2")]) }
        #expect(order(of: [1, 3], peer) == [1, 3])
        let other = try makePeer()
        for stream: Int32 in [1, 3] { other.request(stream, "/", [("priority", "u=2, i")]) }
        #expect(order(of: [1, 3], other) == [1, 3, 1, 3])
    }

    @Test func `responses of a client that knows no priorities go in turns`() throws {
        let peer = try makePeer()
        for stream: Int32 in [1, 3] { peer.request(stream) }
        #expect(order(of: [1, 3], peer) == [1, 3, 1, 3])
    }

    @Test func `after one signal a request without one has the default of RFC 9218`() throws {
        let peer = try makePeer()
        peer.request(1, "/", [("priority", "u=4")])
        for stream: Int32 in [3, 5] { peer.request(stream) }
        #expect(order(of: [1, 3, 5], peer) == [3, 5, 1])
    }

    @Test func `an update is a signal, too, for an open stream or one that is not open yet`() throws {
        let peer = try makePeer()
        peer.request(1)
        peer.prioritize(1, "u=5")
        for stream: Int32 in [3, 5] { peer.request(stream) }
        #expect(order(of: [1, 3, 5], peer) == [3, 5, 1])
        let other = try makePeer()
        other.prioritize(9, "u=5")
        for stream: Int32 in [1, 3] { other.request(stream) }
        #expect(order(of: [1, 3], other) == [1, 3])
    }

    @Test func `PRIORITY_UPDATE changes the order of open streams, and replaces all parameters`() throws {
        let peer = try makePeer()
        for stream: Int32 in [1, 3, 5] { peer.request(stream, "/", [("priority", "u=1, i")]) }
        peer.prioritize(1, "u=6")
        peer.prioritize(5, "u=0")
        #expect(order(of: [1, 3, 5], peer) == [5, 3, 1])
    }

    @Test func `PRIORITY_UPDATE for a stream that is not open yet counts more than the request's field`()
        throws
    {
        let peer = try makePeer()
        peer.prioritize(5, "u=7")
        peer.prioritize(5, "u=0")
        peer.request(1)
        peer.request(3, "/", [("priority", "u=1")])
        peer.request(5, "/", [("priority", "u=6")])
        #expect(order(of: [1, 3, 5], peer) == [5, 3, 1])
    }

    @Test func `the response's field corrects each parameter that it names, also after an update`() throws {
        let peer = try makePeer()
        peer.request(1, "/u=1", [("priority", "u=5, i")])
        peer.request(3, "/x=1", [("priority", "u=1, i")])
        peer.request(5, "/u=6", [("priority", "u=0")])
        peer.prioritize(5, "u=1, i")
        #expect(order(of: [1, 3, 5], peer) == [1, 3, 1, 3, 5])
    }

    @Test func `a small response overtakes a download, but for the bytes that are under way`() throws {
        // In turns they would be several hundred thousand, and one after the other any number. Those under way are in
        // the buffers of the client and the system, and in the output.
        #expect(try downloadBytes(before: 1_000_000, at: "u=1") < 400_000)
    }

    /// Returns how many bytes of a download come between a request for `count` bytes and their end.
    private func downloadBytes(before count: Int, at priority: String) throws -> Int {
        let chunk = [UInt8](repeating: 1, count: 10_000)
        let server = try TestServer { request in
            guard request.path == "/download" else {
                return request.answer(String(repeating: "x", count: count))
            }
            let push: (TestRequest) -> Void = {
                while $0.connection.canWrite { $0.connection.write(chunk.span) }
            }
            request.onDrained = push
            request.connection.start(testHead(), body: .chunked)
            push(request)
        }
        // Only the socket is slow: the windows are open.
        let peer = try HTTP2Peer(server, settings: [(4, 1 << 30)], receiveBytes: 65_536)
        peer.send(HTTP2Peer.Kind.windowUpdate, payload: HTTP2Peer.number(1 << 30))
        peer.request(1, "/download", [("priority", "u=3, i")])
        var downloaded = 0
        while downloaded < 500_000 {
            let frame = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.data })
            downloaded += frame.payload.count
        }
        peer.request(3, "/page", [("priority", priority)])
        let before = peer.frames.count
        let page = try #require(peer.response(3))
        #expect(page.body.count == count)
        return peer.frames[before...].reduce(0) { $0 + ($1.stream == 1 ? $1.payload.count : 0) }
    }

    @Test func `few bytes wait for a slow socket, more for a fast one`() {
        var quota = OutputQuota(now: 1_000)
        let taken: [(bytes: Int, at: Int64)] = [
            (999_999, 1_100), (600_000, 1_150), (400_000, 1_200), (1_000_000, 2_000),
        ]
        var changes: [Bool] = []
        var sizes = [quota.bytes]
        for (bytes, time) in taken {
            changes.append(quota.passed(bytes, at: time))
            sizes.append(quota.bytes)
        }
        #expect(changes == [false, false, true, true])
        let (small, large) = (16 * 1024, 64 * 1024)
        #expect(sizes == [small, small, small, large, small])
    }

    @Test(arguments: ["u=9, i", "u=-1, i=?1, x=1"])
    func `a field with an invalid parameter counts for the others`(field: String) throws {
        let peer = try makePeer()
        for stream: Int32 in [1, 3] { peer.request(stream, "/", [("priority", field)]) }
        #expect(order(of: [1, 3], peer) == [1, 3, 1, 3])
    }

    @Test(arguments: ["u=0, ?", "U=0", "u=0,"]) func `a malformed field is the default`(field: String) throws
    {
        let peer = try makePeer()
        peer.request(1, "/", [("priority", "u=2")])
        peer.request(3, "/", [("priority", field)])
        peer.prioritize(1, field)
        #expect(order(of: [1, 3], peer) == [1, 3])
    }

    @Test func `a PRIORITY_UPDATE that is too long is the default`() throws {
        let peer = try makePeer()
        for stream: Int32 in [1, 3] { peer.request(stream, "/", [("priority", "u=2, i")]) }
        peer.prioritize(1, "u=0" + String(repeating: " ", count: 10_000))
        #expect(order(of: [1, 3], peer) == [3, 1])
    }

    @Test func `the stream of a PRIORITY_UPDATE may be idle, open or closed, time after time`() throws {
        let server = try TestServer { $0.answer("x") }
        let peer = try HTTP2Peer(server)
        for stream in stride(from: Int32(1), to: 401, by: 2) {
            peer.prioritize(stream, "u=1")
            peer.request(stream)
            peer.prioritize(stream, "u=2")
            #expect(peer.response(stream)?.text == "x")
            peer.prioritize(stream, "u=3")
        }
    }

    @Test func `idle streams that the client passes over no longer count`() throws {
        let server = try TestServer { $0.answer("x") }
        let peer = try HTTP2Peer(server)
        for round: Int32 in 0..<4 {
            let first = 1 + round * 400
            for number: Int32 in 0..<99 { peer.prioritize(first + 2 * number, "u=1") }
            peer.request(first + 300)
            #expect(peer.response(first + 300)?.text == "x")
        }
    }

    @Test func `as many idle streams as may be open can have a priority, one more ends the connection`()
        throws
    {
        let server = try TestServer { $0.onEnd = { $0.answer("x") } }
        let peer = try HTTP2Peer(server)
        peer.request(1, method: "POST", endsStream: false)
        for number: Int32 in 1...99 { peer.prioritize(1 + 2 * number, "u=1") }
        peer.prioritize(3, "u=2")
        peer.data(1, [], endsStream: true)
        #expect(peer.response(1)?.text == "x")
        peer.prioritize(201, "u=1")
        peer.prioritize(203, "u=1")
        #expect(peer.ending() == .protocolError)
    }

    @Test(
        arguments: [
            ([0, 0, 0, 0], 0, .protocolError), ([0x80, 0, 0, 0], 0, .protocolError),
            ([0, 0, 0, 2], 0, .protocolError), ([0, 0, 0, 1], 1, .protocolError),
            ([0, 0, 1], 0, .frameSizeError), ([], 0, .frameSizeError),
        ] as [([UInt8], Int32, HTTP2Error)])
    func `a PRIORITY_UPDATE that names no request's stream ends the connection`(
        stream: [UInt8], carrier: Int32, error: HTTP2Error
    ) throws {
        let server = try TestServer { _ in }
        let peer = try HTTP2Peer(server)
        peer.request(1)
        let payload = stream.count == 4 ? stream + Array("u=1".utf8) : stream
        peer.send(HTTP2Peer.Kind.priorityUpdate, stream: carrier, payload: payload)
        #expect(peer.ending() == error)
    }
}

extension HTTP2Peer {
    /// Sends a PRIORITY_UPDATE.
    fileprivate func prioritize(_ stream: Int32, _ value: String) {
        send(
            Kind.priorityUpdate, payload: Self.number(UInt32(bitPattern: stream)) + Array(value.utf8))
    }
}
