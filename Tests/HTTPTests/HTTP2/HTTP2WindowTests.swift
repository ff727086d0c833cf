import TestSupport
import Testing

@testable import HTTP

/// The window of the connection, which all its streams share.
struct HTTP2WindowTests {
    private typealias Kind = HTTP2Peer.Kind

    @Test func `what nobody has taken of uploads that end is no loss for the next ones`() throws {
        let server = try TestServer { $0.connection.pauseRequest() }
        let peer = try HTTP2Peer(server)
        // Together they have twice the window of the connection.
        for number in 0..<20 {
            let stream = Int32(1 + 2 * number)
            peer.request(stream, method: "POST", endsStream: false)
            for _ in 0..<3 { peer.data(stream, [UInt8](repeating: 1, count: 16_000)) }
            peer.send(Kind.reset, stream: stream, payload: HTTP2Peer.number(8))
            peer.send(Kind.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8])
            let end = peer.readFrame { $0.type == Kind.ping && $0.flags == 1 || $0.type == Kind.goAway }
            try #require(end?.type == Kind.ping, "upload \(number)")
        }
        #expect(peer.frames.contains { $0.type == Kind.windowUpdate && $0.stream == 0 })
    }

    @Test func `bodies that nobody wants, and padding, leave the window as it was`() throws {
        let server = try TestServer { if $0.path == "/refused" { $0.answer("no") } }
        let peer = try HTTP2Peer(server)
        // The window of the connection, as the client knows it.
        var window = 65_535
        func sync() throws {
            let known = peer.frames.count
            peer.send(Kind.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8])
            let end = peer.readFrame { $0.type == Kind.ping && $0.flags == 1 || $0.type == Kind.goAway }
            try #require(end?.type == Kind.ping)
            for frame in peer.frames[known...] where frame.type == Kind.windowUpdate && frame.stream == 0 {
                window += Int(frame.payload.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            }
        }
        _ = try #require(peer.readFrame { $0.type == Kind.settings })
        peer.send(Kind.settings, 1)
        try sync()
        window += 512 * 1024 - 65_535 - (window - 65_535)
        var stream: Int32 = 1
        for _ in 0..<12 {
            // A body that comes after its response: the stream is gone.
            peer.request(stream, "/refused", method: "POST", endsStream: false)
            _ = try #require(peer.response(stream))
            for _ in 0..<3 { peer.data(stream, [UInt8](repeating: 1, count: 16_000)) }
            window -= 3 * 16_000
            try sync()
            // Bodies that are taken, each frame with a padding of 255 bytes.
            stream += 2
            peer.request(stream, "/taken", method: "POST", endsStream: false)
            for _ in 0..<8 {
                let frame: [UInt8] =
                    [255] + [UInt8](repeating: 1, count: 16_000) + [UInt8](repeating: 0, count: 255)
                peer.send(Kind.data, 8, stream: stream, payload: frame)
                window -= frame.count
                try sync()
            }
            stream += 2
            try #require(window >= 200_000, "the client may send on")
        }
    }

    @Test func `uploads that nobody takes leave the window to the others`() throws {
        let server = try TestServer { request in
            if request.path == "/held" { request.connection.pauseRequest() }
            request.onEnd = { $0.answer("\($0.body.count)") }
        }
        let peer = try HTTP2Peer(server)
        // A client that sends whole frames only, as far as both windows have room for them.
        let piece = [UInt8](repeating: 1, count: 16_000)
        var connection = 65_535
        func send(_ count: Int, on stream: Int32, endsStream: Bool = false) throws {
            var own = 64 * 1024
            for number in 1...count {
                while connection < piece.count || own < piece.count {
                    let update = try #require(peer.readFrame { $0.type == Kind.windowUpdate })
                    let room = Int(update.payload.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
                    if update.stream == 0 { connection += room }
                    if update.stream == stream { own += room }
                }
                peer.data(stream, piece, endsStream: endsStream && number == count)
                connection -= piece.count
                own -= piece.count
            }
        }
        // Together they hold seven times the window of the connection.
        let held = (0..<60).map { Int32(1 + 2 * $0) }
        for stream in held {
            peer.request(stream, "/held", method: "POST", endsStream: false)
            try send(4, on: stream)
        }
        peer.request(121, "/taken", method: "POST", endsStream: false)
        try send(60, on: 121, endsStream: true)
        #expect(peer.response(121)?.text == "\(60 * piece.count)")
    }

    @Test func `the window of a stream opens for what was taken, and for a paused one once it resumes`()
        throws
    {
        let server = try TestServer { if $0.path == "/paused" { $0.connection.pauseRequest() } }
        let peer = try HTTP2Peer(server)
        // The paused one sends first, and more.
        peer.request(1, "/taken", method: "POST", endsStream: false)
        peer.request(3, "/paused", method: "POST", endsStream: false)
        for stream: Int32 in [3, 1] {
            for _ in 0..<4 { peer.data(stream, [UInt8](repeating: 1, count: 12_000)) }
        }
        let first = try #require(peer.readFrame { $0.type == Kind.windowUpdate && $0.stream > 0 })
        #expect(first.stream == 1)
        server.withRequest { $0.connection.resumeRequest() }
        let second = try #require(peer.readFrame { $0.type == Kind.windowUpdate && $0.stream > 0 })
        #expect(second.stream == 3)
    }
}
