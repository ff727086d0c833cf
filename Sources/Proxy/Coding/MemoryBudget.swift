internal import Synchronization

/// A byte budget that all loops share; never waits.
final class MemoryBudget: Sendable {
    private let limit: Atomic<Int>
    private let taken = Atomic<Int>(0)

    init(bytes: Int) {
        limit = Atomic(bytes)
    }

    /// Takes bytes; returns false, and takes none, if fewer are left.
    func reserve(_ bytes: Int) -> Bool {
        // Some estimates use the largest integer for "never".
        let limit = limit.load(ordering: .relaxed)
        guard bytes <= limit else { return false }
        if taken.wrappingAdd(bytes, ordering: .relaxed).newValue <= limit { return true }
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

    /// Sets another limit; bytes taken beyond it stay in use until they are released.
    func resize(to bytes: Int) {
        limit.store(bytes, ordering: .relaxed)
    }

    func release(_ bytes: Int) {
        taken.wrappingSubtract(bytes, ordering: .relaxed)
    }
}

/// Bytes taken from a budget, which are released at the end of the loan's life.
struct MemoryLoan: ~Copyable {
    private let budget: MemoryBudget
    private(set) var bytes: Int

    /// Takes bytes; returns nil if fewer are left.
    init?(_ bytes: Int, from budget: MemoryBudget) {
        guard budget.reserve(bytes) else { return nil }
        (self.budget, self.bytes) = (budget, bytes)
    }

    deinit { budget.release(bytes) }

    /// Changes the size of the loan; returns false, and changes nothing, if the budget is used up.
    mutating func resize(to bytes: Int) -> Bool {
        if bytes > self.bytes {
            guard budget.reserve(bytes - self.bytes) else { return false }
        } else {
            budget.release(self.bytes - bytes)
        }
        self.bytes = bytes
        return true
    }
}
