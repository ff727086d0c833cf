internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy
@testable import Storage

private let first = Feed.bytes(version: 0, items: 850)
private let second = Feed.bytes(version: 1, items: 850)
private let third = Feed.bytes(version: 2, items: 850)

extension TestProxy {
    /// Sends a request over a dictionary from each of many clients at once, and returns the responses in order.
    fileprivate func herd(_ dictionaries: [[UInt8]], accept: (Int) -> String) throws -> [WireMessage] {
        let clients = try dictionaries.map { _ in try connect() }
        let requests = dictionaries.enumerated().map {
            request("/feed", ["Accept-Encoding: \(accept($0.offset))", available($0.element)])
        }
        let answers = Guarded([WireMessage?](repeating: nil, count: clients.count))
        let done = clients.map { _ in Gate() }
        for (index, client) in clients.enumerated() {
            Thread.detachNewThread {
                client.send(requests[index])
                let answer = try? client.receive()
                answers.withLock { $0[index] = answer }
                done[index].open()
            }
        }
        for gate in done { gate.wait(seconds: 50) }
        return try answers.withLock { $0 }.map { try #require($0) }
    }

    fileprivate var cache: DeltaCacheStatistics { server.context.deltas.statistics.cache }
}

@Suite(.timeLimit(.minutes(40))) struct DeltaCacheRuleTests {
    @Test(arguments: [ContentCoding.dcz, .dcb], [true, false])
    func `64 clients that want the same delta at once have it compressed once`(
        coding: ContentCoding, isNew: Bool
    ) throws {
        let proxy = try TestProxy(Origin([json(first), json(second)]))
        _ = try proxy.fetch("/feed")
        // If the body is new, each response has to be hashed first.
        if !isNew { _ = try proxy.fetch("/feed") }
        let answers = try proxy.herd(Array(repeating: first, count: 64)) { _ in coding.token }
        for answer in answers {
            #expect(answer.coding == coding.token)
            #expect(try answer.carriesDecoded(second, over: first))
        }
        #expect(proxy.cache.misses == 1)
        #expect(proxy.cache.hits + proxy.cache.shared == 63)
        let requests = { (reason: String) in
            try proxy.metric(#"dictum_requests_total{route="/*",coding="\#(coding)",reason="\#(reason)"}"#)
        }
        #expect(try requests("delta") == 1)
        #expect(try requests("delta-cached") == 63)
    }

    @Test(arguments: [("private", "delta"), ("public", "delta-cached")])
    func `nobody learns that another has got the same personal body`(control: String, reason: String) throws {
        let personal = json(second, "Cache-Control: \(control), max-age=60")
        let proxy = try TestProxy(
            Origin([json(first, "Cache-Control: public, max-age=60"), personal, personal]), "explain: true")
        _ = try proxy.fetch("/feed")
        _ = try proxy.fetch("/feed", over: first, "Cookie: session=ann")
        let answer = try proxy.fetch("/feed", over: first, "Cookie: session=bob")
        #expect(answer["Dictum-Explain"]?.hasPrefix("dcz;reason=\(reason);") == true)
        #expect(answer["Dictum-Explain"]?.contains("micros=") == (control == "public"))
        #expect(proxy.cache.hits == 1)
    }

    @Test func `64 clients on 16 versions at once: every body exact, each delta compressed once`() throws {
        let versions = (0..<16).map { Feed.bytes(version: $0, items: 400) }
        let newest = Feed.bytes(version: 16, items: 400)
        let proxy = try TestProxy(
            Origin(versions.map { json($0) } + [json(newest)]),
            #"routes: [{match: "/*", dictionary: {delivery: in_band}}]"#)
        for _ in versions { _ = try proxy.fetch("/feed") }
        let held = (0..<64).map { versions[$0 % 16] }
        // Each version in both codings, twice.
        let answers = try proxy.herd(held) { $0 < 32 ? "dcz" : "dcb" }
        var seen: Set<[UInt8]> = []
        for (answer, dictionary) in zip(answers, held) {
            #expect(answer.isWhole)
            // The codings' own tools judge each distinct delta.
            guard seen.insert(answer.body).inserted else { continue }
            let files = ["dictionary": dictionary]
            let decoded =
                answer.coding == "dcz"
                ? try ForeignTool.run(
                    "zstd", ["-dcq", "--long=23", "-D", "dictionary"], input: answer.body, files: files)
                : try ForeignTool.run(
                    "brotli", ["-dc", "-D", "dictionary"], input: Array(answer.body.dropFirst(36)),
                    files: files)
            #expect(decoded == newest)
        }
        #expect(seen.count == 32)
        #expect(proxy.cache.misses == 32)
        #expect(proxy.cache.hits + proxy.cache.shared == 32)
    }

    @Test(arguments: [40, 850, 4_000])
    func `a delta that was made is sent again, and says so`(items: Int) throws {
        let (old, new) = (Feed.bytes(version: 0, items: items), Feed.bytes(version: 1, items: items))
        let proxy = try TestProxy(Origin([json(old), json(new)]), "explain: true")
        _ = try proxy.fetch("/feed")
        let answers = try (0..<3).map { _ in try proxy.fetch("/feed", over: old) }
        let reasons = answers.map { $0["Dictum-Explain"]?.split(separator: ";").dropFirst().first }
        #expect(reasons == ["reason=delta", "reason=delta-cached", "reason=delta-cached"])
        for answer in answers { #expect(try answer.carriesDecoded(new, over: old)) }
        #expect(answers[1].body == answers[0].body)
        #expect(answers.allSatisfy { $0["CDN-Cache-Control"] == "no-store" })
        #expect(proxy.cache.misses == 1)
    }

    @Test func `a delta of a former body is never sent for another`() throws {
        let proxy = try TestProxy(Origin([json(first), json(second), json(third), json(second)]))
        _ = try proxy.fetch("/feed")
        for body in [second, third, second, second] {
            #expect(try proxy.fetch("/feed", over: first).carriesDecoded(body, over: first))
        }
        #expect(proxy.cache.misses == 2)
        #expect(proxy.cache.hits == 2)
    }

    @Test func `an answer whose digest nobody needs is not hashed for the cache`() throws {
        let proxy = try TestProxy(Origin([json(first), json(second, #"ETag: "2""#)]))
        _ = try proxy.fetch("/feed")
        for _ in 0..<2 {
            let answer = try proxy.fetch("/feed", over: first, method: "POST", body: [])
            #expect(answer.coding == "dcz")
            #expect(try answer.carriesDecoded(second, over: first))
        }
        #expect(proxy.cache == DeltaCacheStatistics())
    }

    @Test func `the budget of the cache is a setting`() throws {
        let proxy = try TestProxy(
            Origin([json(first), json(second)]), "memory: {deltas: 0%, prepared: 0%}")
        _ = try proxy.fetch("/feed")
        for _ in 0..<3 { #expect(try proxy.fetch("/feed", over: first).carriesDecoded(second, over: first)) }
        #expect(proxy.cache.misses == 3)
        #expect(proxy.cache.bytes == 0)
        #expect(try proxy.metric("dictum_prepared_dictionary_bytes") == 0)
    }

    // MARK: Waiting requests

    @Test func `a client that leaves takes nothing from those who wait for the same delta`() throws {
        let proxy = try TestProxy(Origin([json(first), json(second)]))
        for _ in 0..<2 { _ = try proxy.fetch("/feed") }
        let gates = try proxy.blockPool(bytes: 1)
        let wanted = request("/feed", ["Accept-Encoding: dcz", available(first)])
        var leader: WireSocket? = try proxy.connect()
        leader?.send(wanted)
        try proxy.untilDeltas { $0.cache.misses == 1 }
        let waiters = try (0..<3).map { _ in try proxy.connect() }
        for waiter in waiters { waiter.send(wanted) }
        try proxy.untilDeltas { $0.cache.shared == 3 }
        leader?.resetOnEnd()
        leader = nil
        waiters[0].resetOnEnd()
        // The leader's end is known to the proxy before the delta is made.
        try waitUntil("the response of the client that went is counted") {
            try proxy.metric("dictum_aborted_responses_total") > 0
        }
        for gate in gates { gate.open() }
        for waiter in waiters[1...] {
            let answer = try waiter.receive()
            #expect(answer.coding == "dcz")
            #expect(try answer.carriesDecoded(second, over: first))
        }
        #expect(proxy.cache.misses == 1)
    }

    @Test func `those who wait take no places in the pool`() throws {
        let proxy = try TestProxy(Origin([json(first), json(second)]))
        for _ in 0..<2 { _ = try proxy.fetch("/feed") }
        // Each queue has room for exactly one such job.
        let gates = try proxy.blockPool(bytes: (16 << 20) - 700_000)
        let wanted = request("/feed", ["Accept-Encoding: dcz", available(first)])
        let clients = try (0..<16).map { _ in try proxy.connect() }
        for client in clients { client.send(wanted) }
        try proxy.untilDeltas { $0.cache.misses + $0.cache.shared == 16 }
        for gate in gates { gate.open() }
        for client in clients { #expect(try client.receive().coding == "dcz") }
        #expect(try proxy.metric("dictum_compression_busy_total") == 0)
    }

    // MARK: The strongest setting

    /// Fetches as clients of a proxy that is trusted.
    private func fetch(_ proxy: TestProxy, from addresses: [String]) throws -> [WireMessage] {
        try addresses.map {
            try proxy.fetch("/feed", over: first, "X-Forwarded-For: \($0)", "X-Forwarded-Proto: https")
        }
    }

    @Test func `a delta that three addresses ask for is made stronger, and stays exact`() throws {
        let proxy = try TestProxy(Origin([json(first), json(second)]))
        _ = try proxy.fetch("/feed")
        let live = try fetch(proxy, from: ["192.0.2.1", "192.0.2.1", "192.0.2.2", "10.9.9.9, 192.0.2.1"])
        #expect(
            proxy.server.context.deltas.statistics.passes == [:],
            "two addresses only: what a client itself claims stands on the left")
        _ = try fetch(proxy, from: ["2001:db8::1"])
        try proxy.untilDeltas { $0.passes == [.replaced: 1] }
        let strongest = try fetch(proxy, from: ["192.0.2.4"])[0]
        #expect(strongest.body.count < live[0].body.count)
        #expect(try strongest.carriesDecoded(second, over: first))
        _ = try fetch(proxy, from: ["192.0.2.5", "192.0.2.6", "192.0.2.7", "192.0.2.8"])
        #expect(try proxy.metric(#"dictum_strongest_passes_total{result="replaced"}"#) == 1)
        #expect(proxy.server.context.deltas.statistics.passes == [.replaced: 1], "once")
    }

    @Test func `forwarding fields of a peer that is not trusted make no addresses`() throws {
        let proxy = try TestProxy(
            Origin([json(first), json(second)]), "trusted_proxies: []\nsecure_transport: assume")
        _ = try proxy.fetch("/feed")
        _ = try fetch(proxy, from: (1...8).map { "192.0.2.\($0)" })
        #expect(proxy.server.context.deltas.statistics.passes == [:])
        #expect(proxy.cache.hits == 7)
    }

    @Test func `a body that is no longer current is not made stronger`() throws {
        let bodies = [json(first), json(second), json(third)]
        let current = Guarded(0)
        let proxy = try TestProxy(
            Origin { _, connection in connection.send(bodies[current.withLock { $0 }]) })
        _ = try proxy.fetch("/feed")
        current.withLock { $0 = 1 }
        _ = try fetch(proxy, from: ["192.0.2.1", "192.0.2.2"])
        let (begun, gate) = (Gate(), Gate())
        proxy.server.context.deltas.strengthen(
            StrongestPass(
                key: DeltaKey(
                    body: Digest(of: first.span), dictionary: Digest(of: first.span), coding: .dcz,
                    scope: .public),
                inputs: {
                    begun.open()
                    gate.wait()
                    return nil
                }, withMemory: { _, _ in false }, onInexact: {}))
        begun.wait()
        _ = try fetch(proxy, from: ["192.0.2.3"])
        // It changes while the pass waits for its turn.
        current.withLock { $0 = 2 }
        _ = try proxy.fetch("/feed")
        gate.open()
        try proxy.untilDeltas { $0.passes.values.reduce(0, +) == 2 }
        #expect(proxy.server.context.deltas.statistics.passes == [.stale: 2])
    }
}
