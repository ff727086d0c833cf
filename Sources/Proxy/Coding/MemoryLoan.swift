/// Bytes taken from a budget, which go back when this goes.
struct MemoryLoan: ~Copyable {
    private let budget: MemoryBudget
    private(set) var bytes: Int

    /// Takes so many bytes; nil where there are fewer.
    init?(_ bytes: Int, from budget: MemoryBudget) {
        guard budget.reserve(bytes) else { return nil }
        (self.budget, self.bytes) = (budget, bytes)
    }

    deinit { budget.release(bytes) }

    /// Makes it as large as that; false, and nothing changed, where there is not so much more.
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
