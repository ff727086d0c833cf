internal import Dictionaries
internal import Testing

@testable import Proxy

/// The pure parts of the admin listener's reports.
struct AdminReportTests {
    private func gain(delta: Int, plain: Int) -> Gain {
        var gain = Gain()
        gain.add(deltaBytes: delta, plainBytes: plain)
        return gain
    }

    @Test func `without deltas nothing is saved, whatever compression did`() {
        let bytes = BodyBytes(body: 1000, sent: 300, deltaBody: 0, deltaSent: 0, gain: nil)
        #expect(bytes.plain == 300 && bytes.saved == 0 && bytes.plainBasis == .asSent)
    }

    @Test func `deltas count as their samples were measured`() {
        let bytes = BodyBytes(
            body: 11_000, sent: 800, deltaBody: 10_000, deltaSent: 500, gain: gain(delta: 10, plain: 60))
        #expect(bytes.plain == 300 + 3_000 && bytes.saved == 2_500 && bytes.plainBasis == .sampled)
        #expect(bytes.samples == 1)
    }

    @Test func `without samples deltas count as their bodies, and that is said`() {
        let bytes = BodyBytes(body: 11_000, sent: 800, deltaBody: 10_000, deltaSent: 500, gain: nil)
        #expect(bytes.plain == 10_300 && bytes.plainBasis == .uncompressed)
    }

    @Test func `dictionaries that cost more save a negative number`() {
        let bytes = BodyBytes(
            body: 1000, sent: 500, deltaBody: 1000, deltaSent: 500, gain: gain(delta: 50, plain: 40))
        #expect(bytes.saved == -100)
    }

    @Test func `a sum has the least basis of its parts`() {
        let parts = [
            BodyBytes(body: 10, sent: 5, deltaBody: 0, deltaSent: 0, gain: nil),
            BodyBytes(body: 10, sent: 1, deltaBody: 10, deltaSent: 1, gain: gain(delta: 1, plain: 4)),
        ]
        #expect(BodyBytes(parts).plainBasis == .sampled && BodyBytes(parts).plain == 9)
        #expect(BodyBytes(parts).saved == 3 && BodyBytes(parts).samples == 1)
        let uncompressed = BodyBytes(body: 10, sent: 1, deltaBody: 10, deltaSent: 1, gain: nil)
        #expect(BodyBytes(parts + [uncompressed]).plainBasis == .uncompressed)
        #expect(BodyBytes([]).plainBasis == .asSent)
    }

    // MARK: The slowest codings

    private func entry(_ nanoseconds: Int, at second: Int) -> SlowestCodings.Entry {
        var record = RequestRecord()
        record.codingNanoseconds = nanoseconds
        record.timeMicroseconds = second * 1_000_000
        return SlowestCodings.Entry(record)
    }

    @Test func `the slowest codings of a route are kept, and no others`() {
        var slowest = SlowestCodings()
        for nanoseconds in [5, 1, 9, 7, 3, 8] { slowest.add(entry(nanoseconds, at: 1000), row: 1) }
        slowest.add(entry(2, at: 1000), row: 0)
        #expect(slowest.entries(row: 1, now: 1000 * 1_000_000).map(\.nanoseconds) == [9, 8, 7])
        #expect(slowest.entries(row: 0, now: 1000 * 1_000_000).map(\.nanoseconds) == [2])
        #expect(slowest.entries(row: 2, now: 0).isEmpty)
    }

    @Test func `a slow coding is forgotten after ten minutes at the latest`() {
        var slowest = SlowestCodings()
        slowest.add(entry(900, at: 1000), row: 0)
        slowest.add(entry(5, at: 1301), row: 0)
        #expect(slowest.entries(row: 0, now: 1301 * 1_000_000).map(\.nanoseconds) == [900, 5])
        #expect(slowest.entries(row: 0, now: 1600 * 1_000_000).map(\.nanoseconds) == [5])
        slowest.add(entry(4, at: 1602), row: 0)
        #expect(slowest.entries(row: 0, now: 1602 * 1_000_000).map(\.nanoseconds) == [5, 4])
    }

    // MARK: Events

    @Test func `a repeated message is one entry with its count, and the latest comes first`() {
        let events = RecentEvents()
        for text in ["a", "b", "a"] { events.note(.warning(text), now: 1000) }
        events.note(.error("a"), now: 1000)
        events.note(.info("c"), now: 1000)
        #expect(events.entries(now: 1000).map(\.text) == ["a", "a", "b"])
        #expect(events.entries(now: 1000).map(\.count) == [1, 2, 1])
        #expect(events.entries(now: 1000 + RecentEvents.secondsMax).isEmpty)
    }

    @Test func `a flood of messages keeps the latest, and a long one is cut`() {
        let events = RecentEvents()
        for number in 0..<200 { events.note(.warning("message \(number)"), now: 1000) }
        events.note(.error(String(repeating: "x", count: 100_000)), now: 1000)
        let entries = events.entries(now: 1000)
        #expect(entries.count == RecentEvents.countMax)
        #expect(entries[1].text == "message 199")
        #expect(entries[0].text.count < 1_010)
    }
}
