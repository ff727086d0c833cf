import TestSupport
import Testing

@testable import HTTP

struct ServerResponseTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func `a chunked answer ends with the last chunk and its trailers`() throws {
        let server = try TestServer { request in
            var trailers = Headers()
            trailers.append(.etag, "\"1\"")
            request.connection.start(testHead(), body: .chunked)
            request.connection.write("hello".utf8.span)
            request.connection.write("".utf8.span)
            request.connection.write("0123456789abcdef!".utf8.span)
            request.connection.finish(trailers: trailers)
        }
        let peer = try server.connect()
        peer.send(Self.get)
        #expect(peer.readHead() == "HTTP/1.1 200 OK\r\nDate: then\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(peer.readHead() == "5\r\nhello\r\n11\r\n0123456789abcdef!\r\n0\r\nETag: \"1\"\r\n\r\n")
        peer.send(Self.get)
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func `a chunked answer goes to a client of HTTP 1.0 as plain bytes until the end`() throws {
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .chunked)
            request.connection.write("hello".utf8.span)
            request.connection.finish()
        }
        let peer = try server.connect()
        peer.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        #expect(
            peer.readToEnd() == ("HTTP/1.1 200 OK\r\nDate: then\r\nConnection: close\r\n\r\nhello", .closed))
    }

    @Test(arguments: [BodyFraming.chunked, .length(9), .untilClose])
    func `a response of which no byte has gone out can be taken back, and another sent`(framing: BodyFraming)
        throws
    {
        let server = try TestServer { request in
            request.connection.start(testHead(), body: framing)
            request.connection.write("half".utf8.span)
            #expect(request.connection.withdraw())
            #expect(!request.connection.withdraw(), "there is nothing more to take back")
            request.connection.start(testHead(), body: .length(2))
            request.connection.write("ok".utf8.span)
            request.connection.finish()
            #expect(!request.connection.withdraw(), "it is whole")
        }
        let peer = try server.connect()
        for _ in 0..<2 {
            peer.send(Self.get)
            #expect(peer.readHead() == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 2\r\n\r\n")
            #expect(peer.read(2) == "ok")
        }
    }

    @Test func `a response that has begun to go out cannot be taken back`() throws {
        let large = [UInt8](repeating: 0x61, count: 20_000)
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .length(UInt64(large.count)))
            // A piece of this size is written at once.
            request.connection.write(large.span)
            #expect(!request.connection.withdraw())
            request.connection.finish()
        }
        let peer = try server.connect()
        peer.send(Self.get)
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(peer.read(large.count).utf8.count == large.count)
    }

    @Test(arguments: [["99"], ["02"], ["+2"], ["2", "2"], ["2", "3"], ["3", "2"]])
    func `the framing that the application's head claims is replaced by the true one`(lengths: [String])
        throws
    {
        let server = try TestServer { request in
            var head = testHead()
            for length in lengths { head.headers.append(.contentLength, length) }
            head.headers.append(.transferEncoding, "chunked")
            head.headers.append(.connection, "close, x")
            request.connection.start(head, body: .length(2))
            request.connection.write("ok".utf8.span)
            request.connection.finish()
        }
        let peer = try server.connect()
        peer.send(Self.get)
        #expect(peer.readHead() == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 2\r\n\r\n")
        #expect(peer.read(2) == "ok")
    }

    @Test func `an answer to HEAD keeps its length and has no body`() throws {
        let server = try TestServer { request in
            var head = testHead()
            head.headers.append(.contentLength, "99")
            request.connection.start(head, body: .none)
            request.connection.write("never".utf8.span)
            request.connection.finish()
        }
        let peer = try server.connect()
        for _ in 0..<2 {
            peer.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(peer.readHead() == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 99\r\n\r\n")
        }
        #expect(peer.isQuiet(milliseconds: 50))
    }

    @Test func `interim responses come before the answer, and not after its head`() throws {
        let server = try TestServer { request in
            request.connection.sendInterim(ResponseHead(status: .continue))
            request.connection.sendInterim(ResponseHead(status: Status(rawValue: 103)))
            request.connection.start(testHead(), body: .length(0))
            request.connection.sendInterim(ResponseHead(status: .continue))
            request.connection.finish()
        }
        let peer = try server.connect()
        peer.send(Self.get)
        #expect(peer.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(peer.readHead() == "HTTP/1.1 103 Early Hints\r\n\r\n")
        #expect(peer.readHead() == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 0\r\n\r\n")
        #expect(peer.isQuiet(milliseconds: 50))
    }

    @Test func `a client of HTTP 1.0 gets no interim response`() throws {
        let server = try TestServer { request in
            request.connection.sendInterim(ResponseHead(status: .continue))
            request.answer("ok")
        }
        let peer = try server.connect()
        peer.send("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n")
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func `an answer that is given up is reset, not ended`() throws {
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .chunked)
            request.connection.write("part".utf8.span)
            // The client reads the first piece before the end comes.
            request.onBody = { $0.connection.abort() }
        }
        let peer = try server.connect()
        peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n")
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(peer.read(through: "part\r\n") == "4\r\npart\r\n")
        peer.send("x")
        #expect(peer.readToEnd() == ("", .reset))
        #expect(server.awaitConnections(0))
    }

    @Test func `a slow reader stops the source, and hears all of it in the end`() throws {
        let total = 32 << 20
        let server = try TestServer { request in
            var left = total
            let piece = [UInt8](repeating: 0x78, count: 64 * 1024)
            let pour: (TestRequest) -> Void = { request in
                while left > 0, request.connection.canWrite {
                    request.connection.write(piece.span)
                    left -= piece.count
                }
                request.journal.note("written \(total - left)")
                if left == 0 { request.connection.finish() }
            }
            request.onDrained = pour
            request.connection.start(testHead(), body: .length(UInt64(total)))
            pour(request)
        }
        let peer = try server.connect(receiveBuffer: 16 * 1024)
        peer.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(peer.readHead().contains("Content-Length: \(total)\r\n"))
        // The client reads no more: except for the sockets' buffers the bytes stay with the source.
        let written = server.journal.settled().last { $0.hasPrefix("written ") }
        let accepted = try #require(written.flatMap { Int($0.dropFirst(8)) })
        #expect(accepted < 12 << 20)
        let (count, ending) = peer.countToEnd()
        #expect(count == total)
        #expect(ending == .closed)
    }

    @Test func `what an application sends out of order, or behind the end, never reaches the client`() throws
    {
        let server = try TestServer { request in
            let connection = request.connection
            connection.write("early".utf8.span)
            connection.finish()
            connection.start(testHead(), body: .chunked)
            connection.sendInterim(ResponseHead(status: Status(rawValue: 103)))
            connection.start(testHead(.badGateway), body: .none)
            connection.write("ok".utf8.span)
            connection.finish()
            connection.write("late".utf8.span)
            connection.finish()
        }
        let peer = try server.connect()
        peer.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let (text, ending) = peer.readToEnd()
        let head = "HTTP/1.1 200 OK\r\nDate: then\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        #expect(text == head + "2\r\nok\r\n0\r\n\r\n")
        #expect(ending == .closed)
    }

    @Test func `a response without a body takes no bytes of one`() throws {
        let server = try TestServer { request in
            request.connection.start(testHead(Status(rawValue: 204)), body: .none)
            request.connection.write("no".utf8.span)
            request.connection.finish()
        }
        let peer = try server.connect()
        peer.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let (text, ending) = peer.readToEnd()
        #expect(text == "HTTP/1.1 204 No Content\r\nDate: then\r\nConnection: close\r\n\r\n")
        #expect(ending == .closed)
    }

    @Test func `a response that filled the output and is taken back leaves room for another`() throws {
        let piece = [UInt8](repeating: 0x78, count: 12_000)
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .chunked)
            // Together they are more than may wait, and none is large enough to be written at once.
            for _ in 0..<3 { request.connection.write(piece.span) }
            request.journal.note("room \(request.connection.canWrite)")
            request.journal.note("withdrawn \(request.connection.withdraw())")
            request.journal.note("room \(request.connection.canWrite)")
            request.answer("ok")
        }
        let peer = try server.connect()
        peer.send(Self.get)
        #expect(peer.readHead() == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 2\r\n\r\n")
        #expect(peer.read(2) == "ok")
        #expect(server.journal.all == ["begin /", "room false", "withdrawn true", "room true"])
    }
}
