internal import Synchronization

/// A number of bytes that all loops together may take; never waits.
final class MemoryBudget: Sendable {
    private let limit: Int
    private let taken = Atomic<Int>(0)

    init(bytes: Int) {
        limit = bytes
    }

    /// Takes so many bytes, or none if that is more than there is.
    func reserve(_ bytes: Int) -> Bool {
        // Some estimates say "never" by the largest number there is.
        guard bytes <= limit else { return false }
        if taken.wrappingAdd(bytes, ordering: .relaxed).newValue <= limit { return true }
        release(bytes)
        return false
    }

    func release(_ bytes: Int) {
        taken.wrappingSubtract(bytes, ordering: .relaxed)
    }
}
