/// Where a client's connection stands: which part of a request may come, which part of an answer has gone.
///
/// Pure, so that a test can drive it through every order of events. One exchange at a time (RFC 9112 section
/// 9.3.2): a pipelined request stays unread until the answer before it is whole.
struct ServerStateMachine: Sendable {
    /// What comes in.
    enum Input: Sendable {
        /// A head is awaited; whether any byte of it has come.
        case head(isPartial: Bool)
        case body
        /// The request is whole; what follows waits.
        case complete
        /// Nothing more is taken; what comes is thrown away until the client closes.
        case discarded
    }

    /// What goes out.
    enum Output: Sendable {
        case none
        case body
        case complete
    }

    /// What to do once an answer is whole.
    enum Next: Equatable, Sendable {
        /// Await the next request.
        case request
        /// Close, or linger if the client has more to say.
        case close
        /// Close the sending side and throw away what still comes, so that the answer is not lost to a reset
        /// (RFC 9112 section 9.6).
        case linger
    }

    private(set) var input = Input.head(isPartial: false)
    private(set) var output = Output.none
    /// Whether the connection may serve another request after this one (RFC 9112 section 9.3).
    private(set) var isPersistent = true
    /// Whether the client sends no more.
    private(set) var isPeerClosed = false
    private(set) var isStopping = false

    /// Whether an exchange is under way: begun, and its answer not yet whole.
    var isExchanging: Bool {
        switch input {
        case .head, .discarded: false
        case .body, .complete: output != .complete
        }
    }

    /// Whether bytes of the client are of use now.
    var wantsInput: Bool {
        switch input {
        case .head, .body, .discarded: true
        case .complete: false
        }
    }

    mutating func headIsPartial() {
        if case .head = input { input = .head(isPartial: true) }
    }

    mutating func begin(hasBody: Bool, keepsAlive: Bool) {
        input = hasBody ? .body : .complete
        output = .none
        isPersistent = keepsAlive && !isStopping
    }

    mutating func requestEnded() {
        if case .body = input { input = .complete }
    }

    /// The answer's head goes out; returns whether the connection persists, which the head must say.
    ///
    /// An answer that overtakes its request ends the connection: the rest of that body must never be taken for a
    /// request. One without length ends it too, being its only end.
    mutating func answerStarted(endsWithConnection: Bool) -> Bool {
        output = .body
        if case .complete = input {} else { isPersistent = false }
        if endsWithConnection || isStopping { isPersistent = false }
        return isPersistent
    }

    /// The response's head is taken back: none of it has gone out.
    mutating func answerWithdrawn(wasPersistent: Bool) {
        output = .none
        isPersistent = wasPersistent && !isStopping
    }

    /// The connection has changed its protocol: bytes both ways from here on, until it ends.
    mutating func protocolSwitched() {
        input = .body
        output = .body
        isPersistent = false
    }

    /// A response whose head promised that the connection persists is followed by another request, also while the server
    /// stops: the client may have sent it already.
    mutating func answerEnded() -> Next {
        output = .complete
        if isPersistent {
            input = .head(isPartial: false)
            output = .none
            return .request
        }
        let isWhole = if case .complete = input { true } else { false }
        input = .discarded
        return isWhole ? .close : .linger
    }

    /// The client will send no more.
    ///
    /// Returns whether the connection is of no use any more.
    mutating func peerClosed() -> Bool {
        isPeerClosed = true
        return !isExchanging
    }

    /// The server stops: the next response whose head goes out is the last, and says so.
    ///
    /// A connection that is idle stays open for that: the next request may be on its way, and a client may not send one
    /// again that got no answer, unless it is idempotent (RFC 9110 section 9.2.2).
    mutating func stop() {
        isStopping = true
    }
}
