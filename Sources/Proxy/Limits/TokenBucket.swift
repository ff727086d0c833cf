/// What is left of one client's requests: a bucket that fills at a steady rate, as one number.
///
/// The generic cell rate algorithm (ITU-T I.371): instead of tokens it keeps the time at which the bucket will be full
/// again, so that time alone fills it.
struct TokenBucket: Equatable, Sendable {
    private var fullAt: Int64 = .min

    /// A full one.
    init() {}

    /// Takes a token at `now`, or says in how many nanoseconds there will be one.
    mutating func take(_ limit: RateLimit.Bucket, now: Int64) -> Int64? {
        let next = max(fullAt, now) + limit.interval
        let wait = next - now - limit.interval * limit.burst
        guard wait <= 0 else { return wait }
        fullAt = next
        return nil
    }

    /// Whether it is as full as a new one.
    func isFull(at now: Int64) -> Bool { fullAt <= now }
}
