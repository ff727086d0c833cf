import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

/// A copy takes memory, bytes to write and its key, and gives all of them back.
@Suite struct AdmissionBudgetTests {
    /// Budgets that nothing refills within the test.
    private let budget = AdmissionBudget(
        hot: Guarded(HotBodies(bytesMax: 100_000)), bytesPerSecond: 10_000, burstBytes: 10_000,
        counters: Guarded(StoreStatistics()))

    private var reservedBytes: Int { budget.hot.withLock { $0.reservedBytes } }

    private func key(_ url: String) -> VersionKey { VersionKey(chain: feedChain, url: url, variant: "") }

    private func terms(_ url: String, for client: FairHolding? = nil) -> AdmissionBudget.Terms {
        AdmissionBudget.Terms(key: key(url), bytesMax: 100_000, isInProbation: false, client: client)
    }

    private func reserve(
        _ url: String, _ bytes: Int, writing written: Int = 0, for client: FairHolding? = nil,
        at seconds: Double = 0
    ) throws(AdmissionRefusal) -> AdmissionSlot {
        try budget.reserve(
            bytes, writing: written, terms(url, for: client), now: UInt64(seconds * 1e9) + 1_000_000_000)
    }

    @Test func `a copy that is not written gives back what it might have written`() throws {
        // The bucket has what comes in a second, and a debt of an hour keeps it empty.
        budget.owe(36_000_000)
        #expect(throws: AdmissionRefusal.rate) { try reserve("/1", 500, writing: 9_000) }
        #expect(reservedBytes == 0, "a refusal keeps no memory")
        budget.giveBack(36_000_000)
        let slot = try reserve("/1", 500, writing: 36_000_000)
        #expect(throws: AdmissionRefusal.rate) { try reserve("/2", 500, writing: 9_000) }
        slot.release()
        #expect(throws: Never.self) { try reserve("/2", 500, writing: 9_000) }
    }

    @Test func `what was written less than thought is given back, and what was more is owed`() throws {
        try reserve("/1", 500, writing: 36_000_000).settle(written: 0)
        try reserve("/2", 500, writing: 0).settle(written: 36_000_000)
        #expect(throws: AdmissionRefusal.rate) { try reserve("/3", 500, writing: 9_000) }
    }

    @Test func `a copy that grows is charged for what it grows by`() throws {
        let budget = AdmissionBudget(
            hot: Guarded(HotBodies(bytesMax: 100_000_000)), bytesPerSecond: 10_000, burstBytes: 10_000,
            counters: Guarded(StoreStatistics()))
        let open = AdmissionBudget.Terms(key: nil, bytesMax: 100_000_000, isInProbation: false)
        let slot = try budget.reserve(0, writing: 0, open)
        #expect(slot.extend(to: 36_000_000))
        #expect(throws: AdmissionRefusal.rate) { try budget.reserve(1, writing: 9_000, open) }
        slot.release()
        #expect(throws: Never.self) { try budget.reserve(1, writing: 9_000, open) }
    }

    @Test func `a client has one copy of any size, more within its fair share, and all of it comes back`()
        throws
    {
        let (client, other) = (FairHolding(), FairHolding())
        let first = try reserve("/1", 20_000, for: client)
        #expect(client.amount == 20_000)
        // An eighth of the 80,000 that are free.
        #expect(throws: AdmissionRefusal.memory) { try reserve("/2", 1, for: client) }
        let others = try reserve("/2", 60_000, for: other)
        first.release()
        #expect(client.amount == 0 && other.amount == 60_000)
        let taken = try reserve("/1", 1_000, for: client)
        #expect(taken.takeMemory() == 1_000)
        #expect(client.amount == 0, "the store has it")
        others.release()
        #expect(other.amount == 0)
    }

    @Test func `a copy excludes others with its key for ten seconds, and ends the wait of no later one`()
        throws
    {
        let first = try reserve("/1", 1)
        #expect(throws: AdmissionRefusal.copying) { try reserve("/1", 1, at: 9.999) }
        let second = try reserve("/1", 1, at: 10)
        first.release()
        #expect(throws: AdmissionRefusal.copying) { try reserve("/1", 1, at: 11) }
        second.release()
        #expect(throws: Never.self) { try reserve("/1", 1, at: 11) }
    }
}
