internal import Testing

@testable import Proxy

@Suite struct MemoryBudgetTests {
    private let budget = MemoryBudget(bytes: 100)

    @Test func `what is lent is taken while the work is done, and given back with its end`() {
        #expect(budget.lend(60) { budget.takenBytes } == 60)
        #expect(budget.takenBytes == 0)
        #expect(budget.lend(100) { true } == true, "all of it again")
    }

    @Test(arguments: [41, 101, Int.max])
    func `beyond the limit no work is done, and nothing stays taken`(bytes: Int) {
        #expect(budget.reserve(60))
        var isDone = false
        #expect(budget.lend(bytes) { isDone = true } == nil)
        #expect(!isDone)
        #expect(budget.takenBytes == 60)
        #expect(budget.lend(40) { true } == true)
    }
}
