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
