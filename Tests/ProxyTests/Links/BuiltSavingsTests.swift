internal import Testing

@testable import Proxy

/// What built dictionaries save, by the responses that go out.
@Suite(.timeLimit(.minutes(40))) struct BuiltSavingsTests {
    private static let window = BuiltSavings.windowCount

    private static func savings(plain: Int = 400, over: Int? = nil) -> BuiltSavings {
        var savings = BuiltSavings()
        Self.recordPlain(plain, in: &savings, count: BuiltSavings.plainCountMin)
        if let over { record(over, 1, in: &savings) }
        return savings
    }

    /// Records responses of as many clients.
    private static func record(_ sent: Int, _ row: Int64, in savings: inout BuiltSavings, count: Int = window)
    {
        for client in 0..<count {
            savings.recordOver(row, body: 1_000, sent: sent, client: UInt128(client))
        }
    }

    private static func recordPlain(_ sent: Int, in savings: inout BuiltSavings, count: Int) {
        for client in 0..<count { savings.recordPlain(body: 1_000, sent: sent, client: UInt128(client)) }
    }

    @Test func `plain is known after some responses, and follows what they are now`() {
        var savings = BuiltSavings()
        Self.recordPlain(400, in: &savings, count: BuiltSavings.plainCountMin - 1)
        #expect(savings.plainPerMille == nil)
        savings.recordPlain(body: 1_000, sent: 400, client: 1 << 90)
        #expect(savings.plainPerMille == 400)
        Self.recordPlain(200, in: &savings, count: 20 * Self.window)
        #expect(savings.plainPerMille == 200)
    }

    @Test func `a dictionary has fallen once it saves a tenth less than at first`() {
        var savings = Self.savings(over: 100)
        #expect(savings.ratio(of: 1) == 4)
        #expect(!savings.hasFallen(1))
        Self.record(111, 1, in: &savings)
        #expect(!savings.hasFallen(1), "4 became 3.6")
        Self.record(112, 1, in: &savings, count: Self.window - 1)
        #expect(!savings.hasFallen(1), "one window is not whole")
        Self.record(112, 1, in: &savings, count: 1)
        #expect(savings.hasFallen(1))
        savings.acceptFall()
        #expect(!savings.hasFallen(1))
        Self.record(130, 1, in: &savings)
        #expect(savings.hasFallen(1))
    }

    @Test func `a new dictionary is compared with itself alone, and former ones do not count`() {
        var savings = Self.savings(over: 100)
        Self.record(200, 2, in: &savings)
        Self.record(900, 1, in: &savings)
        #expect(savings.ratio(of: 2) == 2)
        #expect(savings.ratio(of: 1) == nil)
        #expect(!savings.hasFallen(2))
    }

    @Test func `one client cannot change what the others' responses show`() {
        var savings = Self.savings(over: 100)
        for _ in 0..<100_000 {
            savings.recordPlain(body: 1_000, sent: 1_000, client: 7)
            savings.recordOver(1, body: 1_000, sent: 1_000, client: 7)
        }
        #expect(savings.ratio(of: 1) == 4)
        #expect(!savings.hasFallen(1))
        #expect(savings.plainPerMille.map { $0 < 600 } == true)
    }

    @Test func `the same few clients count in each window anew`() {
        var savings = Self.savings()
        func record(_ sent: Int) {
            for _ in 0..<16 {
                for client in 0..<16 as Range<UInt128> {
                    savings.recordOver(1, body: 1_000, sent: sent, client: client)
                }
            }
        }
        record(100)
        #expect(savings.ratio(of: 1) == 4)
        record(200)
        #expect(savings.ratio(of: 1) == 2)
        var plain = BuiltSavings()
        for (sent, clients) in [(400, 32), (200, 16)] {
            for _ in 0..<16 {
                for client in 0..<clients {
                    plain.recordPlain(body: 1_000, sent: sent, client: UInt128(client))
                }
            }
        }
        #expect(plain.plainPerMille == 300, "half of it is of before")
    }

    @Test func `nothing is known while nothing is sent without a dictionary`() {
        var savings = BuiltSavings()
        Self.record(100, 1, in: &savings)
        Self.record(900, 1, in: &savings)
        #expect(savings.ratio(of: 1) == nil)
        #expect(!savings.hasFallen(1))
    }
}
