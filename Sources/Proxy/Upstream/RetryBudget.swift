/// How many requests may be sent once more: a share of those of the last ten seconds, and a few in any case.
///
/// Without it an outage would double its own load. Pure; a loop has its own.
struct RetryBudget: Sendable {
    /// One in so many requests.
    static let requestsPerRetry = 5
    /// In ten seconds, however few requests there were.
    static let retriesMin = 10
    private static let seconds = 10

    private var requests = [Int](repeating: 0, count: seconds)
    private var retries = [Int](repeating: 0, count: seconds)
    private var second: Int64 = 0

    /// Counts a request; `now` is in milliseconds.
    mutating func count(now: Int64) {
        advance(to: now / 1000)
        requests[place] &+= 1
    }

    /// Takes one retry out; false where none is left.
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
        // What is older than the window counts no more, at most all of it.
        for _ in 0..<min(now - second, Int64(Self.seconds)) {
            second += 1
            requests[place] = 0
            retries[place] = 0
        }
        second = now
    }
}
