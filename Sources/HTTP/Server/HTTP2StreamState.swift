/// The state of one request and its response on an HTTP/2 connection (RFC 9113 section 8.1).
///
/// Pure, so that a test can drive it through every order of events.
struct HTTP2StreamState: Pausable, Sendable {
    /// The part of the request that the client has sent.
    enum Input: Sendable {
        case open
        case trailers
        case ended
        case reset
    }

    /// How far the request has come on its way to the application.
    enum Handover: Equatable, Sendable {
        case none
        /// The request begins at its end, before which no byte may come.
        case awaitsEmptyEnd
        case begun(awaitsEnd: Bool)
        /// The request was refused before the application had it.
        case refused
    }

    /// The kind of bytes after the head of the response.
    enum Content: Sendable {
        case none
        case body
        /// The bytes of another protocol, both ways (RFC 8441).
        case tunnel
    }

    enum Response: Equatable, Sendable {
        case none
        case open(Content)
        case complete(Content)
        /// The stream was reset or lost.
        case abandoned
    }

    /// The step after the end of a request.
    enum RequestEnd: Sendable {
        case nothing
        case begin
        /// The application is told.
        case tell
    }

    private(set) var input = Input.open
    private(set) var handover = Handover.none
    private(set) var response = Response.none
    /// True while the receiver of the request's body is full.
    var isPaused = false

    // MARK: The request

    var isRequestEnded: Bool { input == .ended }

    /// True once the client needs no more of the stream: it has sent all, or reset it.
    var isEndedByClient: Bool { input == .ended || input == .reset }

    /// True once the application has the request, or its refusal.
    var hasBegun: Bool {
        switch handover {
        case .none, .awaitsEmptyEnd: false
        case .begun, .refused: true
        }
    }

    /// True while the client is waited for.
    var awaitsRequest: Bool {
        switch handover {
        case .none, .refused: false
        case .awaitsEmptyEnd: true
        case .begun(let awaitsEnd): awaitsEnd && !isPaused
        }
    }

    mutating func headEnded(endsStream: Bool) { input = endsStream ? .ended : .open }

    mutating func trailersBegan() { input = .trailers }

    mutating func resetByClient() { input = .reset }

    /// The head promises an empty body; returns true if the request has to wait for its end.
    mutating func awaitEmptyEnd() -> Bool {
        guard !isRequestEnded else { return false }
        handover = .awaitsEmptyEnd
        return true
    }

    mutating func begin(awaitsEnd: Bool) { handover = .begun(awaitsEnd: awaitsEnd) }

    mutating func refuse() { handover = .refused }

    /// The client has sent the whole request.
    mutating func requestEnded() -> RequestEnd {
        input = .ended
        switch handover {
        case .awaitsEmptyEnd:
            handover = .none
            return .begin
        case .begun(let awaitsEnd):
            guard awaitsEnd || isTunnel else { return .nothing }
            handover = .begun(awaitsEnd: false)
            return .tell
        case .none, .refused: return .nothing
        }
    }

    // MARK: The response

    var isExchanging: Bool {
        switch response {
        case .none, .open: true
        case .complete, .abandoned: false
        }
    }

    /// True once all bytes of the response are known.
    var isResponseWhole: Bool { if case .complete = response { true } else { false } }

    /// The kind of bytes after the head; nil before the head is there.
    var content: Content? {
        switch response {
        case .none, .abandoned: nil
        case .open(let content), .complete(let content): content
        }
    }

    var isTunnel: Bool { content == .tunnel }

    /// True while bytes may follow the head.
    var takesBytes: Bool { response == .open(.body) || response == .open(.tunnel) }

    /// The head is there; returns false if there was one before.
    mutating func start(_ content: Content) -> Bool {
        guard response == .none else { return false }
        response = .open(content)
        return true
    }

    /// Nothing follows; returns false if the response was not open.
    mutating func finish() -> Bool {
        guard case .open(let content) = response else { return false }
        response = .complete(content)
        return true
    }

    /// The head is taken back before it has gone; returns false if it is too late for that.
    mutating func withdraw() -> Bool {
        guard case .open(let content) = response, content != .tunnel else { return false }
        response = .none
        return true
    }

    mutating func abandon() { response = .abandoned }
}
