internal import Primitives
internal import Testing

@testable import HTTP

/// The translation between HTTP/2 fields and heads on the client's side (RFC 9113 section 8.3).
struct ResponseAssemblerTests {
    private func assemble(
        _ fields: [(String, String)], isTrailer: Bool = false, limits: MessageLimits = MessageLimits()
    ) throws(ParseError) -> ResponseAssembler {
        var assembler = ResponseAssembler(limits: limits)
        for (name, value) in fields {
            try assembler.append(name.utf8.span, value.utf8.span, isTrailer: isTrailer)
        }
        return assembler
    }

    @Test func `an interim head and the final one follow each other, each with its own fields`() throws {
        var assembler = try assemble([(":status", "103"), ("link", "</a>")])
        let interim = try assembler.finish()
        #expect(interim.status.isInformational && interim.headers.first(.link) == "</a>")
        try assembler.append(":status".utf8.span, "200".utf8.span, isTrailer: false)
        let head = try assembler.finish()
        #expect(head.status == .ok && head.version == .http2 && head.headers.isEmpty)
    }

    @Test(arguments: [[], [("x", "1")], [(":status", "099")], [(":status", "600")], [(":status", "2 0")]])
    func `a head without a status of 100 to 599 is malformed`(fields: [(String, String)]) throws {
        var assembler = try assemble(fields)
        #expect(throws: ParseError.malformedStatusLine) { try assembler.finish() }
    }

    @Test func `the limits count names, values, and 32 bytes for each field`() throws {
        // ":status" and "200" are 10 bytes, "a" and 57 bytes are 58; 32 more for each of both.
        let limits = MessageLimits(headBytes: 132, fieldCount: 2)
        let status = (":status", "200")
        _ = try assemble([status, ("a", String(repeating: "x", count: 57))], limits: limits)
        #expect(throws: ParseError.headTooLarge) {
            try assemble([status, ("a", String(repeating: "x", count: 58))], limits: limits)
        }
        #expect(throws: ParseError.tooManyFields) {
            try assemble([status, ("a", ""), ("b", "")], limits: limits)
        }
    }

    @Test func `trailers have limits of their own, and lose what no trailer may say`() throws {
        var assembler = try assemble([("x-sum", "1"), ("content-length", "9")], isTrailer: true)
        let trailers = assembler.finishTrailers()
        #expect(trailers.count == 1 && trailers.first(HeaderName(token: "x-sum".utf8.span)) == "1")
        let limits = MessageLimits(trailerBytes: 34, trailerCount: 1)
        _ = try assemble([("a", "1")], isTrailer: true, limits: limits)
        #expect(throws: ParseError.trailersTooLarge) {
            try assemble([("a", "12")], isTrailer: true, limits: limits)
        }
        let fields = [("a", "1"), ("b", "2")]
        _ = try assemble(fields, isTrailer: true, limits: MessageLimits(fieldCount: 0, trailerCount: 2))
        #expect(throws: ParseError.tooManyFields) {
            try assemble(fields, isTrailer: true, limits: MessageLimits(trailerCount: 1))
        }
    }

    @Test func `a request names its authority in place of Host, and hides what identifies its user`() throws {
        var headers = Headers()
        for (name, value) in [
            (HeaderName.host, "a.test:8443"), (.connection, "close"), (.te, "trailers"), (.accept, "*/*"),
            (.authorization, "Bearer x"), (.cookie, "sid=1"),
        ] {
            headers.append(name, value)
        }
        let head = RequestHead(method: .get, target: try RequestTarget("/x?y"), headers: headers)
        let block = FieldBlock(head, scheme: "https")
        var lines: [String] = []
        block.forEach { line in
            let bytes = block.bytes.span
            lines.append(
                String(bytes.extracting(line.name)) + ": " + String(bytes.extracting(line.value))
                    + (line.isSensitive ? " (sensitive)" : ""))
        }
        #expect(
            lines == [
                ":method: GET", ":scheme: https", ":authority: a.test:8443", ":path: /x?y", "Accept: */*",
                "Authorization: Bearer x (sensitive)", "Cookie: sid=1 (sensitive)",
            ])
    }

    @Test func `a response hides the cookies that it sets, and has no field of one hop`() {
        var headers = Headers()
        for name: HeaderName in [
            .setCookie, .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade,
            .http2Settings, .te, .etag,
        ] {
            headers.append(name, "x")
        }
        let block = FieldBlock(ResponseHead(status: .ok, headers: headers))
        var lines: [String] = []
        block.forEach { line in
            lines.append(
                String(block.bytes.span.extracting(line.name)) + (line.isSensitive ? " (sensitive)" : ""))
        }
        #expect(lines == [":status", "Set-Cookie (sensitive)", "ETag"])
    }
}
