internal import Glibc
internal import Primitives
internal import TestSupport
internal import Testing

@testable import HTTP

/// How long a client may take for what it owes: sections of fields, requests, bodies, room for responses.
@Suite(.timeLimit(.minutes(40))) struct HTTP2TimeoutTests {
    private typealias Kind = HTTP2Peer.Kind

    private func settings(_ change: (inout ServerSettings) -> Void) -> ServerSettings {
        var settings = ServerSettings()
        change(&settings)
        return settings
    }

    @Test func `a header section that does not come to its end in time ends the connection`() throws {
        let server = try TestServer(settings { $0.headTimeout = 150 }) { _ in }
        // The first frames are there before the server looks, so that its time cannot be over by then.
        let peer = try server.whileHeld {
            let peer = try HTTP2Peer(server)
            peer.send(Kind.headers, 0, stream: 1, payload: HTTP2Peer.block([(":method", "GET")]))
            return peer
        }
        #expect(peer.ending() == .protocolError)
    }

    @Test func `a response that ends in between gives a header section no more time`() throws {
        let server = try TestServer(settings { $0.headTimeout = 150 }) { $0.answer("x") }
        let peer = try server.whileHeld {
            let peer = try HTTP2Peer(server)
            peer.request(1)
            peer.send(Kind.headers, 0, stream: 3, payload: HTTP2Peer.block([(":method", "GET")]))
            return peer
        }
        #expect(peer.response(1)?.text == "x")
        #expect(peer.ending() == .protocolError)
    }

    @Test func `a request that crosses the last GOAWAY leaves the responses under way alone`() throws {
        let server = try TestServer(settings { $0.headTimeout = 150 }) { request in
            request.connection.start(testHead(), body: .chunked)
        }
        let peer = try server.whileHeld {
            let peer = try HTTP2Peer(server)
            peer.request(1, "/under-way")
            return peer
        }
        #expect(server.journal.wait(for: "begin /under-way"))
        server.stop()
        for _ in 0..<2 { _ = try #require(peer.readFrame { $0.type == Kind.goAway }) }
        peer.request(3, "/late", method: "POST", endsStream: false)
        peer.data(3, wire("body"))
        peer.send(Kind.headers, 5, stream: 3, payload: HTTP2Peer.block([("x-sum", "4")]))
        // Longer than the section of fields may take.
        usleep(400_000)
        server.withRequest {
            $0.connection.write("whole".utf8.span)
            $0.connection.finish()
        }
        #expect(peer.response(1)?.text == "whole")
        #expect(!server.journal.all.contains("begin /late"))
    }

    @Test func `a connection without a request ends with a GOAWAY`() throws {
        let server = try TestServer(settings { $0.headTimeout = 150 }) { _ in }
        #expect(try HTTP2Peer(server).ending() == .noError)
        #expect(server.awaitConnections(0))
    }

    @Test func `a connection that idles after a response ends with a GOAWAY`() throws {
        let server = try TestServer(settings { $0.keepAliveTimeout = 150 }) { $0.answer("x") }
        let peer = try HTTP2Peer(server)
        peer.request(1)
        #expect(peer.response(1)?.text == "x")
        #expect(peer.ending() == .noError)
        #expect(server.awaitConnections(0), "though the client does not close")
        withExtendedLifetime(peer) {}
    }

    @Test func `a body that stalls resets its stream alone`() throws {
        let server = try TestServer(settings { $0.idleTimeout = 150 }) {
            if $0.path == "/good" { $0.answer("x") }
        }
        let peer = try HTTP2Peer(server)
        peer.request(1, "/stalled", method: "POST", endsStream: false)
        #expect(peer.response(1)?.reset == .cancel)
        #expect(server.journal.wait(for: "aborted /stalled timedOut"))
        peer.request(3, "/good")
        #expect(peer.response(3)?.text == "x")
    }

    @Test func `a client that opens its window by drops is reset`() throws {
        let server = try TestServer(settings { $0.idleTimeout = 300 }) { request in
            request.connection.start(testHead(), body: .chunked)
            request.connection.write(Noise.bytes(20_000, seed: 1).span)
        }
        // No window for any byte of a body.
        let peer = try HTTP2Peer(server, settings: [(4, 0)])
        peer.request(1, "/slow")
        for _ in 0..<200 {
            guard server.journal.all.count < 2 else { break }
            peer.send(Kind.windowUpdate, stream: 1, payload: HTTP2Peer.number(1))
            server.pause(milliseconds: 20)
        }
        #expect(server.journal.wait(for: "aborted /slow timedOut"))
        #expect(peer.response(1)?.reset == .cancel)
    }

    @Test func `a tunnel has the time of a tunnel until the client has taken its last bytes`() throws {
        let server = try TestServer(
            settings {
                ($0.idleTimeout, $0.tunnelTimeout) = (150, 600_000)
            }
        ) { request in
            _ = request.connection.switchProtocols(testHead())
            request.connection.write(Noise.bytes(20_000, seed: 1).span)
            request.connection.finish()
        }
        let peer = try HTTP2Peer(server, settings: [(4, 0)])
        try openTunnel(peer)
        // Longer than a body may wait for room.
        usleep(600_000)
        peer.send(Kind.windowUpdate, stream: 1, payload: HTTP2Peer.number(20_000))
        #expect(peer.response(1)?.body.count == 20_000)
    }

    /// Asks for a tunnel on the first stream, and waits until it is open.
    private func openTunnel(_ peer: HTTP2Peer) throws {
        peer.send(
            Kind.headers, 4, stream: 1,
            payload: HTTP2Peer.block([
                (":method", "CONNECT"), (":protocol", "echo"), (":scheme", "http"), (":path", "/"),
                (":authority", "a"),
            ]))
        _ = try #require(peer.readFrame { $0.type == Kind.headers })
    }

    @Test(arguments: [true, false])
    func `a tunnel lives as long as bytes pass in either direction`(isClients: Bool) throws {
        let server = try TestServer(
            settings {
                ($0.idleTimeout, $0.tunnelTimeout) = (800, 2_000)
            }
        ) { request in
            _ = request.connection.switchProtocols(testHead())
        }
        let peer = try HTTP2Peer(server)
        try openTunnel(peer)
        // Longer than the time-out, in pieces that are each well within it.
        for _ in 0..<60 {
            usleep(50_000)
            if isClients {
                peer.data(1, wire("x"))
            } else {
                server.withRequest { $0.connection.write("x".utf8.span) }
            }
        }
        server.withRequest { request in
            request.connection.write("end".utf8.span)
            request.connection.finish()
        }
        let passed = isClients ? "" : String(repeating: "x", count: 60)
        #expect(peer.response(1)?.text == passed + "end")
    }

    @Test(arguments: [[], [("content-length", "0")]])
    func `an upload has its time from its beginning`(fields: [(String, String)]) throws {
        let server = try TestServer(settings { $0.idleTimeout = 4_000 }) { request in
            if request.framing.hasBody {
                request.onEnd = { $0.answer("\($0.body.count)") }
            } else {
                request.answer("none")
            }
        }
        let peer = try HTTP2Peer(server)
        peer.request(1, method: "POST", fields, endsStream: false)
        // Some looks at the open streams are due before, each after an eighth of the time.
        usleep(1_200_000)
        peer.data(1, fields.isEmpty ? wire("hello") : [], endsStream: true)
        #expect(peer.response(1)?.text == (fields.isEmpty ? "5" : "none"))
    }

    @Test func `after a pause the client has as much time as before`() throws {
        let server = try TestServer(settings { $0.idleTimeout = 3_000 }) { request in
            request.connection.pauseRequest()
            request.onEnd = { $0.answer($0.text) }
        }
        let peer = try HTTP2Peer(server)
        peer.request(1, method: "POST", endsStream: false)
        peer.data(1, wire("hello"))
        #expect(server.journal.wait(for: "begin /"))
        usleep(3_500_000)
        server.withRequest { $0.connection.resumeRequest() }
        // Some looks at the open streams are due before, each after an eighth of the time.
        usleep(800_000)
        peer.data(1, wire("world"), endsStream: true)
        #expect(peer.response(1)?.text == "helloworld")
    }

    @Test func `the time for the first request is not that for the next one`() throws {
        let server = try TestServer(settings { $0.headTimeout = 300 }) { $0.answer("x") }
        let peer = try server.whileHeld {
            let peer = try HTTP2Peer(server)
            peer.request(1)
            return peer
        }
        #expect(peer.response(1)?.text == "x")
        usleep(900_000)
        peer.request(3)
        #expect(peer.response(3)?.text == "x")
    }

    @Test func `a connection idles for its own time, though a look at its streams was due before`() throws {
        let server = try TestServer(settings { $0.idleTimeout = 800 }) { _ in }
        let peer = try HTTP2Peer(server)
        for stream: Int32 in [1, 3] {
            peer.request(stream, "/\(stream)")
            #expect(server.journal.wait(for: "begin /\(stream)"))
            // In another turn than its beginning, so that the look is due after an eighth of the time.
            server.withRequest { $0.answer("x") }
            #expect(peer.response(stream)?.text == "x")
            usleep(500_000)
        }
        #expect(!peer.frames.contains { $0.type == Kind.goAway })
    }

    @Test func `a closed window ends no connection while nothing waits for it`() throws {
        let server = try TestServer(settings { $0.idleTimeout = 300 }) { request in
            guard request.path == "/full" else { return }
            request.connection.start(testHead(), body: .length(65_535))
            request.connection.write([UInt8](repeating: 1, count: 65_535).span)
            request.connection.finish()
        }
        // The first response takes the whole window of the connection.
        let peer = try HTTP2Peer(server, settings: [(4, 1 << 30)])
        peer.request(1, "/full")
        #expect(peer.response(1)?.body.count == 65_535)
        peer.request(3, "/slow")
        #expect(server.journal.wait(for: "begin /slow"))
        // Longer than a body may wait for room.
        usleep(1_200_000)
        peer.send(Kind.windowUpdate, payload: HTTP2Peer.number(65_535))
        server.withRequest { $0.answer("late") }
        #expect(peer.response(3)?.text == "late")
    }

    @Test func `one stream without room in the connection's window is enough to lose it`() throws {
        let server = try TestServer(settings { $0.idleTimeout = 300 }) { request in
            guard request.path == "/one" else { return }
            request.connection.start(testHead(), body: .chunked)
            request.connection.write(Noise.bytes(100_000, seed: 1).span)
        }
        let peer = try HTTP2Peer(server, settings: [(4, 1 << 30)])
        peer.request(1, "/one")
        peer.request(3, "/silent")
        #expect(server.journal.wait(for: "aborted /one timedOut"))
        #expect(server.journal.wait(for: "aborted /silent timedOut"))
        #expect(peer.ending() == .enhanceYourCalm)
    }

    @Test func `a client that leaves no room for all its streams together loses the connection`() throws {
        let server = try TestServer(settings { $0.idleTimeout = 300 }) { request in
            request.connection.start(testHead(), body: .chunked)
            request.connection.write(Noise.bytes(100_000, seed: 1).span)
        }
        // Each stream has room for its body, and the connection for 65,535 bytes of both.
        let peer = try HTTP2Peer(server, settings: [(4, 1 << 30)])
        peer.request(1, "/one")
        peer.request(3, "/other")
        #expect(server.journal.wait(for: "aborted /one timedOut"))
        #expect(server.journal.wait(for: "aborted /other timedOut"))
        #expect(peer.ending() == .enhanceYourCalm)
    }

    @Test func `a response that outlives the idle time-out is not cut while the client takes it`() throws {
        let server = try TestServer(settings { $0.idleTimeout = 1_000 }) { request in
            request.connection.start(testHead(), body: .chunked)
            Dripper(request.connection, milliseconds: 1_600).start()
        }
        let peer = try HTTP2Peer(server, settings: [(4, 1 << 30)])
        peer.send(Kind.windowUpdate, payload: HTTP2Peer.number(1 << 30))
        peer.request(1)
        let response = try #require(peer.response(1))
        #expect(response.reset == nil && response.body.last == Dripper.end)
    }
}

/// Writes a piece of a response in every millisecond, always after the session has been served.
private final class Dripper: Handler {
    /// The last byte of the response.
    static let end: UInt8 = 9
    /// Large enough to be put into frames at once.
    private static let piece = [UInt8](repeating: 1, count: 4 * 1024)

    private let stream: any ResponseStream
    private let milliseconds: Int64
    private var token = Token.none
    private var begunAt: Int64 = 0
    private var lastAt: Int64 = 0

    init(_ stream: any ResponseStream, milliseconds: Int64) {
        self.stream = stream
        self.milliseconds = milliseconds
    }

    func start() {
        token = stream.core.add(self)
        (begunAt, lastAt) = (stream.core.now, stream.core.now)
        stream.core.attend(token)
    }

    func attend(_ core: EventLoop.Core) {
        if core.now > lastAt {
            lastAt = core.now
            stream.write(Self.piece.span)
        }
        guard core.now - begunAt >= milliseconds else { return core.attend(token) }
        stream.write([Self.end].span)
        stream.finish()
        core.remove(token)
    }
}
