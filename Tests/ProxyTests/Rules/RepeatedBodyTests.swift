internal import Dictionaries
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 850)
private let second = Feed.bytes(version: 1, items: 850)

/// The third body that an upstream sends, after `first` and `second`; each has the name of its difference from `second`.
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

/// An upstream that sends `first`, then `second`, then `last`; `pauses` keeps the last one's second half back
/// for longer than a body is held.
private func upstream(_ last: [UInt8], isChunked: Bool, _ cacheControl: String, pauses: Bool = false) throws
    -> Origin
{
    let calls = CallCounter()
    return try Origin { _, connection in
        let call = calls.next()
        let body = call == 1 ? first : call == 2 ? second : last
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"
        connection.send(
            wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: \(cacheControl)", framing
            ))
        let (beginning, rest) = (Array(body.prefix(body.count / 2)), Array(body.dropFirst(body.count / 2)))
        connection.send(isChunked ? chunk(beginning) : beginning)
        if pauses, call > 2 { pauseBeyondTheHold() }
        connection.send(isChunked ? chunk(rest) + chunk([]) : rest)
    }
}

/// A body that is compared with the newest version while it arrives is what the upstream sent, wherever it differs.
///
/// `BusyTests` show that it is compared.
@Suite(.timeLimit(.minutes(40))) struct RepeatedBodyTests {
    @Test(arguments: returns.keys.sorted(), ["identity", "dcz"])
    func `a body is exact whether it repeats the newest version or leaves it`(
        name: String, coding: String
    ) throws {
        let last = try #require(returns[name])
        for (isChunked, cacheControl, pauses) in [
            (false, "public, max-age=60", false), (false, "public, max-age=60", true),
            (false, "no-cache", false),
            (true, "public, max-age=60", false),
        ] {
            let proxy = try TestProxy(upstream(last, isChunked: isChunked, cacheControl, pauses: pauses))
            for _ in 0..<2 { _ = try proxy.fetch("/feed") }
            for _ in 0..<2 {
                let answer = try proxy.fetch("/feed", over: first, accept: coding)
                #expect(answer.coding == coding, "\(isChunked) \(cacheControl) \(pauses)")
                #expect(answer.isWhole)
                #expect(
                    try answer.carriesDecoded(last, over: first), "\(isChunked) \(cacheControl) \(pauses)")
            }
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
        #expect((held.former != nil) == (difference == nil))
        #expect(budget.takenBytes == now.count)
    }

    @Test func `a beginning that is collected is that of the body, and goes on as the body does`() {
        var held = HeldBody(
            expecting: 10, bytesMax: 1 << 20, memory: MemoryShare(of: MemoryBudget(bytes: 0)),
            repeating: Body(Array("0123456789".utf8)))
        held.append("0123".utf8.span)
        #expect(held.count == 4)
        held.collect()
        #expect(held.bytes == Array("0123".utf8))
        held.append("4567".utf8.span)
        held.append("89".utf8.span)
        #expect(held.bytes == Array("0123456789".utf8))
        #expect(held.former == nil)
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
        // On a busy machine the hold may end first: then the response breaks off.
        let answer = try? proxy.fetch("/feed", over: second)
        #expect(answer.map { $0.status == 502 || !$0.isWhole } ?? true)
        try waitUntil("nothing is taken") { proxy.server.context.compressionMemory.takenBytes == 0 }
    }
}
