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
        let percent = (gzip.count - delta.body.count) * 100 / gzip.count
        let next = try proxy.fetch("/feed", over: first)
        #expect(next["Dictum-Explain"]?.hasSuffix(";route-gain=\(percent)%") == true)
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

    @Test func `about one delta in 64 is sampled, and never in a fixed rhythm`() {
        let sampler = GainSampler(
            worker: BackgroundWorker(), memory: MemoryBudget(bytes: 1 << 30), report: { _ in })
        let turns = (0..<64_000).filter { _ in sampler.takeTurn() }
        #expect(turns.first == 0)
        // The mean of a thousand gaps of 1 to 127 has a deviation of 1.2: this is beyond twelve of it.
        #expect(turns.count > 800 && turns.count < 1_250, "\(turns.count)")
        #expect(Set(zip(turns, turns.dropFirst()).map { $1 - $0 }).count > 20)
    }

    @Test func `what no memory can be had for is not sampled, and nothing is counted`() throws {
        let worker = BackgroundWorker()
        let sampler = GainSampler(
            worker: worker, memory: MemoryBudget(bytes: 1 << 10), report: { _ in })
        sampler.submit(
            .init(route: "/a", body: second, deltaBytes: 100, codings: [.gzip], isAcrossURLs: false),
            levels: CodingLevels())
        try waitUntil("the sample was measured") { worker.isIdle }
        #expect(sampler.totals.isEmpty)
    }

    // MARK: Reports

    private static func reports(
        _ samples: Int, delta: Int, plain: Int, isAcrossURLs: Bool = false, every seconds: Int = 1
    ) -> [RouteGain.Report] {
        var gain = RouteGain()
        return (0..<samples).compactMap {
            gain.record(
                deltaBytes: delta, plainBytes: plain, isAcrossURLs: isAcrossURLs,
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
            (10, false, nil, "save 90 %"), (79, false, nil, "save 21 %"), (80, false, nil, "save 20 %"),
            (81, false, .dictionaryOff, "save 19 %"), (81, true, .coversURL, "save 19 %"),
            (130, false, .dictionaryOff, "cost 30 % more"), (10, true, nil, "save 90 %"),
        ] as [(Int, Bool, RouteGain.Advice?, String)])
    func `a small or negative gain names the setting that helps`(
        delta: Int, isAcrossURLs: Bool, advice: RouteGain.Advice?, words: String
    ) throws {
        let report = try #require(
            Self.reports(16, delta: delta, plain: 100, isAcrossURLs: isAcrossURLs).first)
        #expect(report.advice == advice)
        let text = report.text(of: "/api")
        #expect(text.contains("route /api: deltas \(words)"))
        #expect(text.contains("dictionary: off") == (advice == .dictionaryOff))
        #expect(text.contains("covers: url") == (advice == .coversURL))
    }

    @Test func `the advice is about the samples since the last report alone`() {
        var gain = RouteGain()
        let reports = (0..<32).compactMap { number in
            gain.record(
                deltaBytes: 90, plainBytes: 100, isAcrossURLs: number < 16, now: 1_000_000 + number * 3600)
        }
        #expect(reports.map(\.advice) == [.coversURL, .dictionaryOff])
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

    @Test func `the margin around a ratio has the true one in 95 of 100 cases`() throws {
        var random = SplitMix(seed: 11)
        var hits = 0
        for _ in 0..<1_000 {
            var sum = Gain()
            for _ in 0..<40 {
                let delta = 500 + Int(random.next() % 2_000)
                sum.add(deltaBytes: delta, plainBytes: 10 * delta + Int(random.next() % 8_001) - 4_000)
            }
            let margin = try #require(sum.ratioMargin)
            if abs(Double(sum.sizes.plainBytes) / Double(sum.sizes.deltaBytes) - 10) <= margin { hits += 1 }
        }
        #expect(930...970 ~= hits)
    }

    @Test func `nothing is said about the error of few samples, and equal samples have none`() {
        var sum = Gain()
        for _ in 1..<Gain.samplesMin { sum.add(deltaBytes: 10, plainBytes: 100) }
        #expect(sum.ratioMargin == nil)
        sum.add(deltaBytes: 10, plainBytes: 100)
        #expect(sum.ratioMargin == 0)
    }
}
