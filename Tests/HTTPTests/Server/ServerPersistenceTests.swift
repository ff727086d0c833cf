import TestSupport
import Testing

@testable import HTTP

struct ServerPersistenceTests {
    private func echo() throws -> TestServer { try TestServer { $0.answer($0.path) } }

    @Test func `requests follow each other on one connection`() throws {
        let server = try echo()
        let peer = try server.connect()
        for path in ["/a", "/b", "/c"] {
            peer.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(peer.readHead() == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 2\r\n\r\n")
            #expect(peer.read(2) == path)
        }
        #expect(server.count.current == 1)
    }

    @Test func `the last request that a connection may bring is answered with close`() throws {
        var settings = ServerSettings()
        settings.requestsMax = 2
        let server = try TestServer(settings) { $0.answer("ok") }
        let peer = try server.connect()
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(peer.readHead() == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 2\r\n\r\n")
        #expect(peer.read(2) == "ok")
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(peer.readHead().contains("\r\nConnection: close\r\n"))
        let (rest, ending) = peer.readToEnd()
        #expect(rest == "ok" && ending == .closed)
    }

    @Test func `a head that comes byte by byte is one request`() throws {
        let server = try echo()
        let peer = try server.connect()
        for byte in wire("\r\nGET /slow HTTP/1.1\r\nHost: a\r\n\r\n") { peer.send([byte]) }
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(peer.read(5) == "/slow")
        #expect(server.journal.all == ["begin /slow"])
    }

    @Test func `answers without a Date get one`() throws {
        let server = try TestServer { request in
            request.connection.start(ResponseHead(status: .noContent), body: .none)
            request.connection.finish()
        }
        let peer = try server.connect()
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(
            peer.readHead().wholeMatch(of: /HTTP\/1.1 204 No Content\r\nDate: \w{3}, .* GMT\r\n\r\n/) != nil)
    }

    @Test func `pipelined requests are answered in their order`() throws {
        let server = try echo()
        let peer = try server.connect()
        peer.send(
            (0..<200).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
                + "GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let (text, ending) = peer.readToEnd()
        let bodies = text.split(separator: "\r\n\r\n").dropFirst().map { String($0.prefix { $0 != "H" }) }
        #expect(bodies == (0..<200).map { "/\($0)" } + ["/end"])
        #expect(ending == .closed)
    }

    @Test func `a pipelined request stays unread until the answer before it is whole`() throws {
        let server = try TestServer { request in
            guard request.path == "/first" else { return request.answer("second") }
            request.journal.note("held")
        }
        let peer = try server.connect()
        peer.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.journal.wait(for: "held"))
        #expect(peer.isQuiet(milliseconds: 100))
        #expect(server.journal.all == ["begin /first", "held"])
    }

    @Test func `a pipelined request waits until the client has taken the answer before it`() throws {
        // More than the sockets hold: the second response must not wait behind the first in memory.
        let large = String(repeating: "x", count: 8 << 20)
        let server = try TestServer { $0.answer(large) }
        let peer = try server.connect(receiveBuffer: 16 * 1024)
        peer.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(server.journal.wait(for: "begin /1"))
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        server.sync()
        #expect(server.journal.all == ["begin /1"])
        #expect(peer.read(large.utf8.count) == large)
        #expect(peer.readHead().contains("Connection: close\r\n"))
        let (count, ending) = peer.countToEnd()
        #expect(count == large.utf8.count)
        #expect(ending == .closed)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "Connection: close\r\n"),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", "Connection: close\r\n"),
        ("GET / HTTP/1.0\r\n\r\n", "Connection: close\r\n"),
    ])
    func `a request that is the last one is answered with close, and then with the end`(
        request: String, field: String
    ) throws {
        let server = try echo()
        let peer = try server.connect()
        peer.send(request)
        #expect(
            peer.readToEnd()
                == ("HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 1\r\n\(field)\r\n/", .closed))
    }

    @Test func `a client of HTTP 1.0 that asks for it keeps its connection`() throws {
        let server = try echo()
        let peer = try server.connect()
        for _ in 0..<2 {
            peer.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
            #expect(
                peer.readHead()
                    == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\n")
            #expect(peer.read(1) == "/")
        }
    }

    @Test func `what follows a request with close is no request`() throws {
        let server = try echo()
        let peer = try server.connect()
        peer.send("GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
        let (text, ending) = peer.readToEnd()
        #expect(text.hasSuffix("\r\n\r\n/1"))
        #expect(ending == .closed)
        #expect(server.journal.all == ["begin /1"])
    }

    @Test func `an answer that filled the output leaves room for the next one`() throws {
        let piece = [UInt8](repeating: 0x78, count: 12_000)
        let server = try TestServer { request in
            request.journal.note("room \(request.connection.canWrite)")
            request.connection.start(testHead(), body: .length(36_000))
            // Together they are more than may wait, and none is large enough to be written at once.
            for _ in 0..<3 { request.connection.write(piece.span) }
            request.connection.finish()
        }
        let peer = try server.connect()
        for _ in 0..<2 {
            peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(peer.read(36_000).utf8.count == 36_000)
        }
        #expect(server.journal.all == ["begin /", "room true", "begin /", "room true"])
    }
}
