internal import Dispatch

/// The resources that admissions share: memory for copies, bytes that may be written, and one copy per key.
final class AdmissionRoom: Sendable {
    /// The response that is being copied.
    struct Name: Hashable, Sendable {
        let chain: ChainKey
        let url: String
        let variant: String
    }

    /// The conditions of a slot.
    struct Terms: Sendable {
        /// The key of the copy; while it is on its way, no other copy with this key may begin.
        ///
        /// Nil excludes nothing.
        let name: Name?
        /// The largest body that its chain may have.
        let bytesMax: Int
        /// True if the chain is in probation: it leaves half of the memory to the others.
        let isInProbation: Bool
    }

    /// The time for which a copy excludes others.
    ///
    /// A client that reads slowly must not keep a URL from being admitted.
    private static let copyNanoseconds: UInt64 = 10_000_000_000

    let hot: Guarded<HotBodies>
    private let budget: Guarded<WriteBudget>
    private let counters: Guarded<StoreStatistics>
    /// The copies in progress, and the time at which each began.
    private let copies = Guarded<[Name: UInt64]>([:])

    /// Makes the budgets.
    ///
    /// At most `burstBytes` are admitted at once, because every offered body must be on disk soon.
    init(
        hot: Guarded<HotBodies>, bytesPerSecond: Int, burstBytes: Int, counters: Guarded<StoreStatistics>
    ) {
        self.hot = hot
        self.counters = counters
        budget = Guarded(WriteBudget(bytesPerSecond: bytesPerSecond, bytesMax: burstBytes))
    }

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Reserves memory and write budget for a body.
    func reserve(_ bytes: Int, writing written: Int, _ terms: Terms) throws(AdmissionRefusal) -> AdmissionSlot
    {
        guard bytes <= terms.bytesMax else { throw .size }
        let now = Self.now
        if let name = terms.name, !begin(name, at: now) { throw .copying }
        var refusal: AdmissionRefusal?
        if !hot.withLock({ $0.reserve(bytes, isInProbation: terms.isInProbation) }) {
            refusal = .memory
        } else if !budget.withLock({ $0.take(written, isInProbation: terms.isInProbation, at: now) }) {
            hot.withLock { $0.release(bytes) }
            refusal = .rate
        }
        if let refusal {
            if let name = terms.name { end(name, begunAt: now) }
            throw refusal
        }
        return AdmissionSlot(self, bytes: bytes, written: written, terms: terms, begunAt: now)
    }

    /// Reserves more memory for a copy in progress; returns false, without a change, if there is none.
    func reserveMore(_ bytes: Int, _ terms: Terms) -> Bool {
        guard hot.withLock({ $0.reserve(bytes, isInProbation: terms.isInProbation) }) else { return false }
        owe(bytes)
        return true
    }

    func note(_ refusal: AdmissionRefusal) {
        counters.withLock { $0.refusals[refusal, default: 0] += 1 }
    }

    /// Charges bytes to the write budget that can no longer be refused.
    func owe(_ bytes: Int) { budget.withLock { $0.owe(bytes) } }

    /// Returns unwritten bytes to the write budget.
    func giveBack(_ bytes: Int) { budget.withLock { $0.giveBack(bytes) } }

    /// Ends a copy, unless another one has taken over its key.
    func end(_ name: Name, begunAt: UInt64) {
        copies.withLock { if $0[name] == begunAt { $0[name] = nil } }
    }

    private func begin(_ name: Name, at now: UInt64) -> Bool {
        copies.withLock { copies in
            if let begun = copies[name], now < begun &+ Self.copyNanoseconds { return false }
            copies[name] = now
            return true
        }
    }
}
