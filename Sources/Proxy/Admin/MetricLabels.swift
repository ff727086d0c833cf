/// The side of the proxy on which a connection is.
package enum ConnectionSide: String, Sendable {
    case client, upstream
}

/// The reason for which Dictum refused or gave up a request.
package enum RejectionReason: String, Sendable, CaseIterable {
    case malformed
    case headTooLarge = "head-too-large"
    case headTimeout = "head-timeout"
    case bodyTooLarge = "body-too-large"
    /// The request's body came too slowly.
    case bodyTimeout = "body-timeout"
    /// The client took the response too slowly.
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

/// The reason for a retry.
package enum RetryReason: String, Sendable, CaseIterable {
    /// The upstream had closed the idle connection.
    case stale
    /// No connection could be made.
    case connect
    /// No response came.
    case noAnswer = "no-answer"
}

/// The kind of an upstream's failure.
package enum UpstreamErrorKind: String, Sendable, CaseIterable {
    case connect
    case tls
    case connectTimeout = "connect-timeout"
    case responseTimeout = "response-timeout"
    case idleTimeout = "idle-timeout"
    case reset
    case malformed
}
