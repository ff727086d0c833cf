import Glibc
import TestSupport
import Testing

@testable import HTTP

struct ServerTimeoutTests {
    private func settings(_ change: (inout ServerSettings) -> Void) -> ServerSettings {
        var settings = ServerSettings()
        change(&settings)
        return settings
    }

    /// Connects and sends before the server looks, so that its time cannot be over by then.
    private func connect(to server: TestServer, sending text: String) throws -> WireSocket {
        try server.whileHeld {
            let peer = try server.connect()
            peer.send(text)
            return peer
        }
    }

    @Test(arguments: ["G", "GET / HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: "])
    func `a head that does not come to its end in time gets 408`(part: String) throws {
        let server = try TestServer(settings { $0.headTimeout = 100 }) { $0.answer("") }
        let peer = try connect(to: server, sending: part)
        let (text, ending) = peer.readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
        #expect(text.contains("Connection: close\r\n"))
        #expect(ending == .closed)
        #expect(server.journal.all == ["refuse headTimeout"])
    }

    @Test func `bytes that trickle in do not move the deadline of a head`() throws {
        let server = try TestServer(settings { $0.headTimeout = 200 }) { $0.answer("") }
        let peer = try connect(to: server, sending: "GET / HTTP/1.1\r\nHost: a\r\nX: ")
        var sent = 0
        while sent < 200, peer.isQuiet(milliseconds: 20) {
            peer.send("x")
            sent += 1
        }
        #expect(sent < 200)
        #expect(server.journal.wait(for: "refuse headTimeout"))
    }

    @Test func `a connection on which nothing comes is closed without a word`() throws {
        let server = try TestServer(settings { $0.headTimeout = 100 }) { $0.answer("") }
        let peer = try server.connect()
        #expect(peer.readToEnd() == ("", .closed))
        #expect(server.journal.all == [])
    }

    @Test func `a connection that idles after an answer is closed without a word`() throws {
        let server = try TestServer(settings { $0.keepAliveTimeout = 100 }) { $0.answer("ok") }
        let peer = try server.connect()
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let (text, ending) = peer.readToEnd()
        #expect(text.hasSuffix("Content-Length: 2\r\n\r\nok"))
        #expect(ending == .closed)
    }

    @Test func `who was refused and does not close is closed`() throws {
        let server = try TestServer { $0.answer("ok") }
        let peer = try server.connect()
        peer.send("BAD\r\n\r\n")
        #expect(peer.readToEnd().text.hasPrefix("HTTP/1.1 400 "))
        #expect(server.awaitConnections(0))
        withExtendedLifetime(peer) {}
    }

    @Test(arguments: ["\r\n", "\r"])
    func `an empty line behind a request is no beginning of the next one`(line: String) throws {
        let server = try TestServer(
            settings {
                $0.headTimeout = 100
                $0.keepAliveTimeout = 200
            }
        ) { $0.answer("ok") }
        let peer = try connect(to: server, sending: "GET / HTTP/1.1\r\nHost: a\r\n\r\n" + line)
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(peer.readToEnd() == ("ok", .closed))
        #expect(server.journal.all == ["begin /"])
    }

    @Test func `the time for the first head is not that for the next one`() throws {
        let server = try TestServer(
            settings {
                $0.headTimeout = 150
                $0.keepAliveTimeout = 60_000
            }
        ) { $0.answer("ok") }
        let peer = try connect(to: server, sending: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(peer.read(2) == "ok")
        #expect(peer.isQuiet(milliseconds: 400))
        peer.send("GET")
        #expect(peer.readHead().hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    }

    @Test func `a body on which nothing comes for too long loses its client`() throws {
        let server = try TestServer(settings { $0.idleTimeout = 100 }) { _ in }
        let peer = try server.connect()
        peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello")
        #expect(server.journal.wait(for: "aborted / timedOut"))
        #expect(peer.readToEnd() == ("", .reset))
    }

    @Test(arguments: [
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n",
    ])
    func `a body that drips loses its client, though it is never silent for long`(head: String) throws {
        let server = try TestServer(
            settings {
                $0.idleTimeout = 300
                $0.bodyRate = 1000
            }
        ) { _ in }
        let peer = try server.connect()
        peer.send(head)
        var sent = 0
        while sent < 1000, peer.isQuiet(milliseconds: 20) {
            peer.send("x")
            sent += 1
        }
        #expect(sent < 1000)
        #expect(server.journal.wait(for: "aborted / timedOut"))
    }

    @Test func `a client that takes its answer by drops is reset`() throws {
        let server = try TestServer(
            settings {
                $0.idleTimeout = 500
                $0.bodyRate = 100 << 20
            }
        ) { request in
            request.connection.start(testHead(), body: .chunked)
            request.connection.write([UInt8](repeating: 0x78, count: 32 << 20).span)
            request.connection.finish()
        }
        let peer = try server.connect(receiveBuffer: 16 * 1024)
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.journal.wait(for: "begin /"))
        // About 3 MB per second: it never stops reading for long.
        var read = 0
        while read < 32 << 20, server.count.current == 1 {
            read += peer.read(16 * 1024).utf8.count
            usleep(5_000)
        }
        #expect(server.awaitConnections(0))
        #expect(read < 32 << 20)
    }

    @Test func `a client that takes its answer slowly but steadily gets it whole`() throws {
        let size = 12 << 20
        let server = try TestServer(settings { $0.idleTimeout = 2_000 }) { request in
            request.connection.start(testHead(), body: .length(UInt64(size)))
            request.connection.write([UInt8](repeating: 0x78, count: size).span)
            request.connection.finish()
        }
        let peer = try server.connect(receiveBuffer: 16 * 1024)
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        // The system reports room only after a third of its buffer is free: more than a megabyte.
        var read = 0
        while read < 1 << 20, case let count = peer.read(8 * 1024).utf8.count, count > 0 {
            read += count
            usleep(40_000)
        }
        #expect(peer.read(size - read).utf8.count == size - read)
        #expect(server.journal.all == ["begin /"])
    }

    @Test func `a tunnel whose client has no more to say lives on`() throws {
        let server = try TestServer { request in
            _ = request.connection.switchProtocols(ResponseHead(status: .switchingProtocols))
        }
        let peer = try server.connect()
        peer.send("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
        #expect(peer.readHead().hasPrefix("HTTP/1.1 101 "))
        peer.closeWriting()
        #expect(server.journal.wait { $0.contains { $0.hasPrefix("end / ") } }.count == 2)
        #expect(peer.isQuiet(milliseconds: 2_500))
        server.withRequest { request in
            request.connection.write("late".utf8.span)
            request.connection.finish()
        }
        #expect(peer.readToEnd() == ("late", .closed))
    }

    @Test func `a body that the server itself does not read has time`() throws {
        let server = try TestServer(settings { $0.idleTimeout = 100 }) { $0.connection.pauseRequest() }
        let peer = try server.connect()
        peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello")
        #expect(server.journal.wait(for: "begin /"))
        #expect(peer.isQuiet(milliseconds: 400))
        #expect(server.journal.all == ["begin /"])
    }

    @Test func `after a pause the client has as much time as before`() throws {
        let server = try TestServer(settings { $0.idleTimeout = 2_000 }) { $0.connection.pauseRequest() }
        let peer = try server.connect()
        peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello")
        #expect(server.journal.wait(for: "begin /"))
        #expect(peer.isQuiet(milliseconds: 2_500))
        server.withRequest { $0.connection.resumeRequest() }
        #expect(peer.isQuiet(milliseconds: 50))
        peer.send("world")
        #expect(server.journal.wait { $0.count == 2 } == ["begin /", "end / helloworld"])
    }

    @Test func `an answer takes the time it takes`() throws {
        let server = try TestServer(
            settings {
                $0.idleTimeout = 100
                $0.headTimeout = 100
                $0.keepAliveTimeout = 100
            }
        ) { _ in }
        let peer = try connect(to: server, sending: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.journal.wait(for: "begin /"))
        #expect(peer.isQuiet(milliseconds: 400))
        server.withRequest { $0.answer("late") }
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"])
    func `a client that reads nothing for too long is reset, and never takes what it has for whole`(
        request: String
    ) throws {
        let server = try TestServer(settings { $0.idleTimeout = 300 }) { request in
            // Everything is written, and in HTTP/1.0 only the end of the connection completes the body.
            request.connection.start(testHead(), body: .chunked)
            request.connection.write([UInt8](repeating: 0x78, count: 32 << 20).span)
            request.connection.finish()
        }
        let peer = try server.connect(receiveBuffer: 16 * 1024)
        peer.send(request)
        #expect(server.journal.wait(for: "begin /"))
        #expect(server.awaitConnections(0))
        #expect(peer.countToEnd().ending == .reset)
    }

    @Test func `a client that reads nothing is reset where no minimum rate is set, too`() throws {
        let server = try TestServer(
            settings {
                $0.idleTimeout = 300
                $0.bodyRate = 0
            }
        ) { request in
            request.connection.start(testHead(), body: .chunked)
            request.connection.write([UInt8](repeating: 0x78, count: 32 << 20).span)
            request.connection.finish()
        }
        let peer = try server.connect(receiveBuffer: 16 * 1024)
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.journal.wait(for: "begin /"))
        #expect(server.awaitConnections(0))
        withExtendedLifetime(peer) {}
    }

    @Test(arguments: [true, false])
    func `a tunnel lives as long as bytes pass in either direction`(isClients: Bool) throws {
        let server = try TestServer(settings { $0.tunnelTimeout = 2_000 }) { request in
            _ = request.connection.switchProtocols(ResponseHead(status: .switchingProtocols))
        }
        let peer = try server.connect()
        peer.send("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
        #expect(peer.readHead().hasPrefix("HTTP/1.1 101 "))
        // Longer than the time-out, in pieces that are each well within it.
        for _ in 0..<60 {
            usleep(50_000)
            if isClients {
                peer.send("x")
            } else {
                server.withRequest { $0.connection.write("x".utf8.span) }
            }
        }
        server.withRequest { request in
            request.connection.write("end".utf8.span)
            request.connection.finish()
        }
        let passed = isClients ? "" : String(repeating: "x", count: 60)
        #expect(peer.readToEnd().text == passed + "end")
    }
}
