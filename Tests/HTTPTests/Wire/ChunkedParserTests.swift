import Primitives
import TestSupport
import Testing

@testable import HTTP

/// The result of parsing a chunked body, in a comparable form.
private enum BodyOutcome: Equatable {
    case needsMore(data: [UInt8])
    case failed(ParseError)
    case complete(data: [UInt8], trailers: String, rest: Int)
}

struct ChunkedParserTests {
    private func outcome(_ bytes: [UInt8], pieces: Int, _ limits: MessageLimits = MessageLimits())
        -> BodyOutcome
    {
        var parser = ChunkedParser(limits: limits)
        var data: [UInt8] = []
        var position = 0
        do throws(ParseError) {
            while position < bytes.count, !parser.isComplete {
                let end = min(position + pieces, bytes.count)
                let piece = bytes.span.extracting(0..<end)
                position = try parser.parse(piece, from: position) { data.append($0) }
                #expect(position == end || parser.isComplete)
            }
        } catch {
            return .failed(error)
        }
        guard parser.isComplete else { return .needsMore(data: data) }
        var trailers: [UInt8] = []
        parser.trailers.write(into: &trailers)
        return .complete(data: data, trailers: String(trailers.span), rest: bytes.count - position)
    }

    @Test(arguments: [
        ("\r\n", ParseError.malformedChunkSize), ("g\r\n", .malformedChunkSize),
        ("-1\r\n", .malformedChunkSize),
        ("+1\r\n", .malformedChunkSize), ("0x1\r\n", .malformedChunkSize), (" 1\r\n", .malformedChunkSize),
        (";a\r\n", .malformedChunkSize), ("1_0\r\n", .malformedChunkSize),
        ("1000000000000000", .malformedChunkSize),
        ("0000000000000001", .malformedChunkSize), ("1 \r\n", .malformedChunkExtension),
        ("1\t\r\n", .malformedChunkExtension),
        ("1 2\r\n", .malformedChunkExtension), ("1\n", .bareLineFeed), ("1\rx", .bareCarriageReturn),
        ("1\r\r", .bareCarriageReturn),
        ("1;\r\n", .malformedChunkExtension), ("1;;a\r\n", .malformedChunkExtension),
        ("1;a=\r\n", .malformedChunkExtension),
        ("1;=b\r\n", .malformedChunkExtension), ("1;a \r\n", .malformedChunkExtension),
        ("1;a=b \r\n", .malformedChunkExtension),
        ("1;a b\r\n", .malformedChunkExtension), ("1;a=b c\r\n", .malformedChunkExtension),
        ("1;a=\"b\r\n", .malformedChunkExtension),
        ("1;a=\"b\\\r\n", .malformedChunkExtension), ("1;a=\"b\"c\r\n", .malformedChunkExtension),
        ("1;a=b=c\r\n", .malformedChunkExtension),
        ("1;a=\"\u{0}\"\r\n", .malformedChunkExtension), ("1;a\n", .bareLineFeed),
        ("1;a=\"\n", .bareLineFeed), ("1;a\rb", .bareCarriageReturn),
        ("1;\u{e9}\r\n", .malformedChunkExtension),
        ("1\r\nab\r\n", .malformedChunkEnd), ("1\r\na\n", .malformedChunkEnd),
        ("1\r\na\r\r", .malformedChunkEnd), ("1\r\na0\r\n", .malformedChunkEnd),
        ("0\r\nA: b\n", .bareLineFeed), ("0\r\n\n", .bareLineFeed), ("0\r\n\rx", .bareCarriageReturn),
        ("0\r\n A: b\r\n", .foldedField),
        ("0\r\nA: b\r\n c\r\n", .foldedField), ("0\r\nA : b\r\n", .malformedFieldName),
        ("0\r\nA\r\n", .malformedFieldName),
        ("0\r\n1\r\nx\r\n", .malformedFieldName), ("0\r\nA: \u{0}", .controlByte),
        ("0\r\nContent_Length: 1\r\n", .disguisedFramingField),
    ])
    func `a malformed chunked body is refused`(text: String, fault: ParseError) {
        #expect(outcome(wire(text), pieces: .max / 2) == .failed(fault))
        #expect(outcome(wire(text), pieces: 1) == .failed(fault))
    }

    @Test(arguments: [
        ("0\r\n\r\n", "", 0), ("3\r\nabc\r\n0\r\n\r\n", "abc", 0), ("3\r\nabc\r\n0\r\n\r\nGET /", "abc", 5),
        ("a\r\n0123456789\r\nA\r\n0123456789\r\n000\r\n\r\n", "01234567890123456789", 0),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n", 0),
        ("000000000000001\r\nx\r\n000000000000000\r\n\r\n", "x", 0),
        ("1;a\r\nx\r\n0;b=c;d=\"e;\\\" é\t\"\r\n\r\n", "x", 0),
        ("1 ; a\t=\t\"b\" ; c\r\nx\r\n0\r\n\r\n", "x", 0),
    ])
    func `data comes through and extensions are dropped`(text: String, data: String, rest: Int) {
        for pieces in [1, 2, 3, 5, 1_000] {
            #expect(
                outcome(wire(text), pieces: pieces) == .complete(data: wire(data), trailers: "", rest: rest))
        }
    }

    @Test(arguments: [
        "", "1", "1\r", "1\r\n", "1\r\nx", "1\r\nx\r", "1\r\nx\r\n", "1\r\nx\r\n0\r\n",
        "1\r\nx\r\n0\r\nA: b\r\n", "1\r\nx\r\n0\r\nA: b\r\n\r",
    ])
    func `a body that stops early is not complete`(text: String) {
        #expect(outcome(wire(text), pieces: 1) == .needsMore(data: text.contains("x") ? wire("x") : []))
    }

    @Test func `trailers that frame, route, authenticate or describe are dropped`() {
        let kept = "X-Check: 1\r\nServer-Timing: a\r\nContent-Digest: x\r\n"
        let dropped = [
            "Content-Length: 5", "Transfer-Encoding: chunked", "Host: b", "Authorization: x", "Cookie: a=b",
            "Set-Cookie: a=b",
            "Content-Encoding: br", "CONTENT-TYPE: a", "Content-Anything: a", "Content-Range: bytes 0-1/2",
            "Cache-Control: no-store",
            "Trailer: X", "TE: x", "Connection: close", "Vary: *", "ETag: \"a\"",
            "Use-As-Dictionary: match=\"/*\"", "Available-Dictionary: :a:",
            "Link: <a>", "Age: 1", "Expect: 100-continue", "X-Forwarded-For: 1.2.3.4", "If-None-Match: *",
            "Location: /", "Alt-Svc: clear", "Early-Data: 1", "X-Forwarded-Port: 1",
            "Proxy-Authorization: x", "Proxy-Authenticate: x", "WWW-Authenticate: x", "Proxy-Connection: x",
            "Range: bytes=0-1", "If-Match: *", "If-Range: \"a\"", "If-Modified-Since: x",
            "If-Unmodified-Since: x",
            "Pragma: no-cache", "Max-Forwards: 1", "Origin: https://a", "Sec-Fetch-Site: none",
            "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty", "Strict-Transport-Security: max-age=1",
            "Surrogate-Control: x", "CDN-Cache-Control: no-store", "Via: 1.1 a", "Retry-After: 1", "Date: x",
            "Expires: 0", "Last-Modified: x", "Keep-Alive: x", "Upgrade: x", "Dictionary-ID: \"a\"",
            "Accept-Encoding: br", "HTTP2-Settings: a",
        ]
        for line in dropped {
            let text = "0\r\nX-Check: 1\r\n\(line)\r\nServer-Timing: a\r\nContent-Digest: x\r\n\r\n"
            #expect(outcome(wire(text), pieces: 7) == .complete(data: [], trailers: kept, rest: 0), "\(line)")
        }
    }

    @Test func `extensions pass up to their limits, for a chunk and in total`() {
        let limits = MessageLimits(chunkExtensionBytes: 4, chunkExtensionBytesTotal: 6)
        #expect(
            outcome(wire("1;abc\r\nx\r\n0\r\n\r\n"), pieces: 1, limits)
                == .complete(data: wire("x"), trailers: "", rest: 0))
        #expect(outcome(wire("1;abcd\r\nx"), pieces: 1, limits) == .failed(.chunkExtensionTooLong))
        #expect(
            outcome(wire("1;abc\r\nx\r\n0;a\r\n\r\n"), pieces: 1, limits)
                == .complete(data: wire("x"), trailers: "", rest: 0))
        #expect(outcome(wire("1;abc\r\nx\r\n0;ab\r\n"), pieces: 1, limits) == .failed(.chunkExtensionTooLong))
        let chunks = String(repeating: "1;a\r\nx\r\n", count: 3)
        #expect(
            outcome(wire(chunks + "0\r\n\r\n"), pieces: 1, limits)
                == .complete(data: wire("xxx"), trailers: "", rest: 0))
        #expect(outcome(wire(chunks + "1;a\r\n"), pieces: 1, limits) == .failed(.chunkExtensionTooLong))
    }

    @Test func `the trailer section passes up to its limits`() {
        let body = "0\r\nA: b\r\nC: d\r\n\r\n"
        let bytes = body.utf8.count - 3
        let complete = BodyOutcome.complete(data: [], trailers: "A: b\r\nC: d\r\n", rest: 0)
        for pieces in [1, 4, 100] {
            #expect(
                outcome(wire(body), pieces: pieces, MessageLimits(trailerBytes: bytes, trailerCount: 2))
                    == complete)
            #expect(
                outcome(wire(body), pieces: pieces, MessageLimits(trailerBytes: bytes - 1))
                    == .failed(.trailersTooLarge))
            #expect(
                outcome(wire(body), pieces: pieces, MessageLimits(trailerCount: 1)) == .failed(.tooManyFields)
            )
        }
    }

    @Test func `damaged bodies end alike, whole or in pieces`() {
        let bodies = [
            "5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nX-A: b\r\n\r\nrest", "1;a=\"\\\"\" ; b\r\nx\r\n0\r\n\r\n",
            "0;x\r\nA: b\r\nHost: c\r\n\r\n",
        ]
        let damage = wire("\r\n\u{0} \t:;=\"\\0aFg") + [0x7f, 0x80, 0xff]
        var random = SplitMix(seed: 9842)
        var completed = 0
        var failed = 0
        for round in 0..<3_000 {
            var bytes = wire(bodies[round % bodies.count])
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let byte = damage[Int.random(in: 0..<damage.count, using: &random)]
            switch round % 4 {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(byte, at: place)
            default: bytes[place] = byte
            }
            let whole = outcome(bytes, pieces: bytes.count)
            #expect(outcome(bytes, pieces: 1) == whole, "\(bytes)")
            #expect(outcome(bytes, pieces: 3) == whole, "\(bytes)")
            switch whole {
            case .complete: completed += 1
            case .failed: failed += 1
            case .needsMore: break
            }
        }
        // The damage must produce both kinds of outcome often.
        #expect(completed > 300 && failed > 300)
    }
}
