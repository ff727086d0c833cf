/// Where an upstream connection stands.
///
/// Pure, so that a test can drive it through every order of events.
struct ClientStateMachine: Sendable {
    /// The way to and from the upstream.
    enum Phase: Equatable, Sendable {
        case connecting
        case idle
        /// A request is under way; whether a byte of its answer has come.
        case awaitingHead(hasBytes: Bool)
        case body
        case closed
    }

    private(set) var phase = Phase.connecting
    private(set) var isRequestWhole = false
    /// Exchanges that ended whole on this connection.
    private(set) var exchanges = 0
    /// Whether the connection can serve another request after this one (RFC 9112 section 9.3).
    private(set) var isPersistent = true

    /// Whether an exchange is under way.
    var isExchanging: Bool {
        switch phase {
        case .connecting, .awaitingHead, .body: true
        case .idle, .closed: false
        }
    }

    mutating func connected() {
        if phase == .connecting { phase = .awaitingHead(hasBytes: false) }
    }

    /// A request begins; whether another may follow it.
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

    /// The connection has changed its protocol: bytes both ways from here on, until it ends.
    mutating func protocolSwitched() {
        phase = .body
        isRequestWhole = false
        isPersistent = false
    }

    /// The answer is whole; returns whether the connection may be kept for another.
    ///
    /// Not when the request is still on its way, nor when bytes came that nobody asked for.
    mutating func answerEnded(hasSurplus: Bool) -> Bool {
        exchanges += 1
        let isKept = isPersistent && isRequestWhole && !hasSurplus
        phase = isKept ? .idle : .closed
        return isKept
    }

    /// What it means for the exchange if the connection ends or fails now; nil where there is none.
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
