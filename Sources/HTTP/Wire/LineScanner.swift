/// Finds the end of a line that arrives in pieces, and refuses forbidden bytes as soon as it sees them.
///
/// RFC 9112 section 2.2 lets a recipient accept a bare LF as the end of a line. This one does not, because
/// others may not either.
struct LineScanner: Sendable {
    private var sawCarriageReturn = false

    /// Scans from `position`, where the last call stopped, to `limit`.
    ///
    /// Returns the index behind the line's CRLF, or nil if the line is incomplete.
    mutating func endOfLine(
        _ bytes: Span<UInt8>, from position: Int, to limit: Int
    ) throws(ParseError) -> Int? {
        var index = position
        if !sawCarriageReturn {
            index = bytes.endOfFieldValue(index..<limit)
            guard index < limit else { return nil }
            let byte = bytes[index]
            guard byte == ASCII.carriageReturn else {
                throw byte == ASCII.lineFeed ? .bareLineFeed : .controlByte
            }
            sawCarriageReturn = true
            index += 1
        }
        guard index < limit else { return nil }
        guard bytes[index] == ASCII.lineFeed else { throw .bareCarriageReturn }
        sawCarriageReturn = false
        return index + 1
    }
}
