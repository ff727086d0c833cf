internal import Dictionaries
internal import Glibc
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let zeros = [UInt8](repeating: 0, count: 40 << 20)

private func bomb(_ coding: ContentCoding) throws -> [UInt8] { try Codec.encode(zeros.span, coding) }

private let taken = "dictum_compression_memory_bytes"

/// Tests small bodies that decode to large ones: the memory for decoding is limited.
@Suite(.timeLimit(.minutes(40))) struct BombTests {
    @Test(arguments: [ContentCoding.br, .zstd], [0, 3, 100])
    func `a bomb whose window finds no memory goes on as the upstream coded it`(
        coding: ContentCoding, firstBytes: Int
    ) throws {
        let bytes = try bomb(coding)
        // Brotli codes 40 MiB of equal bytes in less than a hundred.
        let rest = bytes.count - min(firstBytes, bytes.count - 1)
        let origin = try Origin { _, connection in
            let whole = json(bytes, "Content-Encoding: \(coding.token)")
            // The window is known, or not yet, when the body can be held no longer.
            connection.send(Array(whole.dropLast(rest)))
            pauseBeyondTheHold()
            connection.send(Array(whole.suffix(rest)))
        }
        let proxy = try TestProxy(origin, "memory: {total: 400MiB, coding: 1%}")
        let answer = try proxy.fetch("/feed")
        #expect(answer.status == 200)
        #expect(answer.carries(bytes))
        #expect(answer["Content-Encoding"] == coding.token)
        #expect(answer["Content-Length"] == "\(bytes.count)")
        #expect(answer["Use-As-Dictionary"] == nil)
        #expect(try proxy.metric("dictum_compression_busy_total") == 1)
        #expect(try proxy.metric(taken) == 0)
    }

    @Test func `a later frame that asks for more memory than is left cuts the answer off`()
        throws
    {
        let first = try Codec.encode(Noise.bytes(100_000, seed: 3).span, .zstd)
        let second = try bomb(.zstd)
        let gate = Gate()
        let origin = try Origin { _, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Encoding: zstd",
                "Transfer-Encoding: chunked")
            connection.send(head + chunk(first))
            gate.wait()
            connection.send(chunk(second) + chunk([]))
        }
        let proxy = try TestProxy(origin, "memory: {total: 1200MiB, coding: 1%}", isLogged: true)
        let client = try proxy.connect()
        client.send(request("/feed", []))
        var answer = try client.receiveHead()
        #expect(answer.status == 200 && answer.coding == "identity")
        gate.open()
        client.receiveBody(&answer)
        #expect(!answer.isWhole)
        let line = try #require(proxy.log?.next())
        #expect(line.contains(#""error":"memory.coding is used up""#), "\(line)")
        #expect(try proxy.metric("dictum_compression_busy_total") == 1)
        #expect(try proxy.metric("dictum_admissions_total") == 0)
        #expect(try proxy.metric(taken) == 0)
    }

    @Test(arguments: [ContentCoding.gzip, .br, .zstd])
    func `with memory for its window it comes decoded, and the memory is given back`(coding: ContentCoding)
        throws
    {
        let proxy = try TestProxy(
            json(try bomb(coding), "Content-Encoding: \(coding.token)"),
            "memory: {total: 9600MiB, coding: 1%}")
        #expect(try proxy.fetch("/feed").carries(zeros))
        #expect(try proxy.metric("dictum_compression_busy_total") == 0)
        #expect(try proxy.metric(taken) == 0)
    }

    @Test func `what decoders hold counts as long as they live`() throws {
        let bytes = try bomb(.br)
        let proxy = try TestProxy(
            Origin(json(bytes, "Content-Encoding: br")), "memory: {total: 7200MiB, coding: 1%}",
            isLogged: true)
        let first = try proxy.connect(receiveBytes: 4 * 1024)
        first.send(request("/feed", []))
        #expect(try first.receiveHead()["Content-Encoding"] == nil)
        #expect(try proxy.metric(taken) > 16 << 20)
        let second = try proxy.fetch("/feed")
        #expect(second.carries(bytes) && second.coding == "br", "\(second)")
        #expect(try proxy.metric(taken) <= 72 << 20)
        first.reset()
        try waitUntil("all memory was given back") { try proxy.metric(taken) == 0 }
        #expect(try proxy.fetch("/feed").carries(zeros))
    }

    @Test func `a small body asks for no more than it needs, whatever its window`() throws {
        let body = Feed.bytes(version: 0, items: 40)
        let bytes = try ForeignTool.run("brotli", ["-q", "5", "-w", "24", "-c"], input: body)
        let proxy = try TestProxy(json(bytes, "Content-Encoding: br"), "memory: {total: 400MiB, coding: 1%}")
        let answer = try proxy.fetch("/feed")
        #expect(answer.carries(body))
        #expect(answer.coding == "identity")
    }

    @Test(arguments: [("9600MiB", 1), ("400MiB", 0)])
    func `a copy whose window finds no memory is not admitted, and the answer goes on`(
        memory: String, admissions: Int
    ) throws {
        let body = Noise.bytes(6 << 20, seed: 11)
        let bytes = try Codec.encode(body.span, .br)
        let proxy = try TestProxy(
            json(bytes, "Content-Encoding: br"), "memory: {total: \(memory), coding: 1%}")
        #expect(try proxy.fetch("/feed", "Accept-Encoding: br").carries(bytes))
        #expect(try proxy.metric("dictum_admissions_total") == admissions)
        #expect(try proxy.metric(taken) == 0)
    }

    @Test
    func `an answer in the coding that the client accepts passes where no memory is left to decode its copy`()
        throws
    {
        let (gate, bomb) = (Gate(), try Codec.encode(Noise.bytes(6 << 20, seed: 11).span, .gzip))
        let body = Feed.bytes(version: 0, items: 850)
        let small = try Codec.encode(body.span, .gzip)
        let origin = try Origin { request, connection in
            guard request.target != "/feed" else {
                return _ = connection.send(json(small, "Content-Encoding: gzip"))
            }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Encoding: gzip",
                    "Content-Length: \(bomb.count)"))
            connection.send(Array(bomb.prefix(1000)))
            gate.wait()
        }
        let proxy = try TestProxy(origin, "memory: {total: 100MiB, coding: 1%}")
        // The decoders of other clients take all the memory.
        var others: [WireSocket] = []
        while try proxy.metric(taken) < 1_000_000, others.count < 200 {
            let other = try proxy.connect()
            other.send(request("/other/\(others.count)", []))
            #expect(try other.receiveHead().status == 200)
            others.append(other)
        }
        let answer = try proxy.fetch("/feed", "Accept-Encoding: gzip")
        #expect(answer.status == 200)
        #expect(answer.carries(small))
        for _ in others { gate.open() }
    }

    @Test func `a copy ends at what the store has room for, not behind it`() throws {
        // Beyond 64 KiB at most 100 times its coded form, and so no bomb by its ratio.
        let body = Noise.bytes(64 << 10, seed: 5) + [UInt8](repeating: 0x20, count: 5 << 20)
        let bytes = try Codec.encode(body.span, .zstd)
        let proxy = try TestProxy(
            json(bytes, "Content-Encoding: zstd"),
            "memory: {total: 200MiB, store: 1%}")
        #expect(try proxy.fetch("/feed", "Accept-Encoding: zstd").carries(bytes))
        #expect(try proxy.metric("dictum_admissions_total") == 0)
        #expect(try proxy.metric(#"dictum_store_bytes{place="memory"}"#) <= 2 << 20)
    }
}
