internal import Dictionaries
internal import Storage
internal import Testing

@testable import Proxy

/// When another version is named in the place of one that deltas over it no longer do justice to.
struct NamedWorthTests {
    private let terms = LinkTerms()

    private func worth(replacing former: NamedWorth? = nil, at now: Int = 0, life: Int = 86_400) -> NamedWorth
    {
        NamedWorth(namedAt: now, lifeSeconds: life, replacing: former)
    }

    /// Notes one measurement with a body of 10,000 bytes.
    private func record(
        _ worth: inout NamedWorth, named: Int, fresh: Int, users: Int = 1, at now: Int, plain: Int = 2_000
    ) -> Bool {
        for client in 0..<users { worth.recordUser(UInt128(client)) }
        return worth.record(.init(named: named, fresh: fresh, plain: plain), of: 10_000, at: now, terms)
    }

    @Test func `a name stays while deltas over it are not clearly worse than over a fresh one`() {
        var worth = worth()
        worth.recordHolder(1)
        for minute in 2..<1_000 {
            let isOver = record(&worth, named: 199, fresh: 100, users: 20, at: 60 * minute)
            #expect(!isOver)
        }
    }

    @Test func `twice the bytes of a fresh one are clearly worse`() {
        var worth = worth()
        worth.recordHolder(1)
        let due = (2..<100).first { record(&worth, named: 200, fresh: 100, at: 60 * $0) }
        #expect(due == 21, "100 a time against 2,000")
    }

    @Test func `a name that had half its life ends a row of early ones`() {
        let early = worth(replacing: worth(), at: 60)
        var late = worth(replacing: early, at: 60 + early.lifeSeconds / 2)
        let isOver = [419, 420].map { record(&late, named: 2_000, fresh: 10, users: 100, at: $0) }
        #expect(isOver == [false, true])
    }

    @Test func `it gives way once the waste has reached the cost of another download`() {
        var worth = worth()
        worth.recordHolder(1)
        // 400 bytes wasted each time, against 2,000 for the download.
        let due = (2..<20).first { record(&worth, named: 500, fresh: 100, at: 60 * $0) }
        #expect(due == 6)
    }

    @Test func `more holders make another download dearer, and more users the waste`() {
        // Four clients, because the sketch counts as many exactly, whatever their addresses hash to.
        var (few, many, busy) = (worth(), worth(), worth())
        few.recordHolder(1)
        for client in 0..<4 {
            many.recordHolder(UInt128(client))
            busy.recordHolder(UInt128(client))
        }
        #expect((2..<200).first { record(&few, named: 500, fresh: 100, at: 60 * $0) } == 6)
        #expect((2..<200).first { record(&many, named: 500, fresh: 100, at: 60 * $0) } == 21)
        #expect((2..<200).first { record(&busy, named: 500, fresh: 100, users: 4, at: 60 * $0) } == 6)
    }

    @Test func `a delta that is longer than plain coding wastes no more than that`() {
        var worth = worth()
        let due = (2..<20).first { record(&worth, named: 9_000, fresh: 1_000, at: 60 * $0) }
        #expect(due == 3, "1,000 a time against 2,000")
    }

    @Test func `one client counts once a measurement, however often it asks`() {
        var worth = worth()
        worth.recordHolder(1)
        for _ in 0..<10_000 { worth.recordUser(7) }
        let sample = NamedWorth.Sample(named: 500, fresh: 100, plain: 2_000)
        let isOver = worth.record(sample, of: 10_000, at: 600, terms)
        #expect(!isOver)
    }

    @Test func `a client that does not come again wastes nothing more`() {
        var worth = worth()
        worth.recordHolder(1)
        let isOver = record(&worth, named: 500, fresh: 100, at: 120)
        let due = (3..<1_000).first { record(&worth, named: 500, fresh: 100, users: 0, at: 60 * $0) }
        #expect(!isOver && due == nil)
    }

    @Test func `no name gives way within the shortest time`() {
        var worth = worth()
        let isOver = [59, 60].map { record(&worth, named: 2_000, fresh: 10, users: 100, at: $0) }
        #expect(isOver == [false, true])
    }

    @Test func `names that are replaced early in a row stay longer, up to a bound`() {
        var (worth, now) = (worth(), 0)
        var holds: [Int] = []
        for _ in 0..<7 {
            let hold =
                (1..<10_000).first { record(&worth, named: 2_000, fresh: 10, users: 100, at: now + $0) } ?? 0
            holds.append(hold)
            now += hold
            worth = NamedWorth(namedAt: now, lifeSeconds: 86_400, replacing: worth)
        }
        #expect(holds == [60, 120, 240, 480, 960, 960, 960])
    }

    @Test func `what follows a name that had to go early is advertised for less`() {
        let first = worth()
        #expect(first.lifeSeconds == 86_400)
        #expect(worth(replacing: first, at: 540).lifeSeconds == 8 * 540)
        #expect(worth(replacing: first, at: 60).lifeSeconds == 600)
        #expect(worth(replacing: first, at: 60, life: 60).lifeSeconds == 60)
        #expect(worth(replacing: first, at: 43_200).lifeSeconds == 86_400, "it had half its life")
    }

    @Test(arguments: [540, 43_200])
    func `what follows a name is measured by its plain sizes at first, however long it lived`(life: Int) {
        var former = worth()
        _ = record(&former, named: 500, fresh: 100, at: 120, plain: 7_000)
        #expect(worth(replacing: former, at: life).plainPerMille == 700)
    }

    @Test func `a body is measured once, and not within a second of another`() {
        var worth = worth()
        let (one, two) = (Body([1]).digest, Body([2]).digest)
        #expect(worth.isDue(with: one, at: 10, terms))
        worth.begin(with: one, at: 10)
        #expect(!worth.isDue(with: one, at: 99, terms))
        #expect(!worth.isDue(with: two, at: 10, terms) && worth.isDue(with: two, at: 11, terms))
    }
}
