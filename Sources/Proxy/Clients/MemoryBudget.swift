internal import Synchronization

/// A byte budget that all loops share; never waits.
///
/// Work that ends by itself takes what it needs (`lend`). Bytes that may wait for a client are taken through its
/// `MemoryShare`, which leaves an eighth of the budget alone.
final class MemoryBudget: Sendable {
    let limitBytes: Int
    private let taken = Atomic<Int>(0)

    init(bytes: Int) { limitBytes = bytes }

    /// Takes bytes; returns false, and takes none, if fewer are left.
    func reserve(_ bytes: Int) -> Bool {
        // Some estimates use the largest integer for "never".
        guard bytes <= limitBytes else { return false }
        if taken.wrappingAdd(bytes, ordering: .relaxed).newValue <= limitBytes { return true }
        release(bytes)
        return false
    }

    /// Takes bytes while `work` runs; returns nil without running it if fewer are left.
    func lend<Made>(_ bytes: Int, to work: () -> Made) -> Made? {
        guard reserve(bytes) else { return nil }
        defer { release(bytes) }
        return work()
    }

    var takenBytes: Int { taken.load(ordering: .relaxed) }

    func release(_ bytes: Int) {
        taken.wrappingSubtract(bytes, ordering: .relaxed)
    }
}
