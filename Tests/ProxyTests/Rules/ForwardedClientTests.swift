internal import HTTP
internal import Testing

@testable import Proxy

/// Tests which client the fields of trusted proxies name.
struct ForwardedClientTests {
    private func headers(_ fields: [(String, String)]) throws -> Headers {
        var headers = Headers()
        for (name, value) in fields { headers.append(try #require(HeaderName(name)), value) }
        return headers
    }

    private func address(_ fields: (String, String)...) throws -> String? {
        let networks: [TrustedNetwork] = [.loopback, try #require(TrustedNetwork("10.0.0.0/8"))]
        return ForwardedClient.address(try headers(fields), trusting: networks)?.text
    }

    private func scheme(_ fields: (String, String)...) throws -> String? {
        let networks: [TrustedNetwork] = [.loopback, try #require(TrustedNetwork("10.0.0.0/8"))]
        return ForwardedClient.scheme(try headers(fields), trusting: networks)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("8.8.8.8, 192.0.2.1", "192.0.2.1"),
        ("192.0.2.1, 10.0.0.1,, 10.0.0.2 ,", "192.0.2.1"),
        ("[2001:db8::1]:443", "2001:db8::1"), ("192.0.2.1:80", "192.0.2.1"), ("10.0.0.1", nil),
        // As a balancer for both versions writes an IPv4 client, and IPv6 addresses with two groups.
        ("::ffff:192.0.2.1", "192.0.2.1"), ("2600::1", "2600::1"), ("2001:db8::", "2001:db8::"),
        ("::1:2", "::1:2"),
        ("unknown", nil),
        ("192.0.2.1, unknown", nil), ("", nil), (",,,", nil),
    ])
    func `X-Forwarded-For is read from its end, through trusted proxies`(value: String, client: String?)
        throws
    {
        #expect(try address(("X-Forwarded-For", value)) == client)
        if let client {
            #expect(try address(("X-Forwarded-For", "6.6.6.6"), ("X-Forwarded-For", value)) == client)
        }
    }

    @Test(arguments: [
        (#"for=192.0.2.1"#, "192.0.2.1"), (#"for="::ffff:192.0.2.1""#, "192.0.2.1"),
        (#"For="[2001:db8::1]:80";proto=http"#, "2001:db8::1"),
        (#"by=10.0.0.9; for = 192.0.2.1 ;proto=https"#, "192.0.2.1"),
        ("for=6.6.6.6, for=192.0.2.1, for=10.0.0.1", "192.0.2.1"),
        // A quote that a client left open does not hide the elements after it.
        (#"for="6.6.6.6, for=192.0.2.1"#, "192.0.2.1"),
        (#"for="a,for=6.6.6.6";x="b", for=192.0.2.1"#, "192.0.2.1"),
        ("for=_hidden", nil), ("for=unknown, for=10.0.0.1", nil), ("proto=https", nil), ("for=", nil),
        (#"x="for=6.6.6.6""#, nil),
    ])
    func `Forwarded is read from its end, through trusted proxies`(value: String, client: String?) throws {
        #expect(try address(("Forwarded", value)) == client)
    }

    @Test(arguments: [
        ("for=192.0.2.1;proto=https", "https"), ("for=6.6.6.6;proto=https, for=192.0.2.1;proto=HTTP", "http"),
        ("for=192.0.2.1;proto=https, for=10.0.0.1;proto=http", "https"), ("proto=https", "https"),
        ("for=192.0.2.1;proto=wss", nil), ("for=192.0.2.1", nil),
        // Nothing is read beyond a member that names nobody, and the scheme of a proxy is not its client's.
        ("for=6.6.6.6;proto=https, proto=http", "http"),
        ("for=6.6.6.6;proto=https, for=_x;proto=http", "http"),
        ("for=192.0.2.1, for=10.0.0.1;proto=https", nil),
    ])
    func `the scheme is that of the member that names the client`(value: String, expected: String?) throws {
        #expect(try scheme(("Forwarded", value)) == expected)
        #expect(try scheme(("X-Forwarded-For", "192.0.2.1"), ("Forwarded", value)) == expected)
    }

    @Test func `sixteen members are read, and what is left of them is nobody's`() throws {
        func chain(_ proxies: Int) -> String {
            (["192.0.2.1"] + Array(repeating: "10.0.0.1", count: proxies)).joined(separator: ", ")
        }
        #expect(try address(("X-Forwarded-For", chain(15))) == "192.0.2.1")
        #expect(try address(("X-Forwarded-For", chain(16))) == nil)
        let padded = "for=192.0.2.1;x=" + String(repeating: "x", count: 496)
        #expect(try address(("Forwarded", padded)) == "192.0.2.1", "512 bytes")
        #expect(try address(("Forwarded", padded + "x")) == nil)
        let long = String(repeating: " ", count: 10) + String(repeating: "x", count: 600)
        #expect(try address(("Forwarded", "for=192.0.2.1;x=\(long)")) == nil)
    }

    @Test func `a peer without an address is named unknown to upstreams, one with an address by it`() throws {
        let path = ClientPeer(.unix(path: "/run/a.sock"), trusting: [])
        #expect(path.fields.first(.xForwardedFor) == "unknown" && !path.isTrusted)
        let address = try #require(IPAddress("192.0.2.1"))
        #expect(ClientPeer(.ip(address, port: 1), trusting: []).fields.first(.xForwardedFor) == "192.0.2.1")
        #expect(ClientPeer(nil, trusting: []).fields.first(.xForwardedFor) == "unknown")
    }
}
