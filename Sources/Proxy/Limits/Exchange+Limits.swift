internal import HTTP
internal import Primitives

// MARK: - What one client may ask for

extension Exchange {
    /// Returns the response to a client over its rate, or nil.
    func rateRefusal() -> ProblemAnswer? {
        guard let limit = context.rateLimit,
            let client = limit.client(request.headers, peer),
            let wait = context.shared.clientRates.take(
                client, limit.bucket, now: SystemClock.monotonicNanoseconds)
        else { return nil }
        // RFC 9110 section 10.2.3: Retry-After is in whole seconds; round up.
        let seconds = Int(wait / 1_000_000_000) + 1
        return ProblemAnswer(
            status: .tooManyRequests, detail: "There were too many requests; try again in \(seconds) s.",
            retryAfter: seconds)
    }
}
