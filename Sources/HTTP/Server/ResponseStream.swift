/// One request's way back to its client: what an application needs of the connection that a request came on.
///
/// An HTTP/1.1 connection is one: it carries one request at a time. Confined to its loop.
package protocol ResponseStream: AnyObject {
    var core: EventLoop.Core { get }
    var facts: ConnectionFacts { get }

    /// Stops reading the request's body, as its receiver is full.
    func pauseRequest()
    /// Reads on, after the events of this batch.
    func resumeRequest()

    /// All bytes given to the connection to send, heads and framing included.
    var bytesSent: Int { get }
    /// True while there is room for more of the response; if not, `drained` comes once there is.
    var canWrite: Bool { get }
    /// The bytes of a body that the client has room for: its window; none while something waits for its socket.
    var roomForBody: Int { get }
    /// The bytes of the response that wait here for the client to open its window.
    var stuckBytes: Int { get }
    /// Calls `drained` once no byte of the response is stuck.
    func awaitWindow()
    /// Calls `drained` once the client has room for the first bytes of a body.
    func awaitRoomForBody()
    /// Holds an object until the response has gone out or is given up.
    func keep(_ object: AnyObject)
    /// Sends an interim response (RFC 9110 section 15.2).
    func sendInterim(_ head: ResponseHead)
    /// Sends the head of the response; `body` says what follows.
    func start(_ head: consuming ResponseHead, body: BodyFraming)
    /// Sends a 101, from which on bytes pass both ways as they are.
    ///
    /// Returns false if the client cannot have it; its request then still waits for a response.
    func switchProtocols(_ head: consuming ResponseHead) -> Bool
    func write(_ piece: Span<UInt8>)
    func finish(trailers: Headers)
    /// Takes back a response before its first byte has gone to the client, so that another may be started; returns false
    /// if it is too late.
    func withdraw() -> Bool
    /// Gives the response up so that the client cannot take it for complete.
    ///
    /// `isUpstreams` says that the cause lies behind the application: then the client has not provoked the reset.
    func abort(isUpstreams: Bool)
}

extension ResponseStream {
    package func finish() { finish(trailers: Headers()) }
    package func abort() { abort(isUpstreams: false) }

    /// Sends a whole response, without the body for HEAD.
    package func respond(_ head: consuming ResponseHead, _ body: [UInt8], isHead: Bool) {
        let isBodiless = isHead || head.status.isBodiless
        if isHead { head.headers.append(.contentLength, UInt64(body.count)) }
        start(head, body: isBodiless ? .none : .length(UInt64(body.count)))
        write(body.span)
        finish()
    }
}

extension ServerConnection: ResponseStream {
    /// The socket takes what comes, as fast as the client reads.
    var roomForBody: Int { canWrite ? .max : 0 }
    /// None: a connection has one response, and bounds what waits of it.
    var stuckBytes: Int { 0 }
    func awaitWindow() {}
    /// Nothing to do: `drained` comes after each pause.
    func awaitRoomForBody() {}
    func keep(_ object: AnyObject) {}
}
