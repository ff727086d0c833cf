internal import CLinux

/// The byte stream of one connection, plain or TLS.
///
/// Used by one loop only. Readiness of the descriptor is a hint for both directions: after any event a
/// connection tries to read and to write, because a transport may need one for the other.
package protocol Transport: AnyObject {
    /// The descriptor that epoll watches, open while the transport lives.
    var descriptor: Int32 { get }
    /// Reads at most as many bytes as `buffer` holds.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome
    /// Writes as much as possible of two consecutive pieces; either may be empty.
    func write(_ first: Span<UInt8>, _ second: Span<UInt8>) -> WriteOutcome
    /// Continues the handshake; called again at every event until it is done or has failed.
    func establish() -> TLSHandshakeOutcome
    /// Tells the peer that nothing more will come.
    func closeWriting()
    /// Makes the coming close a reset, so that the peer cannot take it for the end of the data.
    func resetOnClose()
}

extension Transport {
    package func establish() -> TLSHandshakeOutcome { .done }

    /// The number of sent bytes, as on the wire, that the peer has not acknowledged.
    var unacknowledgedBytes: Int { CLinux_unacknowledged(descriptor) }
}

/// The outcome of a read.
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

/// The outcome of a write.
package enum WriteOutcome: Equatable, Sendable {
    case wrote(Int)
    case wouldBlock
    case failed(SystemError)
}
