/// Finds the end of a line that may arrive in pieces, and refuses what no line may hold as soon as it is seen.
///
/// RFC 9112 section 2.2 lets a recipient take a bare LF as the end of a line; we do not, since others may not.
struct LineScanner: Sendable {
    private var sawCarriageReturn = false

    /// Scans on from `position`, where the last call stopped, to `limit`; returns the index behind the line's CRLF, or nil when the
    /// line goes on.
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
