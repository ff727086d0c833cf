/// The handler of all requests on one loop.
///
/// Used on that loop only.
package protocol Application: AnyObject {
    /// Takes a request with a complete head; responds through `stream`, now or later.
    ///
    /// The returned handler receives the request's body piece by piece.
    func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on stream: any ResponseStream
    ) -> any RequestHandler

    /// Responds to a connection that never became a request, through `send`, which returns the number of bytes
    /// sent.
    ///
    /// The number is 0 if no client would read the response. Without a call of `send` the connection is closed, or the
    /// stream of HTTP/2 reset. Called once per refusal, so that each can be counted and logged, with a response or without.
    func refuse(_ refusal: Refusal, from peer: Endpoint?, send: (ResponseHead, [UInt8]) -> Int)

    /// Counts what a listener or a connection has seen; by default nothing.
    func count(_ event: ListenerEvent)
}

extension Application {
    package func count(_ event: ListenerEvent) {}

    /// Refuses without a response; the application counts that, and may log it.
    func refuseWithoutResponse(_ refusal: Refusal, from peer: Endpoint?) {
        refuse(refusal, from: peer) { _, _ in 0 }
    }
}

/// An event of a connection that is counted, besides its requests.
package enum ListenerEvent: Equatable, Sendable {
    case accepted
    case handshake(HandshakeResult)
    /// The client has exceeded a limit of HTTP/2.
    case limit(HTTP2Limit)
}

/// A reason to respond without a request.
package enum Refusal: Error, Equatable, Sendable {
    /// The bytes are not a request that may be forwarded.
    case malformed(ParseError)
    case headTimeout
    case tooManyConnections
    case tooManyConnectionsOfClient
    /// The connection does not begin with the expected PROXY protocol header, or its peer may not send one.
    case badProxyHeader
}

/// The handler of one request.
///
/// Called on the connection's loop, never from within the handler's own calls to the connection.
package protocol RequestHandler: AnyObject {
    /// A piece of the request's body; `bytes` is valid during the call.
    func received(_ bytes: Span<UInt8>)
    /// The request's body is complete.
    func receivedEnd(trailers: Headers)
    /// The body is malformed, and the rest of it is discarded.
    ///
    /// The handler responds with 400, or aborts if its response has begun. The connection ends with the
    /// response.
    func malformed(_ error: ParseError)
    /// The client has read: there is room for more of the response.
    func drained()
    /// The client or its connection was lost before the response was complete.
    ///
    /// The last call.
    func aborted(_ cause: ClientLoss)
}

package enum ClientLoss: Error, Equatable, Sendable {
    /// It closed or reset the connection.
    case closed
    /// It sent or read nothing for too long.
    case timedOut
    /// The server stops.
    case stopped
}
