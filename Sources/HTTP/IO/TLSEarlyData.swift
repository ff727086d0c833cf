/// What has come of a request before its handshake is whole (RFC 8446 section 2.3), and what may be answered then.
struct TLSEarlyData {
    /// The most that is taken of one client.
    static let bytesMax = 16 * 1024
    /// As much of an answer goes to a client that has not shown yet that it is there.
    private static let answerBytesMax = 32 * 1024

    /// Whether more may come.
    private(set) var isComing = true
    private var bytes: [UInt8] = []
    private var start = 0
    private var answerBytes = 0

    /// Whether nothing waits to be read.
    var isEmpty: Bool { start == bytes.count }

    /// Whether more of an answer may go.
    var mayAnswer: Bool { answerBytes < Self.answerBytesMax }

    mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }

    mutating func end() { isComing = false }

    mutating func answered(_ count: Int) { answerBytes += count }

    /// Moves what waits to a buffer, as far as there is room; returns how much that was.
    mutating func move(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, bytes.count - start)
        // Safe: within both, by the count.
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
        }
        start += count
        return count
    }
}
