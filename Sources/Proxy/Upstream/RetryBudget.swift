/// Limits retries to a share of the last ten seconds' requests, plus a few.
///
/// Without a limit an outage would double its own load. Pure; each loop has one.
struct RetryBudget: Sendable {
    /// The number of requests per allowed retry.
    static let requestsPerRetry = 5
    /// The number of retries per ten seconds that are always allowed.
    static let retriesMin = 10
    private static let seconds = 10

    private var requests = [Int](repeating: 0, count: seconds)
    private var retries = [Int](repeating: 0, count: seconds)
    private var second: Int64 = 0

    /// Counts a request at `now`, in milliseconds.
    mutating func count(now: Int64) {
        advance(to: now / 1000)
        requests[place] &+= 1
    }

    /// Takes a retry; returns false if none is left.
    mutating func take(now: Int64) -> Bool {
        advance(to: now / 1000)
        let allowed = Self.retriesMin + requests.reduce(0, &+) / Self.requestsPerRetry
        guard retries.reduce(0, &+) < allowed else { return false }
        retries[place] += 1
        return true
    }

    private var place: Int { Int(second % Int64(Self.seconds)) }

    private mutating func advance(to now: Int64) {
        guard now > second else { return }
        // Clear the seconds that have left the window.
        for _ in 0..<min(now - second, Int64(Self.seconds)) {
            second += 1
            requests[place] = 0
            retries[place] = 0
        }
        second = now
    }
}
