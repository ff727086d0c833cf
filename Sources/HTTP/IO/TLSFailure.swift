/// A reason why a handshake failed.
package enum TLSFailure: Error, Equatable, Sendable {
    /// The peer speaks HTTP without TLS.
    case plainHTTP
    /// The peer's certificate is not trusted, for the given reason.
    case certificate(String)
    /// The connection ended or failed before the handshake was complete.
    case closed
    /// The handshake did not complete in time.
    case timedOut
    /// Any other reason, in OpenSSL's words.
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

/// The outcome of one step of a handshake.
package enum TLSHandshakeOutcome: Equatable, Sendable {
    case done
    case wouldBlock
    /// Bytes can pass, but the handshake is not complete (RFC 8446 section 2.3).
    case early
    case failed(TLSFailure)
}

/// The properties of a client's TLS connection.
package struct TLSFacts: Equatable, Sendable {
    /// True if the handshake resumed an earlier session.
    package let isResumed: Bool
    /// The subject of the client's certificate (RFC 4514); nil without one.
    package let clientSubject: String?
    /// True if bytes came before the handshake was complete.
    package let isEarly: Bool
}
