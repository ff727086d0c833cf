internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)

/// The reported saving of a delta is relative to the response that its client would get without a dictionary.
@Suite(.timeLimit(.minutes(40))) struct GainTests {
    @Test func `the gain of a delta is counted against the best coding that the client accepts`() throws {
        let proxy = try TestProxy(Origin([json(first), json(second)]), "explain: true")
        _ = try proxy.fetch("/feed")
        let delta = try proxy.fetch("/feed", over: first, accept: "dcz, gzip, br;q=0")
        #expect(delta.coding == "dcz")
        try waitUntil("the first delta was sampled") {
            try proxy.metric(#"dictum_gain_samples_total{route="/*"}"#) == 1
        }
        let gzip = try Codec.encode(second.span, .gzip)
        #expect(try proxy.metric(#"dictum_gain_bytes_total{route="/*",stage="delta"}"#) == delta.body.count)
        #expect(try proxy.metric(#"dictum_gain_bytes_total{route="/*",stage="plain"}"#) == gzip.count)
        #expect(try proxy.metric(#"dictum_gain_bytes_total{route="/*",stage="body"}"#) == second.count)
        let percent = (gzip.count - delta.body.count) * 100 / gzip.count
        try waitUntil("the delta is counted") {
            try proxy.metric(#"dictum_delta_body_bytes_total{route="/*",stage="after"}"#) == delta.body.count
        }
        // With the same codings, because this delta may be sampled before its response is explained.
        let explained =
            try proxy.fetch("/feed", over: first, accept: "dcz, gzip, br;q=0")["Dictum-Explain"] ?? "-"
        #expect(explained.hasSuffix(";route-gain=\(percent)%"), "\(explained)")
    }

    @Test func `a delta of a body of more than 1 MiB is sampled`() throws {
        let old = Noise.bytes(1 << 20, seed: 1)
        let proxy = try TestProxy(Origin([json(old), json(old + [1])]))
        _ = try proxy.fetch("/feed")
        // A body that does not come in time goes out piece by piece.
        try waitUntil("a delta was sampled") {
            _ = try proxy.fetch("/feed", over: old)
            return try proxy.metric(#"dictum_gain_samples_total{route="/*"}"#) > 0
        }
    }

    @Test(arguments: [[], [#"ETag: "v1""#]])
    func `a delta that nobody gets, because the response becomes a 304, is not sampled`(fields: [String])
        throws
    {
        let (field, third) = (fields.first ?? "X-A: b", Feed.bytes(version: 9, items: 60))
        let answers = [json(first), json(second, field), json(second, field), json(third)]
        let proxy = try TestProxy(Origin(answers))
        _ = try proxy.fetch("/feed")
        let tag = try #require(try proxy.fetch("/feed")["ETag"])
        #expect(try proxy.fetch("/feed", over: first, "If-None-Match: \(tag)").status == 304)
        let made = proxy.server.context.deltas.statistics.cache.misses
        #expect(made == (fields.isEmpty ? 1 : 0), "no delta is made where the upstream's tag says enough")
        let delta = try proxy.fetch("/feed", over: first)
        #expect(delta.coding == "dcz")
        try waitUntil("a delta was sampled") {
            try proxy.metric(#"dictum_gain_samples_total{route="/*"}"#) == 1
        }
        #expect(try proxy.metric(#"dictum_gain_bytes_total{route="/*",stage="delta"}"#) == delta.body.count)
    }

    @Test func `the first ten deltas of each route are sampled, then about one in 64 in no fixed rhythm`()
        throws
    {
        let worker = BackgroundWorker()
        let sampler = GainSampler(
            worker: worker, memory: MemoryBudget(bytes: 1 << 30), report: { _ in })
        var turns: Set<Bool> = []
        try waitUntil("ten were sampled, with the pauses between them") {
            guard worker.finish() else { return false }
            guard sampler.total(of: "/a")?.sampled.count ?? 0 < 10 else { return true }
            turns.insert(sampler.takeTurn(of: "/a"))
            sampler.submit(
                .init(
                    route: "/a", body: Array(first.prefix(200)), deltaBytes: 100, codings: [.gzip],
                    source: .sameURL),
                levels: CodingLevels())
            return false
        }
        #expect(turns == [true])
        #expect(sampler.takeTurn(of: "/b"), "the first ten of another route, too")
        let later = (0..<64_000).filter { _ in sampler.takeTurn(of: "/a") }
        // The mean of a thousand gaps of 1 to 127 has a deviation of 1.2: this is beyond twelve of it.
        #expect(later.count > 800 && later.count < 1_250, "\(later.count)")
        #expect(Set(zip(later, later.dropFirst()).map { $1 - $0 }).count > 20)
    }

    @Test func `what no memory can be had for is not sampled, and nothing is counted`() throws {
        let worker = BackgroundWorker()
        let sampler = GainSampler(
            worker: worker, memory: MemoryBudget(bytes: 1 << 10), report: { _ in })
        sampler.submit(
            .init(route: "/a", body: second, deltaBytes: 100, codings: [.gzip], source: .sameURL),
            levels: CodingLevels())
        #expect(worker.finish(), "the sample was measured")
        #expect(sampler.totals.isEmpty)
    }

    @Test func `a sample for which the worker has no place is dropped, and the next one is measured`() throws
    {
        let (worker, begun, gate) = (BackgroundWorker(), Gate(), Gate())
        let sampler = GainSampler(worker: worker, memory: MemoryBudget(bytes: 1 << 30), report: { _ in })
        func submit() {
            sampler.submit(
                .init(route: "/a", body: second, deltaBytes: 100, codings: [.gzip], source: .sameURL),
                levels: CodingLevels())
        }
        _ = worker.submit {
            begun.open()
            gate.wait()
        }
        begun.wait()
        while worker.submit({}) {}
        submit()
        gate.open()
        try waitUntil("the worker has places again") { worker.finish() }
        #expect(sampler.totals.isEmpty)
        submit()
        #expect(worker.finish())
        #expect(sampler.total(of: "/a")?.sampled.count == 1)
    }

    @Test(arguments: [
        ("covers: pattern", "covers: url"),
        ("covers: pattern, scope: private, identity: authorization, private_versions: 4", "dictionary: off"),
    ])
    func `what a route says on poor deltas depends on their URLs, which private chains do not name`(
        dictionary: String, advice: String
    ) throws {
        let one = Noise.bytes(2_000, seed: 1)
        let other = one.prefix(150) + Noise.bytes(2_000, seed: 2)
        let origin = try Origin { request, connection in
            connection.send(json(request.target == "/items/1" ? one : Array(other)))
        }
        let proxy = try TestProxy(origin, "routes: [{match: /items/*, dictionary: {\(dictionary)}}]")
        let ann = "Authorization: Bearer ann"
        _ = try proxy.fetch("/items/1", ann)
        // Of the later deltas about one in 64 is sampled.
        try waitUntil("the route is reported") { () throws -> Bool in
            for _ in 0..<20 { try #require(try proxy.fetch("/items/2", over: one, ann).coding == "dcz") }
            return !proxy.told(of: "deltas save").isEmpty
        }
        #expect("\(proxy.told(of: "deltas save"))".contains(advice))
    }

    // MARK: Reports

    private static func reports(
        _ samples: Int, delta: Int, plain: Int, over source: RouteGain.Source = .sameURL,
        every seconds: Int = 1
    ) -> [RouteGain.Report] {
        var gain = RouteGain()
        return (0..<samples).compactMap {
            gain.count(bodyBytes: 1_000, deltaBytes: delta)
            return gain.sample(
                bodyBytes: 1_000, deltaBytes: delta, plainBytes: plain, over: source,
                now: 1_000_000 + $0 * seconds)
        }
    }

    @Test func `the log hears of a route after 16 samples, and then once an hour at most`() {
        #expect(Self.reports(15, delta: 10, plain: 100).isEmpty)
        #expect(Self.reports(16, delta: 10, plain: 100).count == 1)
        // The second is due an hour after the first, with all samples since.
        let reports = Self.reports(16 + 3600, delta: 10, plain: 100)
        #expect(reports.map(\.sum.count) == [16, 3600])
        #expect(Self.reports(200, delta: 10, plain: 100, every: 3600).count == 200 / 16)
    }

    @Test(
        arguments: [
            (10, .sameURL, nil, "save 90 %"), (79, .sameURL, nil, "save 21 %"),
            (80, .sameURL, nil, "save 20 %"),
            (81, .sameURL, .dictionaryOff, "save 19 %"), (81, .otherURL, .coversURL, "save 19 %"),
            (81, .built, .otherBuilt, "save 19 %"), (130, .sameURL, .dictionaryOff, "cost 30 % more"),
            (10, .otherURL, nil, "save 90 %"),
        ] as [(Int, RouteGain.Source, RouteGain.Advice?, String)])
    func `a small or negative gain names the setting that helps`(
        delta: Int, source: RouteGain.Source, advice: RouteGain.Advice?, words: String
    ) throws {
        let report = try #require(
            Self.reports(16, delta: delta, plain: 100, over: source).first)
        #expect(report.advice == advice)
        let text = report.text(of: "/api")
        #expect(text.contains("route /api: deltas \(words)"))
        #expect(text.contains("dictionary: off") == (advice == .dictionaryOff))
        #expect(text.contains("covers: url") == (advice == .coversURL))
        #expect(text.contains("remove `built`") == (advice == .otherBuilt))
    }

    @Test(arguments: [(RouteGain.Source.otherURL, RouteGain.Advice.coversURL), (.built, .otherBuilt)])
    func `the advice is about most of the samples since the last report`(
        source: RouteGain.Source, advice: RouteGain.Advice
    ) {
        /// The advice of reports of 16 samples, of which so many are over that source.
        func advices(_ counts: [Int]) -> [RouteGain.Advice?] {
            var gain = RouteGain()
            return counts.enumerated().flatMap { round, count in
                (0..<16).compactMap { number in
                    gain.count(bodyBytes: 1_000, deltaBytes: 90)
                    return gain.sample(
                        bodyBytes: 1_000, deltaBytes: 90, plainBytes: 100,
                        over: number < count ? source : .sameURL, now: 1_000_000 + round * 3600)
                }
            }.map { (report: RouteGain.Report) in report.advice }
        }
        #expect(advices([16, 0]) == [advice, .dictionaryOff])
        #expect(advices([8, 9]) == [.dictionaryOff, advice])
    }

    @Test func `a report is about all deltas, not about those that happened to be sampled`() throws {
        var gain = RouteGain()
        var report: RouteGain.Report?
        // One delta in ten is a hundred times as long as the others, and none of those is sampled.
        for number in 0..<160 {
            gain.count(bodyBytes: 1_000, deltaBytes: number % 10 == 0 ? 100 : 1)
            guard number % 10 == 1 else { continue }
            report = gain.sample(
                bodyBytes: 1_000, deltaBytes: 1, plainBytes: 50, over: .sameURL, now: 1_000_000)
        }
        let sum = try #require(report).sum
        #expect(sum.deltaBytes == 16 * 100 + 136 && sum.plainBytes == 152 * 50 && sum.count == 16)
        #expect(gain.total.ofAll?.plainBytes == 160 * 50)
    }

    @Test func `a gain below zero is rounded away from zero, one above towards it`() {
        for (delta, plain, percent) in [
            (1, 1000, 99), (999, 1000, 0), (1001, 1000, -1), (1000, 1000, 0), (5, 0, 0),
        ] {
            var sum = DeltaSizes()
            sum.add(deltaBytes: delta, plainBytes: plain)
            #expect(sum.percent == percent, "\(delta) of \(plain)")
        }
    }

    @Test func `averages and shares are of the sizes that they name`() {
        var sum = DeltaSizes(count: 1, deltaBytes: 4, plainBytes: 10)
        sum.add(deltaBytes: 6, plainBytes: 30)
        #expect(sum.meanDeltaBytes == 5 && sum.meanPlainBytes == 20 && sum.savedShare == 0.75)
        sum.add(DeltaSizes(count: 3, deltaBytes: 5, plainBytes: 10))
        #expect(sum == DeltaSizes(count: 5, deltaBytes: 15, plainBytes: 50))
        #expect(DeltaSizes().meanDeltaBytes == 0 && DeltaSizes().savedShare == nil)
    }

    @Test func `the share of deltas leaves out what needed no body`() {
        #expect(SavingsReport.Live.hitRate(10, deltas: 2, notModified: 6) == 0.5)
        #expect(SavingsReport.Live.hitRate(6, deltas: 0, notModified: 6) == nil)
    }

    @Test func `the margin around a ratio has the true one in 95 of 100 cases`() throws {
        var random = SplitMix(seed: 11)
        var hits = 0
        for _ in 0..<1_000 {
            var sum = Gain()
            for _ in 0..<40 {
                let body = 500 + Int(random.next() % 2_000)
                let plain = 10 * body + Int(random.next() % 8_001) - 4_000
                sum.sample(bodyBytes: body, deltaBytes: Int(random.next() % 1_000), plainBytes: plain)
            }
            let margin = try #require(sum.ratioMargin)
            if abs(Double(sum.sampled.plainBytes) / Double(sum.sampledBodyBytes) - 10) <= margin {
                hits += 1
            }
        }
        #expect(930...970 ~= hits)
    }

    @Test func `nothing is said about the error of few samples, and equal samples have none`() {
        var sum = Gain()
        for _ in 1..<Gain.samplesMin { sum.sample(bodyBytes: 400, deltaBytes: 10, plainBytes: 100) }
        #expect(sum.ratioMargin == nil)
        sum.sample(bodyBytes: 400, deltaBytes: 10, plainBytes: 100)
        #expect(sum.ratioMargin == 0)
    }
}
