/// The time within which nearly all of the recent replies came; a pure value.
///
/// Counts in buckets whose bounds grow by a quarter of an octave. Counts are halved as they fill up, so that old replies
/// fade.
struct LatencyQuantile: Sendable {
    /// The upper bound of the first bucket, in microseconds.
    private static let firstMicroseconds = 50.0
    private static let bucketCount = 64
    /// The number of replies after which the counts are halved.
    private static let windowCount = 512
    private static let share = 0.99

    private var counts = [Int](repeating: 0, count: bucketCount)
    private var total = 0

    /// The upper bounds of the buckets, in microseconds: 50 µs to 2.8 s.
    private static let bounds: [Int] = (0..<bucketCount).map { index in
        var bound = firstMicroseconds
        for _ in 0..<index { bound *= 1.189_207_115 }
        return Int(bound)
    }

    mutating func add(microseconds: Int) {
        counts[Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bucketCount - 1] += 1
        total += 1
        guard total >= Self.windowCount else { return }
        for index in counts.indices { counts[index] /= 2 }
        total = counts.reduce(0, +)
    }

    /// The bound under which 99 % of the recent replies came, in microseconds; nil before 20 replies.
    var microseconds: Int? {
        guard total >= 20 else { return nil }
        var left = Int((Double(total) * Self.share).rounded(.up))
        for (index, count) in counts.enumerated() {
            left -= count
            if left <= 0 { return Self.bounds[index] }
        }
        return Self.bounds.last
    }

    /// Returns the milliseconds to wait for a reply: four times the quantile, between 5 ms and `longest`.
    ///
    /// A server that suddenly takes four times as long is overloaded, and more waiting would not help it.
    func deadline(longest: Int) -> Int64 {
        guard let microseconds else { return Int64(longest) }
        return Int64(min(max(4 * microseconds / 1000 + 1, 5), max(longest, 1)))
    }
}
