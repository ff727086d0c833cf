internal import Dispatch
internal import Primitives

/// The resources that admissions share: memory for copies, bytes that may be written, and one copy per key.
final class AdmissionBudget: Sendable {
    struct Terms: Sendable {
        /// The key of the copy; while it is on its way, no other copy with this key may begin.
        ///
        /// Nil excludes nothing.
        let key: VersionKey?
        /// The largest body that its chain may have.
        let bytesMax: Int
        /// True if the chain is in probation: it leaves half of the memory to the others.
        let isInProbation: Bool
        /// The bytes of all copies for the client, who decides how long they last; nil for no client.
        var client: FairHolding?
    }

    /// The time for which a copy excludes others.
    ///
    /// A client that reads slowly must not keep a URL from being admitted.
    private static let copyNanoseconds: UInt64 = 10_000_000_000

    let hot: Guarded<HotBodies>
    /// The bytes that may be written: at most those of a second at once.
    private let written = Guarded(TokenBucket())
    private let writeRate: TokenBucket.Shape
    /// The bytes that chains in probation leave to the others: half.
    private let keptInProbation: Int
    private let counters: Guarded<StoreStatistics>
    /// The copies in progress, and the time at which each began.
    private let copies = Guarded<[VersionKey: UInt64]>([:])

    /// Makes the budgets.
    ///
    /// At most `burstBytes` are admitted at once, because every offered body must be on disk soon.
    init(hot: Guarded<HotBodies>, bytesPerSecond: Int, burstBytes: Int, counters: Guarded<StoreStatistics>) {
        self.hot = hot
        self.counters = counters
        writeRate = TokenBucket.Shape(perSecond: bytesPerSecond, burst: burstBytes)
        keptInProbation = min(bytesPerSecond, burstBytes) / 2
    }

    func reserve(
        _ bytes: Int, writing written: Int, _ terms: Terms,
        now: UInt64 = DispatchTime.now().uptimeNanoseconds
    ) throws(AdmissionRefusal) -> AdmissionSlot {
        guard bytes <= terms.bytesMax else { throw .size }
        if let key = terms.key, !begin(key, at: now) { throw .copying }
        var refusal: AdmissionRefusal?
        if !reserveMemory(bytes, terms) {
            refusal = .memory
        } else if !mayWrite(written, terms) {
            release(bytes, terms)
            refusal = .rate
        }
        if let refusal {
            if let key = terms.key { end(key, begunAt: now) }
            throw refusal
        }
        return AdmissionSlot(self, bytes: bytes, written: written, terms: terms, begunAt: now)
    }

    /// Reserves more memory for a copy in progress; returns false, without a change, if there is none.
    func reserveMore(_ bytes: Int, _ terms: Terms) -> Bool {
        guard reserveMemory(bytes, terms) else { return false }
        owe(bytes)
        return true
    }

    private func mayWrite(_ bytes: Int, _ terms: Terms) -> Bool {
        written.withLock {
            $0.take(
                bytes, keeping: terms.isInProbation ? keptInProbation : 0, at: writeRate,
                now: SystemClock.monotonicNanoseconds) == nil
        }
    }

    private func reserveMemory(_ bytes: Int, _ terms: Terms) -> Bool {
        let own = terms.client?.amount ?? 0
        guard hot.withLock({ $0.reserve(bytes, having: own, isInProbation: terms.isInProbation) }) else {
            return false
        }
        terms.client?.add(bytes)
        return true
    }

    /// Gives memory back that `reserve` and `reserveMore` took.
    func release(_ bytes: Int, _ terms: Terms) {
        hot.withLock { $0.release(bytes) }
        terms.client?.giveBack(bytes)
    }

    func count(_ refusal: AdmissionRefusal) {
        counters.withLock { $0.refusals[refusal, default: 0] += 1 }
    }

    /// Charges bytes to the write budget that can no longer be refused.
    func owe(_ bytes: Int) {
        written.withLock { $0.owe(bytes, at: writeRate, now: SystemClock.monotonicNanoseconds) }
    }

    func giveBack(_ bytes: Int) { written.withLock { $0.giveBack(bytes, at: writeRate) } }

    /// Ends a copy, unless another one has taken over its key.
    func end(_ key: VersionKey, begunAt: UInt64) {
        copies.withLock { if $0[key] == begunAt { $0[key] = nil } }
    }

    private func begin(_ key: VersionKey, at now: UInt64) -> Bool {
        copies.withLock { copies in
            if let begun = copies[key], now < begun &+ Self.copyNanoseconds { return false }
            copies[key] = now
            return true
        }
    }
}
