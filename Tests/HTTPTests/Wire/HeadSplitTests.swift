internal import Glibc
internal import TestSupport
import Testing

@testable import HTTP

/// The result of parsing a head must not depend on the pieces in which it arrives.
struct HeadSplitTests {
    private static let heads = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nPOST http://a/b?c HTTP/1.0\r\nHost: A:80\r\nContent-Length: 3\r\nX:  y \r\n\r\nabc",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nB: c\nD: e\r\n\r\n",
        "G(T / HT\u{1}P/1.1\r\n\r\n", "GET /\u{e9} HTTP/1.1\n", "GET / HTTP/1.1\r\n A: b\u{0}\r\n\r\n",
        "GET # HTTP/1.1\r\nHost\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/1.1\r\nA: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 304\r\nETag: \"a\"\r\n\r\n",
        "HTTP/1.1 777 No\r\nA\u{0}\n", "HTTP/1.1 200 OK\r\nA : b\r\nC: d\n\r\n",
    ]

    @Test(arguments: heads, [true, false])
    func `a head cut at any place has the outcome of the whole`(text: String, isRequest: Bool) {
        let bytes = wire(text)
        let whole = outcome(ofHead: bytes, isRequest: isRequest, cuts: [])
        for cut in 0...bytes.count {
            #expect(outcome(ofHead: bytes, isRequest: isRequest, cuts: [cut]) == whole, "cut at \(cut)")
        }
        #expect(outcome(ofHead: bytes, isRequest: isRequest, cuts: Array(0...bytes.count)) == whole)
    }

    @Test(arguments: [20, 30, 37, 38, 39, 64])
    func `limits hit at the same place however the head is cut`(headBytes: Int) {
        let limits = MessageLimits(headBytes: headBytes, fieldCount: 2, requestTargetBytes: 4)
        for text in [
            "GET / HTTP/1.1\r\nHost: a\r\nB: cdefgh\r\n\r\n\n", "GET /abcdef\u{0} HTTP",
            "GET / HTTP/1.1\r\nA:b\r\nB:c\r\nC\n",
        ] {
            let bytes = wire(text)
            let whole = outcome(ofHead: bytes, isRequest: true, cuts: [], limits)
            #expect(outcome(ofHead: bytes, isRequest: true, cuts: Array(0...bytes.count), limits) == whole)
        }
    }

    @Test func `damaged heads end alike, whole or byte by byte`() {
        var random = SplitMix(seed: 20_250_901)
        let damage = wire("\r\n\u{0} \t:#(/.,;H1") + [0x7f, 0x80, 0xff]
        var failures = 0
        for round in 0..<4_000 {
            var bytes = wire(Self.heads[round % Self.heads.count])
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = damage[Int.random(in: 0..<damage.count, using: &random)]
                case 1: bytes.insert(damage[Int.random(in: 0..<damage.count, using: &random)], at: place)
                default: bytes.remove(at: place)
                }
            }
            for isRequest in [true, false] {
                let whole = outcome(ofHead: bytes, isRequest: isRequest, cuts: [])
                let pieces = outcome(ofHead: bytes, isRequest: isRequest, cuts: Array(0...bytes.count))
                #expect(whole == pieces, "\(bytes)")
                if case .failed = whole { failures += 1 }
            }
        }
        // The damage must produce both kinds of outcome often.
        #expect(failures > 2_000 && failures < 8_000)
    }

    @Test func `what was parsed and written parses to the same again`() {
        for text in Self.heads {
            for isRequest in [true, false] {
                let first = outcome(ofHead: wire(text), isRequest: isRequest, cuts: [])
                guard case .head(let written, _) = first else { continue }
                let second = outcome(ofHead: wire(written), isRequest: isRequest, cuts: [])
                #expect(second == .head(written: written, consumed: written.utf8.count))
            }
        }
    }

    @Test func `a parser that has finished a head reads the next one`() throws {
        let bytes = wire("GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: b\r\n\r\n")
        var parser = HeadParser()
        let first = try #require(try parser.parseRequest(bytes.span))
        let rest = Array(bytes[parser.consumed...])
        let second = try #require(try parser.parseRequest(rest.span))
        #expect(first.target.path == "/a")
        #expect(second.target.path == "/b")
        #expect(second.headers.values(.host) == ["b"])
        #expect(parser.consumed == rest.count)
    }

    @Test func `a reset parser forgets the fault and the fields before it`() throws {
        var parser = HeadParser()
        #expect(throws: ParseError.bareLineFeed) {
            try parser.parseRequest("GET / HTTP/1.1\r\nA: b\r\nB\n".utf8.span)
        }
        parser.reset()
        let head = try #require(try parser.parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8.span))
        #expect(head.headers.count == 1)
    }

    @Test func `a head that arrives byte by byte is scanned once`() throws {
        // Quadratic scanning would take a hundred times as long for ten times the bytes.
        let (few, many) = (try nanoseconds(lines: 2_000), try nanoseconds(lines: 20_000))
        #expect(many < 40 * few)
    }

    /// Returns this thread's processor time for a head that arrives byte by byte.
    private func nanoseconds(lines: Int) throws -> UInt64 {
        let bytes = wire(
            "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: lines) + "\r\n")
        var parser = HeadParser(limits: MessageLimits(headBytes: bytes.count, fieldCount: lines + 1))
        let start = processorTime()
        var head: RequestHead?
        for count in 1...bytes.count where head == nil {
            head = try parser.parseRequest(bytes.span.extracting(0..<count))
        }
        #expect(head?.headers.count == lines + 1)
        return processorTime() - start
    }

    private func processorTime() -> UInt64 {
        var time = timespec()
        // Safe: `time` is local and outlives the call.
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
