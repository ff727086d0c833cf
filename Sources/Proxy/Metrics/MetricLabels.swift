internal import HTTP

enum ConnectionSide: String, CaseIterable, Sendable {
    case client, upstream
}

/// The reason for which Dictum refused or gave up a request.
enum RejectionReason: String, CaseIterable, Sendable {
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
    case routeRate = "route-rate"
    case clientConnections = "client-connections"
    /// The client has as many requests under way as it may.
    case clientRequests = "client-requests"
    /// The upstreams, or the request's own, have as many requests as they may.
    case upstreamRequests = "upstream-requests"
    case reservedPath = "reserved-path"
    /// Recipients could read the path in two ways, of which a route guards one.
    case ambiguousPath = "ambiguous-path"
    /// The request's body is coded over a dictionary that it may not use.
    case requestDictionary = "request-dictionary"
    case noRoute = "no-route"
    /// The request came back from an upstream that leads here.
    case loop

    init(_ refusal: Refusal) {
        switch refusal {
        case .malformed(.headTooLarge), .malformed(.tooManyFields), .malformed(.targetTooLong):
            self = .headTooLarge
        case .malformed(.unsupportedVersion), .malformed(.unsupportedTransferEncoding): self = .unsupported
        case .malformed: self = .malformed
        case .headTimeout: self = .headTimeout
        case .tooManyConnections: self = .tooManyConnections
        case .tooManyConnectionsOfClient: self = .clientConnections
        case .badProxyHeader: self = .badProxyHeader
        }
    }
}

enum RetryReason: String, CaseIterable, Sendable {
    /// The upstream had closed the idle connection.
    case stale
    case connect
    case noAnswer = "no-answer"
}

enum UpstreamErrorKind: String, CaseIterable, Sendable {
    case connect
    case tls
    case connectTimeout = "connect-timeout"
    case responseTimeout = "response-timeout"
    case idleTimeout = "idle-timeout"
    case reset
    case malformed
}

enum RevalidationResult: String, CaseIterable, Sendable {
    /// The stored response is still valid and was sent.
    case hit
    /// The upstream sent another response.
    case changed
    /// The stored response could not be used, and the request was sent again without a condition.
    case retried
}

extension CaseIterable where Self: Equatable, AllCases.Index == Int {
    /// The position among all cases, as an index for counters; linear, so for rare events only.
    var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
