internal import HTTP
import Testing

@testable import Proxy

/// Tests which transports count as secure (RFC 9842 section 8), in all cases of `secure_transport: auto`.
@Suite struct SecureTransportTests {
    /// The client at the other end of the connection.
    enum Peer: String, CaseIterable {
        case loopback = "127.0.0.1"
        case trusted = "10.0.0.1"
        case stranger = "203.0.113.9"
    }

    private func isSecure(
        _ peer: Peer, isTLS: Bool? = nil, _ fields: [(String, String)] = [],
        setting: Configuration.SecureTransport = .auto, trusting: [TrustedNetwork]? = nil
    ) throws -> Bool {
        let networks = try trusting ?? [.loopback, .unix, #require(TrustedNetwork("10.0.0.0/8"))]
        let address = try #require(IPAddress(peer.rawValue))
        var headers = Headers()
        for (name, value) in fields { headers.append(try #require(HeaderName(name)), value) }
        return ClientPeer(.ip(address, port: 1), isTLS: isTLS, trusting: networks)
            .isTransportSecure(headers, setting: setting)
    }

    @Test(arguments: Peer.allCases)
    func `TLS here by a client itself is secure`(peer: Peer) throws {
        #expect(try isSecure(peer, isTLS: true))
    }

    @Test func `what a stranger says of others changes nothing`() throws {
        #expect(
            try isSecure(
                .stranger, isTLS: true, [("X-Forwarded-Proto", "http"), ("X-Forwarded-For", "1.2.3.4")]))
        #expect(try !isSecure(.stranger, [("X-Forwarded-Proto", "https")]))
        #expect(try !isSecure(.stranger))
    }

    @Test(arguments: [Peer.loopback, .trusted], [nil, true, false])
    func `a trusted peer that forwards speaks for somebody else, and then its word decides`(
        peer: Peer, isTLS: Bool?
    ) throws {
        #expect(try isSecure(peer, isTLS: isTLS, [("X-Forwarded-Proto", "https")]))
        #expect(
            try isSecure(
                peer, isTLS: isTLS, [("X-Forwarded-Proto", "HTTPS, http"), ("X-Forwarded-For", "1.2.3.4")]))
        #expect(try isSecure(peer, isTLS: isTLS, [("Forwarded", "for=1.2.3.4;proto=https")]))
        for fields in [
            [("X-Forwarded-Proto", "http")], [("X-Forwarded-For", "1.2.3.4")], [("X-Forwarded-Host", "a")],
            [("Via", "1.1 other")], [("Forwarded", "for=1.2.3.4")], [("X-Forwarded-Proto", "http, https")],
            [("X-Real-IP", "1.2.3.4")], [("X-Forwarded-Port", "443")],
        ] {
            #expect(try !isSecure(peer, isTLS: isTLS, fields), "\(fields)")
        }
    }

    @Test func `a loopback peer that forwards for nobody is the client, on this machine`() throws {
        #expect(try isSecure(.loopback))
        #expect(try !isSecure(.trusted))
        // An untrusted loopback peer is still on this machine.
        #expect(try isSecure(.loopback, trusting: []))
        #expect(try !isSecure(.loopback, [("X-Forwarded-Proto", "https")], trusting: []))
    }

    @Test func `what a balancer says of the client by the PROXY protocol counts, also on this machine`()
        throws
    {
        #expect(try !isSecure(.loopback, isTLS: false))
        #expect(try isSecure(.stranger, isTLS: true))
        #expect(try !isSecure(.stranger, isTLS: false))
    }

    @Test(arguments: Peer.allCases, [nil, true, false])
    func `assume and never ask nobody`(peer: Peer, isTLS: Bool?) throws {
        #expect(try isSecure(peer, isTLS: isTLS, [("X-Forwarded-Proto", "http")], setting: .assume))
        #expect(try !isSecure(peer, isTLS: isTLS, [("X-Forwarded-Proto", "https")], setting: .never))
    }
}
