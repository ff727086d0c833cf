internal import HTTP

/// Whether a request that failed at one upstream may be sent once more (RFC 9110 section 9.2.2).
///
/// Pure.
enum RetryRule {
    /// What has become of a try.
    struct Attempt: Equatable {
        let error: UpstreamError
        /// Whether a byte of the request has gone out.
        let hasSent: Bool
        /// Whether a byte of an answer has come.
        let hasReceived: Bool
        /// Whether the method is idempotent and the request has no body.
        let isRepeatable: Bool

        fileprivate var mayRepeat: Bool { isRepeatable && !hasReceived }
    }

    /// What may be done.
    enum Verdict: Equatable {
        case never
        /// On a new connection to the same upstream: the former was closed while it lay idle. Free of charge.
        case refresh
        /// At another upstream, since this one cannot be reached. It gets no more than its share, as nothing was
        /// sent here: free of charge.
        case elsewhere
        /// At another upstream, or here where there is none; charged, since this one may have had the work.
        case again
        /// At another upstream only, since this one has had its time; charged likewise.
        case another
    }

    /// What may be done after a try that gave no answer's head.
    static func verdict(_ attempt: Attempt) -> Verdict {
        switch attempt.error {
        case .connectFailed(let error): error.isOurs ? .never : .elsewhere
        case .handshakeFailed, .connectTimeout: .elsewhere
        case .stale: !attempt.hasSent || attempt.isRepeatable ? .refresh : .never
        // What was never sent is not sent twice, whatever its method.
        case .closedBeforeHead: !attempt.hasSent || attempt.mayRepeat ? .again : .never
        case .headTimeout, .idleTimeout: !attempt.hasSent || attempt.mayRepeat ? .another : .never
        case .malformed, .truncated: .never
        }
    }

    /// Whether an error that came before the answer's head speaks against the upstream.
    static func isFault(_ error: UpstreamError) -> Bool {
        switch error {
        case .connectFailed(let error): !error.isOurs
        case .handshakeFailed, .connectTimeout, .closedBeforeHead, .headTimeout, .malformed: true
        case .stale, .truncated, .idleTimeout: false
        }
    }
}
