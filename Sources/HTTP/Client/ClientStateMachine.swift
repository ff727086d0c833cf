/// The state of an upstream's connection.
///
/// Pure, so that a test can drive it through every order of events.
struct ClientStateMachine: Sendable {
    /// The progress of the connection and its exchange.
    enum Phase: Equatable, Sendable {
        case connecting
        case idle
        /// A request is in progress; `hasBytes` once a byte of its response has come.
        case awaitingHead(hasBytes: Bool)
        case body
        case closed
    }

    private(set) var phase = Phase.connecting
    private(set) var isRequestWhole = false
    /// The number of complete exchanges on this connection.
    private(set) var exchanges = 0
    /// True if the connection can serve another request after this one (RFC 9112 section 9.3).
    private(set) var isPersistent = true

    /// True while an exchange is in progress.
    var isExchanging: Bool {
        switch phase {
        case .connecting, .awaitingHead, .body: true
        case .idle, .closed: false
        }
    }

    mutating func connected() {
        if phase == .connecting { phase = .awaitingHead(hasBytes: false) }
    }

    /// A request begins; `persists` if another may follow it.
    mutating func begin(persists: Bool = true) {
        if phase == .idle { phase = .awaitingHead(hasBytes: false) }
        isRequestWhole = false
        isPersistent = persists
    }

    mutating func requestEnded() {
        isRequestWhole = true
    }

    mutating func bytesCame() {
        if case .awaitingHead = phase { phase = .awaitingHead(hasBytes: true) }
    }

    mutating func headCame(keepsAlive: Bool, endsWithConnection: Bool) {
        phase = .body
        isPersistent = isPersistent && keepsAlive && !endsWithConnection
    }

    /// The protocol has changed: bytes pass in both directions until the connection ends.
    mutating func protocolSwitched() {
        phase = .body
        isRequestWhole = false
        isPersistent = false
    }

    /// The response is complete; returns whether the connection may be kept for another.
    ///
    /// It may not if the request is incomplete or unexpected bytes came.
    mutating func answerEnded(hasSurplus: Bool) -> Bool {
        exchanges += 1
        let isKept = isPersistent && isRequestWhole && !hasSurplus
        phase = isKept ? .idle : .closed
        return isKept
    }

    /// The meaning of a lost connection for the exchange; nil if there is none.
    var meaningOfLoss: UpstreamError? {
        switch phase {
        case .idle, .closed: return nil
        case .connecting: return .connectFailed(SystemError(code: 0))
        case .awaitingHead(hasBytes: false): return exchanges > 0 ? .stale : .closedBeforeHead
        case .awaitingHead(hasBytes: true): return .closedBeforeHead
        case .body: return .truncated
        }
    }

    /// The connection has ended.
    mutating func closed() {
        phase = .closed
    }
}

/// The facts of the current request that an upstream's connection needs.
struct ClientRequest: Sendable {
    var method = Method.get
    /// The framing of its body.
    var framing = BodyFraming.none
    /// True if it asks for another protocol.
    var asksUpgrade = false
    /// True if it announces the end of the connection.
    var isLast = false

    init() {}

    init(_ head: borrowing RequestHead, framing: BodyFraming) {
        method = head.method
        self.framing = framing
        asksUpgrade = head.headers.contains(.upgrade)
        isLast = head.headers.containsToken(.connection, "close")
    }
}
