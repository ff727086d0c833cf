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
        while index < limit {
            let byte = bytes[index]
            index += 1
            if sawCarriageReturn {
                guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
                sawCarriageReturn = false
                return index
            }
            if ASCII.isFieldValue(byte) { continue }
            guard byte == ASCII.carriageReturn else {
                throw byte == ASCII.lineFeed ? .bareLineFeed : .controlByte
            }
            sawCarriageReturn = true
        }
        return nil
    }
}
