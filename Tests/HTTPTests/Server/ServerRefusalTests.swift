import TestSupport
import Testing

@testable import HTTP

struct ServerRefusalTests {
    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", "400"), ("GET / HTTP/1.1\r\nHost: a\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n", "400"), ("GET  / HTTP/1.1\r\n", "400"),
        ("\u{16}\u{3}\u{1}", "400"), ("GET / HTTP/2.0\r\n", "505"),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", "400"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\nx", "400"),
        ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "501"),
    ])
    func `what is no request is refused, the connection closed, and what follows is no request`(
        bytes: String, status: String
    ) throws {
        let server = try TestServer { $0.answer("served") }
        let peer = try server.connect()
        peer.send("\(bytes)GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        let (text, ending) = peer.readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 \(status) "))
        #expect(text.hasSuffix("Content-Length: 3\r\nConnection: close\r\n\r\nno\n"))
        #expect(ending == .closed)
        #expect(server.journal.all.count == 1)
    }

    @Test func `a malformed request behind a good one is refused after its answer`() throws {
        let server = try TestServer { $0.answer("ok") }
        let peer = try server.connect()
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nBAD\r\n\r\n")
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(peer.read(2) == "ok")
        #expect(peer.readToEnd().text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
    }

    @Test func `a head at the limit is served and one byte more is refused`() throws {
        var settings = ServerSettings()
        settings.limits = MessageLimits(headBytes: 200)
        let server = try TestServer(settings) { $0.answer("ok") }
        func request(_ count: Int) -> String {
            let fixed = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n"
            return
                "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: count - fixed.utf8.count))\r\n\r\n"
        }
        let peer = try server.connect()
        peer.send(request(200))
        #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(peer.read(2) == "ok")
        peer.send(request(201))
        #expect(peer.readHead().hasPrefix("HTTP/1.1 431 Request Header Fields Too Large\r\n"))
    }

    @Test func `a refusal gives its place back, however many there are`() throws {
        var settings = ServerSettings()
        settings.connectionsMax = 1
        let server = try TestServer(settings) { $0.answer("ok") }
        let served = try server.connect()
        #expect(server.awaitConnections(1))
        for number in 0..<2 * ConnectionCount.refusedMax {
            let (text, _) = try server.connect().readToEnd()
            #expect(text.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"), "\(number)")
            // A client that is faster than the loop would be accepted again in the turn that has refused it.
            server.sync()
        }
        withExtendedLifetime(served) {}
    }

    @Test(arguments: [Refusal.tooManyConnections, .tooManyConnectionsOfClient])
    func `of those who are refused at a time 32 are told, the others are closed, and each is counted`(
        refusal: Refusal
    ) throws {
        var settings = ServerSettings()
        if refusal == .tooManyConnections {
            settings.connectionsMax = 0
        } else {
            let count = ClientConnectionCount()
            settings.clientLimit = ClientConnectionLimit(countMax: 0, count: count) { _ in 1 }
        }
        let server = try TestServer(settings) { $0.answer("ok") }
        let told = try (0..<32).map { _ in try server.connect() }
        for peer in told { #expect(peer.readHead().hasPrefix("HTTP/1.1 503 ")) }
        for _ in 0..<3 { #expect(try server.connect().readToEnd().text == "", "the others linger") }
        server.sync()
        #expect(server.journal.all == Array(repeating: "refuse \(refusal)", count: 35))
        withExtendedLifetime(told) {}
    }

    @Test func `connections beyond the limit get 503, and a place that becomes free is given again`() throws {
        var settings = ServerSettings()
        settings.connectionsMax = 2
        let server = try TestServer(settings) { $0.answer("ok") }
        var served = [try server.connect(), try server.connect()]
        for peer in served {
            peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(peer.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
        let refused = try server.connect()
        let (text, ending) = refused.readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
        #expect(ending == .closed)
        #expect(server.journal.all.filter { $0 == "refuse tooManyConnections" }.count == 1)
        // The refused connection lingers, but does not count when a place is free.
        #expect(server.count.current == 2)
        served.removeLast()
        #expect(server.awaitConnections(1))
        let next = try server.connect()
        next.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(next.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        withExtendedLifetime(refused) {}
    }

    @Test func `who is one too many at a TLS port is closed without a word`() throws {
        let certificates = try TestCertificates()
        let files = TLSServerSettings.Files(
            certificate: certificates.file("server.pem"), privateKey: certificates.file("server.key"))
        var settings = ServerSettings()
        settings.tls = try TLSServer(TLSServerSettings(certificates: [files]), ticketKeys: TLSTicketKeys())
        settings.connectionsMax = 1
        let server = try TestServer(settings) { $0.answer("ok") }
        let silent = try server.connect()
        #expect(server.awaitConnections(1))
        #expect(try server.connect().readToEnd().text == "")
        #expect(server.journal.wait(for: "refuse tooManyConnections"), "it is counted")
        withExtendedLifetime((silent, certificates)) {}
    }
}
