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
