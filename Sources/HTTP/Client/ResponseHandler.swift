/// The receiver of the response to one upstream request.
///
/// Called on the connection's loop.
package protocol ResponseHandler: AnyObject {
    /// An interim response (1xx); the final one follows.
    func receivedInterim(_ head: ResponseHead)
    /// The 101 response to a request with Upgrade (RFC 9110 section 7.8).
    ///
    /// From here on the pieces of the body are the upstream's raw bytes, and writes go out unframed.
    func switchedProtocols(_ head: ResponseHead)
    func receivedHead(_ head: consuming ResponseHead, framing: BodyFraming)
    /// A piece of the response's body; `bytes` is valid during the call.
    func receivedBody(_ bytes: Span<UInt8>)
    /// The response is complete.
    ///
    /// The last call.
    func responseEnded(trailers: consuming Headers)
    /// There is room for more of the request's body.
    func upstreamDrained()
    /// No complete response will come.
    ///
    /// The last call.
    func failed(_ error: UpstreamError)
}

/// Most requests ask for no upgrade, and have no body that waits for room.
extension ResponseHandler {
    package func switchedProtocols(_ head: ResponseHead) {}
    package func upstreamDrained() {}
}

/// A reason why an upstream gave no complete response.
package enum UpstreamError: Error, Equatable, Sendable {
    /// No connection: refused, unreachable, or out of descriptors.
    case connectFailed(SystemError)
    /// The upstream's TLS is unusable; none of the request was sent.
    case handshakeFailed(TLSFailure)
    case connectTimeout
    /// A kept connection turned out to be closed before any byte of a response.
    case stale
    /// The connection ended before the head was complete.
    case closedBeforeHead
    /// The bytes are not a valid response.
    case malformed(ParseError)
    case headTimeout
    /// The connection ended or failed within the body.
    case truncated
    /// Nothing came, or nothing was taken, for too long.
    case idleTimeout
    /// A reason that only HTTP/2 has; the proxy does not use that for upstreams.
    case http2(HTTP2Failure)
}
