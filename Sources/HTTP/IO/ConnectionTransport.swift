internal import Glibc

/// The byte stream of one connection, plain or TLS.
///
/// Used by one loop only. Readiness of the descriptor is a hint for both directions: after any event a
/// connection tries to read and to write, because a transport may need one for the other.
package protocol ConnectionTransport: AnyObject {
    /// The descriptor that epoll watches, open while the transport lives.
    var descriptor: Int32 { get }
    /// Reads at most as many bytes as `buffer` holds.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome
    /// Writes as much as possible of two consecutive pieces; either may be empty.
    func write(_ first: Span<UInt8>, _ second: Span<UInt8>) -> WriteOutcome
    /// The number of bytes that have begun to go although no write has taken them: the next write must begin with them.
    var begunBytes: Int { get }
    /// Continues the handshake; called again at every event until it is done or has failed.
    func establish() -> TLSHandshakeOutcome
    /// Tells the peer that nothing more will come.
    func closeWriting()
    /// Makes the coming close a reset, so that the peer cannot take it for the end of the data.
    func resetOnClose()
}

extension ConnectionTransport {
    package var begunBytes: Int { 0 }

    package func establish() -> TLSHandshakeOutcome { .done }

    /// The number of sent bytes, as on the wire, that the peer has not acknowledged.
    var unacknowledgedBytes: Int { Socket.unacknowledgedBytes(descriptor) }
}

package enum ReadOutcome: Equatable, Sendable {
    /// The number of bytes, and whether more may come without another event; 0 if TLS received only records
    /// without data.
    case bytes(Int, mayHaveMore: Bool)
    case wouldBlock
    /// Reading waits until the transport can write.
    case wouldBlockUntilWritable
    /// The peer sends no more.
    case end
    /// The connection ended without TLS's closure alert, so data may be missing (RFC 8446 section 6.1).
    case cutOff
    case failed(SystemError)
}

package enum WriteOutcome: Equatable, Sendable {
    case wrote(Int)
    case wouldBlock
    case failed(SystemError)
}

// MARK: - Handshakes

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

package enum TLSHandshakeOutcome: Equatable, Sendable {
    case done
    case wouldBlock
    /// Bytes can pass, but the handshake is not complete (RFC 8446 section 2.3).
    case early
    case failed(TLSFailure)
}

// MARK: - Plain sockets

/// A socket without TLS.
final class PlainTransport: ConnectionTransport {
    private let owned: Descriptor

    init(_ descriptor: consuming Descriptor) {
        owned = descriptor
    }

    var descriptor: Int32 { owned.raw }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
        guard let base = buffer.baseAddress else { return .wouldBlock }
        while true {
            // Safe: the kernel writes at most `buffer.count` bytes at `base`.
            let count = unsafe recv(descriptor, base, buffer.count, 0)
            if count > 0 { return .bytes(count, mayHaveMore: count == buffer.count) }
            if count == 0 { return .end }
            if errno == EAGAIN { return .wouldBlock }
            if errno != EINTR { return .failed(.last) }
        }
    }

    func write(_ first: Span<UInt8>, _ second: Span<UInt8>) -> WriteOutcome {
        while true {
            // Safe: the kernel reads within both spans and keeps no pointer.
            let count = unsafe first.withUnsafeBytes { first in
                unsafe second.withUnsafeBytes { second in
                    unsafe Socket.send(descriptor, first, second)
                }
            }
            if count >= 0 { return .wrote(count) }
            if errno == EAGAIN { return .wouldBlock }
            if errno != EINTR { return .failed(.last) }
        }
    }

    func closeWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func resetOnClose() {
        Socket.resetOnClose(descriptor)
    }
}
