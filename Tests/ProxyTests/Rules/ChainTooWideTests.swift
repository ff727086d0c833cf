internal import Dictionaries
internal import Proxy
internal import TestSupport
internal import Testing

/// The contract's rule `chain-too-wide`, from outside.
@Suite(.timeLimit(.minutes(10))) struct ChainTooWideTests {
    private static let settings = """
        explain: true
        routes: [{match: "/items/*", dictionary: {covers: pattern, versions: 64, delivery: in_band}}, {match: "/*"}]
        """

    /// Items that look alike, with an entity tag each.
    private func items() throws -> TestProxy {
        try TestProxy(
            Origin { request, connection in
                let number = Int(request.target.filter(\.isNumber)) ?? 0
                let tag = "ETag: \"\(number)\""
                if request["If-None-Match"] != nil {
                    connection.send(wire("HTTP/1.1 304 Not Modified", tag))
                    return
                }
                connection.send(json(Feed.bytes(version: number, items: 20), tag))
            }, Self.settings)
    }

    /// Has clients advertise digests that nobody knows, at so many URLs; the answers.
    private func advertise(_ proxy: TestProxy, urls: Int, count: Int = 100) throws -> [WireMessage] {
        let client = try proxy.connect()
        return try (0..<count).map { number in
            let unknown = available(Noise.bytes(64, seed: UInt64(number)))
            client.send(request("/items/\(number % urls)", ["Accept-Encoding: dcz", unknown]))
            return try client.receive()
        }
    }

    @Test func `a chain of 33 URLs of which nothing is found stops offering`() throws {
        let proxy = try items()
        #expect(try proxy.fetch("/items/1")["Use-As-Dictionary"] != nil)
        let answers = try advertise(proxy, urls: 33)
        // The 64th advertisement is the one that is enough.
        #expect(answers[0..<63].allSatisfy { $0["Use-As-Dictionary"] != nil })
        #expect(answers[63...].allSatisfy { $0["Use-As-Dictionary"] == nil })
        #expect(answers[62]["Dictum-Explain"]?.contains("reason=dictionary-unknown") == true)
        #expect(answers[63...].allSatisfy { $0["Dictum-Explain"]?.contains("reason=chain-too-wide") == true })
        let metrics = try proxy.metrics()
        #expect(metrics.contains("dictum_store_chains_too_wide 1"))
        #expect(metrics.contains("dictum_store_chain_stops_total 1"))
        #expect(metrics.contains(#"reason="chain-too-wide"} 37"#))
    }

    @Test func `a chain of 32 URLs goes on`() throws {
        let proxy = try items()
        _ = try proxy.fetch("/items/1")
        #expect(try advertise(proxy, urls: 32, count: 300).allSatisfy { $0["Use-As-Dictionary"] != nil })
    }

    @Test func `where a dictionary is found, deltas go on`() throws {
        let proxy = try items()
        let held = try proxy.fetch("/items/1").body
        _ = try advertise(proxy, urls: 40)
        for number in [1, 39, 77] {
            let answer = try proxy.fetch("/items/\(number)", over: held)
            #expect(answer.coding == "dcz")
            #expect(answer["Use-As-Dictionary"] == nil)
            #expect(try answer.carriesDecoded(Feed.bytes(version: number, items: 20), over: held))
        }
    }

    @Test func `nothing is admitted or offered meanwhile, on a 304 neither; other chains go on`() throws {
        let proxy = try items()
        _ = try proxy.fetch("/items/1")
        #expect(try proxy.fetch("/items/1", #"If-None-Match: "1""#)["Use-As-Dictionary"] != nil)
        _ = try advertise(proxy, urls: 40)
        let versions = proxy.server.context.store.statistics.versions
        let unchanged = try proxy.fetch("/items/1", #"If-None-Match: "1""#)
        #expect(unchanged.status == 304)
        #expect(unchanged["Use-As-Dictionary"] == nil)
        #expect(try proxy.fetch("/items/1")["Use-As-Dictionary"] == nil)
        #expect(try proxy.fetch("/items/500")["Use-As-Dictionary"] == nil)
        #expect(proxy.server.context.store.statistics.versions == versions)
        #expect(try proxy.fetch("/items/1", host: "other.test")["Use-As-Dictionary"] != nil)
        #expect(try proxy.fetch("/list")["Use-As-Dictionary"] != nil)
    }

    @Test func `a client without any dictionary coding is not told of it`() throws {
        let proxy = try items()
        _ = try proxy.fetch("/items/1")
        _ = try advertise(proxy, urls: 40)
        let answer = try proxy.fetch("/items/2", "Accept-Encoding: br")
        #expect(answer["Dictum-Explain"]?.contains("reason=no-dictionary-offered") == true)
        let able = try proxy.fetch("/items/2", "Accept-Encoding: br, dcb")
        #expect(able["Dictum-Explain"]?.contains("reason=chain-too-wide") == true)
    }

    @Test func `a wide chain whose deltas save nothing stops offering`() throws {
        var policy = ChurnPolicy()
        policy.sampleEvery = 1
        let origin = try Origin { request, connection in
            let number = UInt64(request.target.filter(\.isNumber)) ?? 0
            connection.send(json(Noise.bytes(2000, seed: number)))
        }
        let proxy = try TestProxy(origin, Self.settings, churn: policy)
        let held = try proxy.fetch("/items/0").body
        let store = proxy.server.context.store
        // A sample that comes while another is measured is dropped: how many requests it takes is open.
        var requests = 0
        while store.statistics.chainStops == 0, requests < 20_000 {
            _ = try proxy.fetch("/items/\(requests % 40)", over: held)
            requests += 1
        }
        #expect(requests >= 40)
        #expect(store.statistics.chainsTooWide == 1)
        #expect(try proxy.fetch("/items/2")["Use-As-Dictionary"] == nil)
    }

    @Test func `a wide chain whose deltas help goes on`() throws {
        var policy = ChurnPolicy()
        policy.sampleEvery = 1
        policy.samplesMin = 1
        let origin = try Origin { request, connection in
            connection.send(json(Feed.bytes(version: request.target.count, items: 20)))
        }
        let proxy = try TestProxy(origin, Self.settings, churn: policy)
        let held = try proxy.fetch("/items/0").body
        for number in 0..<300 {
            #expect(try proxy.fetch("/items/\(number % 40)", over: held).coding == "dcz")
        }
        #expect(try proxy.fetch("/items/2")["Use-As-Dictionary"] != nil)
        #expect(proxy.server.context.store.statistics.chainStops == 0)
    }
}
