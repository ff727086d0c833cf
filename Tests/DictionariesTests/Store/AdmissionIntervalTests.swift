import Testing

@testable import Dictionaries

/// The contract's rule of churn: how often a chain takes a new body.
@Suite struct AdmissionIntervalTests {
    private let policy = ChurnPolicy()

    /// Counts a window of 200 advertisements at one time, of which so many are of evicted versions.
    private func window(_ interval: inout AdmissionInterval, evicted: Int, of count: Int = 200, now: Int) {
        for number in 0..<count { interval.note(isEvicted: number < evicted, now: now, policy: policy) }
    }

    /// An interval of so many seconds, a power of two.
    private func interval(of seconds: Int) -> AdmissionInterval {
        var interval = AdmissionInterval()
        var now = 0
        while interval.seconds < seconds {
            now += 1
            interval.note(isEvicted: true, now: now, policy: policy)
        }
        return interval
    }

    /// Outside of the interval's methods, because `#expect` calls none that mutate.
    private func claim(_ interval: inout AdmissionInterval, _ digest: Digest, now: Int) -> Bool {
        interval.claim(digest, now: now)
    }

    @Test(arguments: [(10, 0), (11, 1), (200, 1)])
    func `more than 5 % evicted begins to hold back, 5 % does not`(evicted: Int, seconds: Int) {
        var interval = AdmissionInterval()
        window(&interval, evicted: evicted, now: 1000)
        #expect(interval.seconds == seconds)
    }

    @Test(arguments: [(0, 2), (1, 2), (2, 4), (10, 4), (11, 8)])
    func `under 1 % halves, more than 5 % doubles, between them nothing changes`(evicted: Int, seconds: Int) {
        var interval = interval(of: 4)
        // A window may have begun: one advertisement at a time until the pace has settled.
        var fresh = interval
        fresh.note(isEvicted: false, now: 10_000, policy: policy)
        #expect(fresh.seconds == 4)
        window(&interval, evicted: evicted, of: 199, now: 10_000)
        #expect(interval.seconds == 4)
        interval.note(isEvicted: false, now: 10_004, policy: policy)
        #expect(interval.seconds == seconds)
    }

    @Test func `nothing changes before 200 dictionaries were advertised`() {
        var interval = AdmissionInterval()
        window(&interval, evicted: 199, of: 199, now: 1000)
        #expect(interval.seconds == 0)
        interval.note(isEvicted: true, now: 1000, policy: policy)
        #expect(interval.seconds == 1)
    }

    @Test func `nothing changes again before the interval is over`() {
        var interval = interval(of: 4)
        window(&interval, evicted: 400, of: 400, now: 20_000)
        interval.note(isEvicted: true, now: 20_003, policy: policy)
        #expect(interval.seconds == 4)
        interval.note(isEvicted: true, now: 20_004, policy: policy)
        #expect(interval.seconds == 8)
    }

    @Test func `the interval grows to a minute and no further, and shrinks to none`() {
        var interval = AdmissionInterval()
        var steps: [Int] = []
        for round in 1...9 {
            window(&interval, evicted: 200, of: 200, now: round * 1000)
            interval.note(isEvicted: true, now: round * 1000 + 100, policy: policy)
            steps.append(interval.seconds)
        }
        #expect(steps.last == 60)
        #expect(steps == steps.sorted())
        for round in 10...20 {
            window(&interval, evicted: 0, now: round * 1000)
            interval.note(isEvicted: false, now: round * 1000 + 100, policy: policy)
        }
        #expect(interval.seconds == 0)
    }

    @Test func `without an interval every body is admitted`() {
        var interval = AdmissionInterval()
        for number in 0..<100 { #expect(claim(&interval, sampleBody(number).digest, now: 1000)) }
    }

    @Test func `with an interval one body is admitted in each`() {
        var interval = interval(of: 4)
        let turns = (0..<12).filter { interval.claim(sampleBody($0).digest, now: 1000 + $0) }
        #expect(turns == [0, 4, 8])
    }

    @Test func `a body that was refused before waits for the next one, at most for twice the interval`() {
        var interval = interval(of: 4)
        let (first, second) = (sampleBody(1).digest, sampleBody(2).digest)
        #expect(claim(&interval, sampleBody(0).digest, now: 1000))
        #expect(!claim(&interval, first, now: 1003))
        #expect(!claim(&interval, first, now: 1004))
        #expect(claim(&interval, second, now: 1005))
        #expect(!claim(&interval, first, now: 1008))
        #expect(!claim(&interval, first, now: 1012))
        #expect(claim(&interval, first, now: 1013))
    }

    @Test func `a clock that is set back holds nothing up`() {
        var interval = interval(of: 4)
        #expect(claim(&interval, sampleBody(0).digest, now: 1_000_000))
        #expect(claim(&interval, sampleBody(1).digest, now: 1000))
        #expect(!claim(&interval, sampleBody(2).digest, now: 1003))
        window(&interval, evicted: 200, now: 2_000_000)
        window(&interval, evicted: 200, now: 3000)
        interval.note(isEvicted: true, now: 3004, policy: policy)
        #expect(interval.seconds == 8)
    }
}
