import Testing

@testable import HTTP

struct BodyFramingTests {
    private func framing(ofRequest lines: String, version: String = "1.1") throws -> BodyFraming {
        try BodyFraming.ofRequest(
            #require(try parseRequest("POST / HTTP/\(version)\r\nHost: a\r\n\(lines)\r\n")))
    }

    private func framing(ofResponse lines: String, _ status: String = "200", to method: HTTP.Method = .get)
        throws -> BodyFraming
    {
        try BodyFraming.ofResponse(
            #require(try parseResponse("HTTP/1.1 \(status) X\r\n\(lines)\r\n")), toRequest: method)
    }

    @Test(arguments: ["01", "00", "000000000000000005"])
    func `zeros before a length are refused in a request, and taken from an upstream`(text: String) throws {
        #expect(throws: ParseError.malformedContentLength) {
            try framing(ofRequest: "Content-Length: \(text)\r\n")
        }
        #expect(try framing(ofRequest: "Content-Length: 0\r\n") == .length(0))
        let length = try #require(UInt64(text))
        #expect(try framing(ofResponse: "Content-Length: \(text)\r\n") == .length(length))
    }

    private static let faults: [(String, ParseError)] = [
        ("Content-Length:\r\n", .malformedContentLength), ("Content-Length: +1\r\n", .malformedContentLength),
        ("Content-Length: -1\r\n", .malformedContentLength),
        ("Content-Length: 0x1\r\n", .malformedContentLength),
        ("Content-Length: 1 2\r\n", .malformedContentLength),
        ("Content-Length: 1, 1\r\n", .malformedContentLength),
        ("Content-Length: 1,\r\n", .malformedContentLength),
        ("Content-Length: 1.0\r\n", .malformedContentLength),
        ("Content-Length: \"1\"\r\n", .malformedContentLength),
        ("Content-Length: ١\r\n", .malformedContentLength),
        ("Content-Length: 1000000000000000000\r\n", .malformedContentLength),
        ("Content-Length: 0000000000000000001\r\n", .malformedContentLength),
        ("Content-Length: 1\r\nContent-Length: 1\r\n", .repeatedContentLength),
        ("Content-Length: 1\r\ncontent-length: 2\r\n", .repeatedContentLength),
        ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", .ambiguousFraming),
        ("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", .ambiguousFraming),
        ("Transfer-Encoding: x\r\nContent-Length: +\r\n", .ambiguousFraming),
        ("Transfer-Encoding:\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: ,chunked\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: chunked,\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: xchunked\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: chunked x\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: \"chunked\"\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: chunked;q=1\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: identity\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: chunked, chunked\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: chunked, gzip\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: gzip\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", .malformedTransferEncoding),
        ("Transfer-Encoding: gzip, chunked\r\n", .unsupportedTransferEncoding),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", .unsupportedTransferEncoding),
    ]

    @Test(arguments: faults)
    func `framing that can be read in two ways is refused in requests`(lines: String, fault: ParseError) {
        #expect(throws: fault) { try framing(ofRequest: lines) }
    }

    @Test(arguments: faults)
    func `framing that can be read in two ways is refused in responses`(lines: String, fault: ParseError) {
        #expect(throws: fault) { try framing(ofResponse: lines) }
        #expect(throws: fault) { try framing(ofResponse: lines, to: .head) }
        #expect(throws: fault) { try framing(ofResponse: lines, "304") }
    }

    @Test func `an unknown transfer coding is answered with 501 and every other fault of framing with 400`() {
        #expect(ParseError.unsupportedTransferEncoding.status == .notImplemented)
        for (_, fault) in Self.faults where fault != .unsupportedTransferEncoding {
            #expect(fault.status == .badRequest)
        }
    }

    @Test func `Transfer-Encoding in HTTP/1.0 is refused`() throws {
        #expect(throws: ParseError.transferEncodingBeforeHTTP11) {
            try framing(ofRequest: "Transfer-Encoding: chunked\r\n", version: "1.0")
        }
        let response = try #require(
            try parseResponse("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
        #expect(throws: ParseError.transferEncodingBeforeHTTP11) {
            try BodyFraming.ofResponse(response, toRequest: .get)
        }
    }

    @Test(arguments: [
        ("", BodyFraming.none), ("Content-Length: 0\r\n", .length(0)),
        ("Content-Length: 999999999999999999\r\n", .length(999_999_999_999_999_999)),
        ("Transfer-Encoding: chunked\r\n", .chunked), ("Transfer-Encoding: CHUNKED\r\n", .chunked),
        ("transfer-encoding: \t chunked \r\n", .chunked),
    ])
    func `a request has no body unless it says so`(lines: String, expected: BodyFraming) throws {
        #expect(try framing(ofRequest: lines) == expected)
    }

    @Test(arguments: [
        ("Content-Length: 5\r\nA: b\r\n", "Content-Length: 5\r\nA: b\r\n"),
        ("Content-Length: 05\r\nA: b\r\n", "A: b\r\nContent-Length: 5\r\n"),
        ("Content-Length: 50\r\nA: b\r\n", "A: b\r\nContent-Length: 5\r\n"),
        ("Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5\r\n"),
        ("A: b\r\n", "A: b\r\nContent-Length: 5\r\n"),
    ])
    func `a length goes out once and without zeros before it, and stays in its place if it came so`(
        lines: String, declared: String
    ) throws {
        var headers = try parsed(lines)
        BodyFraming.declare(length: 5, in: &headers)
        #expect(written(headers) == declared)
    }

    @Test func `a response without framing ends with its connection`() throws {
        #expect(try framing(ofResponse: "") == .untilClose)
        #expect(try framing(ofResponse: "Content-Length: 5\r\n") == .length(5))
        #expect(try framing(ofResponse: "Transfer-Encoding: chunked\r\n") == .chunked)
        #expect(try framing(ofResponse: "", "205") == .untilClose)
    }

    @Test(arguments: ["", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"])
    func `bodiless responses have no body whatever they declare`(lines: String) throws {
        for status in ["100", "103", "199", "204", "304"] {
            #expect(try framing(ofResponse: lines, status) == .none)
        }
        #expect(try framing(ofResponse: lines, to: .head) == .none)
        #expect(try framing(ofResponse: lines, to: .connect) == .none)
    }
}
