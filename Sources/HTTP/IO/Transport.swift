internal import CLinux

/// The bytes of one connection, whatever protects them: the seam between a connection and its socket.
///
/// Used by one loop only. Readiness of the descriptor is a hint for both directions: after any event a connection
/// tries to read and to write what it has, so that a transport may need the one for the other.
package protocol Transport: AnyObject {
    /// What epoll watches; open as long as the transport lives.
    var descriptor: Int32 { get }
    /// Reads at most as much as `buffer` takes.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome
    /// Writes as much as goes of two pieces, one behind the other; either may be empty.
    func write(_ first: Span<UInt8>, _ second: Span<UInt8>) -> WriteOutcome
    /// Works on until bytes can pass; called again at every event until it is done or has failed.
    func establish() -> TLSHandshakeOutcome
    /// Tells the peer that nothing more will come.
    func closeWriting()
    /// Makes the end of the connection look like the failure it is, not like an end of the data.
    func resetOnClose()
}

extension Transport {
    package func establish() -> TLSHandshakeOutcome { .done }

    /// How many bytes the system holds that the peer has not taken yet, as they are on the wire.
    var unacknowledgedBytes: Int { CLinux_unacknowledged(descriptor) }
}

/// What a read gave.
package enum ReadOutcome: Equatable, Sendable {
    /// So many bytes, and whether there may be more without another event; none where much came that was no data.
    case bytes(Int, mayHaveMore: Bool)
    case wouldBlock
    /// Nothing before something has been written, for which there is no room.
    case wouldBlockUntilWritable
    /// The peer sends no more.
    case end
    /// The connection ended without the end that its protection has: what came may not be all (RFC 8446 section 6.1).
    case cutOff
    case failed(SystemError)
}

/// What a write took.
package enum WriteOutcome: Equatable, Sendable {
    case wrote(Int)
    case wouldBlock
    case failed(SystemError)
}
