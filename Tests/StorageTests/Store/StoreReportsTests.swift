import Testing

@testable import Storage

/// What the operator hears of the store's file.
@Suite struct StoreReportsTests {
    @Test func `each kind of trouble is told once until it ends, and hides no other kind`() {
        let events = StoreEvents()
        let reports = StoreReports(log: events.log)
        for _ in 0..<2 {
            reports.unwritable("unwritable")
            reports.unwritten("unwritten")
            reports.unreadable("unreadable")
            reports.waiting("waiting")
        }
        #expect(events.all.map(\.text) == ["unwritable", "unwritten", "unreadable", "waiting"])
        #expect(events.all.map(\.level) == [.error, .error, .error, .warning] as [LogLevel])
        for _ in 0..<2 {
            reports.recovered("recovered")
            reports.tookOver("took over")
        }
        #expect(
            events.all.dropFirst(4).map(\.text) == ["recovered", "took over"], "each end is told once, too")
        #expect(events.all.dropFirst(4).allSatisfy { $0.level == .info })
        reports.unwritable("again")
        reports.waiting("once more")
        reports.unwritten("still")
        #expect(events.all.dropFirst(6).map(\.text) == ["again", "once more"])
        let subjects = events.subjects
        #expect(subjects[0] != nil && subjects[0] == subjects[4], "an end names what it is the end of")
        #expect(subjects[3] != nil && subjects[3] == subjects[5] && subjects[3] != subjects[0])
    }
}
