/// How much may be admitted now: a bucket that a second fills, and that holds a second's worth or less.
///
/// What is larger than that waits for a full bucket and leaves it in debt, so that every body can have its turn and
/// the rate holds all the same. A value without a clock: times are nanoseconds that only grow.
struct WriteBudget: Sendable {
    private let bytesPerSecond: Double
    private let bytesMax: Double
    private var bytes: Double
    private var filledAt: UInt64?

    init(bytesPerSecond: Int, bytesMax: Int = .max) {
        self.bytesPerSecond = Double(max(bytesPerSecond, 1))
        self.bytesMax = min(self.bytesPerSecond, Double(max(bytesMax, 1)))
        bytes = self.bytesMax
    }

    /// Takes so many bytes if they are there; chains in probation leave half of the bucket to the others.
    mutating func take(_ count: Int, isInProbation: Bool = false, at now: UInt64) -> Bool {
        fill(at: now)
        let left = isInProbation ? bytesMax / 2 : 0
        guard bytes >= min(Double(count) + left, bytesMax) else { return false }
        bytes -= Double(count)
        return true
    }

    /// Takes bytes that cannot be refused any more, if need be as a debt.
    mutating func owe(_ count: Int) {
        bytes -= Double(count)
    }

    /// Gives back what was taken and is not written.
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
