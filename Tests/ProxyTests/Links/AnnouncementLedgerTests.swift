internal import Testing

@testable import Proxy

struct AnnouncementLedgerTests {
    /// Simulates a day of clients that each download 1,000 bytes and then save `saving`, until the next download.
    private func ledger(clients: Int, saving: Int, from start: Int = 0) -> AnnouncementLedger {
        var ledger = AnnouncementLedger()
        for client in 0..<clients {
            ledger.recordCost(1_000, of: UInt128(client), at: start)
            ledger.recordSaving(saving, of: UInt128(client))
        }
        ledger.recordCost(1_000, of: 9_999, at: start + 601)
        return ledger
    }

    @Test func `what saves more than it costs is announced on`() {
        #expect(ledger(clients: 20, saving: 1_200).pays(at: 601))
    }

    @Test func `what costs more than it saves rests for an hour, and then gets another chance`() {
        let ledger = ledger(clients: 20, saving: 300)
        #expect(!ledger.pays(at: 601) && !ledger.pays(at: 4_200) && ledger.pays(at: 4_201))
    }

    @Test func `few clients tell nothing, and neither do those that have just come`() {
        #expect(ledger(clients: 7, saving: 0).pays(at: 601))
        var fresh = AnnouncementLedger()
        for client in 0..<30 { fresh.recordCost(1_000, of: UInt128(client), at: 599) }
        #expect(fresh.pays(at: 599))
    }

    @Test func `one client cannot spoil what pays for others, however often it downloads`() {
        var ledger = AnnouncementLedger()
        for client in 0..<10 {
            ledger.recordCost(1_000, of: UInt128(client), at: 0)
            ledger.recordSaving(1_500, of: UInt128(client))
        }
        for second in 0..<1_200 { ledger.recordCost(1_000, of: 77, at: second) }
        #expect(ledger.pays(at: 1_200))
    }

    @Test func `one client cannot praise what does not pay for others`() {
        var ledger = AnnouncementLedger()
        for client in 0..<10 { ledger.recordCost(1_000, of: UInt128(client), at: 0) }
        ledger.recordCost(1_000, of: 77, at: 0)
        for _ in 0..<1_000 { ledger.recordSaving(100_000, of: 77) }
        ledger.recordCost(1_000, of: 9_999, at: 601)
        #expect(!ledger.pays(at: 601))
    }

    @Test func `a saving of somebody who never downloaded it does not count`() {
        var ledger = AnnouncementLedger()
        ledger.recordSaving(1_000_000, of: 1)
        for client in 2..<12 { ledger.recordCost(1_000, of: UInt128(client), at: 0) }
        ledger.recordCost(1_000, of: 99, at: 700)
        #expect(!ledger.pays(at: 700))
    }
}
