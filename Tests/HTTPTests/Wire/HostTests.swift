import Primitives
import Testing

@testable import HTTP

struct HostTests {
    @Test(arguments: [
        ("", ParseError.missingHost), ("Host: a\r\nHost: a\r\n", .repeatedHost),
        ("Host: a\r\nhost: b\r\n", .repeatedHost),
        ("Host:\r\n", .malformedHost), ("Host: a, b\r\n", .malformedHost), ("Host: a b\r\n", .malformedHost),
        ("Host: user@a\r\n", .malformedHost), ("Host: a/b\r\n", .malformedHost),
        ("Host: a?b\r\n", .malformedHost),
        ("Host: a#b\r\n", .malformedHost), ("Host: a\\b\r\n", .malformedHost),
        ("Host: http://a\r\n", .malformedHost),
        ("Host: a:b\r\n", .malformedHost), ("Host: a:80:80\r\n", .malformedHost),
        ("Host: :80\r\n", .malformedHost),
        ("Host: a:65536\r\n", .malformedHost), ("Host: a:99999999999999999999\r\n", .malformedHost),
        ("Host: a:-1\r\n", .malformedHost), ("Host: [::1\r\n", .malformedHost),
        ("Host: []\r\n", .malformedHost),
        ("Host: [1.2.3.4]\r\n", .malformedHost), ("Host: [::1%25eth0]\r\n", .malformedHost),
        ("Host: [::1]x\r\n", .malformedHost),
        ("Host: ::1\r\n", .malformedHost), ("Host: %zz\r\n", .malformedHost),
        ("Host: %4\r\n", .malformedHost),
        ("Host: é\r\n", .malformedHost), ("Host: \"a\"\r\n", .malformedHost),
        ("Host: <a>\r\n", .malformedHost),
    ])
    func `a request of HTTP/1.1 has exactly one valid Host`(lines: String, fault: ParseError) {
        #expect(requestFault("GET / HTTP/1.1\r\n\(lines)\r\n") == fault)
    }

    @Test(arguments: [
        ("Example.COM", "example.com"), ("a:8080", "a:8080"), ("a:", "a"), ("a:080", "a:80"),
        ("127.0.0.1:1", "127.0.0.1:1"),
        ("[::1]", "[::1]"), ("[2001:DB8::1]:443", "[2001:db8::1]:443"),
        ("[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]"),
        ("a_b-c.d~e", "a_b-c.d~e"), ("%C3%A9", "%c3%a9"), ("a:65535", "a:65535"),
    ])
    func `the authority is the host in lower case with its port`(host: String, authority: String) throws {
        #expect(try parseRequest("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n")?.authority == authority)
    }

    @Test func `HTTP/1.0 may do without Host but not with two or with a malformed one`() throws {
        let head = try #require(try parseRequest("GET / HTTP/1.0\r\n\r\n"))
        #expect(head.authority == nil)
        #expect(requestFault("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n") == .repeatedHost)
        #expect(requestFault("GET / HTTP/1.0\r\nHost:\r\n\r\n") == .malformedHost)
    }

    @Test func `the authority of an absolute target takes the place of Host`() throws {
        let head = try #require(
            try parseRequest("GET http://B.example:81/x?y HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n"))
        #expect(head.authority == "b.example:81")
        #expect(head.headers.values(.host) == ["b.example:81"])
        var written: [UInt8] = []
        HeadWriter.write(head, into: &written)
        #expect(String(written.span) == "GET /x?y HTTP/1.1\r\nA: b\r\nHost: b.example:81\r\n\r\n")
    }

    @Test func `an absolute target does not make up for a missing Host`() {
        #expect(requestFault("GET http://a/ HTTP/1.1\r\n\r\n") == .missingHost)
    }
}
