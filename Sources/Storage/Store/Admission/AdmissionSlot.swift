internal import Primitives

/// A reservation for the copy of a body that may be admitted: memory, and bytes that may be written.
///
/// An admission uses it up. Otherwise `release`, or the end of the last reference, gives everything back.
package final class AdmissionSlot: Sendable {
    private struct Held: Sendable {
        var memory: Int
        /// Its share of the write budget.
        var written: Int
        /// True once the slot no longer grows.
        var isOver = false
        var isSettled = false
    }

    private let budget: AdmissionBudget
    private let terms: AdmissionBudget.Terms
    private let begunAt: UInt64
    /// The time at which the copy began, in microseconds since 1970, as the ranks of versions.
    let rank = SystemClock.unixMicroseconds
    private let held: Guarded<Held>

    /// Makes a slot for bytes that `budget` has reserved already.
    init(_ budget: AdmissionBudget, bytes: Int, written: Int, terms: AdmissionBudget.Terms, begunAt: UInt64) {
        self.budget = budget
        self.terms = terms
        self.begunAt = begunAt
        held = Guarded(Held(memory: bytes, written: written))
    }

    deinit { release() }

    /// Grows the slot for a body of unknown length; returns false if the copy must stop.
    ///
    /// That is the case if memory is full, or the body exceeds the largest size. The additional bytes to
    /// write are charged and never refused, because the response has offered this body already.
    package func extend(to bytes: Int) -> Bool {
        held.withLock { held in
            guard !held.isOver else { return false }
            guard bytes > held.memory else { return true }
            guard bytes <= terms.bytesMax else {
                budget.count(.size)
                return false
            }
            // Grow in steps, so that small pieces of a body do not take the lock each time.
            let wanted = max(bytes, min(held.memory * 2, bytes + 256 * 1024, terms.bytesMax))
            for target in [wanted, bytes] where budget.reserveMore(target - held.memory, terms) {
                held.written += target - held.memory
                held.memory = target
                return true
            }
            budget.count(.memory)
            return false
        }
    }

    /// Gives everything back; further calls have no effect.
    package func release() {
        let memory = takeMemory()
        budget.hot.withLock { $0.release(memory) }
        settle(written: 0)
    }

    /// Returns the reserved memory to the caller, who releases it when the body itself is counted.
    func takeMemory() -> Int {
        let memory = held.withLock { held in
            defer { held.memory = 0 }
            held.isOver = true
            return held.memory
        }
        // From here on the bytes are the store's own.
        terms.client?.giveBack(memory)
        return memory
    }

    /// Settles the bytes that were really written, and lets the next copy with the same key begin.
    ///
    /// Only the first call counts.
    func settle(written: Int) {
        let taken: Int? = held.withLock { held in
            defer { (held.isOver, held.isSettled) = (true, true) }
            return held.isSettled ? nil : held.written
        }
        guard let taken else { return }
        if taken > written { budget.giveBack(taken - written) }
        if taken < written { budget.owe(written - taken) }
        if let key = terms.key { budget.end(key, begunAt: begunAt) }
    }
}
