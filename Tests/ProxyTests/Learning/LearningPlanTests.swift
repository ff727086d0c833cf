internal import Testing

@testable import Proxy

/// When a dictionary is learned, and learned anew.
@Suite(.timeLimit(.minutes(40))) struct LearningPlanTests {
    private typealias Plan = LearningPlan

    /// Facts of clients that got some responses of 300 bytes each.
    private static func facts(
        clients: Int = 20, responses: Int = 10, _ change: (inout Plan.Facts) -> Void = { _ in }
    ) -> Plan.Facts {
        var facts = Plan.Facts()
        facts.proven = Plan.resourcesMin
        for client in 0..<clients {
            facts.visits.record(bytes: 300, of: UInt128(client), at: 0)
            for _ in 0..<responses { facts.visits.record(bytes: 300, of: UInt128(client), at: 60) }
        }
        change(&facts)
        return facts
    }

    private static func decide(_ facts: Plan.Facts, hasTime: Bool = true, now: Int = 1_000) -> Plan.Decision {
        Plan.decide(facts, hasProcessorTime: hasTime, now: now)
    }

    @Test func `it waits until first responses have cost more than downloads would`() {
        #expect(Self.decide(Self.facts(responses: 6)) == .wait(.fewFirstVisits))
        #expect(Self.decide(Self.facts(responses: 7)) == .train(responses: 7))
        #expect(Self.decide(Self.facts(clients: 2, responses: 1_000)) == .wait(.fewFirstVisits))
        // The one of four that got the most is left out, and three are enough.
        #expect(Self.decide(Self.facts(clients: 4, responses: 100)) == .train(responses: 100))
        #expect(Self.decide(Plan.Facts()) == .wait(.fewFirstVisits))
    }

    @Test func `it waits for enough resources with proven bodies`() {
        #expect(Self.decide(Self.facts { $0.proven = Plan.resourcesMin - 1 }) == .wait(.fewProven))
    }

    @Test func `the number of responses per client is bounded`() {
        #expect(Self.decide(Self.facts(responses: 5_000)) == .train(responses: 1_000))
        var facts = Self.facts(clients: 0)
        for client in 0..<20 {
            for time in [0, 60] { facts.visits.record(bytes: 90_000, of: UInt128(client), at: time) }
        }
        #expect(Self.decide(facts) == .train(responses: 2))
    }

    @Test func `responses of a client's first page do not count, as it has no dictionary yet`() {
        var facts = Self.facts(clients: 0)
        for client in 0..<100 {
            for time in 0..<10 {
                facts.visits.record(bytes: 90_000, of: UInt128(client), at: time)
            }
        }
        #expect(Self.decide(facts) == .wait(.fewFirstVisits))
        for client in 0..<100 { facts.visits.record(bytes: 90_000, of: UInt128(client), at: 10) }
        #expect(Self.decide(facts) == .train(responses: 2), "those after ten seconds do")
    }

    @Test func `one client that asks for everything counts nothing`() {
        var facts = Self.facts(responses: 6)
        facts.visits.record(bytes: 300, of: 1 << 90, at: 0)
        for _ in 0..<100_000 { facts.visits.record(bytes: 300, of: 1 << 90, at: 60) }
        #expect(Self.decide(facts) == .wait(.fewFirstVisits))
    }

    @Test func `only so many clients are remembered, and these go on to count for a day`() {
        var visits = FirstVisits()
        for time in [0, 60, 86_399] {
            for client in 0..<10_000 { visits.record(bytes: 1, of: UInt128(client), at: time) }
        }
        #expect(visits.clients == FirstVisits.clientsMax)
        #expect(visits.bytes == 2 * FirstVisits.clientsMax)
        let (clients, responses, bytes) = visits.totals
        #expect(clients == FirstVisits.clientsMax - 13)
        #expect((responses, bytes) == (2 * clients, 2 * clients))
        visits.record(bytes: 1, of: 1, at: 86_400)
        #expect((visits.clients, visits.bytes) == (1, 0))
    }

    @Test func `without processor time it waits, and says so`() {
        #expect(Self.decide(Self.facts(), hasTime: false) == .wait(.noProcessorTime))
    }

    @Test func `attempts that fail come later each time, up to a day`() {
        #expect(Self.decide(Self.facts { $0.retryAt = 1_001 }) == .wait(nil))
        #expect(Self.decide(Self.facts { $0.retryAt = 1_000 }) == .train(responses: 10))
        let waits = [1, 2, 3, 11, 12, 100].map { Plan.retryAt(failures: $0, now: 0) }
        #expect(waits == [60, 120, 240, 61_440, 86_400, 86_400])
    }

    @Test func `a dictionary is learned anew only once it saves too little, for clients that are known`() {
        func facts(isTooLittle: Bool, clients: Int = 20) -> Plan.Facts {
            Self.facts(clients: clients, responses: 3) {
                ($0.hasDictionary, $0.isTooLittle) = (true, isTooLittle)
            }
        }
        #expect(Self.decide(facts(isTooLittle: false)) == .wait(nil))
        #expect(Self.decide(facts(isTooLittle: true)) == .train(responses: 3), "however few bytes they cost")
        #expect(Self.decide(facts(isTooLittle: true, clients: 3)) == .wait(nil), "one of three is left out")
        #expect(Self.decide(facts(isTooLittle: true), hasTime: false) == .wait(.noProcessorTime))
    }

    @Test func `twenty seconds of processor time forbid the next training for a thousand`() {
        let second: Int64 = 1_000_000_000
        var allowance = ProcessorAllowance(cpuShare: LearnedDictionaries.cpuShare)
        allowance.charge(20 * second, now: 0)
        #expect([999, 1_000].map { allowance.hasPlenty(now: $0 * second) } == [false, true])
    }
}
