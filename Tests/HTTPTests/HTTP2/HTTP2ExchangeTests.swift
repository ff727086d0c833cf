internal import Primitives
internal import TestSupport
internal import Testing

@testable import HTTP

/// Requests and responses over streams (RFC 9113 section 8).
@Suite(.timeLimit(.minutes(40))) struct HTTP2ExchangeTests {
    @Test func `a request without a body gets its response`() throws {
        let server = try TestServer { $0.answer("hello") }
        let peer = try HTTP2Peer(server)
        peer.request(1, "/feed?a=1")
        let response = try #require(peer.response(1))
        #expect(response.fields == [":status: 200", "date: then", "content-length: 5"])
        #expect(response.text == "hello")
        #expect(server.journal.all == ["begin /feed"])
    }

    @Test func `a HEAD that is refused gets a head alone`() throws {
        let server = try TestServer { $0.answer("") }
        let peer = try HTTP2Peer(server)
        peer.request(1, "/" + String(repeating: "a", count: 9_000), method: "HEAD")
        #expect(peer.response(1)?.status == "414")
        #expect(!peer.frames.contains { $0.type == HTTP2Peer.Kind.data })
        // The same with its method behind what is wrong.
        let fields = [(":path", "/" + String(repeating: "a", count: 9_000)), (":method", "HEAD")]
        peer.send(
            HTTP2Peer.Kind.headers, 5, stream: 3,
            payload: HTTP2Peer.block(fields + [(":scheme", "http"), (":authority", "api.test")]))
        #expect(peer.response(3)?.status == "414")
        #expect(!peer.frames.contains { $0.type == HTTP2Peer.Kind.data })
        peer.request(5, "/" + String(repeating: "a", count: 9_000))
        #expect(peer.response(5)?.text == "no\n")
    }

    @Test func `what is taken back was not sent`() throws {
        let server = try TestServer { request in
            if request.path == "/again" {
                request.connection.start(testHead(), body: .chunked)
                request.connection.write(Noise.bytes(9_000, seed: 1).span)
                #expect(request.connection.withdraw())
            }
            request.answer("short")
            request.journal.note("sent \(request.connection.bytesSent)")
        }
        let peer = try HTTP2Peer(server)
        for (stream, path) in [(Int32(1), "/once"), (3, "/again")] {
            peer.request(stream, path)
            #expect(peer.response(stream)?.text == "short")
        }
        let sent = server.journal.all.filter { $0.hasPrefix("sent") }
        #expect(sent.count == 2 && sent[0] == sent[1], "\(sent)")
    }

    @Test func `the body of a request comes in pieces, and its trailers with the end`() throws {
        let server = try TestServer { $0.onEnd = { $0.answer($0.text) } }
        let peer = try HTTP2Peer(server)
        peer.request(1, "/up", method: "POST", endsStream: false)
        peer.data(1, wire("abc"))
        peer.data(1, wire("def"))
        peer.send(
            HTTP2Peer.Kind.headers, 5, stream: 1,
            payload: HTTP2Peer.block([("x-sum", "6"), ("content-length", "6")]))
        #expect(peer.response(1)?.text == "abcdef")
        #expect(server.journal.all == ["begin /up", "end /up abcdefx-sum: 6\r\n"], "framing is no trailer")
    }

    @Test func `a hundred streams are served in any order`() throws {
        let server = try TestServer { request in
            if request.path == "/last" { request.answer("last") } else { request.answer(request.path) }
        }
        let peer = try HTTP2Peer(server)
        for number in 0..<100 { peer.request(Int32(1 + 2 * number), "/\(number)") }
        for number in (0..<100).reversed() {
            #expect(peer.response(Int32(1 + 2 * number))?.text == "/\(number)")
        }
    }

    @Test func `a request on the last number of a stream is served, and no other follows`() throws {
        let server = try TestServer { $0.answer("last") }
        let peer = try HTTP2Peer(server)
        peer.request(.max)
        #expect(peer.response(.max)?.text == "last")
        let isGoAway: (HTTP2Peer.Frame) -> Bool = { $0.type == HTTP2Peer.Kind.goAway }
        let isTold = peer.frames.contains(where: isGoAway) || peer.readFrame(where: isGoAway) != nil
        #expect(isTold)
        let other = try HTTP2Peer(server)
        other.request(1)
        #expect(other.response(1)?.text == "last")
    }

    @Test func `a response longer than the windows goes on as the client opens them`() throws {
        let body = Noise.bytes(300_000, seed: 7)
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .chunked)
            var offset = 0
            let push: (TestRequest) -> Void = { request in
                while offset < body.count, request.connection.canWrite {
                    let end = min(body.count, offset + 10_000)
                    request.connection.write(body.span.extracting(offset..<end))
                    offset = end
                }
                if offset == body.count { request.connection.finish() }
            }
            request.onDrained = push
            push(request)
        }
        let peer = try HTTP2Peer(server)
        peer.request(1)
        var opened = 65_535
        while peer.frames.last?.endsStream != true {
            let frame = try #require(peer.readFrame())
            guard frame.type == HTTP2Peer.Kind.data, !frame.endsStream else { continue }
            opened -= frame.payload.count
            #expect(opened >= 0, "the window is respected")
            let more = HTTP2Peer.number(UInt32(frame.payload.count))
            peer.send(HTTP2Peer.Kind.windowUpdate, stream: 0, payload: more)
            peer.send(HTTP2Peer.Kind.windowUpdate, stream: 1, payload: more)
            opened += frame.payload.count
        }
        #expect(peer.response(1)?.body == body)
    }

    @Test func `what an application sends out of order, or behind the end, never reaches the client`() throws
    {
        let server = try TestServer { request in
            let stream = request.connection
            stream.write("early".utf8.span)
            stream.finish()
            stream.sendInterim(ResponseHead(status: .switchingProtocols))
            stream.start(testHead(), body: .chunked)
            stream.sendInterim(ResponseHead(status: Status(rawValue: 103)))
            stream.start(testHead(.badGateway), body: .none)
            stream.write("ok".utf8.span)
            stream.finish()
            stream.write("late".utf8.span)
            stream.finish()
        }
        let peer = try HTTP2Peer(server)
        peer.request(1)
        let response = try #require(peer.response(1))
        #expect(response.status == "200")
        #expect(response.text == "ok")
        #expect(response.interim.isEmpty)
        #expect(response.reset == nil)
    }

    @Test func `interim responses, trailers and Set-Cookie pass; connection fields do not`() throws {
        let server = try TestServer { request in
            var hints = ResponseHead(status: Status(rawValue: 103))
            hints.headers.append(.link, "</style.css>; rel=preload")
            request.connection.sendInterim(hints)
            var head = testHead()
            head.headers.append(.connection, "keep-alive, x-hop")
            head.headers.append(.keepAlive, "timeout=5")
            head.headers.append(.transferEncoding, "chunked")
            head.headers.append(.setCookie, "a=1")
            head.headers.append(.setCookie, "b=2")
            request.connection.start(head, body: .chunked)
            request.connection.write("x".utf8.span)
            var trailers = Headers()
            trailers.append(.serverTiming, "db;dur=5")
            request.connection.finish(trailers: trailers)
        }
        let peer = try HTTP2Peer(server)
        peer.request(1)
        let interim = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.headers })
        #expect(interim.flags & 1 == 0)
        let response = try #require(peer.response(1))
        #expect(response.fields == [":status: 200", "date: then", "set-cookie: a=1", "set-cookie: b=2"])
        #expect(response.text == "x")
        #expect(response.trailers == ["server-timing: db;dur=5"])
    }

    @Test(arguments: ["HEAD", "GET"]) func `HEAD and 304 have a length and no body`(method: String) throws {
        let server = try TestServer { request in
            var head = testHead(request.method == .head ? .ok : .notModified)
            head.headers.append(.contentLength, "5")
            request.connection.start(head, body: .none)
            request.connection.finish()
        }
        let peer = try HTTP2Peer(server)
        peer.request(1, method: method)
        let frame = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.headers })
        #expect(frame.endsStream)
        #expect(peer.response(1)?.fields.contains("content-length: 5") == true)
    }

    @Test func `a response that overtakes its request ends the upload without an error`() throws {
        let server = try TestServer { $0.answer("no", .contentTooLarge) }
        let peer = try HTTP2Peer(server)
        peer.request(1, method: "POST", endsStream: false)
        let response = try #require(peer.response(1))
        #expect(response.status == "413")
        let reset = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.reset })
        #expect(reset.error == .noError)
        peer.data(1, wire("late"))
        peer.request(3)
        #expect(peer.response(3)?.status == "413", "the connection goes on")
    }

    @Test func `a response that is given up is a reset, and others go on`() throws {
        let server = try TestServer { request in
            guard request.path == "/bad" else { return request.answer("well") }
            request.connection.start(testHead(), body: .length(10))
            request.connection.write("half".utf8.span)
            request.connection.abort()
        }
        let peer = try HTTP2Peer(server)
        peer.request(1, "/bad")
        peer.request(3, "/good")
        #expect(peer.response(3)?.text == "well")
        #expect(peer.response(1)?.reset == .internalError)
    }

    @Test func `a client's reset is told to the handler, and others go on`() throws {
        let server = try TestServer { if $0.path == "/good" { $0.answer("well") } }
        let peer = try HTTP2Peer(server)
        peer.request(1, "/slow")
        #expect(server.journal.wait(for: "begin /slow"))
        peer.send(HTTP2Peer.Kind.reset, stream: 1, payload: HTTP2Peer.number(8))
        #expect(server.journal.wait(for: "aborted /slow closed"))
        peer.request(3, "/good")
        #expect(peer.response(3)?.text == "well")
    }

    @Test func `a client that goes is told to every handler`() throws {
        let server = try TestServer { _ in }
        do {
            let peer = try HTTP2Peer(server)
            peer.request(1, "/a")
            peer.request(3, "/b")
            #expect(server.journal.wait(for: "begin /b"))
        }
        #expect(server.journal.wait(for: "aborted /a closed"))
        #expect(server.journal.wait(for: "aborted /b closed"))
        #expect(server.awaitConnections(0))
    }

    @Test func `what does not drain is lost to the stop, and its handler told so`() throws {
        let server = try TestServer { _ in }
        let peer = try HTTP2Peer(server)
        peer.request(1, "/slow")
        #expect(server.journal.wait(for: "begin /slow"))
        server.stop()
        server.abortAll()
        let lines = server.journal.wait { $0.count == 3 }
        #expect(lines == ["begin /slow", "aborted /slow stopped", "drained all"])
    }

    @Test func `a server that stops serves what is under way, and takes no more`() throws {
        let server = try TestServer { request in
            if request.path == "/slow" {
                request.onBody = { $0.answer("done") }
            } else {
                request.answer("quick")
            }
        }
        let peer = try HTTP2Peer(server)
        peer.request(1, "/slow", method: "POST", endsStream: false)
        #expect(server.journal.wait(for: "begin /slow"))
        server.stop()
        let notice = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.goAway })
        #expect(notice.error == .noError)
        #expect(notice.payload.prefix(4) == [0x7f, 0xff, 0xff, 0xff], "requests on their way still count")
        peer.request(3, "/quick")
        #expect(peer.response(3)?.text == "quick")
        let last = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.goAway })
        #expect(last.payload.prefix(4) == [0, 0, 0, 3])
        peer.data(1, wire("go"))
        #expect(peer.response(1)?.text == "done")
        #expect(peer.ending() == .noError)
        #expect(server.journal.wait(for: "drained all"))
    }

    @Test func `HTTP/1.1 and its errors are as ever on the same listener`() throws {
        let server = try TestServer { $0.answer("one") }
        let peer = try server.connect()
        peer.send("PRI / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        let slow = try server.connect()
        slow.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r")
        #expect(slow.isQuiet(milliseconds: 50))
        slow.send("x")
        #expect(slow.readHead().hasPrefix("HTTP/1.1 "), "no preface, so a malformed request")
        #expect(peer.read(3) == "one")
        // RFC 9113 section 3.4: the preface is the first that a client sends.
        peer.send(HTTP2Peer.preface)
        #expect(peer.readHead().hasPrefix("HTTP/1.1 505 "))
    }

    @Test func `a preface in pieces is one`() throws {
        let server = try TestServer { $0.answer("two") }
        let peer = try HTTP2Peer(server, settings: nil)
        for byte in HTTP2Peer.preface { peer.send([byte]) }
        peer.send(HTTP2Peer.Kind.settings)
        peer.request(1)
        #expect(peer.response(1)?.text == "two")
    }

    @Test func `without HTTP/2 in the settings the preface is a malformed request`() throws {
        var settings = ServerSettings()
        settings.protocols = .http1
        let server = try TestServer(settings) { $0.answer("") }
        let peer = try server.connect()
        peer.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        #expect(peer.readHead().hasPrefix("HTTP/1.1 505 "))
    }

    @Test func `a connection ends in two steps after its last request`() throws {
        var settings = ServerSettings()
        settings.requestsMax = 3
        let server = try TestServer(settings) { $0.answer("x") }
        let peer = try HTTP2Peer(server)
        for stream: Int32 in [1, 3] {
            peer.request(stream)
            #expect(peer.response(stream)?.text == "x")
        }
        #expect(!peer.frames.contains { $0.type == HTTP2Peer.Kind.goAway })
        peer.request(5)
        let notice = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.goAway })
        #expect(notice.payload.prefix(4) == [0x7f, 0xff, 0xff, 0xff])
        peer.request(7)
        #expect(peer.response(7)?.text == "x", "a request on its way is served")
        #expect(peer.ending() == .noError)
    }

    @Test func `a long response shares the connection with short ones that come later`() throws {
        let long = Noise.bytes(3_000_000, seed: 9)
        let server = try TestServer { request in
            if request.path == "/short" { return request.answer("short") }
            request.connection.start(testHead(), body: .length(UInt64(long.count)))
            request.connection.write(long.span)
            request.connection.finish()
        }
        let peer = try HTTP2Peer(server, settings: [(4, 0x7fff_ffff)])
        peer.send(HTTP2Peer.Kind.windowUpdate, stream: 0, payload: HTTP2Peer.number(0x7fff_0000 - 65_535))
        peer.request(1, "/long")
        for number: Int32 in 1...20 { peer.request(1 + 2 * number, "/short") }
        for number: Int32 in 1...20 { #expect(peer.response(1 + 2 * number)?.text == "short") }
        #expect(peer.frames.last { $0.stream == 1 }?.endsStream == false, "the long one goes on")
        #expect(peer.response(1)?.body == long)
    }
}
