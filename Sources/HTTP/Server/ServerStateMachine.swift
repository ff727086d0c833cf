/// The state of a client's connection: the expected part of a request, and the sent part of a response.
///
/// Pure, so that a test can drive it through every order of events. One exchange at a time (RFC 9112 section
/// 9.3.2): a pipelined request stays unread until the response before it is complete.
struct ServerStateMachine: Pausable, Sendable {
    enum Input: Sendable {
        /// A head; partial once a byte of it has come.
        case head(isPartial: Bool)
        case body
        /// The request is complete; later bytes wait.
        case complete
        /// Input is discarded until the client closes.
        case discarded
    }

    enum Output: Sendable {
        case none
        case body
        case complete
    }

    /// The step after a complete response.
    enum Next: Equatable, Sendable {
        case request
        /// Close, or linger if the client may send more.
        case close
        /// Close the sending side and discard input, so that a reset does not destroy the response (RFC 9112
        /// section 9.6).
        case linger
    }

    private(set) var input = Input.head(isPartial: false)
    private(set) var output = Output.none
    /// True if the connection may serve another request after this one (RFC 9112 section 9.3).
    private(set) var isPersistent = true
    /// True once the client sends no more.
    private(set) var isPeerClosed = false
    private(set) var isStopping = false
    /// True once the protocol has changed (RFC 9110 section 7.8): the bytes are no HTTP messages any more.
    private(set) var isTunnel = false
    /// True while the receiver of the request's body is full.
    var isPaused = false
    /// The step to take once the output of a complete response is gone.
    private(set) var pendingStep: Next?

    /// True from the beginning of a request until its response is complete.
    var isExchanging: Bool {
        switch input {
        case .head, .discarded: false
        case .body, .complete: true
        }
    }

    /// True while bytes of the client are of use.
    var wantsInput: Bool {
        switch input {
        case .head, .body, .discarded: true
        case .complete: false
        }
    }

    /// True while bytes of the client can be processed.
    var mayRead: Bool {
        switch input {
        case .head, .discarded: pendingStep == nil
        case .body: pendingStep == nil && !isPaused
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
        isPaused = false
    }

    mutating func requestEnded() {
        if case .body = input { input = .complete }
    }

    /// The response's head is sent; returns whether the connection persists, which the head must say.
    ///
    /// A response that overtakes its request ends the connection, because the rest of that body must never be
    /// taken for a request. A response without a length ends it too.
    mutating func responseStarted(endsWithConnection: Bool) -> Bool {
        output = .body
        if case .complete = input {} else { isPersistent = false }
        if endsWithConnection || isStopping { isPersistent = false }
        return isPersistent
    }

    /// The response is withdrawn: none of it has been sent.
    mutating func responseWithdrawn(wasPersistent: Bool) {
        output = .none
        isPersistent = wasPersistent && !isStopping
    }

    /// The protocol has changed: bytes pass in both directions until the connection ends.
    mutating func protocolSwitched() {
        input = .body
        output = .body
        isPersistent = false
        isTunnel = true
    }

    /// The response is complete; returns the next step, which is pending until `takeStep`.
    ///
    /// If its head promised that the connection persists, another request follows even while the server stops,
    /// because the client may have sent it already.
    @discardableResult
    mutating func responseEnded() -> Next {
        let step = stepAfterResponse()
        pendingStep = step
        return step
    }

    private mutating func stepAfterResponse() -> Next {
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

    mutating func takeStep() -> Next? { pendingStep.take() }

    /// The client will send no more; returns true if the connection is of no further use.
    mutating func peerClosed() -> Bool {
        isPeerClosed = true
        return !isExchanging
    }

    /// The server stops: the next response is the last, and its head says so.
    ///
    /// An idle connection stays open for that: the next request may be on its way, and a client must not repeat
    /// one without a response unless it is idempotent (RFC 9110 section 9.2.2).
    mutating func stop() {
        isStopping = true
    }
}
