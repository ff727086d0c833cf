/// What answers the requests of one loop's connections.
///
/// Used on that loop only.
package protocol Application: AnyObject {
    /// Takes a request whose head has come in whole; answers through `connection`, now or later.
    ///
    /// The request's body follows to the handler that is returned, piece by piece.
    func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on connection: ServerConnection
    ) -> any RequestHandler

    /// Answers what never became a request through `send`, which says how many bytes go out for it: none where nobody
    /// would read them.
    ///
    /// Without a call of `send` the connection is closed without a word. Called once for each, so that it can be accounted
    /// for.
    func refuse(_ refusal: Refusal, from peer: Endpoint?, send: (ResponseHead, [UInt8]) -> Int)
}

extension Application {
    /// Accounts for what is refused without an answer.
    func refuseSilently(_ refusal: Refusal, from peer: Endpoint?) {
        refuse(refusal, from: peer) { _, _ in 0 }
    }
}

/// Why a connection gets an answer without a request.
package enum Refusal: Error, Equatable, Sendable {
    /// The bytes are no request that may be forwarded.
    case malformed(ParseError)
    /// The head did not come in time.
    case headTimeout
    /// There are as many connections as there may be.
    case tooManyConnections
    /// The client has as many connections as one may have.
    case tooManyConnectionsOfClient
    /// The connection does not begin with the PROXY protocol header that is expected, or its peer may not send one.
    case badProxyHeader
}

/// One request in the hands of who answers it.
///
/// Called on the connection's loop, never from within its own calls to the connection.
package protocol RequestHandler: AnyObject {
    /// A piece of the request's body; `bytes` is valid during the call.
    func received(_ bytes: Span<UInt8>)
    /// The request's body has come in whole.
    func receivedEnd(trailers: Headers)
    /// What comes as the body is none, and is thrown away from here on.
    ///
    /// The handler answers 400, or aborts if its answer has begun; the connection ends with it.
    func malformed(_ error: ParseError)
    /// The client has read on: there is room again for more of the answer.
    func drained()
    /// The client or its connection has gone before the answer was whole.
    ///
    /// The last call.
    func aborted(_ cause: ClientLoss)
}

/// How a client was lost.
package enum ClientLoss: Error, Equatable, Sendable {
    /// It closed or reset the connection.
    case closed
    /// It sent or read nothing for too long.
    case timedOut
    /// The server ends.
    case stopped
}
