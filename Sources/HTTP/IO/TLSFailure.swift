/// Why a handshake has come to nothing.
package enum TLSFailure: Error, Equatable, Sendable {
    /// The peer speaks HTTP without TLS.
    case plainHTTP
    /// The peer's certificate is none that can be trusted, by the reason.
    case certificate(String)
    /// The connection ended, or failed, before the handshake was whole.
    case closed
    /// The handshake did not come to its end in time.
    case timedOut
    /// Anything else, in OpenSSL's words.
    case refused(String)

    /// The failure in a few words.
    package var text: String {
        switch self {
        case .plainHTTP: "HTTP without TLS"
        case .certificate(let why): "the certificate cannot be trusted (\(why))"
        case .closed: "the connection ended during the handshake"
        case .timedOut: "the handshake took too long"
        case .refused(let why): why
        }
    }
}

/// What a handshake has come to.
package enum TLSHandshakeOutcome: Equatable, Sendable {
    case done
    case wouldBlock
    /// Bytes can pass, but the handshake is not whole yet (RFC 8446 section 2.3).
    case early
    case failed(TLSFailure)
}

/// What is known of the TLS of a client's connection.
package struct TLSFacts: Equatable, Sendable {
    /// Whether the handshake went on from an earlier session.
    package let isResumed: Bool
    /// The subject of the client's certificate (RFC 4514); nil where it showed none.
    package let clientSubject: String?
    /// Whether bytes came before the handshake was whole.
    package let isEarly: Bool
}
