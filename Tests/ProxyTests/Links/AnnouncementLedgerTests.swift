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

    @Test func `each rest is longer than the one before, and an hour again after a judgement that it pays`() {
        var (ledger, now, client) = (AnnouncementLedger(), 0, UInt128(0))
        /// Lets clients come until they are judged; returns the seconds of the rest that follows.
        func rest(saving: Int) -> Int {
            for _ in 0..<20 {
                client += 1
                ledger.recordCost(1_000, of: client, at: now)
                ledger.recordSaving(saving, of: client)
            }
            now += 601
            ledger.recordCost(1_000, of: client + 1_000_000, at: now)
            let judgedAt = now
            while !ledger.pays(at: now) { now += 1 }
            return now - judgedAt
        }
        #expect((0..<6).map { _ in rest(saving: 0) } == [3_600, 7_200, 14_400, 28_800, 57_600, 57_600])
        #expect(rest(saving: 3_000) == 0)
        // Some of the clients that saved are judged later than the others.
        #expect((0..<3).lazy.map { _ in rest(saving: 0) }.first { $0 > 0 } == 3_600)
    }

    @Test func `few clients tell nothing, and neither do those that have just come`() {
        #expect(ledger(clients: 7, saving: 0).pays(at: 601))
        #expect(!ledger(clients: 8, saving: 0).pays(at: 601))
        var fresh = AnnouncementLedger()
        for client in 0..<30 { fresh.recordCost(1_000, of: UInt128(client), at: 599) }
        #expect(fresh.pays(at: 599))
    }

    @Test func `who downloads last has ten minutes to save, too, before anybody is judged`() {
        var ledger = AnnouncementLedger()
        ledger.recordCost(1_000, of: 1 << 80, at: 0)
        for client in 0..<20 as Range<UInt128> { ledger.recordCost(1_000, of: client, at: 590) }
        ledger.recordCost(1_000, of: 9_998, at: 601)
        #expect(ledger.pays(at: 601), "nothing is judged yet")
        for client in 0..<20 as Range<UInt128> { ledger.recordSaving(3_000, of: client) }
        ledger.recordCost(1_000, of: 9_999, at: 1_190)
        #expect(ledger.isProven && ledger.pays(at: 1_190))
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

    // MARK: Busy pages

    @Test(arguments: [(8, 1), (1, 10)])
    func `a judgement comes however busy the page is`(seconds: Int, visitors: Int) {
        var (ledger, downloads, client) = (AnnouncementLedger(), 0, UInt128(0))
        for now in stride(from: 0, to: 1_400, by: seconds) {
            for _ in 0..<visitors where ledger.pays(at: now) {
                client += 1
                downloads += 1
                ledger.recordCost(1_000, of: client, at: now)
            }
        }
        #expect(!ledger.pays(at: 1_400))
        // Ten minutes in which clients join, and ten for the last one.
        #expect(downloads <= (1_200 / seconds + 1) * visitors, "\(downloads)")
    }

    @Test func `what pays for the visitors of a busy page stays, for hours`() {
        var (ledger, client) = (AnnouncementLedger(), UInt128(0))
        for now in stride(from: 0, to: 14_400, by: 4) {
            client += 1
            ledger.recordCost(1_000, of: client, at: now)
            ledger.recordSaving(1_200, of: client)
            #expect(ledger.pays(at: now))
        }
        #expect(ledger.isProven)
    }

    @Test func `clients that come first or often, and never return, do not fill the sample`() {
        var ledger = AnnouncementLedger()
        for now in stride(from: 0, to: 7_200, by: 8) {
            if now % 600 == 0 {
                for client in 0..<32 { ledger.recordCost(1_000, of: 1 << 100 | UInt128(client), at: now) }
            }
            for client in 0..<4 { ledger.recordCost(1_000, of: 1 << 100 | UInt128(client), at: now) }
            ledger.recordCost(1_000, of: UInt128(now), at: now)
            ledger.recordSaving(3_000, of: UInt128(now))
            #expect(ledger.pays(at: now), "\(now)")
        }
        #expect(ledger.isProven)
    }

    // MARK: Credit

    @Test func `without a fetch after a page nothing is announced`() {
        var ledger = AnnouncementLedger()
        #expect(!ledger.mayAnnounce(at: 0))
        ledger.recordFetch(1, of: 1, at: 0)
        #expect(ledger.mayAnnounce(at: 0))
    }

    /// Lets visitors download 10,000 bytes each while the dictionary is announced; returns the bytes of all.
    private func downloads(_ ledger: inout AnnouncementLedger, of visitors: Range<Int>, at now: Int) -> Int {
        var bytes = 0
        for visitor in visitors where ledger.mayAnnounce(at: now) {
            ledger.recordCost(10_000, of: UInt128(visitor), at: now)
            bytes += 10_000
        }
        return bytes
    }

    @Test func `made-up fetches waste at most twice what they cost`() {
        var ledger = AnnouncementLedger()
        for _ in 0..<10 {
            for network in 0..<60 { ledger.recordFetch(10_000, of: 1 << 100 | UInt128(network), at: 0) }
        }
        let wasted = downloads(&ledger, of: 0..<10_000, at: 1)
        #expect(wasted == 2 * 60 * 10_000, "each network counts once")
        #expect(!ledger.mayAnnounce(at: 1))
        // Further clients give further credit, also the same ones in the next period.
        ledger.recordFetch(10_000, of: 1 << 101, at: 2)
        #expect(downloads(&ledger, of: 20_000..<30_000, at: 2) == 20_000)
        for network in 0..<60 { ledger.recordFetch(10_000, of: 1 << 100 | UInt128(network), at: 21_600) }
        // The sample has been judged by now, and rests for an hour.
        #expect(downloads(&ledger, of: 30_000..<40_000, at: 21_600) == 10_000)
        #expect(downloads(&ledger, of: 40_000..<50_000, at: 25_200) == 119 * 10_000)
    }

    @Test func `a fetch counts once in each period of six hours, not only in the first`() {
        var ledger = AnnouncementLedger()
        for second in 21_600..<21_610 { ledger.recordFetch(10_000, of: 1, at: second) }
        #expect(downloads(&ledger, of: 100..<200, at: 21_610) == 2 * 10_000)
    }

    @Test func `one client uses up what four downloads cost, however often it downloads`() {
        var ledger = AnnouncementLedger()
        for client in 0..<3 { ledger.recordFetch(10_000, of: UInt128(client), at: 0) }
        for second in 0..<500 { ledger.recordCost(10_000, of: 77, at: second) }
        #expect(ledger.mayAnnounce(at: 500))
        #expect(downloads(&ledger, of: 100..<200, at: 501) == 2 * 10_000)
    }

    @Test func `visitors that share an address waste no more than others`() {
        var (ledger, wasted) = (AnnouncementLedger(), 0)
        for client in 0..<3 { ledger.recordFetch(10_000, of: UInt128(client), at: 0) }
        for address in 100..<110 {
            for _ in 0..<4 where ledger.mayAnnounce(at: 1) {
                ledger.recordCost(10_000, of: UInt128(address), at: 1)
                wasted += 10_000
            }
        }
        #expect(wasted == 2 * 3 * 10_000)
    }

    @Test func `what a client saves gives its own download back, and no more`() {
        var ledger = AnnouncementLedger()
        ledger.recordFetch(10_000, of: 1, at: 0)
        for client in 100..<120 {
            ledger.recordCost(10_000, of: UInt128(client), at: 1)
            ledger.recordSaving(40_000, of: UInt128(client))
            ledger.recordSaving(1_000_000, of: 5_000)
        }
        #expect(downloads(&ledger, of: 200..<300, at: 2) == 20_000)
    }

    @Test func `what is proven to pay needs no credit, until it is judged not to pay`() {
        var ledger = ledger(clients: 20, saving: 1_200)
        #expect(ledger.isProven && ledger.mayAnnounce(at: 601))
        var now = 601
        for client in 100..<2_000 where ledger.pays(at: now) {
            now += 4
            ledger.recordCost(1_000, of: UInt128(client), at: now)
        }
        #expect(!ledger.isProven && now <= 601 + 1_204, "\(now)")
        #expect(!ledger.mayAnnounce(at: now + 3_600), "its credit is used up")
        ledger.recordFetch(10_000_000, of: 1, at: now + 3_600)
        #expect(ledger.mayAnnounce(at: now + 3_600))
    }
}
