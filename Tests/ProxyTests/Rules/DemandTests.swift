internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let small = Feed.bytes(version: 0, items: 40)
private let large = Feed.bytes(version: 0, items: 850)

@Suite(.timeLimit(.minutes(40))) struct DemandTests {
    @Test func `a flood of odd paths leaves an established chain, whose deltas go on`() throws {
        let version = Guarded(0)
        let origin = try Origin { request, connection in
            let isFeed = request.target == "/feed"
            connection.send(
                json(
                    isFeed
                        ? Feed.bytes(version: version.withLock { $0 }, items: 40) : Array(request.target.utf8)
                ))
        }
        let proxy = try TestProxy(
            origin,
            "compression: {min_size: 1}\nstore: {max_chains: 100, max_size: 4MiB}\nmemory: {total: 100MiB, store: 1%}"
        )
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed", over: small).coding == "dcz")
        let client = try proxy.connect()
        for number in 0..<4000 {
            client.send(request("/odd/\(number)", []))
            let answer = try client.receive()
            #expect(answer.carries([UInt8]("/odd/\(number)".utf8)))
        }
        let metrics = try proxy.metrics()
        #expect(metrics.contains("\ndictum_store_chains 21\n"))
        #expect(metrics.contains("\ndictum_store_probation_chains 20\n"))
        #expect(metrics.contains("dictum_store_evictions_total{reason=\"probation\"} 3980\n"))
        #expect(metrics.contains("dictum_store_evictions_total{reason=\"chains\"} 0\n"))
        version.withLock { $0 = 1 }
        let after = try proxy.fetch("/feed", over: small)
        #expect(after.coding == "dcz")
        #expect(try after.carriesDecoded(Feed.bytes(version: 1, items: 40), over: small))
    }

    @Test func `a written route's chains are nobody's probation`() throws {
        let proxy = try TestProxy(Origin(json(small)), "routes: [{match: \"/*\"}]")
        _ = try proxy.fetch("/feed")
        let metrics = try proxy.metrics()
        #expect(metrics.contains("\ndictum_store_chains 1\n"))
        #expect(metrics.contains("\ndictum_store_probation_chains 0\n"))
    }

    @Test(arguments: [(2, 1), (3, 0)])
    func `the third request of a path ends its probation`(requests: Int, inProbation: Int) throws {
        let proxy = try TestProxy(json(small))
        for _ in 0..<requests { _ = try proxy.fetch("/feed") }
        #expect(try proxy.metrics().contains("\ndictum_store_probation_chains \(inProbation)\n"))
    }

    @Test func `beyond write_rate nothing is offered, but answers are deltas all the same`() throws {
        // The bucket holds 4 KiB, so the first response leaves it in debt for minutes.
        let proxy = try TestProxy(
            Origin([json(large), json(Feed.bytes(version: 1, items: 850))]),
            "store: {write_rate: 4KiB}\nexplain: true\nroutes: [{match: \"/*\", dictionary: {delivery: in_band}}]"
        )
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] != nil)
        let refused = try proxy.fetch("/feed")
        #expect(refused["Use-As-Dictionary"] == nil)
        #expect(refused["Dictum-Explain"]?.hasSuffix(";not-admitted=rate") == true)
        let second = try proxy.fetch("/feed", over: large)
        #expect(second["Use-As-Dictionary"] == nil)
        #expect(second.coding == "dcz")
        #expect(try second.carriesDecoded(Feed.bytes(version: 1, items: 850), over: large))
        #expect(try proxy.metrics().contains("dictum_admission_refusals_total{reason=\"rate\"} 1\n"))
    }

    @Test func `what is in the chain is offered without writing, whatever the rate`() throws {
        let proxy = try TestProxy(json(large), "store: {write_rate: 4KiB}")
        for _ in 0..<20 { #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] != nil) }
        let metrics = try proxy.metrics()
        #expect(metrics.contains("dictum_admission_refusals_total{reason=\"rate\"} 0\n"))
        #expect(metrics.contains("\ndictum_store_versions 1\n"))
    }

    @Test func `beyond memory.store bodies that go through have no slot and no offer, and are whole`() throws
    {
        let (gate, second) = (Gate(), Gate())
        let origin = try Origin { request, connection in
            let body = Noise.bytes(700_000, seed: UInt64(request.target.utf8.count))
            connection.send(
                wire("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 700000"))
            connection.send(Array(body.prefix(1000)))
            // The client has the head by then, so that nothing is held any more.
            (request.target == "/1" ? gate : second).wait()
            connection.send(Array(body.dropFirst(1000)))
        }
        let proxy = try TestProxy(origin, "memory: {total: 100MiB, store: 1%}\nroutes: [{match: \"/*\"}]")
        let first = try proxy.connect()
        first.send(request("/1", []))
        let firstHead = try first.receiveHead()
        #expect(firstHead["Use-As-Dictionary"] != nil)
        let other = try proxy.connect()
        other.send(request("/22", []))
        var refused = try other.receiveHead()
        #expect(refused["Use-As-Dictionary"] == nil)
        second.open()
        other.receiveBody(&refused)
        #expect(refused.carries(Noise.bytes(700_000, seed: 3)))
        let third = try proxy.connect()
        third.send(request("/1", []))
        let thirdHead = try third.receiveHead()
        #expect(thirdHead["Use-As-Dictionary"] == nil, "its URL is being copied")
        let metrics = try proxy.metrics()
        #expect(metrics.contains("dictum_admission_refusals_total{reason=\"memory\"} 1\n"))
        #expect(metrics.contains("dictum_admission_refusals_total{reason=\"copying\"} 1\n"))
        gate.open()
        gate.open()
    }

    @Test func `a hundred clients that get the same new version at once are all offered it, from one copy`()
        throws
    {
        let proxy = try TestProxy(json(small))
        let clients = try (0..<100).map { _ in try proxy.connect() }
        for client in clients { client.send(request("/feed", [])) }
        for client in clients {
            let answer = try client.receive()
            #expect(answer["Use-As-Dictionary"] == #"match="/feed""#)
        }
        let metrics = try proxy.metrics()
        #expect(metrics.contains("\ndictum_store_versions 1\n"))
        #expect(!metrics.contains(/dictum_admission_refusals_total\{[^}]*\} [1-9]/))
    }

    @Test(arguments: ["br", "dcb"])
    func `an encoder of a whole body beyond memory.coding is not made either`(coding: String) throws {
        let changed = Array(large.dropLast()) + [0x20]
        let proxy = try TestProxy(
            Origin([json(large), json(changed)]), "memory: {total: 100MiB, coding: 1%}\nexplain: true")
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: large, accept: coding)
        #expect(answer["Dictum-Explain"]?.contains("reason=busy") == true)
        #expect(answer.carries(changed))
        #expect(try proxy.metric("dictum_compression_busy_total") >= 1)
    }

    @Test func `an encoder beyond memory.coding is not made: the answer goes out plain and says busy`()
        throws
    {
        let gate = Gate()
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"))
            connection.send(chunk(Array(large.prefix(1000))))
            pauseBeyondTheHold()
            connection.send(chunk(Array(large.dropFirst(1000))) + chunk([]))
            gate.open()
        }
        let proxy = try TestProxy(origin, "memory: {total: 100MiB, coding: 1%}\nexplain: true")
        let answer = try proxy.fetch("/feed", "Accept-Encoding: br")
        #expect(answer["Dictum-Explain"]?.contains("reason=busy") == true)
        #expect(answer.carries(large))
    }
}
