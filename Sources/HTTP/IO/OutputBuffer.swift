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

    /// Offers a transport what waits and then `piece`; `took` is to be told what came of it.
    ///
    /// In two steps, so that whose buffer this is need not keep it from all others while a transport is at work.
    func offer(_ piece: Span<UInt8>, to transport: any Transport) -> WriteOutcome {
        transport.write(bytes.span.extracting(start..<bytes.count), piece)
    }

    /// Offers a transport what waits.
    func offer(to transport: any Transport) -> WriteOutcome {
        let nothing: [UInt8] = []
        return offer(nothing.span, to: transport)
    }

    /// Lets go what a transport has taken of what was offered; what it has not taken of `piece` waits from now on.
    mutating func took(_ outcome: WriteOutcome, _ piece: Span<UInt8>) {
        let written = if case .wrote(let count) = outcome { count } else { 0 }
        let waiting = count
        drop(min(written, waiting))
        bytes.append(piece.extracting(max(0, written - waiting)..<piece.count))
        totalBytes += piece.count
    }

    /// Lets go what a transport has taken of what was offered.
    mutating func took(_ outcome: WriteOutcome) {
        if case .wrote(let count) = outcome { drop(min(count, self.count)) }
    }

    /// Takes back what came in after the first `total` bytes; false, and nothing changed, where some of that has gone.
    mutating func withdraw(backTo total: Int) -> Bool {
        let surplus = totalBytes - total
        guard surplus >= 0, surplus <= count else { return false }
        bytes.removeLast(surplus)
        totalBytes = total
        return true
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
