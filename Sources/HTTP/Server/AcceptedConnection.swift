internal import Primitives

/// A client's connection that a listener has accepted, whatever its version of HTTP.
protocol AcceptedConnection: Connection {
    var facts: ConnectionFacts { get }
    var settings: ServerSettings { get }
    var isExchanging: Bool { get }
    func start()
    /// Ends the connection once its requests have their responses.
    func stop()
    /// Resets the connection and tells the handlers of its requests.
    func lose(_ cause: ClientLoss)
}

// MARK: - Early requests

/// The rest of a TLS handshake while requests are served already (RFC 8446 section 2.3).
struct PendingHandshake {
    let deadline: Int64
    /// Receives the outcome; nil until the listener has set it.
    var onEnd: TLSHandshake.Ending?
}

extension AcceptedConnection {
    /// Passes the outcome of the pending handshake to `onEnd`.
    func reportHandshake(to onEnd: @escaping TLSHandshake.Ending) {
        facts.handshake?.onEnd = onEnd
    }

    /// Continues the handshake while responses may be in progress.
    func continueHandshake() {
        guard let transport = io.transport else { return }
        // The handshake's last records must not come into the middle of one that has begun.
        if transport.begunBytes > 0 { writeOutput() }
        guard isAlive, transport.begunBytes == 0 else { return }
        switch transport.establish() {
        case .wouldBlock: break
        case .early: io.isReadable = true
        case .done:
            if let tls = facts.tls { endHandshake(.success(tls)) }
            // Bytes that came with the end of the handshake have already left the socket.
            io.isReadable = true
        case .failed(let failure):
            endHandshake(.failure(failure))
            lose(.closed)
        }
    }

    /// Ends the connection because the handshake's time is over.
    func giveUpHandshake() {
        endHandshake(.failure(.timedOut))
        lose(.timedOut)
    }

    /// Reports the handshake's outcome once.
    func endHandshake(_ outcome: Result<TLSFacts, TLSFailure>) {
        exchange(&facts.handshake, with: nil)?.onEnd?(outcome)
    }

    /// Adds the fields that every response of the server has.
    func complete(_ head: inout ResponseHead) {
        // RFC 6797 section 7.2: only with TLS, and once.
        if facts.tls != nil, let policy = settings.strictTransportSecurity,
            !head.headers.contains(.strictTransportSecurity)
        {
            head.headers.append(.strictTransportSecurity, policy)
        }
        if !head.headers.contains(.date) { head.headers.append(.date, core.date) }
    }
}
