/// The highest value of the last seconds: of the current window and the one before it.
///
/// Pure.
struct RecentPeak: Sendable {
    /// The length of a window in milliseconds: a peak counts for at least this time, and at most twice as long.
    static let windowMilliseconds: Int64 = 10_000

    private var former = 0
    private var current = 0
    private var windowEnd: Int64 = 0

    mutating func note(_ value: Int, now: Int64) {
        advance(to: now)
        current = max(current, value)
    }

    /// Returns the highest value of the current window and the one before it.
    mutating func value(now: Int64) -> Int {
        advance(to: now)
        return max(former, current)
    }

    private mutating func advance(to now: Int64) {
        guard now >= windowEnd else { return }
        // After a whole window without values nothing is recent.
        former = now - windowEnd < Self.windowMilliseconds ? current : 0
        current = 0
        windowEnd = now + Self.windowMilliseconds
    }
}
