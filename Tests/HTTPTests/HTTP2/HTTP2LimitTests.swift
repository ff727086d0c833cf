internal import Glibc
internal import Primitives
internal import TestSupport
internal import Testing

@testable import HTTP

/// What one client may cost (floods, bombs, slow peers), and how it is told that it was too much.
@Suite(.timeLimit(.minutes(40))) struct HTTP2LimitTests {
    private typealias Kind = HTTP2Peer.Kind

    private func settings(_ change: (inout ServerSettings) -> Void) -> ServerSettings {
        var settings = ServerSettings()
        change(&settings)
        return settings
    }

    @Test func `rapid reset ends the connection after a hundred, and says why`() throws {
        let server = try TestServer { _ in }
        let peer = try HTTP2Peer(server)
        for number in 0..<1_000 {
            peer.request(Int32(1 + 2 * number))
            peer.send(Kind.reset, stream: Int32(1 + 2 * number), payload: HTTP2Peer.number(8))
        }
        #expect(peer.ending() == .enhanceYourCalm)
        // Ten more for each second that the test takes on a busy machine.
        #expect(server.journal.all.count { $0.hasPrefix("begin") } <= 500)
        #expect(server.awaitConnections(0))
    }

    @Test func `resets that a client provokes count like its own`() throws {
        let server = try TestServer { _ in }
        let peer = try HTTP2Peer(server)
        for number in 0..<1_000 {
            let stream = Int32(1 + 2 * number)
            peer.request(stream, method: "POST", endsStream: false)
            // A window that overflows is an error of the stream.
            peer.send(Kind.windowUpdate, stream: stream, payload: HTTP2Peer.number(0x7fff_ffff))
        }
        #expect(peer.ending() == .enhanceYourCalm)
    }

    @Test func `responses that the upstream breaks off cost the client nothing`() throws {
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .chunked)
            request.connection.write("some".utf8.span)
            if request.path != "/stays" { request.connection.abort(isUpstreams: request.path == "/broken") }
        }
        let peer = try HTTP2Peer(server)
        peer.request(1, "/stays")
        for number in 1...150 {
            let stream = Int32(1 + 2 * number)
            peer.request(stream, "/broken")
            #expect(peer.response(stream)?.reset == .internalError)
        }
        peer.send(Kind.ping, payload: [UInt8](repeating: 1, count: 8))
        #expect(peer.readFrame { $0.type == Kind.ping || $0.type == Kind.goAway }?.type == Kind.ping)
        for number in 151...1_150 { peer.request(Int32(1 + 2 * number), "/provoked") }
        #expect(peer.ending() == .enhanceYourCalm, "what the client itself provokes is another thing")
    }

    @Test func `a browser that cancels half of what it asks for goes on`() throws {
        let server = try TestServer { if $0.path == "/good" { $0.answer("well") } }
        let peer = try HTTP2Peer(server)
        // More resets than nghttp2 lets pass by itself.
        for number in 0..<1_500 {
            let stream = Int32(1 + 4 * number)
            peer.request(stream)
            peer.send(Kind.reset, stream: stream, payload: HTTP2Peer.number(8))
            peer.request(stream + 2, "/good")
            #expect(peer.response(stream + 2)?.text == "well")
        }
    }

    @Test func `a proxy whose users leave their event streams keeps the others`() throws {
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .chunked)
            request.connection.write("data: 1\n\n".utf8.span)
        }
        let peer = try HTTP2Peer(server)
        peer.request(1, "/stays")
        _ = try #require(peer.readFrame { $0.type == Kind.data })
        for round in 0..<2 {
            let users = (1...75).map { Int32(1 + 2 * (75 * round + $0)) }
            for user in users { peer.request(user, "/leaves") }
            for _ in users { _ = try #require(peer.readFrame { $0.type == Kind.data }) }
            usleep(UInt32(HTTP2Budget.freeResetAge + 100) * 1000)
            for user in users { peer.send(Kind.reset, stream: user, payload: HTTP2Peer.number(8)) }
        }
        peer.send(Kind.ping, payload: [UInt8](repeating: 1, count: 8))
        let next = peer.readFrame { $0.type == Kind.ping || $0.type == Kind.goAway }
        #expect(next?.type == Kind.ping)
        let lines = server.journal.wait { $0.count { $0 == "aborted /leaves closed" } == 150 }
        #expect(!lines.contains { $0.hasPrefix("aborted /stays") })
    }

    @Test func `a hundred requests at once let those of others begin between them`() throws {
        let server = try TestServer { $0.answer("") }
        let (greedy, other) = (try HTTP2Peer(server), try HTTP2Peer(server))
        for peer in [greedy, other] {
            peer.request(1, "/first")
            #expect(peer.response(1)?.status == "200")
        }
        server.whileHeld {
            for number in 1...99 { greedy.request(Int32(1 + 2 * number), "/greedy") }
            other.request(3, "/other")
        }
        let lines = server.journal.wait { $0.count { $0.hasPrefix("begin") } == 102 }
        let begun = lines.filter { $0.hasPrefix("begin") }
        let position = try #require(begun.firstIndex(of: "begin /other"))
        #expect(position < 2 + 50, "not after all of them")
    }

    @Test(arguments: ["reset", "abort"])
    func `a stream that waits for room for its body is let go when it ends`(end: String) throws {
        let journal = Journal()
        let server = try TestServer { request in
            request.connection.keep(Probe(journal))
            request.connection.start(testHead(), body: .chunked)
            request.connection.awaitRoomForBody()
        }
        let peer = try HTTP2Peer(server, settings: [(4, 0)])
        peer.request(1)
        _ = try #require(peer.readFrame { $0.type == Kind.headers })
        #expect(journal.all == [])
        if end == "reset" {
            peer.send(Kind.reset, stream: 1, payload: HTTP2Peer.number(8))
        } else {
            server.withRequest { $0.connection.abort() }
        }
        #expect(journal.wait(for: "gone"))
        withExtendedLifetime(peer) {}
    }

    private final class Probe {
        private let journal: Journal

        init(_ journal: Journal) { self.journal = journal }

        deinit { journal.note("gone") }
    }

    @Test(arguments: ["settings", "ping", "priority", "priority update", "window", "empty data", "unknown"])
    func `floods of frames that ask for nothing end the connection`(kind: String) throws {
        let server = try TestServer { _ in }
        let peer = try HTTP2Peer(server)
        peer.request(1, method: "POST", endsStream: false)
        let frame =
            switch kind {
            case "settings": HTTP2Peer.frame(Kind.settings)
            case "ping": HTTP2Peer.frame(Kind.ping, payload: [UInt8](repeating: 0, count: 8))
            case "priority": HTTP2Peer.frame(Kind.priority, stream: 1, payload: [0, 0, 0, 3, 9])
            case "priority update":
                HTTP2Peer.frame(Kind.priorityUpdate, payload: [0, 0, 0, 3] + wire("u=1"))
            case "window": HTTP2Peer.frame(Kind.windowUpdate, stream: 1, payload: HTTP2Peer.number(1))
            case "empty data": HTTP2Peer.frame(Kind.data, stream: 1)
            default: HTTP2Peer.frame(0xfa, stream: 1, payload: [UInt8](repeating: 1, count: 1_000))
            }
        // Some are refused before all are sent.
        for _ in 0..<20 { peer.send(Array(repeatElement(frame, count: 100).joined())) }
        #expect(peer.ending() == .enhanceYourCalm)
        #expect(server.awaitConnections(0))
    }

    @Test(arguments: [("cookie", "headTooLarge"), ("x-abcd", "tooManyFields")])
    func `a table entry that is repeated is counted, each crumb of a cookie by its bytes`(
        name: String, error: String
    ) throws {
        let server = try TestServer { $0.answer("") }
        let peer = try HTTP2Peer(server)
        // One literal that enters the table (index 62), then one byte for each repetition.
        let pseudo = HTTP2Peer.block([
            (":method", "GET"), (":scheme", "http"), (":authority", "api.test"), (":path", "/"),
        ])
        let entry: [UInt8] = [0x40, 6] + wire(name) + [3] + wire("a=1")
        peer.send(
            Kind.headers, 5, stream: 1,
            payload: pseudo + entry + [UInt8](repeating: 0xbe, count: 4_000))
        #expect(peer.response(1)?.status == "431")
        #expect(server.journal.all == ["refuse malformed(HTTP.ParseError.\(error))"])
        peer.request(3)
        #expect(peer.response(3)?.status == "200", "the compression's state is intact")
    }

    @Test func `a browser with three hundred cookies, each in a field of its own, is served`() throws {
        let server = try TestServer { $0.answer("") }
        let peer = try HTTP2Peer(server)
        peer.request(1, "/", (0..<300).map { ("cookie", "c\($0)=\($0)") })
        #expect(peer.response(1)?.status == "200")
    }

    @Test func `a head above its limit is refused, one at it is not`() throws {
        let server = try TestServer(settings { $0.limits.headBytes = 2_000 }) { $0.answer("") }
        let peer = try HTTP2Peer(server)
        // Each field costs its bytes and 32 more: four pseudo-fields take 172.
        let used = 7 + 3 + 7 + 4 + 10 + 8 + 5 + 1 + 4 * 32
        let fits = 2_000 - used - 1 - 32
        peer.request(1, "/", [("x", String(repeating: "v", count: fits))])
        #expect(peer.response(1)?.status == "200")
        peer.request(3, "/", [("x", String(repeating: "v", count: fits + 1))])
        #expect(peer.response(3)?.status == "431")
    }

    @Test func `all heads of a connection together have a limit, and what is beyond it is refused alone`()
        throws
    {
        let server = try TestServer { request in request.onEnd = { $0.answer("done") } }
        let peer = try HTTP2Peer(server)
        let field = ("x", String(repeating: "v", count: 16_000))
        func open(_ number: Int32) {
            peer.request(1 + 2 * number, "/", method: "POST", [field], endsStream: false)
        }
        // Sixty-four of them have room, and a client that repeats the others loses nothing by it.
        for number in 0..<364 as Range<Int32> { open(number) }
        for number in 64..<364 as Range<Int32> {
            #expect(peer.response(1 + 2 * number)?.reset == .refusedStream)
        }
        #expect(server.journal.all.count { $0.hasPrefix("begin") } == 64)
        peer.data(1, [], endsStream: true)
        #expect(peer.response(1)?.text == "done")
        open(364)
        peer.data(729, [], endsStream: true)
        #expect(peer.response(729)?.text == "done", "the first has made room")
    }

    @Test func `trailers beyond the room for all heads end the connection`() throws {
        let server = try TestServer { _ in }
        let peer = try HTTP2Peer(server)
        let field = ("x", String(repeating: "v", count: 16_000))
        for number in 0..<64 as Range<Int32> {
            peer.request(1 + 2 * number, "/", method: "POST", [field], endsStream: false)
        }
        peer.send(Kind.headers, 5, stream: 1, payload: HTTP2Peer.block([field]))
        #expect(peer.ending() == .enhanceYourCalm)
    }

    @Test func `the heads of requests that have ended count no more`() throws {
        let server = try TestServer { $0.answer("") }
        let peer = try HTTP2Peer(server)
        // More than twice what open requests may have.
        for number in 0..<140 {
            let stream = Int32(1 + 2 * number)
            peer.request(stream, "/", [("x", String(repeating: "v", count: 16_000))])
            #expect(peer.response(stream)?.status == "200")
        }
    }

    @Test func `a header section in endless pieces ends the connection`() throws {
        let server = try TestServer { _ in }
        let peer = try HTTP2Peer(server)
        peer.send(Kind.headers, 0, stream: 1, payload: HTTP2Peer.block([(":method", "GET")]))
        for _ in 0..<1_000 { peer.send(Kind.continuation, stream: 1, payload: HTTP2Peer.block([("x", "1")])) }
        _ = peer.ending()
        #expect(server.journal.all == [])
        #expect(server.awaitConnections(0))
    }

    @Test func `more streams than are allowed are refused, and the others go on`() throws {
        let server = try TestServer { _ in }
        let peer = try HTTP2Peer(server)
        for number in 0..<101 { peer.request(Int32(1 + 2 * number), "/\(number)") }
        let reset = try #require(peer.readFrame { $0.type == Kind.reset })
        #expect(reset.stream == 201)
        #expect(reset.error == .refusedStream)
        #expect(server.journal.wait { $0.count == 100 }.count == 100)
        for number in 101..<400 { peer.request(Int32(1 + 2 * number), "/\(number)") }
        peer.send(Kind.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(peer.readFrame { $0.type == Kind.ping || $0.type == Kind.goAway }?.type == Kind.ping)
        for number in 400..<2_000 { peer.request(Int32(1 + 2 * number), "/\(number)") }
        #expect(peer.ending() == .enhanceYourCalm, "a client that never stops asking")
    }

    @Test func `an upload waits for its receiver, within the window`() throws {
        let server = try TestServer { $0.connection.pauseRequest() }
        let peer = try HTTP2Peer(server)
        peer.request(1, method: "POST", endsStream: false)
        for _ in 0..<4 { peer.data(1, [UInt8](repeating: 1, count: 16_000)) }
        peer.send(Kind.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8])
        _ = peer.readFrame { $0.type == Kind.ping && $0.flags == 1 }
        #expect(!peer.frames.contains { $0.type == Kind.windowUpdate && $0.stream == 1 })
        peer.data(1, [UInt8](repeating: 1, count: 4_000))
        let reset = try #require(peer.readFrame { $0.type == Kind.reset || $0.type == Kind.goAway })
        #expect(reset.error == .flowControlError, "more than the window is an error")
    }

    @Test func `a frame on a stream that is closed ends the connection`() throws {
        let server = try TestServer { $0.answer("x") }
        let ended = try HTTP2Peer(server)
        ended.request(1)
        #expect(ended.response(1)?.text == "x")
        ended.data(1, wire("late"))
        #expect(ended.ending() == .streamClosed)
        let slow = try TestServer { _ in }
        let reset = try HTTP2Peer(slow)
        reset.request(1, method: "POST", endsStream: false)
        reset.send(Kind.reset, stream: 1, payload: HTTP2Peer.number(8))
        reset.data(1, wire("late"))
        #expect(reset.ending() == .streamClosed)
        let passed = try HTTP2Peer(slow)
        passed.request(5)
        passed.request(3)
        #expect(passed.ending() == .protocolError, "a number below the last one")
    }

    @Test func `a stream that depends on itself ends the connection`() throws {
        let server = try TestServer { _ in }
        let peer = try HTTP2Peer(server)
        peer.send(Kind.priority, stream: 3, payload: [0, 0, 0, 3, 9])
        #expect(peer.ending() == .protocolError)
    }

    @Test func `the body of a refused stream does no harm`() throws {
        let server = try TestServer { request in request.onEnd = { $0.answer("done") } }
        let peer = try HTTP2Peer(server)
        for number in 0..<101 {
            peer.request(Int32(1 + 2 * number), "/\(number)", method: "POST", endsStream: false)
        }
        peer.data(201, wire("late"))
        peer.send(Kind.headers, 5, stream: 201, payload: HTTP2Peer.block([("x-sum", "4")]))
        peer.data(1, wire("x"), endsStream: true)
        #expect(peer.response(1)?.text == "done")
        #expect(peer.response(201)?.reset == .refusedStream)
    }

    @Test func `a response that is given up while its frame waits for room is reset`() throws {
        let body = Noise.bytes(2_000_000, seed: 5)
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .length(UInt64(body.count)))
            request.connection.write(body.span)
            if request.path == "/bad" { request.onDrained = { $0.connection.abort() } }
            if request.path == "/good" { request.connection.finish() }
        }
        // Windows for all, and a client that does not read yet.
        let peer = try HTTP2Peer(server, settings: [(4, 0x7fff_ffff)])
        peer.send(Kind.windowUpdate, stream: 0, payload: HTTP2Peer.number(0x7fff_0000 - 65_535))
        peer.request(1, "/good")
        peer.request(3, "/bad")
        #expect(peer.response(1)?.body == body)
        #expect(peer.response(3)?.reset == .internalError)
    }

    @Test(arguments: [0, 64])
    func `a bomb of repeated fields ends the connection, though its windows are closed`(others: Int32) throws
    {
        let server = try TestServer { if $0.path != "/waits" { $0.answer("") } }
        let peer = try HTTP2Peer(server, settings: [(4, 0)])
        for number in 1..<others + 1 {
            peer.request(1 + 2 * number, "/waits", [("x", String(repeating: "v", count: 16_000))])
        }
        let pseudo = HTTP2Peer.block([
            (":method", "GET"), (":scheme", "http"), (":authority", "api.test"), (":path", "/"),
        ])
        // A value of 3900 bytes in the table, then eight thousand times one byte that names it: 31 MB.
        let long: [UInt8] =
            [0x40, 1] + wire("b") + [0x7f, 0xbd, 0x1d] + [UInt8](repeating: 0x7a, count: 3_900)
        peer.send(
            Kind.headers, 5, stream: 201, payload: pseudo + long + [UInt8](repeating: 0xbe, count: 8_000))
        #expect(peer.ending() == .enhanceYourCalm)
        #expect(server.awaitConnections(0), "though the client does not close")
        withExtendedLifetime(peer) {}
    }

    @Test func `requests that are refused again and again end the connection`() throws {
        let server = try TestServer { $0.answer("") }
        let peer = try HTTP2Peer(server)
        for number in 0..<1_000 { peer.request(Int32(1 + 2 * number), "/", [("content_length", "1")]) }
        #expect(peer.ending() == .enhanceYourCalm)
        #expect(server.journal.all.count { $0.hasPrefix("refuse") } <= 500)
    }
}
