internal import Primitives
internal import Testing

@testable import Proxy

/// The processor time of observing, and the sums over groups.
@Suite struct ObservationBudgetTests {
    @Test func `if the processor time does not suffice, fewer clients are observed, each completely`() {
        let second: Int64 = 1_000_000_000
        var budget = ObservationBudget(cpuShare: 0.05, now: 0)
        var shares: [Double] = []
        for number in 1...60 {
            // Each client would cost a tenth of a second per second.
            budget.charge(Int64(0.1 * budget.clientShare * Double(second)), now: Int64(number) * second)
            shares.append(budget.clientShare)
        }
        #expect(shares.first == 1)
        #expect(shares.last == 0.5)
        let chosen = (0..<1000 as Range<UInt64>).filter(budget.observes)
        #expect(chosen.count == 500)
        for number in 61...90 { budget.charge(0, now: Int64(number) * second) }
        #expect(budget.clientShare == 1)
        #expect(budget.spentNanoseconds < 4 * second)
    }

    @Test func `a share that suffices for half of the clients stays`() {
        let second: Int64 = 1_000_000_000
        var budget = ObservationBudget(cpuShare: 0.05, now: 0)
        var shares: [Double] = []
        for number in 1...60 {
            budget.charge(Int64(0.08 * budget.clientShare * Double(second)), now: Int64(number) * second)
            shares.append(budget.clientShare)
        }
        #expect(shares.suffix(50).allSatisfy { $0 == 0.5 }, "\(shares)")
    }

    @Test func `clients come back only if less than a quarter of the time is used`() {
        let period = ObservationBudget.periodNanoseconds
        var budget = ObservationBudget(cpuShare: 0.05, now: 0)
        budget.charge(period, now: period)
        var shares: [Double] = []
        // Two fifths of what is allowed, and then a fifth.
        for (number, nanoseconds) in [(2, period / 50), (3, period / 100)] as [(Int64, Int64)] {
            budget.charge(nanoseconds, now: number * period)
            shares.append(budget.clientShare)
        }
        #expect(shares == [0.5, 1])
    }

    @Test func `the processor time is told as a share of all the time of observing`() {
        let second: Int64 = 1_000_000_000
        var budget = ObservationBudget(cpuShare: 0.05, now: 5 * second)
        budget.charge(2 * second, now: 20 * second)
        budget.charge(second, now: 35 * second)
        #expect(budget.cpuUsed(now: 35 * second) == 0.1)
    }

    @Test func `however busy it is, one client in 4,096 is observed`() {
        var budget = ObservationBudget(cpuShare: 0.05, now: 0)
        for number in 1...40 as ClosedRange<Int64> {
            let period = ObservationBudget.periodNanoseconds
            budget.charge(period, now: number * period)
        }
        #expect(budget.clientShare == 1.0 / 4_096)
    }

    @Test func `the clients come back, although none of those that ask is observed`() throws {
        let observer = try TestProxy(json([]), "mode: observe").server.context.observer
        let second: Int64 = 1_000_000_000
        let now = SystemClock.monotonicNanoseconds
        observer.budget.withLock {
            $0 = ObservationBudget(cpuShare: 0.05, now: now - 20 * second)
            $0.charge(2 * second, now: now - 10 * second)
        }
        #expect(observer.cost.clientShare == 0.5)
        #expect(observer.weight(of: 1) == 1)
    }

    @Test func `while not all clients are observed, requests of nobody are not`() throws {
        let proxy = try TestProxy(json([]), "mode: observe")
        let observer = proxy.server.context.observer
        #expect(observer.weight(of: nil) == 1)
        let second: Int64 = 1_000_000_000
        // In an hour, so that no period ends meanwhile.
        let now = SystemClock.monotonicNanoseconds + 3_600 * second
        observer.budget.withLock {
            $0 = ObservationBudget(cpuShare: 0.05, now: now - 10 * second)
            $0.charge(2 * second, now: now)
        }
        let weights = [2, 1, nil].map { (client: UInt64?) in observer.weight(of: client) }
        #expect(weights == [2, nil, nil])
    }

    @Test func `a route lives as short as its shortest responses`() {
        let lives: [Int?] = [600, nil, 60, 300]
        let groups = lives.map { life in
            var group = SavingsReport.Observed()
            group.lifeSeconds = life
            return group
        }
        #expect(SavingsReport.Observed(groups).lifeSeconds == 60)
        #expect(SavingsReport.Observed([]).lifeSeconds == nil)
    }

    @Test func `a route has the sums of its groups, the longest time and the fields of the most frequent`() {
        func group(_ number: Int) -> SavingsReport.Observed {
            var group = SavingsReport.Observed()
            let counts: [WritableKeyPath<SavingsReport.Observed, Int>] = [
                \.responses, \.skipped, \.urls, \.paths, \.versions, \.revisits, \.unchanged, \.bodyBytes,
                \.firsts,
                \.returns, \.deltas, \.credentials,
            ]
            for (index, count) in counts.enumerated() { group[keyPath: count] = number * (index + 1) }
            (group.seconds, group.deltasOfAll) = (Double(number), 2 * Double(number))
            group.add(deltaBytes: number, plainBytes: 10 * number, versionsBack: number)
            group.own.add(deltaBytes: number, plainBytes: 20 * number)
            group.across.add(deltaBytes: number, plainBytes: 30 * number)
            (group.lacks, group.obstacles, group.unkept) = (["a": number], ["b": number], ["c": number])
            group.fields = ["vary": "\(number)"]
            return group
        }
        let sum = SavingsReport.Observed([group(3), group(1)])
        #expect(
            [
                sum.responses, sum.skipped, sum.urls, sum.paths, sum.versions, sum.revisits, sum.unchanged,
                sum.bodyBytes, sum.firsts, sum.returns, sum.deltas, sum.credentials,
            ] == (1...12).map { 4 * $0 })
        #expect(sum.seconds == 3 && sum.deltasOfAll == 8)
        #expect(sum.measured.plainBytes == 40 && sum.own.plainBytes == 80 && sum.across.plainBytes == 120)
        #expect(sum.ages.map(\.sizes.count) == [0, 1, 1, 0, 0, 0])
        #expect(sum.lacks == ["a": 4] && sum.obstacles == ["b": 4] && sum.unkept == ["c": 4])
        #expect(sum.fields == ["vary": "3"])
    }

    @Test func `the savings of years are a number`() {
        var observed = SavingsReport.Observed()
        observed.measured = DeltaSizes(
            count: 1_000_000_000, deltaBytes: 2_000_000_000_000, plainBytes: 12_000_000_000_000)
        (observed.deltas, observed.deltasOfAll) = (1_000_000_000, 2e9)
        #expect(observed.savedBytes == 2e13)
    }

    @Test func `a debt of less than two seconds of allowance stops nothing, and a larger one does`() {
        var budget = ObservationBudget(cpuShare: 0.01, now: 0)
        // The allowance of a minute, and that of one more second.
        budget.charge(610_000_000, now: 0)
        let isLittle = budget.mayBegin(now: 0)
        budget.charge(20_000_000, now: 0)
        let isMore = budget.mayBegin(now: 0)
        #expect(isLittle && !isMore)
    }

    @Test func `without allowance nothing begins`() {
        var budget = ObservationBudget(cpuShare: 0.01, now: 0)
        // The allowance of a minute, and a second more.
        budget.charge(1_600_000_000, now: 1)
        let mayBegin = budget.mayBegin(now: 2)
        #expect(!mayBegin)
        let plenty = [90, 101].map { budget.allowance.hasPlenty(now: $0 * 1_000_000_000) }
        #expect(plenty == [false, true])
    }

    @Test func `what was used in a longer time than a period is counted over all of it`() {
        let second: Int64 = 1_000_000_000
        var budget = ObservationBudget(cpuShare: 0.05, now: 0)
        budget.charge(2 * second, now: 100 * second)
        #expect(budget.clientShare == 1)
        // The next period began with the last change.
        budget.charge(6 * second, now: 101 * second)
        #expect(budget.clientShare == 1)
        budget.charge(0, now: 110 * second)
        #expect(budget.clientShare == 0.5)
        #expect(budget.cpuUsed(now: 160 * second) == 0.05, "of the whole time")
        budget.observing.run(false, now: 160 * second)
        #expect(budget.cpuUsed(now: 500 * second) == 0.05, "but for pauses")
        budget.observing.run(true, now: 500 * second)
        #expect(budget.cpuUsed(now: 660 * second) == 0.025)
    }

    @Test func `only a body that comes again, or another of its URL, is a revisit`() {
        var observed = SavingsReport.Observed()
        observed.countBody(number: 1, isNew: true)
        #expect((observed.versions, observed.revisits, observed.unchanged) == (1, 0, 0))
        observed.countBody(number: 1, isNew: false)
        #expect((observed.versions, observed.revisits, observed.unchanged) == (1, 1, 1))
        observed.countBody(number: 2, isNew: true)
        #expect((observed.versions, observed.revisits, observed.unchanged) == (2, 2, 1))
    }

    @Test func `a delta counts with the least age that it is not beyond`() {
        var observed = SavingsReport.Observed()
        for age in [0, 1, 2, 3, 4, 10, 11, 100, 101] {
            observed.add(deltaBytes: 1, plainBytes: 3, versionsBack: age)
        }
        #expect(observed.ages.map(\.sizes.count) == [1, 1, 2, 2, 2, 1])
        #expect(observed.ages.map(\.sizes.plainBytes) == [3, 3, 6, 6, 6, 3])
        observed.deltasOfAll = 18
        #expect(observed.savedBytes == 36)
        (observed.returns, observed.deltas) = (4, 1)
        #expect(observed.holderShare == 0.25)
    }
}
