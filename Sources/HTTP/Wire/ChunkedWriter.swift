/// Writes a body in the chunked transfer coding (RFC 9112 section 7.1).
package enum ChunkedWriter {
    /// Appends a whole chunk; nothing without data, because an empty chunk would end the body.
    package static func writeChunk(_ data: Span<UInt8>, into output: inout [UInt8]) {
        guard !data.isEmpty else { return }
        writeSizeLine(data.count, into: &output)
        output.append(data)
        writeDataEnd(into: &output)
    }

    /// Appends the line before `count` bytes of data, which the caller sends before `writeDataEnd`; `count` is
    /// not 0.
    package static func writeSizeLine(_ count: Int, into output: inout [UInt8]) {
        precondition(count > 0, "a chunk of no data ends the body")
        var shift = (63 - count.leadingZeroBitCount) & ~3
        while shift >= 0 {
            output.append(hexadecimal(UInt8(truncatingIfNeeded: count >> shift) & 15))
            shift -= 4
        }
        output.append("\r\n")
    }

    /// Appends the CRLF behind the data of a chunk.
    package static func writeDataEnd(into output: inout [UInt8]) { output.append("\r\n") }

    /// Appends the last chunk and the trailer section.
    package static func writeEnd(trailers: Headers = Headers(), into output: inout [UInt8]) {
        output.append("0\r\n")
        trailers.write(into: &output)
        output.append("\r\n")
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x57 + digit }
}
