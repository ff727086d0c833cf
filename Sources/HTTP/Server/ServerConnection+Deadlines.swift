/// The time limits for a client.
extension ServerConnection {
    package func expired(_ core: EventLoop.Core) {
        if awaitsHandshake, core.now >= handshakeDeadline { return giveUpHandshake() }
        if !output.isEmpty {
            // No event reports that the system's large buffer drains, so ask before the client is blamed.
            noteTaken()
            if outputPace.deadline > core.now { return updateDeadline() }
        }
        switch state.input {
        case .discarded where output.isEmpty, .head(isPartial: false) where output.isEmpty: close()
        case .head(isPartial: true) where output.isEmpty: refuse(.headTimeout)
        case .discarded, .head, .body, .complete: lose(.timedOut)
        }
        updateDeadline()
    }

    /// The time at which the client has been waited for long enough.
    private var deadline: Int64? {
        if case .discarded = state.input, afterFlush == nil {
            return min(lastRead + Self.lingerIdleMilliseconds, lingerUntil)
        }
        if !output.isEmpty { return outputPace.deadline }
        switch state.input {
        case .head: return headDeadline
        case .body where isTunnel: return max(lastRead, lastWrite) + settings.tunnelTimeout
        case .body: return isPaused ? nil : bodyPace.deadline
        // The client sends no more and may listen for as long as a tunnel may be silent.
        case .complete where isTunnel: return max(lastRead, lastWrite) + settings.tunnelTimeout
        case .complete:
            // The client is half-closed or gone; only a response would tell. A short grace serves the first
            // without much work for the second.
            return state.isPeerClosed ? max(peerClosedAt, lastWrite) + Self.halfCloseMilliseconds : nil
        case .discarded: return nil
        }
    }

    private static let lingerIdleMilliseconds: Int64 = 5_000
    private static let halfCloseMilliseconds: Int64 = 2_000

    func updateDeadline() {
        guard let transport else { return }
        if output.isEmpty {
            isOutputLate = false
        } else if !isOutputLate {
            isOutputLate = true
            takenBytes = output.takenBytes(from: transport)
            outputPace.restart(at: core.now, idleTimeout: settings.idleTimeout)
        }
        core.setDeadline(token, awaitsHandshake ? min(handshakeDeadline, deadline ?? .max) : deadline)
    }
}

/// Requests that come before the TLS handshake is complete (RFC 8446 section 2.3).
extension ServerConnection {
    /// Continues the handshake while responses may be in progress.
    func goOnWithHandshake() {
        guard let transport else { return }
        switch transport.establish() {
        case .wouldBlock: break
        case .early: isReadable = true
        case .done:
            awaitsHandshake = false
            if let tls { endHandshake(.success(tls)) }
            // Bytes that came with the end of the handshake have already left the socket.
            isReadable = true
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
        let onEnd = onHandshakeEnd
        onHandshakeEnd = nil
        onEnd?(outcome)
    }
}
