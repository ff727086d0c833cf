import Primitives
import Testing

@testable import HTTP

struct WriterTests {
    @Test(arguments: [
        ("/a?b", HTTP.Method.get, "/a?b"), ("http://a", .get, "/"), ("http://a?b", .get, "/?b"),
        ("*", .options, "*"),
        ("a:1", .connect, "a:1"),
    ])
    func `a request goes out in origin form as HTTP/1.1`(target: String, method: HTTP.Method, written: String)
        throws
    {
        var headers = Headers()
        headers.append(.host, "a")
        let head = RequestHead(
            method: method, target: try RequestTarget(target, method: method), version: .http10,
            headers: headers)
        var output = wire("x")
        HeadWriter.write(head, into: &output)
        #expect(String(output.span) == "x\(method) \(written) HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    @Test func `a phrase of ours cannot break its line`() {
        var output: [UInt8] = []
        let head = ResponseHead(status: .ok, reason: wire("a\r\nb\u{0}c\u{7f}"))
        HeadWriter.write(head, into: &output)
        #expect(String(output.span) == "HTTP/1.1 200 a  b c \r\n\r\n")
    }

    @Test func `a status without a phrase keeps its blank`() {
        var output: [UInt8] = []
        HeadWriter.write(ResponseHead(status: Status(rawValue: 299)), into: &output)
        HeadWriter.write(ResponseHead(status: .notFound), into: &output)
        #expect(String(output.span) == "HTTP/1.1 299 \r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n")
    }

    @Test(arguments: [
        (1, "1"), (9, "9"), (10, "a"), (15, "f"), (16, "10"), (255, "ff"), (4096, "1000"), (65_537, "10001"),
        (0x0fff_ffff_ffff_ffff, "fffffffffffffff"),
    ])
    func `the size of a chunk is written in hexadecimal`(count: Int, text: String) {
        var output: [UInt8] = []
        ChunkedWriter.writeSizeLine(count, into: &output)
        #expect(String(output.span) == "\(text)\r\n")
    }

    @Test func `what is written in chunks is read back, trailers too`() throws {
        var trailers = Headers()
        trailers.append(.serverTiming, "a;dur=1")
        var output: [UInt8] = []
        var expected: [UInt8] = []
        for size in [1, 15, 16, 17, 4_000] {
            let data = [UInt8](repeating: UInt8(size & 255), count: size)
            ChunkedWriter.writeSizeLine(size, into: &output)
            output += data
            ChunkedWriter.writeDataEnd(into: &output)
            expected += data
        }
        ChunkedWriter.writeEnd(trailers: trailers, into: &output)
        var parser = ChunkedParser()
        var data: [UInt8] = []
        let end = try parser.parse(output.span) { data.append($0) }
        #expect(end == output.count)
        #expect(parser.isComplete)
        #expect(data == expected)
        #expect(parser.trailers.first(.serverTiming) == "a;dur=1")
    }
}
