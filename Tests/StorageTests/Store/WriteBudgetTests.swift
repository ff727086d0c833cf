import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct WriteBudgetTests {
    private let second: UInt64 = 1_000_000_000

    @Test(arguments: [(1000, true), (1001, false)])
    func `a full bucket holds one second's worth, and not a byte more`(count: Int, isTaken: Bool) {
        var budget = WriteBudget(bytesPerSecond: 1000)
        let first = budget.take(500, at: 7)
        let rest = budget.take(count - 500, at: 7)
        #expect(first)
        #expect(rest == isTaken)
    }

    @Test func `it holds no more than it is allowed, and what is larger waits for all of that`() {
        var budget = WriteBudget(bytesPerSecond: 1000, bytesMax: 300)
        let all = budget.take(300, at: 0)
        let tooSoon = budget.take(400, at: second / 10)
        let inTime = budget.take(400, at: second)
        let inDebt = budget.take(1, at: second + second / 10)
        #expect([all, tooSoon, inTime, inDebt] == [true, false, true, false])
    }

    @Test func `it fills with time, up to a second's worth`() {
        var budget = WriteBudget(bytesPerSecond: 1000)
        let all = budget.take(1000, at: 0)
        let tooSoon = budget.take(100, at: second / 10 - 1)
        let inTime = budget.take(100, at: second / 10)
        #expect([all, tooSoon, inTime] == [true, false, true])
        let afterAges = budget.take(1000, at: .max)
        let more = budget.take(1, at: .max)
        #expect([afterAges, more] == [true, false])
    }

    @Test func `a body larger than the bucket takes it when it is full, and the debt is paid first`() {
        var budget = WriteBudget(bytesPerSecond: 1000)
        let small = budget.take(1, at: 0)
        let notFull = budget.take(3000, at: 0)
        let full = budget.take(3000, at: second)
        let inDebt = budget.take(1, at: 3 * second)
        let paid = budget.take(1, at: 3 * second + second / 1000)
        #expect([small, notFull, full, inDebt, paid] == [true, false, true, false, true])
    }

    @Test func `what is given back can be taken again, but the bucket never overflows`() {
        var budget = WriteBudget(bytesPerSecond: 1000)
        let first = budget.take(1000, at: 0)
        budget.giveBack(400)
        let again = budget.take(400, at: 0)
        let more = budget.take(1, at: 0)
        budget.giveBack(5000)
        let all = budget.take(1000, at: 0)
        let beyond = budget.take(1, at: 0)
        #expect([first, again, more, all, beyond] == [true, true, false, true, false])
    }

    @Test(arguments: [(499, true), (500, false)])
    func `chains in probation leave half of it to the others`(count: Int, isTaken: Bool) {
        var budget = WriteBudget(bytesPerSecond: 1000)
        let before = budget.take(1, at: 0)
        let taken = budget.take(count, isInProbation: true, at: 0)
        #expect(before)
        #expect(taken == isTaken)
        let others = budget.take(500, at: 0)
        #expect(others)
    }

    @Test func `a clock that goes back adds nothing`() {
        var budget = WriteBudget(bytesPerSecond: 1000)
        let first = budget.take(1000, at: 5 * second)
        let earlier = budget.take(1, at: 0)
        let same = budget.take(1, at: 5 * second)
        #expect([first, earlier, same] == [true, false, false])
    }
}
