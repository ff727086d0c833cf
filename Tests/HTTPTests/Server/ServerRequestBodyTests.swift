import Glibc
import TestSupport
import Testing

@testable import HTTP

struct ServerRequestBodyTests {
    /// Makes a server that responds with the request's body once it is complete.
    private func echo() throws -> TestServer {
        try TestServer { request in request.onEnd = { $0.answer($0.text) } }
    }

    @Test(arguments: [
        "Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nhe\r\n003\r\nllo\r\n00\r\n\r\n",
    ])
    func `a body comes whole in every framing, and the next request after it`(message: String) throws {
        let server = try echo()
        let peer = try server.connect()
        let request = "POST / HTTP/1.1\r\nHost: a\r\n\(message)"
        peer.send(request + request)
        for byte in wire(request) { peer.send([byte]) }
        for _ in 0..<3 {
            #expect(peer.readHead() == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 5\r\n\r\n")
            #expect(peer.read(5) == "hello")
        }
    }

    @Test func `trailers are handed on`() throws {
        let server = try echo()
        let peer = try server.connect()
        peer.send(
            "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-T: 1\r\n\r\n")
        #expect(server.journal.wait(for: "end / aX-T: 1\r\n"))
    }

    @Test func `a body waits for nobody's 100, and one that waits gets it from the application`() throws {
        let server = try TestServer { request in
            request.connection.sendInterim(ResponseHead(status: .continue))
            request.onEnd = { $0.answer($0.text) }
        }
        let peer = try server.connect()
        peer.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(peer.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        peer.send("hi")
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(peer.read(2) == "hi")
    }

    @Test func `a paused body stays with the client until it is wanted again`() throws {
        let server = try TestServer { request in
            request.onBody = {
                $0.connection.pauseRequest()
                $0.onBody = nil
                $0.journal.note("paused")
            }
            request.onEnd = { $0.answer("\($0.body.count)") }
        }
        let total = 32 << 20
        let peer = try server.connect()
        peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(total)\r\n\r\n")
        let piece = [UInt8](repeating: 0x78, count: 64 * 1024)
        let sent = peer.flood(with: piece, limit: total, quietMilliseconds: 200)
        #expect(sent < 16 << 20)
        server.withRequest { $0.connection.resumeRequest() }
        peer.send([UInt8](repeating: 0x78, count: total - sent))
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(peer.read(8) == "\(total)")
    }

    @Test(arguments: [
        "zz\r\n", "5\nhello\r\n", "5\r\nhelloX", "1000000000000000\r\n", "-1\r\n", "0\r\nBad Name: x\r\n\r\n",
    ])
    func `a malformed chunk ends the body with 400 and the connection with it`(chunk: String) throws {
        let server = try echo()
        let peer = try server.connect()
        peer.send(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)"
                + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        let (text, ending) = peer.readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(text.hasSuffix("Connection: close\r\n\r\nbad"))
        #expect(ending == .closed)
        #expect(!server.journal.all.contains("begin /smuggled"))
    }

    @Test func `a malformed chunk after the answer has begun resets the connection`() throws {
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .chunked)
            request.connection.write("part".utf8.span)
        }
        let peer = try server.connect()
        peer.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(peer.readHead().contains("Connection: close\r\n"))
        #expect(peer.read(through: "part\r\n") == "4\r\npart\r\n")
        peer.send("zz\r\n")
        #expect(peer.readToEnd() == ("", .reset))
    }

    @Test(arguments: [0, 1_500_000] as [UInt32])
    func `the body behind an early answer is thrown away and never a request, also after a silence`(
        microseconds: UInt32
    ) throws {
        let server = try TestServer { $0.answer("early", .contentTooLarge) }
        let peer = try server.connect()
        peer.send("POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
        #expect(
            peer.readHead()
                == "HTTP/1.1 413 Content Too Large\r\nDate: then\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
        )
        usleep(microseconds)
        let request = wire("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect((0..<2000).count { _ in peer.send(request) } == 2000)
        peer.closeWriting()
        // RFC 9112 section 9.6: a reset must not destroy the response.
        #expect(peer.readToEnd() == ("early", .closed))
        #expect(server.journal.all == ["begin /1"])
    }

    @Test func `an answer may begin before its request has ended, and then is the last`() throws {
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .chunked)
            request.onBody = { $0.connection.write($0.text.utf8.span) }
            request.onEnd = { $0.connection.finish() }
        }
        let peer = try server.connect()
        peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n")
        #expect(peer.readHead().hasSuffix("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"))
        peer.send("h")
        #expect(peer.read(through: "h\r\n") == "1\r\nh\r\n")
        peer.send("iGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(peer.readToEnd() == ("2\r\nhi\r\n0\r\n\r\n", .closed))
        #expect(!server.journal.all.contains("begin /smuggled"))
    }

    @Test func `a client that breaks off in mid-body is lost, and its request is not whole`() throws {
        let server = try echo()
        let peer = try server.connect()
        peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello")
        peer.closeWriting()
        #expect(server.journal.wait(for: "aborted / closed"))
        #expect(peer.readToEnd() == ("", .reset))
        #expect(!server.journal.all.contains { $0.hasPrefix("end ") })
    }
}
