internal import Dictionaries
internal import Storage
internal import Testing

@testable import Proxy

/// The pure parts of the admin listener's reports.
struct AdminReportTests {
    /// Bytes of bodies and of deltas, each before and after coding, and of samples that are all the same.
    private func measured(
        _ body: Int, _ sent: Int, deltas: (body: Int, sent: Int) = (0, 0),
        sample: (body: Int, delta: Int, plain: Int)? = nil, samples: Int = 1
    ) -> BodyBytes {
        var live = SavingsReport.Live()
        (live.bodyBytes, live.sentBytes) = (body, sent)
        (live.deltaBodyBytes, live.deltaBytes) = deltas
        var gain = Gain()
        if let sample {
            for _ in 0..<samples {
                gain.sample(bodyBytes: sample.body, deltaBytes: sample.delta, plainBytes: sample.plain)
            }
        }
        live.estimate(by: gain)
        return BodyBytes(live)
    }

    @Test func `without deltas nothing is saved, whatever compression did`() {
        let bytes = measured(1000, 300)
        #expect(bytes.plain == 300 && bytes.saved == 0 && bytes.plainBasis == .asSent)
    }

    @Test func `deltas count as their samples were measured`() {
        let bytes = measured(11_000, 800, deltas: (10_000, 500), sample: (100, 5, 30))
        #expect(bytes.plain == 300 + 3_000 && bytes.saved == 2_500 && bytes.plainBasis == .sampled)
        #expect(bytes.samples == 1)
    }

    @Test func `a sample whose delta is far shorter than others says no more than one whose is longer`() {
        for delta in [1, 5, 29] {
            #expect(
                measured(11_000, 800, deltas: (10_000, 500), sample: (100, delta, 30)).saved == 2_500,
                "\(delta)")
        }
    }

    @Test func `how exact the saving is, ten samples can say`() {
        let few = measured(11_000, 800, deltas: (10_000, 500), sample: (100, 5, 30), samples: 9)
        #expect(few.saved == 2_500 && few.savedMargin == nil)
        let enough = measured(11_000, 800, deltas: (10_000, 500), sample: (100, 5, 30), samples: 10)
        #expect(enough.saved == 2_500 && enough.savedMargin == 0)
    }

    @Test func `without samples deltas count as their bodies, and that is said`() {
        let bytes = measured(11_000, 800, deltas: (10_000, 500))
        #expect(bytes.plain == 10_300 && bytes.plainBasis == .uncompressed)
    }

    @Test func `dictionaries that cost more save a negative number`() {
        #expect(measured(1000, 500, deltas: (1000, 500), sample: (100, 50, 40)).saved == -100)
    }

    @Test func `a sum has the least basis of its parts`() {
        let parts = [measured(10, 5), measured(10, 1, deltas: (10, 1), sample: (10, 1, 4))]
        #expect(BodyBytes(parts).plainBasis == .sampled && BodyBytes(parts).plain == 9)
        #expect(BodyBytes(parts).saved == 3 && BodyBytes(parts).samples == 1)
        let uncompressed = measured(10, 1, deltas: (10, 1))
        #expect(BodyBytes(parts + [uncompressed]).plainBasis == .uncompressed)
        #expect(BodyBytes([]).plainBasis == .asSent)
        #expect(BodyBytes(parts).body == 20 && BodyBytes(parts).sent == 6)
        #expect(BodyBytes([parts[1], parts[0], parts[1]]).samples == 2)
    }

    @Test
    func `errors of several routes add up as independent ones do, and with an unknown one nothing is said`() {
        func part(margin: Int?) -> BodyBytes {
            var live = SavingsReport.Live()
            (live.bodyBytes, live.sentBytes) = (1_000, 100)
            (live.deltaBodyBytes, live.deltaBytes) = (1_000, 100)
            live.deltaPlainBytes = 300
            live.deltaPlainMargin = margin
            return BodyBytes(live)
        }
        #expect(BodyBytes([part(margin: 3), part(margin: 4)]).savedMargin == 5)
        #expect(BodyBytes([part(margin: 3), part(margin: nil)]).savedMargin == nil)
        #expect(BodyBytes([part(margin: 3), measured(10, 5)]).savedMargin == 3, "nothing was saved for sure")
    }

    @Test func `the most frequent reason of a route comes first, and equal ones by their names`() {
        var live = SavingsReport.Live()
        live.reasons = ["b": 1, "c": 3, "a": 1]
        let report = RouteReport(
            route: "/", live, configured: true, dictionaries: .on, learned: nil, slowest: [])
        #expect(report.reasons.map(\.reason) == ["c", "a", "b"])
        #expect(report.reasons.map(\.requests) == [3, 1, 1])
    }

    // MARK: The slowest codings

    private func entry(_ seconds: Int, at second: Int) -> SlowestCodings.Entry {
        var record = RequestRecord()
        record.codingNanoseconds = seconds * 1_000_000_000
        record.timeMicroseconds = second * 1_000_000
        return SlowestCodings.Entry(record)
    }

    @Test func `the slowest codings of a route are kept, and no others`() {
        var slowest = SlowestCodings()
        for seconds in [5, 1, 9, 7, 3, 8] { slowest.add(entry(seconds, at: 1000), row: 1) }
        slowest.add(entry(2, at: 1000), row: 0)
        #expect(slowest.entries(row: 1, now: 1000).map(\.seconds) == [9, 8, 7])
        #expect(slowest.entries(row: 0, now: 1000).map(\.seconds) == [2])
        #expect(slowest.entries(row: 2, now: 0).isEmpty)
    }

    @Test func `a slow coding is forgotten after ten minutes at the latest`() {
        var slowest = SlowestCodings()
        slowest.add(entry(900, at: 1000), row: 0)
        slowest.add(entry(5, at: 1301), row: 0)
        #expect(slowest.entries(row: 0, now: 1301).map(\.seconds) == [900, 5])
        #expect(slowest.entries(row: 0, now: 1600).map(\.seconds) == [5])
        slowest.add(entry(4, at: 1602), row: 0)
        #expect(slowest.entries(row: 0, now: 1602).map(\.seconds) == [5, 4])
    }

    @Test func `after five minutes faster codings are kept than before`() {
        var slowest = SlowestCodings()
        for seconds in [900, 800, 700] { slowest.add(entry(seconds, at: 1000), row: 0) }
        for seconds in [3, 2] { slowest.add(entry(seconds, at: 1300), row: 0) }
        #expect(slowest.entries(row: 0, now: 1600).map(\.seconds) == [3, 2])
    }

    @Test func `an entry of the slowest codings has the sizes before and after, and whole seconds`() {
        var record = RequestRecord()
        (record.coding, record.bodyBytesBefore, record.bodyBytesSent) = (.dcz, 5_000, 70)
        (record.codingNanoseconds, record.timeMicroseconds) = (1_500_000_000, 12_999_999)
        let entry = SlowestCodings.Entry(record)
        #expect(entry.coding == "dcz" && entry.bodyBytes == 5_000 && entry.sentBytes == 70)
        #expect(entry.seconds == 1.5 && entry.time == 12)
    }

    @Test func `a report sums the series with the first labels that it asks for, in whole units`() {
        let metric = Metric(name: "a", kind: .counter, labels: ["x", "y"], help: "")
        let other = Metric(name: "b", kind: .counter, labels: [], help: "")
        let table = SampleTable([
            MetricSample(metric, ["1", "p"], 6_999, per: 1_000), MetricSample(metric, ["1", "q"], 5),
            MetricSample(metric, ["2", "q"], 40), MetricSample(metric, ["2", "r"], 0),
            MetricSample(other, [], 9_000, per: 1_000),
        ])
        #expect(table.count("a", "1") == 11 && table.count("a", "1", "p") == 6 && table.count("a") == 51)
        #expect(table.counts("a") == ["p": 6, "q": 45])
        #expect(table.value("b") == 9 && table.value("c") == nil)
    }

    // MARK: Events

    @Test func `a repeated message is one entry with its count, and the latest comes first`() {
        let events = RecentEvents()
        for text in ["a", "b", "a"] { events.note(.warning(text), now: 1000) }
        events.note(.error("a"), now: 1000)
        events.note(.info("c"), now: 1000)
        #expect(events.entries(now: 1000).map(\.text) == ["a", "a", "b"])
        #expect(events.entries(now: 1000).map(\.count) == [1, 2, 1])
        #expect(events.entries(now: 1000 + 86_399).count == 3, "for a day")
        #expect(events.entries(now: 1000 + 86_400).isEmpty)
    }

    @Test func `a repeated message is as old as its last one`() {
        let events = RecentEvents()
        for time in [1_000, 50_000] { events.note(.warning("a"), now: time) }
        #expect(events.entries(now: 1_000 + 86_400).map(\.time) == [50_000])
    }

    @Test func `what was said of a configuration is forgotten with the next good one, and no more`() {
        let events = RecentEvents()
        for text in ["disk", "line 3", String(repeating: "x", count: 5_000)] {
            events.note(.error(text), now: 1000)
        }
        events.keepUntilReload([.error("line 3"), .error(String(repeating: "x", count: 5_000))])
        #expect(events.entries(now: 1000).count == 3)
        events.forgetUntilReload()
        #expect(events.entries(now: 1000).map(\.text) == ["disk"])
    }

    @Test func `what is over is forgotten: a message tells how its subject is now`() {
        let events = RecentEvents()
        events.note(.warning("b"), now: 1000)
        for text in ["full", "full"] { events.note(.about("disk", .error(text)), now: 1000) }
        events.note(.about("name", .warning("gone")), now: 1000)
        #expect(events.entries(now: 1000).map(\.text) == ["gone", "full", "b"])
        #expect(events.entries(now: 1000).map(\.count) == [1, 2, 1])
        events.note(.about("disk", .error("read-only")), now: 1000)
        #expect(events.entries(now: 1000).map(\.text) == ["read-only", "gone", "b"])
        events.note(.about("disk", .info("writable")), now: 1000)
        #expect(events.entries(now: 1000).map(\.text) == ["gone", "b"])
        events.note(.info("fine"), now: 1000)
        #expect(events.entries(now: 1000).map(\.text) == ["gone", "b"])
    }

    @Test func `a flood of messages keeps the latest, and a long one is cut`() {
        let events = RecentEvents()
        for number in 0..<200 { events.note(.warning("message \(number)"), now: 1000) }
        events.note(.error(String(repeating: "x", count: 100_000)), now: 1000)
        let entries = events.entries(now: 1000)
        #expect(entries.count == 50)
        #expect(entries[1].text == "message 199")
        #expect(entries[0].text.count < 1_010)
        for count in [1_000, 1_001] { events.note(.error(String(repeating: "y", count: count)), now: 1000) }
        let whole = String(repeating: "y", count: 1_000)
        #expect(events.entries(now: 1000)[0].text == whole + "…")
        #expect(events.entries(now: 1000)[1].text == whole)
    }
}
