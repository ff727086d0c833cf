import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct ReturnTimesTests {
    @Test func `before thirty-two returns nothing is known`() {
        var times = ReturnTimes()
        for _ in 0..<31 { times.add(seconds: 10) }
        #expect(times.quantile(permille: 500, .ofReturns) == nil)
        times.add(seconds: 10)
        #expect(times.quantile(permille: 500, .ofReturns).map { (7...15).contains($0) } == true)
    }

    @Test func `of returns the quick ones are most, of clients each counts alike`() {
        var times = ReturnTimes()
        // For an hour, one client comes each second and another every ten minutes.
        for second in 1...3600 {
            times.add(seconds: 1)
            if second % 600 == 0 { times.add(seconds: 600) }
        }
        #expect(times.quantile(permille: 990, .ofReturns).map { $0 <= 3 } == true)
        #expect(times.quantile(permille: 900, .ofClients).map { (500...1023).contains($0) } == true)
    }

    @Test func `what was long ago fades`() {
        var times = ReturnTimes()
        for _ in 0..<4000 { times.add(seconds: 5000) }
        for _ in 0..<100_000 { times.add(seconds: 10) }
        #expect(times.quantile(permille: 999, .ofClients).map { $0 <= 15 } == true)
    }

    @Test(arguments: [Int.min, -1, 0, 1, .max])
    func `any number of seconds is counted`(seconds: Int) {
        var times = ReturnTimes()
        for _ in 0..<20_000 { times.add(seconds: seconds) }
        #expect(times.quantile(permille: 1000, .ofClients) != nil)
    }

    @Test func `versions stay for a minute at least, and those that clients hold for an hour`() {
        var times = ReturnTimes()
        for _ in 0..<32 { times.add(seconds: 1) }
        #expect(RetentionTimes(times) == RetentionTimes(unheld: 60, spent: 60, held: 3_600))
    }

    @Test func `versions stay as long as most returns, most clients and four times nearly all of them take`()
    {
        var times = ReturnTimes()
        // All lie in the bucket of 1,023 to 2,046 seconds.
        for _ in 0..<32 { times.add(seconds: 1_023) }
        #expect(RetentionTimes(times) == RetentionTimes(unheld: 1_791, spent: 1_842, held: 7_980))
    }

    @Test func `a quantile is between its neighbours`() {
        var times = ReturnTimes()
        for seconds in 0..<5000 { times.add(seconds: seconds) }
        let quantiles = stride(from: 0, through: 1000, by: 50).compactMap {
            times.quantile(permille: $0, .ofReturns)
        }
        #expect(quantiles == quantiles.sorted())
        #expect(quantiles.count == 21)
        #expect(abs((times.quantile(permille: 500, .ofReturns) ?? 0) - 2500) < 200)
    }
}
