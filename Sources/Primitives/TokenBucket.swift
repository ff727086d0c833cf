/// A token bucket, stored as one number: the time at which it will be full again, so that no timer has to fill it.
///
/// This is the generic cell rate algorithm (ITU-T I.371). A value without a clock: times are monotonic nanoseconds.
package struct TokenBucket: Equatable, Sendable {
    package struct Shape: Equatable, Sendable {
        /// The nanoseconds per token.
        private let interval: Double
        /// The nanoseconds in which an empty bucket becomes full.
        fileprivate let span: Int64

        package init(interval: Double, burst: Double) {
            self.interval = interval
            span = Self.nanoseconds(burst * interval)
        }

        /// A bucket that holds what comes in a second, or less.
        package init(perSecond: Int, burst: Int = .max) {
            let rate = Double(max(perSecond, 1))
            self.init(interval: 1e9 / rate, burst: min(rate, Double(max(burst, 1))))
        }

        fileprivate func cost(_ count: Int) -> Int64 { Self.nanoseconds(Double(count) * interval) }

        private static func nanoseconds(_ value: Double) -> Int64 { Int64(min(value, 4e18).rounded()) }
    }

    private var fullAt: Int64 = 0

    package init() {}

    /// Takes tokens; returns the nanoseconds to wait, and takes none, if there are too few.
    ///
    /// More tokens than the bucket holds are given when it is full, and leave it in debt. So everybody gets a turn, and
    /// the rate holds.
    ///
    /// - Parameter kept: The tokens that must be left.
    package mutating func take(_ count: Int = 1, keeping kept: Int = 0, at shape: Shape, now: Int64)
        -> Int64?
    {
        let wait = missing(now) + min(shape.cost(count + kept), shape.span) - shape.span
        guard wait <= 0 else { return wait }
        owe(count, at: shape, now: now)
        return nil
    }

    /// Takes tokens that can no longer be refused, if necessary as a debt.
    package mutating func owe(_ count: Int, at shape: Shape, now: Int64) {
        fullAt = max(fullAt, now) + shape.cost(count)
    }

    package mutating func giveBack(_ count: Int, at shape: Shape) { fullAt -= shape.cost(count) }

    /// Returns the nanoseconds until the bucket is full.
    package func missing(_ now: Int64) -> Int64 { max(fullAt - now, 0) }
}
