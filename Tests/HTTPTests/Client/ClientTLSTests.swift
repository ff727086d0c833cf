import TestSupport
import Testing

@testable import HTTP

/// Connections to upstreams over TLS: never without it, and never by the trust of others.
struct ClientTLSTests {
    private func makeServer(_ certificates: TestCertificates) throws -> TestServer {
        let files = TLSServerSettings.Files(
            certificate: certificates.file("server.pem"), privateKey: certificates.file("server.key"))
        var settings = ServerSettings()
        settings.tls = try TLSServer(TLSServerSettings(certificates: [files]), ticketKeys: TLSTicketKeys())
        return try TestServer(settings) { $0.answer("ok") }
    }

    private func settings(trusting certificates: TestCertificates) throws -> ClientSettings {
        var tls = TLSClientSettings()
        tls.authority = certificates.file("ca.pem")
        var settings = ClientSettings()
        settings.tls = try TLSClientContext(tls)
        return settings
    }

    @Test func `an upstream with https is not spoken to in clear if there is no TLS for it`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(to: upstream.endpoint, scheme: .https)
        #expect(exchange.outcome() == ["cannot connect"])
        #expect(client.counts() == [0, 0])
    }

    @Test func `a session that former authorities vouched for is not resumed under other ones`() throws {
        let (own, other) = (try TestCertificates(), try TestCertificates())
        let server = try makeServer(own)
        let client = TestClient(try settings(trusting: own))
        func lastOfExchange() throws -> String? {
            try client.begin(to: server.endpoint, scheme: .https, authority: "localhost", fresh: true)
                .outcome().last
        }
        for _ in 0..<2 { #expect(try lastOfExchange() == "end") }
        let next = try settings(trusting: other)
        client.withPool { pool, _ in pool.adopt(next) }
        #expect(try lastOfExchange() == "failed tls")
        withExtendedLifetime((own, other)) {}
    }
}
