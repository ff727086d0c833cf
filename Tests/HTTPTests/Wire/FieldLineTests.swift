import Testing

@testable import HTTP

/// Each text follows a valid start line and Host, in a request and in a response.
struct FieldLineTests {
    private static let faults: [(String, ParseError)] = [
        ("A: b\n", .bareLineFeed), ("A: b\r\r\n", .bareCarriageReturn), ("A: b\rc\r\n", .bareCarriageReturn),
        ("A: b\r\n\n", .bareLineFeed), ("A: \u{0}\r\n", .controlByte), ("A: b\u{1f}c\r\n", .controlByte),
        ("A: b\u{7f}\r\n", .controlByte), ("A\u{0}: b\r\n", .controlByte), ("A\u{b}: b\r\n", .controlByte),
        (" A: b\r\n", .foldedField), ("\tA: b\r\n", .foldedField), ("A: b\r\n c\r\n", .foldedField),
        ("A: b\r\n\r\r\n", .bareCarriageReturn), (" \r\n", .foldedField), ("A : b\r\n", .malformedFieldName),
        ("A\t: b\r\n", .malformedFieldName), (": b\r\n", .malformedFieldName), ("A\r\n", .malformedFieldName),
        ("A B: c\r\n", .malformedFieldName), ("A(: c\r\n", .malformedFieldName),
        ("\u{e9}: c\r\n", .malformedFieldName),
        ("\"A\": c\r\n", .malformedFieldName), ("Content-Length : 1\r\n", .malformedFieldName),
        ("Transfer-Encoding\t: chunked\r\n", .malformedFieldName),
        ("Content_Length: 1\r\n", .disguisedFramingField),
        ("transfer_encoding: chunked\r\n", .disguisedFramingField),
        ("Content__-length: 1\r\n", .disguisedFramingField),
        ("_Transfer-Encoding: x\r\n", .disguisedFramingField),
        ("Content.Length: 1\r\n", .disguisedFramingField),
        ("Transfer-Encoding!: chunked\r\n", .disguisedFramingField),
        ("'Transfer~Encoding: chunked\r\n", .disguisedFramingField),
        ("X_Forwarded_For: 192.0.2.1\r\n", .disguisedForwardingField),
        ("x-forwarded_proto: https\r\n", .disguisedForwardingField),
        ("X_FORWARDED-HOST: a\r\n", .disguisedForwardingField),
        ("Forwarded_: for=a\r\n", .disguisedForwardingField),
        ("X_Real_IP: 192.0.2.1\r\n", .disguisedForwardingField),
        ("X-Forwarded_Port: 443\r\n", .disguisedForwardingField),
        ("X_Forwarded_Prefix: /a\r\n", .disguisedForwardingField),
    ]

    @Test(arguments: faults)
    func `a malformed field line is refused in a request`(line: String, fault: ParseError) {
        #expect(requestFault("GET / HTTP/1.1\r\nHost: a\r\n\(line)\r\n") == fault)
    }

    @Test(arguments: faults)
    func `a malformed field line is refused in a response`(line: String, fault: ParseError) {
        #expect(responseFault("HTTP/1.1 200 OK\r\nDate: x\r\n\(line)\r\n") == fault)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\nX", ParseError.bareLineFeed),
        ("GET / HTTP/1.1\r\nHost: a\rX", .bareCarriageReturn),
        ("GET / HTTP/1.1\r\nHost: a\r\nX\u{0}", .controlByte),
        ("GET / HTTP/1.1\r\nHost: a\r\n\n", .bareLineFeed),
    ])
    func `a byte that no line may hold is refused before the line is complete`(
        text: String, fault: ParseError
    ) {
        #expect(requestFault(text) == fault)
    }

    @Test func `a line folded under the start line is refused`() {
        #expect(requestFault("GET / HTTP/1.1\r\n Host: a\r\n\r\n") == .foldedField)
        #expect(responseFault("HTTP/1.1 200 OK\r\n\tA: b\r\n\r\n") == .foldedField)
    }

    @Test(arguments: [
        ("A:b", "b"), ("A: b", "b"), ("A:\t b \t", "b"), ("A: b \t", "b"), ("A:", ""), ("A: ", ""),
        ("A: b  c", "b  c"),
        ("A: b\tc", "b\tc"),
        ("A: :", ":"), ("A: \"q\"", "\"q\""), ("A: é", "é"),
    ])
    func `blanks round a value are no part of it`(line: String, value: String) throws {
        #expect(
            try parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\(line)\r\n\r\n")?.headers.values(.a) == [value])
    }

    @Test func `a name with an underscore that resembles no framing field passes`() throws {
        let head = try parseRequest(
            "GET / HTTP/1.1\r\nHost: a\r\nx_request_id: 7\r\nContent_Lengths: 1\r\n\r\n")
        #expect(head?.headers.count == 3)
    }

    @Test func `bytes that are not UTF-8 are written as they came`() throws {
        let bytes =
            wire("HTTP/1.1 200 ") + [0xe9, 0x09, 0xff] + wire("\r\nX-Name: ") + [0xff, 0x80, 0xe9]
            + wire("\r\n\r\n")
        var parser = HeadParser()
        let head = try #require(try parser.parseResponse(bytes.span))
        var written: [UInt8] = []
        HeadWriter.write(head, into: &written)
        #expect(written == bytes)
    }
}

extension HeaderName {
    fileprivate static let a = HeaderName(token: "A".utf8.span)
}
