/// A client's token bucket, stored as one number.
///
/// The generic cell rate algorithm (ITU-T I.371): it stores the time at which the bucket will be full again, so that
/// no timer has to fill it.
struct TokenBucket: Equatable, Sendable {
    private var fullAt: Int64 = .min

    /// Creates a full bucket.
    init() {}

    /// Takes a token; returns the nanoseconds until the next token if the bucket is empty.
    mutating func take(_ limit: RateLimit.Bucket, now: Int64) -> Int64? {
        let next = max(fullAt, now) + limit.interval
        let wait = next - now - limit.interval * limit.burst
        guard wait <= 0 else { return wait }
        fullAt = next
        return nil
    }

    /// Returns true if the bucket is full.
    func isFull(at now: Int64) -> Bool { fullAt <= now }
}
