/// The right to hold a copy of a body that may be admitted: its bytes count in the store's memory, and in what may
/// be written.
///
/// Given back on `release` or when the last reference goes; an admission uses it up.
package final class AdmissionSlot: Sendable {
    private struct Held: Sendable {
        var memory: Int
        /// What it has of the bytes that may be written.
        var written: Int
        /// No longer grows.
        var isOver = false
        var isSettled = false
    }

    private let room: AdmissionRoom
    private let terms: AdmissionRoom.Terms
    private let begunAt: UInt64
    private let held: Guarded<Held>

    /// For what is already taken in `room`.
    init(_ room: AdmissionRoom, bytes: Int, written: Int, terms: AdmissionRoom.Terms, begunAt: UInt64) {
        self.room = room
        self.terms = terms
        self.begunAt = begunAt
        held = Guarded(Held(memory: bytes, written: written))
    }

    deinit { release() }

    /// Grows the slot for a body whose length was not known; false: stop copying.
    ///
    /// There is no place for more then, or it is larger than a body of known length may be. What is written more is
    /// owed, not refused: the answer has offered this body.
    package func extend(to bytes: Int) -> Bool {
        held.withLock { held in
            guard !held.isOver else { return false }
            guard bytes > held.memory else { return true }
            guard bytes <= terms.bytesMax else {
                room.note(.size)
                return false
            }
            // In steps, so that a body that comes in small pieces does not take the lock for each.
            let wanted = max(bytes, min(held.memory * 2, bytes + 256 * 1024, terms.bytesMax))
            for target in [wanted, bytes] where room.reserveMore(target - held.memory, terms) {
                held.written += target - held.memory
                held.memory = target
                return true
            }
            room.note(.memory)
            return false
        }
    }

    /// Gives everything back; more than once does no harm.
    package func release() {
        let memory = takeMemory()
        room.hot.withLock { $0.release(memory) }
        settle(written: 0)
    }

    /// Leaves the bytes of memory to the caller, who releases them as the body itself is counted.
    func takeMemory() -> Int {
        held.withLock { held in
            defer { held.memory = 0 }
            held.isOver = true
            return held.memory
        }
    }

    /// Says what is written indeed, and lets the next copy of the same begin; only the first time counts.
    func settle(written: Int) {
        let taken: Int? = held.withLock { held in
            defer { (held.isOver, held.isSettled) = (true, true) }
            return held.isSettled ? nil : held.written
        }
        guard let taken else { return }
        if taken > written { room.giveBack(taken - written) }
        if taken < written { room.owe(written - taken) }
        if let name = terms.name { room.end(name, begunAt: begunAt) }
    }
}
