import Testing

@testable import HTTP

/// The host and port of an authority (RFC 3986 section 3.2).
struct HostAndPortTests {
    @Test(
        arguments: [
            ("a", "a", nil), ("a:0", "a", 0), ("a:65535", "a", 65535), ("[::1]", "::1", nil),
            ("[::1]:80", "::1", 80), ("127.0.0.1:80", "127.0.0.1", 80), ("a_b-c.d:8", "a_b-c.d", 8),
            (String(repeating: "a", count: 63), String(repeating: "a", count: 63), nil),
        ] as [(String, String, UInt16?)])
    func `host and port are told apart`(text: String, host: String, port: UInt16?) throws {
        let parts = try #require(HostAndPort(text))
        #expect(parts.host == host)
        #expect(parts.port == port)
    }

    @Test(arguments: [
        "", ":80", "a:", "a:b", "a:65536", "a:80:80", "[::1", "[::1]80", "[::1]:", "[a]", "[127.0.0.1]", "[]",
        "[::1::]", "127.0.0", "1.2.3.256", "-a", "a-", "a..b", "a/b", "é",
        String(repeating: "a", count: 64), String(repeating: "abc.", count: 63) + "ab",
    ])
    func `what is no host, or has no port behind its colon, is refused`(text: String) {
        #expect(HostAndPort(text) == nil)
    }
}
