/// The right to hold a copy of a body that may be admitted; its bytes are counted in the store's memory.
///
/// Given back on `release` or when the last reference goes. Release it when the body is handed to `admit`.
package final class AdmissionSlot: Sendable {
    private let hot: Guarded<HotBodies>
    private let reservedBytes: Guarded<Int>

    /// For a body that is already reserved in `hot`.
    init(_ hot: Guarded<HotBodies>, bytes: Int) {
        self.hot = hot
        reservedBytes = Guarded(bytes)
    }

    deinit { release() }

    /// Grows the slot for a body whose length was not known; false where there is no place: stop copying then.
    package func extend(to bytes: Int) -> Bool {
        reservedBytes.withLock { reserved in
            guard bytes > reserved else { return true }
            // In steps, so that a body that comes in small pieces does not take the lock for each.
            let wanted = max(bytes, min(reserved * 2, bytes + 256 * 1024))
            for target in [wanted, bytes] where hot.withLock({ $0.reserve(target - reserved) }) {
                reserved = target
                return true
            }
            return false
        }
    }

    /// Gives the place back; more than once does no harm.
    package func release() {
        reservedBytes.withLock { reserved in
            let bytes = reserved
            hot.withLock { $0.release(bytes) }
            reserved = 0
        }
    }
}
