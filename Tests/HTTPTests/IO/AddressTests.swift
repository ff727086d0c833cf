import Testing

@testable import HTTP

struct AddressTests {
    // RFC 5952, sections 4 and 5.
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("0:0:0:0:0:0:0:1", "::1"),
        ("2001:0DB8:0:0:0:0:2:1", "2001:db8::2:1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("fe80:0:0:0:0:0:0:0", "fe80::"), ("::ffff:192.0.2.1", "192.0.2.1"),
    ])
    func `an address is written in its one usual form`(text: String, canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.text == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test(arguments: [
        "", " 127.0.0.1", "127.0.0.1 ", "127.0.0", "127.0.0.1.1", "127.0.0.256", "127.0.0.01", "127.1",
        "0x7f000001", "localhost", "[::1]", ":::", "1::2::3", "fe80::1%lo", "127.0.0.1:80", "12345::",
        "127.0.0.1\0", "127.0.0.1\0.evil.example",
    ])
    func `anything else is no address`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true),
        ("126.0.0.1", false), ("0.0.0.0", false), ("::", false), ("::2", false), ("1::1", false),
        ("::127.0.0.1", false),
    ])
    func `loopback is 127.0.0.0/8 and ::1`(text: String, isLoopback: Bool) throws {
        #expect(try #require(IPAddress(text)).isLoopback == isLoopback)
    }

    @Test(arguments: [("fe80::1", true), ("febf::1", true), ("fec0::1", false), ("169.254.1.1", false)])
    func `an IPv6 address that needs its interface is in fe80::/10`(text: String, needsInterface: Bool) throws
    {
        #expect(try #require(IPAddress(text)).isLinkLocal6 == needsInterface)
    }

    @Test(arguments: [0, 1, 3, 5, 15, 17])
    func `only 4 or 16 bytes are an address`(count: Int) {
        #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `bits stand in network order`() throws {
        #expect(try #require(IPAddress("1.2.3.4")).bits == 0x0102_0304)
        #expect(try #require(IPAddress("::1:0")).bits == 0x1_0000)
        #expect(try #require(IPAddress("8000::")).bits == 1 << 127)
    }

    @Test func `an endpoint is written as in a URL`() throws {
        let v4 = Endpoint.ip(try #require(IPAddress("127.0.0.1")), port: 8080)
        let v6 = Endpoint.ip(try #require(IPAddress("::1")), port: 80)
        #expect(v4.text == "127.0.0.1:8080")
        #expect(v4.urlText == "http://127.0.0.1:8080")
        #expect(v6.text == "[::1]:80")
        #expect(v6.urlText == "http://[::1]:80")
        #expect(Endpoint.unix(path: "/run/a").text == "unix:/run/a")
        #expect(Endpoint.unix(path: "/run/a").urlText == "unix:/run/a")
    }

    // RFC 3986 section 3.2.2 has the brackets, a certificate has none.
    @Test(arguments: [
        ("api.test", "api.test"), ("api.test:8443", "api.test"), ("192.0.2.1:8443", "192.0.2.1"),
        ("[2001:db8::1]", "2001:db8::1"), ("[2001:db8::1]:8443", "2001:db8::1"),
    ])
    func `the name in an upstream's certificate is its host without brackets and port`(
        authority: String, host: String
    ) {
        let target = UpstreamTarget(scheme: .https, authority: authority, endpoint: .unix(path: "/run/a"))
        #expect(target.host == host)
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `a numeric host resolves to itself`(host: String) throws {
        #expect(Endpoint.resolve(host: host, port: 9) == [.ip(try #require(IPAddress(host)), port: 9)])
    }

    @Test func `a name resolves to each address with the port, and an unknown one to none`() {
        let found = Endpoint.resolve(host: "localhost", port: 81)
        #expect(!found.isEmpty)
        for case .ip(let address, let port) in found {
            #expect(address.isLoopback && port == 81)
        }
        #expect(Endpoint.resolve(host: "", port: 81).isEmpty)
        #expect(Endpoint.resolve(host: "no such name", port: 81).isEmpty)
    }
}
