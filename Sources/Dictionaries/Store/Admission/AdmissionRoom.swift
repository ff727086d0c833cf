internal import Dispatch

/// What admissions share: memory for the copies, the bytes that may be written, and one copy of each answer.
final class AdmissionRoom: Sendable {
    /// What one copy is of.
    struct Name: Hashable, Sendable {
        let chain: ChainKey
        let url: String
        let variant: String
    }

    /// What is agreed on when a slot is given.
    struct Terms: Sendable {
        /// With a name no other copy of the same may be on its way.
        let name: Name?
        /// How large a body of its chain may be.
        let bytesMax: Int
        /// Whether its chain is, and so leaves half of the memory to the others.
        let isInProbation: Bool
    }

    /// How long a copy keeps others away: a client that reads slowly must not keep a URL from being admitted.
    private static let copyNanoseconds: UInt64 = 10_000_000_000

    let hot: Guarded<HotBodies>
    private let budget: Guarded<WriteBudget>
    private let counters: Guarded<StoreStatistics>
    /// The copies on their way, and when each began.
    private let copies = Guarded<[Name: UInt64]>([:])

    /// `burstBytes` may be admitted at once: what is offered must be on disk soon.
    init(
        hot: Guarded<HotBodies>, bytesPerSecond: Int, burstBytes: Int, counters: Guarded<StoreStatistics>
    ) {
        self.hot = hot
        self.counters = counters
        budget = Guarded(WriteBudget(bytesPerSecond: bytesPerSecond, bytesMax: burstBytes))
    }

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Takes place for a body.
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

    /// Takes more place for a body that is being copied; false, and nothing changed, where there is none.
    func reserveMore(_ bytes: Int, _ terms: Terms) -> Bool {
        guard hot.withLock({ $0.reserve(bytes, isInProbation: terms.isInProbation) }) else { return false }
        owe(bytes)
        return true
    }

    /// Counts a refusal.
    func note(_ refusal: AdmissionRefusal) {
        counters.withLock { $0.refusals[refusal, default: 0] += 1 }
    }

    /// Takes bytes to write that cannot be refused any more.
    func owe(_ bytes: Int) { budget.withLock { $0.owe(bytes) } }

    /// Gives back bytes that are not written.
    func giveBack(_ bytes: Int) { budget.withLock { $0.giveBack(bytes) } }

    /// Ends a copy, unless another has taken its place.
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
