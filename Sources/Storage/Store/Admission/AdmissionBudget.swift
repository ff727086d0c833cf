internal import Dispatch
internal import Primitives

/// The resources that admissions share: memory for copies, bytes that may be written, and one copy per key.
final class AdmissionBudget: Sendable {
    /// The conditions of a slot.
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
    private let writeBudget: Guarded<WriteBudget>
    private let counters: Guarded<StoreStatistics>
    /// The copies in progress, and the time at which each began.
    private let copies = Guarded<[VersionKey: UInt64]>([:])

    /// Makes the budgets.
    ///
    /// At most `burstBytes` are admitted at once, because every offered body must be on disk soon.
    init(
        hot: Guarded<HotBodies>, bytesPerSecond: Int, burstBytes: Int, counters: Guarded<StoreStatistics>
    ) {
        self.hot = hot
        self.counters = counters
        writeBudget = Guarded(WriteBudget(bytesPerSecond: bytesPerSecond, bytesMax: burstBytes))
    }

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Reserves memory and write budget for a body.
    func reserve(_ bytes: Int, writing written: Int, _ terms: Terms) throws(AdmissionRefusal) -> AdmissionSlot
    {
        guard bytes <= terms.bytesMax else { throw .size }
        let now = Self.now
        if let key = terms.key, !begin(key, at: now) { throw .copying }
        var refusal: AdmissionRefusal?
        if !reserveMemory(bytes, terms) {
            refusal = .memory
        } else if !writeBudget.withLock({ $0.take(written, isInProbation: terms.isInProbation, at: now) }) {
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
    func owe(_ bytes: Int) { writeBudget.withLock { $0.owe(bytes) } }

    func giveBack(_ bytes: Int) { writeBudget.withLock { $0.giveBack(bytes) } }

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

/// A token bucket for the bytes that may be admitted: it refills within a second and holds at most a second's
/// worth.
///
/// A larger body waits for a full bucket and leaves it in debt. So every body gets its turn and the rate
/// holds. A value without a clock: times are monotonic nanoseconds.
package struct WriteBudget: Sendable {
    private let bytesPerSecond: Double
    private let bytesMax: Double
    private var bytes: Double
    private var filledAt: UInt64?

    package init(bytesPerSecond: Int, bytesMax: Int = .max) {
        self.bytesPerSecond = Double(max(bytesPerSecond, 1))
        self.bytesMax = min(self.bytesPerSecond, Double(max(bytesMax, 1)))
        bytes = self.bytesMax
    }

    /// Takes bytes if the bucket has them; chains in probation leave half of the bucket to the others.
    package mutating func take(_ count: Int, isInProbation: Bool = false, at now: UInt64) -> Bool {
        fill(at: now)
        let left = isInProbation ? bytesMax / 2 : 0
        guard bytes >= min(Double(count) + left, bytesMax) else { return false }
        bytes -= Double(count)
        return true
    }

    /// Charges bytes that can no longer be refused, if necessary as a debt.
    mutating func owe(_ count: Int) {
        bytes -= Double(count)
    }

    mutating func giveBack(_ count: Int) {
        bytes = min(bytes + Double(count), bytesMax)
    }

    private mutating func fill(at now: UInt64) {
        let since = filledAt ?? now
        filledAt = max(since, now)
        guard now > since else { return }
        bytes = min(bytes + Double(now - since) / 1e9 * bytesPerSecond, bytesMax)
    }
}
