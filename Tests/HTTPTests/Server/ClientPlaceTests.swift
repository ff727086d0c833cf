import TestSupport
import Testing

@testable import HTTP

/// The places that a client's connections take, whatever becomes of the connection.
struct ClientPlaceTests {
    private let counts = ClientConnectionCount()

    private func settings(_ change: (inout ServerSettings) throws -> Void = { _ in }) rethrows
        -> ServerSettings
    {
        var settings = ServerSettings()
        settings.clientLimit = ClientConnectionLimit(countMax: 2, count: counts) { _ in 1 }
        try change(&settings)
        return settings
    }

    @Test func `a connection that changes to HTTP/2 keeps its client's place, and gives it back`() throws {
        let server = try TestServer(settings()) { $0.answer("ok") }
        do {
            let peers = try (0..<2).map { _ in try HTTP2Peer(server) }
            for peer in peers {
                peer.request(1)
                #expect(peer.response(1)?.text == "ok")
            }
            #expect(counts.clientCount == 1)
            #expect(try server.connect().readHead().hasPrefix("HTTP/1.1 503 "))
        }
        try waitUntil("the client has no place any more", seconds: 60) { counts.clientCount == 0 }
        #expect(server.awaitConnections(0), "a refused connection takes none of all places")
        let peer = try HTTP2Peer(server)
        peer.request(1)
        #expect(peer.response(1)?.text == "ok")
    }

    @Test func `a handshake that fails gives its client's place back`() throws {
        let certificates = try TestCertificates()
        let files = TLSServerSettings.Files(
            certificate: certificates.file("server.pem"), privateKey: certificates.file("server.key"))
        let tls = try TLSServer(TLSServerSettings(certificates: [files]), ticketKeys: TLSTicketKeys())
        let server = try TestServer(settings { $0.tls = tls }) { $0.answer("ok") }
        for number in 0..<4 {
            let peer = try server.connect()
            peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(peer.readToEnd().text.hasPrefix("HTTP/1.1 400 "), "\(number)")
            try waitUntil("the client has no place any more", seconds: 60) { counts.clientCount == 0 }
        }
        #expect(server.awaitConnections(0))
    }

    @Test func `who is one too many for its client at a TLS port is closed without a word`() throws {
        let certificates = try TestCertificates()
        let files = TLSServerSettings.Files(
            certificate: certificates.file("server.pem"), privateKey: certificates.file("server.key"))
        let tls = try TLSServer(TLSServerSettings(certificates: [files]), ticketKeys: TLSTicketKeys())
        let server = try TestServer(settings { $0.tls = tls }) { $0.answer("ok") }
        let silent = try (0..<2).map { _ in try server.connect() }
        #expect(server.awaitConnections(2))
        #expect(try server.connect().readToEnd().text == "")
        #expect(server.journal.wait(for: "refuse tooManyConnectionsOfClient"), "it is counted")
        #expect(server.awaitConnections(2), "it takes no place")
        withExtendedLifetime((silent, certificates)) {}
    }
}
