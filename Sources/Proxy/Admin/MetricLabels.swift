/// The side of the proxy on which a connection is.
package enum ConnectionSide: String, Sendable {
    case client, upstream
}

/// Why Dictum refused a request, or gave it up for its client's sake.
package enum RejectionReason: String, Sendable, CaseIterable {
    case malformed
    case headTooLarge = "head-too-large"
    case headTimeout = "head-timeout"
    case bodyTooLarge = "body-too-large"
    /// The request's body came too slowly.
    case bodyTimeout = "body-timeout"
    /// The client took the answer too slowly.
    case answerTimeout = "answer-timeout"
    case unsupported
    case tooManyConnections = "too-many-connections"
    case badProxyHeader = "bad-proxy-header"
    case clientRate = "client-rate"
    case clientConnections = "client-connections"
    case reservedPath = "reserved-path"
    /// The request came back from an upstream that leads here.
    case loop
}

/// Why a request was sent to an upstream once more.
package enum RetryReason: String, Sendable, CaseIterable {
    /// A kept connection had been closed.
    case stale
    /// There was no connection.
    case connect
    /// No answer came.
    case noAnswer = "no-answer"
}

/// What went wrong with an upstream.
package enum UpstreamErrorKind: String, Sendable, CaseIterable {
    case connect
    case tls
    case connectTimeout = "connect-timeout"
    case responseTimeout = "response-timeout"
    case idleTimeout = "idle-timeout"
    case reset
    case malformed
}
