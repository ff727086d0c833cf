import Glibc
import TestSupport
import Testing

@testable import HTTP

struct ServerEndTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func `a client that says no more is still answered`() throws {
        let server = try TestServer { _ in }
        let peer = try server.connect()
        peer.send(Self.get)
        peer.closeWriting()
        #expect(server.journal.wait(for: "begin /"))
        server.withRequest { $0.answer("ok") }
        let (text, ending) = peer.readToEnd()
        #expect(text.hasSuffix("\r\n\r\nok"))
        #expect(ending == .closed)
    }

    @Test func `all pipelined requests of a client that says no more are answered`() throws {
        let server = try TestServer { $0.answer($0.path) }
        let peer = try server.connect()
        peer.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
        peer.closeWriting()
        let (text, ending) = peer.readToEnd()
        #expect(text.split(separator: "HTTP/1.1 200 OK").count == 2)
        #expect(text.hasSuffix("\r\n\r\n/2"))
        #expect(ending == .closed)
    }

    @Test func `a large last answer is whole although the client sent more and then said no more`() throws {
        let total = 8 << 20
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .length(UInt64(total)))
            request.connection.write([UInt8](repeating: 0x78, count: total).span)
            request.connection.finish()
        }
        let peer = try server.connect(receiveBuffer: 16 * 1024)
        peer.send("GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(server.journal.wait(for: "begin /1"))
        peer.send(String(repeating: Self.get, count: 5000))
        peer.closeWriting()
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        let (count, ending) = peer.countToEnd()
        #expect(count == total)
        #expect(ending == .closed)
        #expect(server.journal.all == ["begin /1"])
    }

    @Test(arguments: [true, false])
    func `a client that half-closed and gets no answer is given up within the grace`(together: Bool) throws {
        let server = try TestServer { _ in }
        let peer = try server.connect()
        // The end may come in the same event as the request, or in a separate one.
        if together { server.pause(milliseconds: 50) }
        peer.send(Self.get)
        if !together { #expect(server.journal.wait(for: "begin /")) }
        peer.closeWriting()
        // The client is gone for all that anybody knows: nobody was slow.
        #expect(server.journal.wait(for: "aborted / closed"))
        #expect(peer.readToEnd() == ("", .reset))
    }

    @Test func `a client that resets is told to the handler at once`() throws {
        let server = try TestServer { _ in }
        do {
            let peer = try server.connect()
            peer.send(Self.get)
            #expect(server.journal.wait(for: "begin /"))
            peer.resetOnEnd()
        }
        #expect(server.journal.wait(for: "aborted / closed"))
        #expect(server.awaitConnections(0))
    }

    @Test func `a client that goes while it is written to is told to the handler`() throws {
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .chunked)
            let piece = [UInt8](repeating: 0x78, count: 64 * 1024)
            let pour: (TestRequest) -> Void = { request in
                while request.connection.canWrite { request.connection.write(piece.span) }
            }
            request.onDrained = pour
            pour(request)
        }
        do {
            let peer = try server.connect()
            peer.send(Self.get)
            #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
        #expect(server.journal.wait(for: "aborted / closed"))
    }

    @Test func `a client that leaves without a request, or within a head, is no error`() throws {
        let server = try TestServer { $0.answer("ok") }
        for bytes in ["", "GET / HT"] {
            let peer = try server.connect()
            peer.send(bytes)
            peer.closeWriting()
            #expect(peer.readToEnd() == ("", .closed))
        }
        #expect(server.journal.all == [])
    }

    @Test func `stopping lets a request end, says close, and takes no further one`() throws {
        let server = try TestServer { _ in }
        let busy = try server.connect()
        let idle = try server.connect()
        busy.send(Self.get)
        #expect(server.journal.wait(for: "begin /"))
        #expect(server.awaitConnections(2))
        server.stop()
        // Its client has sent no request: it is closed after a moment.
        #expect(idle.readToEnd() == ("", .closed))
        #expect(!server.journal.all.contains("drained all"))
        server.withRequest { $0.answer("ok") }
        let (text, ending) = busy.readToEnd()
        #expect(text == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        #expect(ending == .closed)
        #expect(server.journal.wait(for: "drained all"))
    }

    @Test func `who has connected before the stop may ask after it, once`() throws {
        let server = try TestServer { $0.answer("ok") }
        let peer = try server.connect()
        #expect(server.awaitConnections(1))
        server.stop()
        server.sync()
        peer.send(Self.get + Self.get)
        let (text, ending) = peer.readToEnd()
        #expect(text == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        #expect(ending == .closed)
        #expect(server.journal.wait(for: "drained all"))
    }

    @Test func `who waits at the stop to be accepted is answered, too`() throws {
        let server = try TestServer { $0.answer("ok") }
        let peer = try server.whileHeld {
            let peer = try server.connect()
            peer.send(Self.get)
            server.stop()
            return peer
        }
        let (text, ending) = peer.readToEnd()
        #expect(text.hasSuffix("Connection: close\r\n\r\nok"))
        #expect(ending == .closed)
        #expect(server.journal.wait(for: "drained all"))
    }

    @Test func `a kept connection that is idle at the stop has one more request answered`() throws {
        let server = try TestServer { $0.answer("ok") }
        let peer = try server.connect()
        peer.send(Self.get)
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(peer.read(2) == "ok")
        server.stop()
        server.sync()
        peer.send(Self.get + Self.get)
        let (text, ending) = peer.readToEnd()
        #expect(text == "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        #expect(ending == .closed)
        #expect(server.journal.wait(for: "drained all"))
    }

    @Test func `a kept connection that stays idle after the stop is closed`() throws {
        var settings = ServerSettings()
        settings.headTimeout = 600_000
        settings.keepAliveTimeout = 600_000
        let server = try TestServer(settings) { $0.answer("ok") }
        let peer = try server.connect()
        peer.send(Self.get)
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(peer.read(2) == "ok")
        server.stop()
        #expect(peer.readToEnd() == ("", .closed))
        #expect(server.journal.wait(for: "drained all"))
    }

    @Test func `with a PROXY protocol listener, too, who has connected before the stop may ask after it`()
        throws
    {
        var settings = ServerSettings()
        settings.acceptsProxyHeader = { _ in true }
        settings.headTimeout = 600_000
        let server = try TestServer(settings) { $0.answer("ok") }
        let (peer, silent) = (try server.connect(), try server.connect())
        #expect(server.awaitConnections(2))
        server.stop()
        server.sync()
        #expect(!server.journal.all.contains("drained all"))
        peer.send("PROXY UNKNOWN\r\n" + Self.get)
        #expect(peer.readToEnd().text.hasSuffix("Connection: close\r\n\r\nok"))
        #expect(silent.readToEnd().text.isEmpty)
        #expect(server.journal.wait(for: "drained all"))
    }

    @Test func `a handshake that does not begin holds up a stop for a moment only`() throws {
        let certificates = try TestCertificates()
        let files = TLSServerSettings.Files(
            certificate: certificates.file("server.pem"), privateKey: certificates.file("server.key"))
        var settings = ServerSettings()
        settings.tls = try TLSServer(TLSServerSettings(certificates: [files]), ticketKeys: TLSTicketKeys())
        settings.headTimeout = 600_000
        let server = try TestServer(settings) { $0.answer("ok") }
        let silent = try server.connect()
        #expect(server.awaitConnections(1))
        server.stop()
        server.sync()
        #expect(!server.journal.all.contains("drained all"))
        #expect(server.journal.wait(for: "drained all"))
        withExtendedLifetime(silent) {}
    }

    @Test(arguments: [false, true])
    func `a connection that ends within its PROXY header does not wait for the rest`(isAtOnce: Bool) throws {
        var settings = ServerSettings()
        settings.acceptsProxyHeader = { _ in true }
        settings.headTimeout = 600_000
        let server = try TestServer(settings) { $0.answer("ok") }
        let peer = try server.connect()
        if isAtOnce {
            server.whileHeld {
                peer.send("PROXY TC")
                peer.closeWriting()
            }
        } else {
            peer.send("PROXY TC")
            #expect(server.awaitConnections(1))
            peer.closeWriting()
        }
        // Whatever was not read of the header makes it a reset.
        #expect(peer.readToEnd().text == "")
        #expect(server.awaitConnections(0))
    }

    @Test func `a server that stops is not connected to any more`() throws {
        let server = try TestServer { _ in }
        let busy = try server.connect()
        busy.send(Self.get)
        #expect(server.journal.wait(for: "begin /"))
        server.stop()
        server.sync()
        #expect(throws: WireError.self) { try server.connect() }
    }

    @Test func `a request behind an answer that promised to keep the connection is answered after the stop`()
        throws
    {
        let total = 8 << 20
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .length(UInt64(total)))
            request.connection.write([UInt8](repeating: 0x78, count: total).span)
            request.connection.finish()
        }
        let peer = try server.connect(receiveBuffer: 16 * 1024)
        peer.send(Self.get)
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        server.stop()
        server.sync()
        peer.send(Self.get + Self.get)
        #expect(peer.read(total).utf8.count == total)
        #expect(peer.readHead().contains("\r\nConnection: close\r\n"))
        let (count, ending) = peer.countToEnd()
        #expect(count == total)
        #expect(ending == .closed)
        #expect(server.journal.wait(for: "drained all"))
        #expect(server.journal.all.filter { $0 == "begin /" }.count == 2)
    }

    @Test func `what does not drain is reset, and its handler told`() throws {
        let server = try TestServer { request in
            request.connection.start(testHead(), body: .chunked)
        }
        let peer = try server.connect()
        peer.send(Self.get)
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        server.stop()
        server.abortAll()
        #expect(peer.readToEnd() == ("", .reset))
        #expect(server.journal.wait { $0.count == 3 } == ["begin /", "drained all", "aborted / stopped"])
    }

    @Test func `a client that says no more is answered for as long as the answer goes on`() throws {
        let server = try TestServer { $0.connection.start(testHead(), body: .chunked) }
        let peer = try server.connect()
        peer.send(Self.get)
        peer.closeWriting()
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        // Longer than such a client is waited for, in pieces that come well within that time.
        for _ in 0..<60 {
            usleep(50_000)
            server.withRequest { $0.connection.write("x".utf8.span) }
        }
        server.withRequest { $0.connection.finish() }
        let (text, ending) = peer.readToEnd()
        #expect(text == String(repeating: "1\r\nx\r\n", count: 60) + "0\r\n\r\n")
        #expect(ending == .closed)
    }

    @Test func `who was promised to be kept and sends nothing more does not hold up the stop`() throws {
        var settings = ServerSettings()
        settings.keepAliveTimeout = 600_000
        let server = try TestServer(settings) { $0.connection.start(testHead(), body: .length(2)) }
        let peer = try server.connect()
        peer.send(Self.get)
        #expect(!peer.readHead().contains("Connection: close"))
        server.stop()
        server.withRequest { request in
            request.connection.write("ok".utf8.span)
            request.connection.finish()
        }
        #expect(peer.readToEnd() == ("ok", .closed))
        #expect(server.journal.wait(for: "drained all"))
    }

    private static func makeTLS() throws -> TLSServer {
        let certificates = try TestCertificates()
        defer { withExtendedLifetime(certificates) {} }
        let files = TLSServerSettings.Files(
            certificate: certificates.file("server.pem"), privateKey: certificates.file("server.key"))
        return try TLSServer(TLSServerSettings(certificates: [files]), ticketKeys: TLSTicketKeys())
    }

    @Test func `a handshake that is awaited only after the stop holds it up for a moment, too`() throws {
        var settings = ServerSettings()
        settings.tls = try Self.makeTLS()
        settings.acceptsProxyHeader = { _ in true }
        settings.headTimeout = 600_000
        let server = try TestServer(settings) { $0.answer("ok") }
        let silent = try server.connect()
        #expect(server.awaitConnections(1))
        server.stop()
        silent.send("PROXY UNKNOWN\r\n")
        #expect(server.journal.wait(for: "drained all"))
        withExtendedLifetime(silent) {}
    }

    @Test(arguments: [true, false])
    func `who has not come as far as a request is closed when the time for draining is over`(isTLS: Bool)
        throws
    {
        var settings = ServerSettings()
        settings.headTimeout = 600_000
        if isTLS {
            settings.tls = try Self.makeTLS()
        } else {
            settings.acceptsProxyHeader = { _ in true }
        }
        let server = try TestServer(settings) { $0.answer("ok") }
        let silent = try server.connect()
        #expect(server.awaitConnections(1))
        server.abortAll()
        #expect(silent.readToEnd() == ("", .closed))
        #expect(server.awaitConnections(0))
    }
}
