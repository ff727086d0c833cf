import Testing

@testable import Dictionaries
@testable import Storage

/// The moments at which a client with a usable dictionary is offered another one.
@Suite struct RenewalTests {
    @Test(
        arguments: [
            // age, life, delta, fresh, rested
            (0, nil, 100, 100, nil, false),
            (0, nil, 264, 100, nil, false),
            (0, nil, 265, 100, nil, true),
            (1_000_000, nil, 100, 100, nil, false),
            (29, 60, 100, 100, nil, false),
            (30, 60, 100, 100, nil, true),
            (30, 60, nil, nil, nil, true),
            (0, nil, nil, 100, nil, false),
            (0, nil, 5000, nil, nil, true),
            (50, 60, 5000, 100, 0, false),
            (50, 60, 5000, 100, 1, false),
            (50, 60, 5000, 100, 2, true),
            (Int.max / 4, Int.max / 4, Int.max / 4, Int.max / 8, nil, true),
        ] as [(Int, Int?, Int?, Int?, Int?, Bool)])
    func `a new body is offered where the dictionary is old or its deltas are long, but not in a burst`(
        row: (age: Int, life: Int?, delta: Int?, fresh: Int?, rested: Int?, isDue: Bool)
    ) {
        let renewal = Renewal(
            ageSeconds: row.age, lifeSeconds: row.life, deltaBytes: row.delta, freshDeltaBytes: row.fresh,
            restedSeconds: row.rested)
        #expect(renewal.isDue == row.isDue)
    }

    @Test func `the length of a fresh delta follows the short ones, and rises slowly`() {
        let chain = Chain(ChainKey(authority: "api.example", match: "/feed"))
        #expect(chain.freshDeltaBytes == nil)
        chain.recordFreshDelta(bytes: 10_000)
        for _ in 0..<10 { chain.recordFreshDelta(bytes: 100) }
        #expect(chain.freshDeltaBytes.map { (100...120).contains($0) } == true)
        for _ in 0..<5 { chain.recordFreshDelta(bytes: 10_000) }
        #expect(chain.freshDeltaBytes.map { $0 < 150 } == true)
        // If all deltas of a feed are long, none of them is short and fresh.
        for _ in 0..<1000 { chain.recordFreshDelta(bytes: 10_000) }
        #expect(chain.freshDeltaBytes == 10_000)
    }
}
