/// Bytes that wait for a socket to take them.
struct OutputBuffer {
    private(set) var bytes: [UInt8] = []
    private var start = 0
    /// Every byte that ever came in.
    private(set) var totalBytes = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { start == bytes.count }

    /// How many bytes the peer of a transport that all of this goes to has taken: those the system keeps are not.
    ///
    /// Exact in what it grows by while nothing is written; TLS makes a little more of what is.
    func takenBytes(from transport: any Transport) -> Int {
        totalBytes - count - transport.unacknowledgedBytes
    }

    /// Lets `body` append at the end.
    mutating func append(_ body: (inout [UInt8]) -> Void) {
        let before = bytes.count
        body(&bytes)
        totalBytes += bytes.count - before
    }

    mutating func append(_ piece: Span<UInt8>) {
        totalBytes += piece.count
        bytes.append(piece)
    }

    /// Writes what waits and then `piece`; what the transport does not take of either waits from then on.
    mutating func write(_ piece: Span<UInt8>, to transport: any Transport) -> WriteOutcome {
        let outcome = transport.write(bytes.span.extracting(start..<bytes.count), piece)
        let written = if case .wrote(let count) = outcome { count } else { 0 }
        let waiting = count
        drop(min(written, waiting))
        bytes.append(piece.extracting(max(0, written - waiting)..<piece.count))
        totalBytes += piece.count
        return outcome
    }

    /// Writes what waits, as far as the transport takes it.
    mutating func flush(to transport: any Transport) -> WriteOutcome {
        let nothing: [UInt8] = []
        return write(nothing.span, to: transport)
    }

    private mutating func drop(_ written: Int) {
        start += written
        if start == bytes.count {
            // A large buffer goes back, so that an idle connection holds little.
            bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
            start = 0
        } else if start > 16 * 1024, start > bytes.count / 2 {
            // Only when less is moved than has gone, or a slow reader would have it all moved again and again.
            bytes.removeFirst(start)
            start = 0
        }
    }
}
