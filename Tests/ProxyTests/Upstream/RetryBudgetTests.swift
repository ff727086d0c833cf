internal import Dictionaries
internal import Primitives
internal import Storage
internal import Testing

@testable import Proxy

struct RetryBudgetTests {
    /// Takes all available retries, and returns their number.
    private func drain(_ budget: Guarded<RetryBudget>, now: Int64) -> Int {
        var count = 0
        while count < 10_000, budget.withLock({ $0.take(now: now) }) { count += 1 }
        return count
    }

    @Test func `without requests there is the minimum`() {
        let budget = Guarded(RetryBudget())
        #expect(drain(budget, now: 123_456) == 10)
    }

    @Test(arguments: [(4, 10), (5, 11), (100, 30), (1_004, 210)])
    func `a fifth of the requests comes on top`(requests: Int, retries: Int) {
        let budget = Guarded(RetryBudget())
        for _ in 0..<requests { budget.withLock { $0.count(now: 5_000) } }
        #expect(drain(budget, now: 5_999) == retries)
    }

    @Test func `what is older than ten seconds counts no more, neither requests nor retries`() {
        let budget = Guarded(RetryBudget())
        for _ in 0..<100 { budget.withLock { $0.count(now: 1_000) } }
        #expect(drain(budget, now: 1_000) == 30)
        #expect(drain(budget, now: 10_999) == 0)
        #expect(drain(budget, now: 11_000) == 10)
        #expect(drain(budget, now: 9_000_000) == 10)
    }

    @Test func `a request counts for ten seconds from its own second on, not from that of the last retry`() {
        let budget = Guarded(RetryBudget())
        #expect(drain(budget, now: 1_000) == 10)
        for _ in 0..<100 { budget.withLock { $0.count(now: 9_000) } }
        #expect(drain(budget, now: 11_000) == 30)
    }

    @Test func `a clock that stands still or falls back does no harm`() {
        let budget = Guarded(RetryBudget())
        budget.withLock { $0.count(now: 9_000) }
        budget.withLock { $0.count(now: 3_000) }
        #expect(drain(budget, now: 0) == 10)
    }
}
