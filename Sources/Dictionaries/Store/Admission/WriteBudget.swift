/// A token bucket for the bytes that may be admitted: it refills within a second and holds at most a second's
/// worth.
///
/// A larger body waits for a full bucket and leaves it in debt. So every body gets its turn and the rate
/// holds. A value without a clock: times are monotonic nanoseconds.
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

    /// Takes bytes if the bucket has them; chains in probation leave half of the bucket to the others.
    mutating func take(_ count: Int, isInProbation: Bool = false, at now: UInt64) -> Bool {
        fill(at: now)
        let left = isInProbation ? bytesMax / 2 : 0
        guard bytes >= min(Double(count) + left, bytesMax) else { return false }
        bytes -= Double(count)
        return true
    }

    /// Charges bytes that can no longer be refused, if necessary as a debt.
    mutating func owe(_ count: Int) {
        bytes -= Double(count)
    }

    /// Returns bytes that were taken and not written.
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
