import Testing

@testable import HTTP

struct RequestLineTests {
    @Test(arguments: [
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", ParseError.malformedTarget),
        ("GET /  HTTP/1.1\r\nHost: a\r\n\r\n", .malformedVersion),
        (" GET / HTTP/1.1\r\nHost: a\r\n\r\n", .malformedMethod),
        ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", .malformedVersion),
        ("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", .controlByte),
        ("GET /\tHTTP/1.1\r\nHost: a\r\n\r\n", .controlByte),
        ("GET\r\nHost: a\r\n\r\n", .malformedMethod),
        ("GET \r\nHost: a\r\n\r\n", .malformedVersion),
    ])
    func `exactly one blank separates the parts of a request line`(text: String, fault: ParseError) {
        #expect(requestFault(text) == fault)
    }

    @Test(
        arguments: [
            ("G", nil), ("G(", ParseError.malformedMethod), ("\u{16}\u{3}\u{1}", .controlByte),
            ("{\"json\"", .malformedMethod), (" ", .malformedMethod), ("\n", .bareLineFeed),
            ("\u{7f}", .controlByte), ("GET /\u{0}", .controlByte), ("GET /\u{e9}", .malformedTarget),
            ("GET / HTP", .malformedVersion), ("GET / HTTP/1\n", .bareLineFeed), ("GET /\n", .bareLineFeed),
            ("\rG", .bareCarriageReturn), ("\r\n\r", .malformedMethod),
            ("GET / HTTP/1.1\rH", .bareCarriageReturn),
            (String(repeating: "M", count: 32), nil), (String(repeating: "M", count: 33), .malformedMethod),
        ] as [(String, ParseError?)])
    func `a byte that can never be right is refused before the line is complete`(
        text: String, fault: ParseError?
    ) {
        #expect(requestFault(text) == fault)
    }

    @Test(arguments: [
        ("GET /", ParseError.malformedVersion), ("GET / HTTP/1.1x", .malformedVersion),
        ("GET / http/1.1", .malformedVersion), ("GET / HTTP/1", .malformedVersion),
        ("GET / HTTP/1.10", .malformedVersion), ("GET / HTTP/.1", .malformedVersion),
        ("GET / HTTP/11", .malformedVersion), ("GET / HTTPS/1.1", .malformedVersion),
        ("GET / HTTP/2", .malformedVersion), ("GET / HTTP/2.0", .unsupportedVersion),
        ("GET / HTTP/0.9", .unsupportedVersion), ("GET / HTTP/3.1", .unsupportedVersion),
    ])
    func `any version but HTTP/1 is refused`(line: String, fault: ParseError) {
        #expect(requestFault("\(line)\r\nHost: a\r\n\r\n") == fault)
    }

    @Test func `the preface of HTTP/2 is answered with 505`() {
        let fault = requestFault("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        #expect(fault == .unsupportedVersion)
        #expect(fault?.status == .httpVersionNotSupported)
    }

    @Test(arguments: [
        ("HTTP/1.0", HTTPVersion.http10), ("HTTP/1.1", .http11), ("HTTP/1.2", .http11), ("HTTP/1.9", .http11),
    ])
    func `a minor version above 1 counts as 1`(text: String, version: HTTPVersion) throws {
        #expect(try parseRequest("GET / \(text)\r\nHost: a\r\n\r\n")?.version == version)
    }

    @Test func `one empty line before the request line is skipped and counted as consumed`() {
        let text = wire("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nrest")
        let expected = Outcome.head(written: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", consumed: text.count - 4)
        #expect(outcome(ofHead: text, isRequest: true, cuts: []) == expected)
    }

    @Test(arguments: [
        ("GET", Method.get), ("HEAD", .head), ("POST", .post), ("PUT", .put), ("DELETE", .delete),
        ("TRACE", .trace),
        ("PATCH", .patch), ("PROPFIND", .other("PROPFIND")), ("get", .other("get")),
        ("!#$%&'*+-.^_`|~09", .other("!#$%&'*+-.^_`|~09")),
    ])
    func `any token is a method and its case counts`(text: String, method: HTTP.Method) throws {
        #expect(try parseRequest("\(text) / HTTP/1.1\r\nHost: a\r\n\r\n")?.method == method)
    }
}
