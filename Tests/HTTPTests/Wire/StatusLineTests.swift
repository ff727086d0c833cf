import Testing

@testable import HTTP

struct StatusLineTests {
    @Test(arguments: [
        ("HTTP/1.1 20 OK", ParseError.malformedStatusLine), ("HTTP/1.1 2000 OK", .malformedStatusLine),
        ("HTTP/1.1 099 No", .malformedStatusLine), ("HTTP/1.1 600 No", .malformedStatusLine),
        ("HTTP/1.1 999 No", .malformedStatusLine), ("HTTP/1.1  200 OK", .malformedStatusLine),
        ("HTTP/1.1 200OK", .malformedStatusLine), ("HTTP/1.1 200\tOK", .malformedStatusLine),
        (" HTTP/1.1 200 OK", .malformedStatusLine), ("http/1.1 200 OK", .malformedStatusLine),
        ("HTTP/1 200 OK", .malformedStatusLine), ("HTTP/1.1", .malformedStatusLine),
        ("", .malformedStatusLine),
        ("HTTP/1.1 +20 OK", .malformedStatusLine), ("<html>hello</html>", .malformedStatusLine),
        ("ICY 200 OK", .malformedStatusLine), ("HTTP/2.0 200 OK", .unsupportedVersion),
        ("HTTP/0.9 200 OK", .unsupportedVersion), ("HTTP/1.1 200 a\u{1}", .controlByte),
        ("HTTP/1.1 200 a\nb", .bareLineFeed), ("HTTP/1.1 200 a\rb", .bareCarriageReturn),
    ])
    func `a malformed status line is refused`(line: String, fault: ParseError) {
        #expect(responseFault("\(line)\r\nA: b\r\n\r\n") == fault)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK", "HTTP/1.1 200 OK"), ("HTTP/1.1 200 Fine, thanks", "HTTP/1.1 200 Fine, thanks"),
        ("HTTP/1.1 200 ", "HTTP/1.1 200 "), ("HTTP/1.1 200", "HTTP/1.1 200 "),
        ("HTTP/1.0 404 Not Found", "HTTP/1.1 404 Not Found"),
        ("HTTP/1.3 599 \t?", "HTTP/1.1 599 \t?"), ("HTTP/1.1 100 Continue", "HTTP/1.1 100 Continue"),
    ])
    func `the phrase is written as it came, under our own version`(line: String, written: String) throws {
        let bytes = wire("\(line)\r\nA: b\r\n\r\n")
        let expected = Outcome.head(written: "\(written)\r\nA: b\r\n\r\n", consumed: bytes.count)
        #expect(outcome(ofHead: bytes, isRequest: false, cuts: []) == expected)
    }

    @Test func `an empty line before a status line is refused`() {
        #expect(responseFault("\r\nHTTP/1.1 200 OK\r\n\r\n") == .malformedStatusLine)
    }

    @Test func `a response without fields is whole`() throws {
        let head = try #require(try parseResponse("HTTP/1.0 204 No Content\r\n\r\n"))
        #expect(head.status == .noContent)
        #expect(head.version == .http10)
        #expect(head.reason == nil)
        #expect(head.headers.isEmpty)
    }
}
