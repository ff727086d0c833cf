internal import Primitives

/// The bytes that wait for a socket.
struct OutputBuffer {
    private(set) var bytes: [UInt8] = []
    private var start = 0
    /// The capacity that the buffer keeps when it is empty.
    private var keptBytes = Self.idleBytes
    private static let idleBytes = 4096
    /// The number of bytes ever appended.
    private(set) var totalBytes = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { start == bytes.count }

    /// Returns how many bytes the peer has taken, without those in the system's buffer.
    ///
    /// The buffer must be the transport's only source. The growth is exact while nothing is written; TLS adds a
    /// little.
    func takenBytes(from transport: any ConnectionTransport) -> Int {
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

    /// Offers a transport the waiting bytes and then `piece`; `took` must be told the outcome.
    ///
    /// Two steps, so that the owner keeps no exclusive access to the buffer while a transport works.
    func offer(_ piece: Span<UInt8>, to transport: any ConnectionTransport) -> WriteOutcome {
        transport.write(bytes.span.extracting(start..<bytes.count), piece)
    }

    func offer(to transport: any ConnectionTransport) -> WriteOutcome {
        let nothing: [UInt8] = []
        return offer(nothing.span, to: transport)
    }

    /// Drops the bytes that a transport took; the rest of `piece` waits.
    mutating func took(_ outcome: WriteOutcome, _ piece: Span<UInt8>) {
        let written = if case .wrote(let count) = outcome { count } else { 0 }
        let waiting = count
        drop(min(written, waiting))
        bytes.append(piece.extracting(max(0, written - waiting)..<piece.count))
        totalBytes += piece.count
    }

    mutating func took(_ outcome: WriteOutcome) {
        if case .wrote(let count) = outcome { drop(min(count, self.count)) }
    }

    /// Keeps up to `count` bytes of memory between two writes; nil stands for what an idle connection keeps.
    mutating func keepMemory(of count: Int?) {
        keptBytes = count ?? Self.idleBytes
        if isEmpty, bytes.capacity > keptBytes { bytes = [] }
    }

    /// Removes the bytes behind the first `total`; returns false, without a change, if some of them are gone or have begun
    /// to go.
    mutating func withdraw(backTo total: Int, from transport: any ConnectionTransport) -> Bool {
        let surplus = totalBytes - total
        guard surplus >= 0, surplus <= count - transport.begunBytes else { return false }
        bytes.removeLast(surplus)
        totalBytes = total
        return true
    }

    private mutating func drop(_ written: Int) {
        start += written
        if start == bytes.count {
            // A large buffer is freed, so that an idle connection holds little memory.
            bytes.removeAll(keepingCapacity: bytes.capacity <= keptBytes)
            start = 0
        } else if start > 16 * 1024, start > bytes.count / 2 {
            // Moves only less than has gone, or a slow reader would cause many large moves.
            bytes.removeFirst(start)
            start = 0
        }
    }
}

/// Memory at a fixed address that a loop reads into.
///
/// One per loop, so that idle connections hold none.
@safe
package final class ReadBuffer {
    private let memory: UnsafeMutableRawBufferPointer

    init(capacity: Int) {
        unsafe memory = .allocate(byteCount: capacity, alignment: 64)
        // Safe: initialised once, so that every span over it has initialised bytes.
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        unsafe memory.deallocate()
    }

    func fill(_ transport: any ConnectionTransport) -> ReadOutcome {
        unsafe transport.read(into: memory)
    }

    /// Calls `body` with the first `count` bytes.
    func withBytes<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        // Safe: the memory lives as long as the object, and the span no longer than the call.
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: memory[..<count]).bindMemory(to: UInt8.self)
        return unsafe body(bytes.span)
    }
}
