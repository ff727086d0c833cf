/// The part of a request that came before its handshake was complete (RFC 8446 section 2.3), and the limit of
/// the response.
struct TLSEarlyData {
    /// The maximum that one client may send.
    static let bytesMax = 16 * 1024
    /// The maximum of a response to a client that may be a replay.
    private static let responseBytesMax = 32 * 1024

    /// True while more may come.
    private(set) var isComing = true
    private var bytes: [UInt8] = []
    private var start = 0
    private var responseBytes = 0

    /// True if nothing waits to be read.
    var isEmpty: Bool { start == bytes.count }

    /// True while more of a response may be sent.
    var mayRespond: Bool { responseBytes < Self.responseBytesMax }

    mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }

    mutating func end() { isComing = false }

    mutating func responded(_ count: Int) { responseBytes += count }

    /// Moves as many bytes as fit into a buffer; returns their number.
    mutating func move(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, bytes.count - start)
        // Safe: `count` is within both.
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
        }
        start += count
        return count
    }
}
