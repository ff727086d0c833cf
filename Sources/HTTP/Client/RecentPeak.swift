/// The highest value of the last seconds: that of the current window and of the one before it.
///
/// Pure.
struct RecentPeak: Sendable {
    /// How long a window is, in milliseconds: a peak counts for this time at least, and twice this time at most.
    static let windowMilliseconds: Int64 = 10_000

    private var former = 0
    private var current = 0
    private var windowEnd: Int64 = 0

    /// Takes note of a value.
    mutating func note(_ value: Int, now: Int64) {
        advance(to: now)
        current = max(current, value)
    }

    /// Returns the highest value noted in the current window and in the one before it.
    mutating func value(now: Int64) -> Int {
        advance(to: now)
        return max(former, current)
    }

    private mutating func advance(to now: Int64) {
        guard now >= windowEnd else { return }
        // After a whole window of silence nothing is recent.
        former = now - windowEnd < Self.windowMilliseconds ? current : 0
        current = 0
        windowEnd = now + Self.windowMilliseconds
    }
}
