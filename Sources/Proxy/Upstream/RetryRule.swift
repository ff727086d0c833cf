internal import HTTP

/// Decides whether a failed request may be sent again (RFC 9110 section 9.2.2).
///
/// Pure.
enum RetryRule {
    /// A failed attempt.
    struct Attempt: Equatable {
        let error: UpstreamError
        /// True if a byte of the request has been sent.
        let hasSent: Bool
        /// True if a byte of the response has arrived.
        let hasReceived: Bool
        /// True if the method is idempotent and the request has no body.
        let isRepeatable: Bool

        fileprivate var mayRepeat: Bool { isRepeatable && !hasReceived }
    }

    /// The verdict on a failed attempt.
    enum Verdict: Equatable {
        case never
        /// Retry on a new connection to the same upstream, because it had closed the idle one. Free.
        case refresh
        /// Retry at another upstream, because this one is unreachable. Free, because nothing was sent.
        case elsewhere
        /// Retry at another upstream, or here if it is the only one. Charged, because this one may have done the work.
        case again
        /// Retry at another upstream only, because this one has used its time. Charged likewise.
        case another
    }

    /// Returns the verdict on an attempt that got no response head.
    static func verdict(_ attempt: Attempt) -> Verdict {
        switch attempt.error {
        case .connectFailed(let error): error.isOurs ? .never : .elsewhere
        case .handshakeFailed, .connectTimeout: .elsewhere
        case .stale: !attempt.hasSent || attempt.isRepeatable ? .refresh : .never
        // A request that was not sent may be repeated, whatever its method.
        case .closedBeforeHead: !attempt.hasSent || attempt.mayRepeat ? .again : .never
        case .headTimeout, .idleTimeout: !attempt.hasSent || attempt.mayRepeat ? .another : .never
        case .malformed, .truncated: .never
        }
    }

    /// Returns true if an error before the response head counts against the upstream.
    static func isFault(_ error: UpstreamError) -> Bool {
        switch error {
        case .connectFailed(let error): !error.isOurs
        case .handshakeFailed, .connectTimeout, .closedBeforeHead, .headTimeout, .malformed: true
        case .stale, .truncated, .idleTimeout: false
        }
    }
}
