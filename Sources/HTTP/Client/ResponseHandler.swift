/// Who receives the answer to one upstream request.
///
/// Called on the connection's loop.
package protocol ResponseHandler: AnyObject {
    /// An interim response (1xx); the final one follows.
    func receivedInterim(_ head: ResponseHead)
    /// The 101 that a request with Upgrade was answered with (RFC 9110 section 7.8).
    ///
    /// From here on the pieces of the body are whatever the upstream sends, and what is written goes out raw.
    func switchedProtocols(_ head: ResponseHead)
    /// The head of the final response.
    func receivedHead(_ head: consuming ResponseHead, framing: BodyFraming)
    /// A piece of the response's body; `bytes` is valid during the call.
    func receivedBody(_ bytes: Span<UInt8>)
    /// The response is whole.
    ///
    /// The last call.
    func responseEnded(trailers: Headers)
    /// There is room again for more of the request's body.
    func upstreamDrained()
    /// No whole response will come.
    ///
    /// The last call.
    func failed(_ error: UpstreamError)
}

/// Why an upstream gave no whole response.
package enum UpstreamError: Error, Equatable, Sendable {
    /// No connection: refused, unreachable, or out of descriptors.
    case connectFailed(SystemError)
    /// The upstream's TLS is none that can be used; nothing of the request was sent.
    case handshakeFailed(TLSFailure)
    /// No connection within the time for it.
    case connectTimeout
    /// A connection that had been kept alive turned out closed before it gave any byte of an answer.
    case stale
    /// The connection ended before the head was whole.
    case closedBeforeHead
    /// What came is no response.
    case malformed(ParseError)
    /// The head did not come in time.
    case headTimeout
    /// The body broke off: the connection ended, or failed.
    case truncated
    /// Nothing came, or nothing was taken, for too long.
    case idleTimeout

    /// A short name.
    package var label: String {
        switch self {
        case .connectFailed: "connect"
        case .handshakeFailed: "tls"
        case .connectTimeout: "connect-timeout"
        case .stale: "stale"
        case .closedBeforeHead: "closed"
        case .malformed: "malformed"
        case .headTimeout: "response-timeout"
        case .truncated: "truncated"
        case .idleTimeout: "idle-timeout"
        }
    }
}
