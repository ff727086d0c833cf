internal import Dictionaries
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 850)
private let second = Feed.bytes(version: 1, items: 850)

/// What an upstream may send after `second`, by name.
private let returns: [String: [UInt8]] = [
    "the same": second,
    "another first byte": [UInt8(ascii: " ")] + second.dropFirst(),
    "another byte in the middle": Array(second.prefix(130_000)) + [UInt8(ascii: "~")]
        + second.dropFirst(130_001),
    "another last byte": Array(second.dropLast()) + [UInt8(ascii: " ")],
    "a byte less": Array(second.dropLast()),
    "a byte more": second + [UInt8(ascii: "\n")],
    "the beginning": Array(second.prefix(100_000)),
    "a beginning that goes on otherwise": Array(second.prefix(70_000)) + first.dropFirst(70_000),
]

/// An upstream that sends `first`, then `second`, then what it is told to, each as framed; `pauses` keeps the last one's
/// second half back for longer than a body is held.
private func upstream(_ last: [UInt8], isChunked: Bool, pauses: Bool) throws -> Origin {
    let calls = CallCounter()
    return try Origin { _, connection in
        let call = calls.next()
        let body = call == 1 ? first : call == 2 ? second : last
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"
        connection.send(wire("HTTP/1.1 200 OK", "Content-Type: application/json", framing))
        let half = body.count / 2
        connection.send(isChunked ? chunk(Array(body.prefix(half))) : Array(body.prefix(half)))
        if pauses, call > 2 { pauseBeyondTheHold() }
        connection.send(
            isChunked ? chunk(Array(body.dropFirst(half))) + chunk([]) : Array(body.dropFirst(half)))
    }
}

/// A body that is compared with the newest version while it arrives is what the upstream sent, wherever it differs.
@Suite(.timeLimit(.minutes(10))) struct RepeatedBodyTests {
    @Test(arguments: returns.keys.sorted(), [true, false])
    func `a body is exact whether it repeats the newest version or leaves it`(
        name: String, isChunked: Bool
    ) throws {
        let last = try #require(returns[name])
        for pauses in [false, true] {
            let proxy = try TestProxy(upstream(last, isChunked: isChunked, pauses: pauses))
            _ = try proxy.fetch("/feed")
            _ = try proxy.fetch("/feed")
            for coding in ["dcz", "dcb", "gzip", "identity"] {
                let answer = try proxy.fetch("/feed", over: first, accept: coding)
                #expect(answer.isWhole)
                #expect(
                    try answer.carriesDecoded(last, over: first),
                    "\(coding), \(pauses ? "paused" : "at once")")
            }
            #expect(try proxy.fetch("/feed", over: last, accept: "dcz").carriesDecoded(last, over: last))
        }
    }

    @Test(arguments: [nil, 0, 700, first.count - 1])
    func `a held body shares the memory of the one that it repeats, and is collected once it differs`(
        difference: Int?
    ) {
        let budget = MemoryBudget(bytes: 1 << 20)
        let former = Body(first)
        var now = first
        if let difference { now[difference] ^= 1 }
        var held = HeldBody(
            expecting: now.count, bytesMax: 1 << 20, memory: MemoryShare(of: budget), repeating: former)
        for start in stride(from: 0, to: now.count, by: 500) {
            held.append(now.span.extracting(start..<min(start + 500, now.count)))
            #expect(held.count == min(start + 500, now.count))
        }
        #expect(held.bytes == now)
        #expect(former.hasMemory(of: held.bytes) == (difference == nil))
        #expect(budget.takenBytes == now.count)
    }

    @Test(arguments: [true, false])
    func `the beginning of the newest version is never sent for the whole`(isChunked: Bool) throws {
        let calls = CallCounter()
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(second.count)"
        let proxy = try TestProxy(
            Origin { _, connection in
                connection.send(wire("HTTP/1.1 200 OK", "Content-Type: application/json", framing))
                let piece = Array(second.prefix(200_000))
                let rest = Array(second.dropFirst(200_000))
                connection.send(isChunked ? chunk(piece) : piece)
                guard calls.next() < 3 else { return connection.finish() }
                connection.send(isChunked ? chunk(rest) + chunk([]) : rest)
            })
        for _ in 0..<2 { _ = try proxy.fetch("/feed") }
        #expect(try proxy.fetch("/feed", over: second).status == 502)
        // Nothing stays taken.
        #expect(proxy.server.context.compressionMemory.takenBytes == 0)
    }
}
