internal import HTTP

/// Decides whether a failed request may be sent again (RFC 9110 section 9.2.2): pure functions.
enum RetryRule {
    struct Attempt: Equatable {
        let error: UpstreamError
        let hasSent: Bool
        /// True if a byte of the response has arrived.
        let hasReceived: Bool
        /// True if the method is idempotent and the request has no body.
        let isRepeatable: Bool

        fileprivate var mayRepeat: Bool { isRepeatable && !hasReceived }
    }

    enum Verdict: Equatable {
        case never
        /// Retry on a new connection to the same address, because it had closed the idle one. Free.
        case reconnect
        /// Retry at another address of the upstream, because this one is unreachable. Free, because nothing was sent.
        case moveUnsent
        /// Retry at another address, or here if it is the only one. Charged, because this one may have done the work.
        case retryAnywhere
        /// Retry at another address only, because this one has used its time. Charged likewise.
        case retryElsewhere
    }

    /// Returns the verdict on an attempt that got no response head.
    static func verdict(_ attempt: Attempt) -> Verdict {
        switch attempt.error {
        case .connectFailed(let error): error.isOurs ? .never : .moveUnsent
        case .handshakeFailed, .connectTimeout: .moveUnsent
        case .stale: !attempt.hasSent || attempt.isRepeatable ? .reconnect : .never
        // A request that was not sent may be repeated, whatever its method.
        case .closedBeforeHead: !attempt.hasSent || attempt.mayRepeat ? .retryAnywhere : .never
        case .headTimeout, .idleTimeout: !attempt.hasSent || attempt.mayRepeat ? .retryElsewhere : .never
        case .malformed, .truncated, .http2: .never
        }
    }

    /// Returns true if an error before the response head counts against the upstream.
    static func isFault(_ error: UpstreamError) -> Bool {
        switch error {
        case .connectFailed(let error): !error.isOurs
        // A head over a limit of ours says nothing about the address.
        case .malformed(let error): error.status != .requestHeaderFieldsTooLarge
        case .handshakeFailed, .connectTimeout, .closedBeforeHead, .headTimeout, .http2: true
        case .stale, .truncated, .idleTimeout: false
        }
    }
}

/// Limits retries to a share of the last ten seconds' requests, plus a few.
///
/// Without a limit an outage would double its own load. Pure; each upstream has one on each loop (`LoopUpstream`).
struct RetryBudget: Sendable {
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
        requests[slot] &+= 1
    }

    /// Takes a retry; returns false if none is left.
    mutating func take(now: Int64) -> Bool {
        advance(to: now / 1000)
        let allowed = Self.retriesMin + requests.reduce(0, &+) / Self.requestsPerRetry
        guard retries.reduce(0, &+) < allowed else { return false }
        retries[slot] += 1
        return true
    }

    private var slot: Int { Int(second % Int64(Self.seconds)) }

    private mutating func advance(to now: Int64) {
        guard now > second else { return }
        // Clear the seconds that have left the window.
        for _ in 0..<min(now - second, Int64(Self.seconds)) {
            second += 1
            requests[slot] = 0
            retries[slot] = 0
        }
        second = now
    }
}
