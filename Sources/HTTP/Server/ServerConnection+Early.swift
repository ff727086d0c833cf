/// Requests that come before the TLS handshake is whole (RFC 8446 section 2.3).
extension ServerConnection {
    /// Goes on with the handshake, beside whatever is being answered.
    func goOnWithHandshake() {
        guard let transport else { return }
        switch transport.establish() {
        case .wouldBlock: break
        case .early: isReadable = true
        case .done:
            awaitsHandshake = false
            if let tls { endHandshake(.success(tls)) }
            // What came with the end of the handshake has been read from the socket already.
            isReadable = true
        case .failed(let failure):
            endHandshake(.failure(failure))
            lose(.closed)
        }
    }

    /// The time for it is over.
    func giveUpHandshake() {
        endHandshake(.failure(.timedOut))
        lose(.timedOut)
    }

    /// Says once what the handshake has come to.
    func endHandshake(_ outcome: Result<TLSFacts, TLSFailure>) {
        let onEnd = onHandshakeEnd
        onHandshakeEnd = nil
        onEnd?(outcome)
    }
}
