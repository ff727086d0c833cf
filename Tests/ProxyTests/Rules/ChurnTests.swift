internal import Dictionaries
internal import Proxy
internal import TestSupport
internal import Testing

/// The contract's rules of churn, from outside.
@Suite(.timeLimit(.minutes(10))) struct ChurnTests {
    /// An origin whose body changes with every request, but for paths that say which version they want.
    private func changing() throws -> Origin {
        let next = Guarded(0)
        return try Origin { request, connection in
            let number = next.withLock { next in
                next += 1
                return next
            }
            let wanted = request["X-Version"].flatMap { Int($0) }
            let body = Feed.bytes(version: wanted ?? number, items: 20)
            let fields = request["X-ETag"].map { ["ETag: \($0)"] } ?? []
            guard request["X-Slow"] != nil else {
                connection.send(json(body, (fields + ["X-Number: \(number)"]).joined(separator: "\r\n")))
                return
            }
            let head = ["HTTP/1.1 200 OK", "Content-Type: application/json"] + fields
            connection.send(
                wire((head + ["Content-Length: \(body.count)"]).joined(separator: "\r\n")))
            connection.send(Array(body.prefix(1000)))
            pauseBeyondTheHold()
            connection.send(Array(body.dropFirst(1000)))
        }
    }

    /// A proxy whose first interval is an hour, so that no test depends on how long it takes.
    private func proxy(_ settings: String = "", versions: Int = 2, delivery: String = "in_band") throws
        -> TestProxy
    {
        var policy = ChurnPolicy()
        policy.firstIntervalSeconds = 3600
        policy.intervalSecondsMax = 3600
        return try TestProxy(
            changing(),
            "explain: true\n" + settings
                + #"routes: [{match: "/*", dictionary: {versions: \#(versions), delivery: \#(delivery)}}]"#,
            churn: policy)
    }

    /// Has clients advertise a version that was evicted, as often as it takes; returns the newest that is in the chain.
    private func churn(_ proxy: TestProxy) throws -> [UInt8] {
        // Not the first: a Link may have named that one, and then it stays.
        let opening = try (0..<4).map { _ in try proxy.fetch("/feed").body }
        var newest = opening[3]
        let client = try proxy.connect()
        for _ in 0..<210 {
            client.send(request("/feed", ["Accept-Encoding: dcz", available(opening[1])]))
            let answer = try client.receive()
            if answer["Use-As-Dictionary"] != nil { newest = answer.body }
        }
        return newest
    }

    @Test func `while clients return with evicted versions, new bodies are not admitted, nor offered`() throws
    {
        let proxy = try proxy()
        #expect(try proxy.metrics().contains("dictum_store_chains_slowed 0"))
        _ = try churn(proxy)
        let metrics = try proxy.metrics()
        #expect(metrics.contains("dictum_store_chains_slowed 1"))
        #expect(metrics.contains(#"dictum_advertised_dictionaries_total{result="evicted"} 210"#))
        let admitted = proxy.server.context.store.statistics.admissions
        for _ in 0..<50 { #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] == nil) }
        #expect(proxy.server.context.store.statistics.admissions == admitted)
        #expect(try proxy.metrics().contains("dictum_admissions_deferred_total \(50 + deferred(metrics))"))
    }

    private func deferred(_ metrics: String) -> Int {
        let line = metrics.split(separator: "\n").first { $0.hasPrefix("dictum_admissions_deferred_total ") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? -1
    }

    @Test(arguments: ["dcz", "dcb"])
    func `answers between admissions are deltas over what the client holds`(coding: String) throws {
        let proxy = try proxy()
        let held = try churn(proxy)
        for number in 1000..<1020 {
            let answer = try proxy.fetch("/feed", over: held, "X-Version: \(number)", accept: coding)
            #expect(answer.coding == coding)
            #expect(answer["Use-As-Dictionary"] == nil)
            #expect(try answer.carriesDecoded(Feed.bytes(version: number, items: 20), over: held))
        }
    }

    @Test func `a body that is in the chain is offered whatever the interval`() throws {
        let proxy = try proxy()
        let store = proxy.server.context.store
        _ = try proxy.fetch("/feed", "X-Version: 7001")
        let client = try proxy.connect()
        let evicted = Feed.bytes(version: 7000, items: 20)
        // The chain of /feed slows down by a version that it had.
        for version in [7000, 7001, 7002] { _ = try proxy.fetch("/feed", "X-Version: \(version)") }
        for _ in 0..<400 where store.statistics.chainsSlowed == 0 {
            client.send(request("/feed", ["Accept-Encoding: dcz", available(evicted), "X-Version: 7002"]))
            #expect(try client.receive()["Use-As-Dictionary"] != nil)
        }
        #expect(store.statistics.chainsSlowed == 1)
        _ = try proxy.fetch("/feed", "X-Version: 7003")
        let admitted = store.statistics.admissions
        #expect(try proxy.fetch("/feed", "X-Version: 7004")["Use-As-Dictionary"] == nil)
        for version in [7003, 7002, 7003] {
            #expect(try proxy.fetch("/feed", "X-Version: \(version)")["Use-As-Dictionary"] != nil)
        }
        #expect(store.statistics.admissions == admitted)
    }

    @Test func `a body that goes through piece by piece is offered in its turn only, or by its tag`() throws {
        let proxy = try proxy()
        let store = proxy.server.context.store
        let newest = try churn(proxy)
        let admitted = store.statistics.admissions
        #expect(try proxy.fetch("/feed", "X-Slow: 1", "X-Version: 8001")["Use-As-Dictionary"] == nil)
        let other = try proxy.fetch("/feed", "X-Slow: 1", #"X-ETag: "b""#, "X-Version: 8002")
        #expect(other["Use-As-Dictionary"] == nil)
        // The tag that the proxy gave the newest version, which had none.
        let version = try #require((0..<400).first { Feed.bytes(version: $0, items: 20) == newest })
        let tag = #"X-ETag: "\#(Digest(of: newest.span).base64URL.prefix(22))""#
        let same = try proxy.fetch("/feed", "X-Slow: 1", tag, "X-Version: \(version)")
        #expect(same["Use-As-Dictionary"] != nil)
        #expect(same.carries(newest))
        #expect(store.statistics.admissions == admitted)
    }

    @Test(arguments: [[], ["X-Slow: 1"]])
    func `a Link to a version that is stored goes out between admissions, too`(fields: [String]) throws {
        let proxy = try proxy(delivery: "link")
        _ = try churn(proxy)
        let admitted = proxy.server.context.store.statistics.admissions
        for _ in 0..<5 {
            let answer = try proxy.fetch("/feed", fields.first ?? "Accept: */*")
            #expect(answer["Link"]?.contains("compression-dictionary") == true)
            #expect(answer["Use-As-Dictionary"] == nil)
        }
        #expect(proxy.server.context.store.statistics.admissions == admitted)
    }

    @Test func `other chains are admitted to as before`() throws {
        let proxy = try proxy()
        _ = try churn(proxy)
        for _ in 0..<5 { #expect(try proxy.fetch("/calm")["Use-As-Dictionary"] != nil) }
        #expect(try proxy.fetch("/feed", host: "other.test")["Use-As-Dictionary"] != nil)
    }

    @Test func `digests that nobody knows hold nothing back`() throws {
        let proxy = try proxy()
        let client = try proxy.connect()
        for number in 0..<400 {
            client.send(request("/feed", [available(Noise.bytes(64, seed: UInt64(number)))]))
            #expect(try client.receive()["Use-As-Dictionary"] != nil)
        }
        #expect(try proxy.metrics().contains("dictum_store_chains_slowed 0"))
    }
}
