/// The side of the proxy on which a connection is.
package enum ConnectionSide: String, Sendable {
    case client, upstream
}

/// Why Dictum refused a request before it reached an upstream.
package enum RejectionReason: String, Sendable, CaseIterable {
    case malformed
    case headTooLarge = "head-too-large"
    case headTimeout = "head-timeout"
    case bodyTooLarge = "body-too-large"
    case unsupported
    case tooManyConnections = "too-many-connections"
    case badProxyHeader = "bad-proxy-header"
    case reservedPath = "reserved-path"
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
