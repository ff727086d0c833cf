internal import Primitives

/// The state of an upstream's connection.
///
/// Pure, so that a test can drive it through every order of events.
struct ClientStateMachine: Pausable, Sendable {
    enum Phase: Equatable, Sendable {
        case connecting
        case idle
        case awaitingHead
        case body
        case closed
    }

    private(set) var phase = Phase.connecting
    private(set) var isRequestWhole = false
    /// True once a byte of the current request has been sent.
    private(set) var hasSent = false
    /// True once a byte of its response has come.
    private(set) var hasReceived = false
    /// True while the receiver of the response is full.
    var isPaused = false
    /// True once the protocol has changed (RFC 9110 section 7.8): the bytes are no HTTP messages any more.
    private(set) var isTunnel = false
    private var isWritingClosed = false
    private(set) var exchanges = 0
    /// True if the connection can serve another request after this one (RFC 9112 section 9.3).
    private(set) var isPersistent = true

    var isExchanging: Bool {
        switch phase {
        case .connecting, .awaitingHead, .body: true
        case .idle, .closed: false
        }
    }

    /// True if the connection has carried an exchange before, so that it may be stale.
    var isReused: Bool { exchanges > 0 }

    mutating func connected() {
        if phase == .connecting { phase = .awaitingHead }
    }

    /// A request begins; `persists` if another may follow it.
    mutating func begin(persists: Bool = true) {
        if phase == .idle { phase = .awaitingHead }
        isRequestWhole = false
        hasSent = false
        hasReceived = false
        isPaused = false
        isPersistent = persists
    }

    mutating func bytesWent() { hasSent = true }

    mutating func requestEnded() {
        isRequestWhole = true
    }

    /// Returns true once: when the sent part of a tunnel is complete, so that its end must be sent.
    mutating func closesWriting() -> Bool {
        guard isTunnel, isRequestWhole, !isWritingClosed else { return false }
        isWritingClosed = true
        return true
    }

    mutating func bytesCame() { hasReceived = true }

    mutating func headCame(keepsAlive: Bool, endsWithConnection: Bool) {
        phase = .body
        isPersistent = isPersistent && keepsAlive && !endsWithConnection
    }

    /// The protocol has changed: bytes pass in both directions until the connection ends.
    mutating func protocolSwitched() {
        phase = .body
        isTunnel = true
        isRequestWhole = false
        isPersistent = false
    }

    /// The response is complete; returns whether the connection may be kept for another.
    ///
    /// It may not if the request is incomplete, or if bytes are left over: unexpected ones that came, or some of the request
    /// that have not gone.
    mutating func responseEnded(hasSurplus: Bool) -> Bool {
        exchanges += 1
        // A full receiver does not concern the next request, and an idle connection must notice its end.
        isPaused = false
        let isKept = isPersistent && isRequestWhole && !hasSurplus
        phase = isKept ? .idle : .closed
        return isKept
    }

    /// The meaning of a lost connection for the exchange; nil if there is none.
    var meaningOfLoss: UpstreamError? {
        switch phase {
        case .idle, .closed: return nil
        case .connecting: return .connectFailed(SystemError(code: 0))
        case .awaitingHead: return isReused && !hasReceived ? .stale : .closedBeforeHead
        case .body: return .truncated
        }
    }

    mutating func closed() {
        phase = .closed
    }
}

/// The facts of the current request that an upstream's connection needs.
struct OutstandingRequest: Sendable {
    var method = Method.get
    var framing = BodyFraming.none
    var asksUpgrade = false
    /// True if no other request may follow: it announces the end of the connection, or logs in a user there.
    var isLast = false
    var interimCount = 0

    init() {}

    init(_ head: borrowing RequestHead, framing: BodyFraming) {
        method = head.method
        self.framing = framing
        asksUpgrade = head.headers.contains(.upgrade)
        isLast =
            head.headers.containsToken(.connection, "close")
            || head.headers.namesConnectionLogin(.authorization)
    }
}

extension Headers {
    /// True if the credentials or challenges of a field have a scheme that logs in whoever uses the connection (RFC 4559 section
    /// 6), so that a later request of somebody else would be that user's.
    func namesConnectionLogin(_ name: HeaderName) -> Bool {
        var isNamed = false
        forEachListMember(of: name) { member in
            let end = member.indices.first { ASCII.isBlank(member[$0]) } ?? member.count
            let scheme = member.extracting(0..<end)
            isNamed = isNamed || scheme.equalsIgnoringCase("ntlm") || scheme.equalsIgnoringCase("negotiate")
        }
        return isNamed
    }
}
