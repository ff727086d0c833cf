internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 850)
private let second = Feed.bytes(version: 1, items: 850)

/// An upstream that sends `first` whole, and then `second` in two pieces: the latter once the gate is open.
private func twoPieces(_ gate: Gate, head: String..., ending: @escaping Origin.Script = { _, _ in }) throws
    -> Origin
{
    let calls = CallCounter()
    let fields = ["HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public"] + head
    let lines = fields.joined(separator: "\r\n")
    return try Origin { request, connection in
        let isFirst = calls.next() == 1
        guard !isFirst else {
            connection.send(json(first))
            return
        }
        let isChunked = head.contains { $0.hasPrefix("Transfer-Encoding") }
        let pieces = [Array(second.prefix(100_000)), Array(second.dropFirst(100_000))]
        connection.send(wire(lines) + (isChunked ? chunk(pieces[0]) : pieces[0]))
        gate.wait()
        connection.send(isChunked ? chunk(pieces[1]) + chunk([]) : pieces[1])
        ending(request, connection)
    }
}

@Suite(.timeLimit(.minutes(40))) struct StreamingTests {
    @Test(arguments: ["dcz", "dcb", "zstd", "br", "gzip", "identity"])
    func `nothing waits for the end of a body that is slow to come`(coding: String) throws {
        let gate = Gate()
        let proxy = try TestProxy(twoPieces(gate, head: "Transfer-Encoding: chunked"))
        _ = try proxy.fetch("/feed")
        let client = try proxy.connect()
        client.send(request("/feed", ["Accept-Encoding: \(coding)", available(first)]))
        // The gate is closed, so these bytes were sent before the body's end.
        let answer = try client.receiveHead()
        #expect(answer.coding == coding)
        #expect(try decode(100_000, of: answer, from: client) == Array(second.prefix(100_000)))
        gate.open()
        gate.open()
        #expect(try proxy.fetch("/feed", over: first, accept: coding).carriesDecoded(second, over: first))
    }

    /// Decodes the response until it has `count` bytes, which must not need more input than the bytes sent so far.
    private func decode(_ count: Int, of answer: WireMessage, from client: WireSocket) throws -> [UInt8] {
        let coding = answer.contentCoding
        let decoder = try Codec.decoder(
            for: coding, dictionary: coding.usesDictionary ? Body(first) : nil,
            limits: DecoderLimits(maxBytes: .max))
        var decoded: [UInt8] = []
        while decoded.count < count, let piece = client.receivePiece(of: answer), !piece.isEmpty {
            try decoder.decode(piece.span, into: &decoded)
        }
        return decoded
    }

    @Test func `an answer of known length that is slow goes on in time too`() throws {
        let gate = Gate()
        let proxy = try TestProxy(twoPieces(gate, head: "Content-Length: \(second.count)"))
        _ = try proxy.fetch("/feed")
        let client = try proxy.connect()
        client.send(request("/feed", []))
        var answer = try client.receiveHead()
        #expect(answer.length == second.count)
        while answer.body.count < 100_000, let piece = client.receivePiece(of: answer) {
            answer.body += piece
        }
        gate.open()
        while answer.body.count < second.count, let piece = client.receivePiece(of: answer) {
            answer.body += piece
        }
        answer.isWhole = true
        #expect(answer.carries(second))
    }

    @Test func `a version is usable on any loop before the last byte of its answer`() throws {
        let proxy = try TestProxy(json(second))
        for _ in 0..<8 {
            let client = try proxy.connect()
            client.send(request("/\(Int.random(in: 0..<1_000_000))", []))
            let answer = try client.receive()
            #expect(answer.carries(second))
        }
        for round in 0..<8 {
            let target = "/feed\(round)"
            #expect(try proxy.fetch(target).carries(second))
            #expect(try proxy.fetch(target, over: second).coding == "dcz", "at once, on whichever loop")
        }
    }

    @Test func `the last bytes of a body in pieces wait for its admission`() throws {
        let gate = Gate()
        let proxy = try TestProxy(twoPieces(gate, head: "Content-Length: \(second.count)"))
        _ = try proxy.fetch("/feed")
        let client = try proxy.connect()
        client.send(request("/feed", []))
        let head = try client.receiveHead()
        #expect(head["Use-As-Dictionary"] == #"match="/feed""#, "its slot is reserved")
        gate.open()
        var count = 0
        while count < second.count, let piece = client.receivePiece(of: head) { count += piece.count }
        gate.open()
        #expect(try proxy.fetch("/feed", over: second).coding == "dcz")
    }

    @Test(arguments: ["identity", "gzip"])
    func `a client that does not read makes the upstream wait`(coding: String) throws {
        let taken = Guarded(0)
        let gate = Gate()
        let piece = Noise.bytes(1 << 20, seed: 3)
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked"))
            let count = connection.flood(with: chunk(piece), limit: 64 << 20, quietMilliseconds: 300)
            taken.withLock { $0 = count }
            gate.open()
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect(receiveBytes: 16 * 1024)
        client.send(request("/large", ["Accept-Encoding: \(coding)"]))
        #expect(try client.receiveHead().coding == coding)
        #expect(gate.wait())
        // The bytes held at first (at most max_body), and the buffers of four sockets.
        #expect(taken.withLock { $0 } < 24 << 20)
    }

    @Test func `an upload to an upstream that does not read makes the client wait`() throws {
        let stalled = Endpoint.ip(try #require(IPAddress("127.0.0.1")), port: 0)
        // No process accepts the connection. The kernel does, and fills its buffers.
        let upstream = try #require(try ListeningSocket.open(stalled, count: 1).first)
        let proxy = try TestProxy(
            try Origin(json([])), "limits: {request_body: 256MiB}",
            urls: ["http://127.0.0.1:\(TestProxy.port(upstream.endpoint))"])
        let client = try proxy.connect()
        client.send(wire("POST /upload HTTP/1.1", "Host: api.test", "Content-Length: \(128 << 20)"))
        let taken = client.flood(
            with: [UInt8](repeating: 0x78, count: 64 << 10), limit: 128 << 20, quietMilliseconds: 2_000)
        // The buffers of four sockets, and the bytes that wait between the two connections.
        #expect(taken < 48 << 20)
        client.finish()
    }

    @Test func `trailers of a passed answer reach the client`() throws {
        let proxy = try TestProxy(
            wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Transfer-Encoding: chunked", "Trailer: X-Sum")
                + Array("3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n".utf8))
        let client = try proxy.connect()
        client.send(request("/image", ["TE: trailers", "Connection: TE, close"]))
        #expect(String(decoding: client.receiveAll(), as: UTF8.self).hasSuffix("0\r\nX-Sum: 7\r\n\r\n"))
    }
}
