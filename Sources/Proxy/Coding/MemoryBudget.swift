internal import Synchronization

/// A number of bytes that all loops together may take; never waits.
final class MemoryBudget: Sendable {
    private let limit: Atomic<Int>
    private let taken = Atomic<Int>(0)

    init(bytes: Int) {
        limit = Atomic(bytes)
    }

    /// Takes so many bytes, or none if that is more than there is.
    func reserve(_ bytes: Int) -> Bool {
        // Some estimates say "never" by the largest number there is.
        let limit = limit.load(ordering: .relaxed)
        guard bytes <= limit else { return false }
        if taken.wrappingAdd(bytes, ordering: .relaxed).newValue <= limit { return true }
        release(bytes)
        return false
    }

    /// Takes so many bytes while the work is done; nil, and nothing done, where there are fewer.
    func lend<Made>(_ bytes: Int, to work: () -> Made) -> Made? {
        guard reserve(bytes) else { return nil }
        defer { release(bytes) }
        return work()
    }

    /// What is taken now.
    var takenBytes: Int { taken.load(ordering: .relaxed) }

    /// Sets another limit; what is taken beyond it stays until it is given back.
    func resize(to bytes: Int) {
        limit.store(bytes, ordering: .relaxed)
    }

    func release(_ bytes: Int) {
        taken.wrappingSubtract(bytes, ordering: .relaxed)
    }
}
