internal import Testing

@testable import Proxy

/// The proxy keeps notes about its origins and routes in bounded memory.
struct NoteTests {
    @Test func `a note of an origin is kept until it is taken back, and by nobody else`() {
        let notes = OriginNotes()
        let (one, same) = (5, 5 + 1 << 16)
        notes.note(one, false)
        #expect(!notes.contains(one) && !notes.contains(0))
        notes.note(one, true)
        #expect(notes.contains(one) && !notes.contains(same))
        notes.note(same, false)
        #expect(notes.contains(one), "the other one has the same place")
        notes.note(one, false)
        #expect(!notes.contains(one))
        notes.note(one, true)
        notes.note(same, true)
        #expect(notes.contains(same) && !notes.contains(one))
    }

    @Test func `a route has many variants from the sixty-fifth response on, if each was another one`() {
        let counts = VariantCounts()
        let same = (0..<100).map { _ in counts.record("a", route: "/one") }
        #expect(!same.contains(true))
        let others = (0..<66).map { counts.record("\($0)", route: "/many") }
        #expect(others.firstIndex(of: true) == 64 && others[65])
        for number in 0..<2_000 { _ = counts.record("a", route: "/\(number)") }
        let known = counts.record("b", route: "/many")
        let unknown = (0..<100).map { counts.record("\($0)", route: "/late") }
        #expect(known && !unknown.contains(true), "routes beyond a thousand are not counted")
    }

    @Test func `a message comes at once, and again after its period and no earlier`() {
        let reminder = Reminder()
        let times: [Int64] = [5, 5, 60_004, 60_005, 60_006, 200_000, 259_999, 260_000]
        let isDue = times.map { reminder.take(now: $0) }
        #expect(isDue == [true, false, false, true, false, true, false, true])
    }

    @Test func `each message about a route comes once an hour, whatever the others do`() {
        let reminders = RouteReminders()
        for reminder in [reminders.unkept, reminders.hint, reminders.link] {
            let times: [Int64] = [0, 3_599_999, 3_600_000]
            let isDue = times.map { reminder.take(now: $0) }
            #expect(isDue == [true, false, true])
        }
    }
}
