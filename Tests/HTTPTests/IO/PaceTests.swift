import Testing

@testable import HTTP

struct PaceTests {
    private func pace(_ steps: [(at: Int64, bytes: Int)], rate: Int) -> Int64 {
        let limits = Pace.Limits(idleTimeout: 1000, bytesPerSecond: rate)
        var pace = Pace()
        pace.restart(at: 0, limits)
        for step in steps {
            pace.passed(step.bytes, at: step.at, limits)
        }
        return pace.deadline
    }

    @Test func `silence ends the wait after the idle timeout`() {
        #expect(pace([], rate: 100) == 1000)
    }

    @Test func `each byte buys its time at the rate`() {
        #expect(pace([(at: 900, bytes: 1)], rate: 100) == 1010)
        #expect(pace([(at: 300, bytes: 10), (at: 600, bytes: 10), (at: 900, bytes: 10)], rate: 100) == 1300)
        // Fractions of a millisecond add up.
        #expect(pace([(Int64, Int)](repeating: (900, 1), count: 10), rate: 10_000) == 1001)
    }

    @Test func `no more than the idle timeout is ever left`() {
        #expect(pace([(at: 100, bytes: 1_000_000)], rate: 100) == 1100)
        #expect(pace([(at: 100, bytes: .max), (at: 200, bytes: 1)], rate: 1) == 1200)
    }

    @Test func `who keeps to the rate is waited for for ever, and who does not is not`() {
        let steady = (1...1000).map { (at: Int64($0 * 100), bytes: 10) }
        #expect(pace(steady, rate: 100) == 100_000 + 1000)
        let dripping = (1...1000).map { (at: Int64($0 * 100), bytes: 9) }
        #expect(pace(dripping, rate: 100) < 100_000)
    }

    @Test func `a rate of 0 asks for any byte within the idle timeout`() {
        #expect(pace([(at: 900, bytes: 1)], rate: 0) == 1900)
    }
}
