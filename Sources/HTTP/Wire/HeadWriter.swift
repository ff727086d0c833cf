internal import Primitives

/// Writes heads, always as HTTP/1.1, because an intermediary sends its own version (RFC 9110 section 2.5).
package enum HeadWriter {
    /// Appends a request's head with the target in origin form (RFC 9112 section 3.2.1).
    package static func write(_ head: borrowing RequestHead, into output: inout [UInt8]) {
        output.append(head.method.text.utf8.span)
        output.append(ASCII.space)
        head.target.writePathAndQuery(into: &output)
        output.append(" HTTP/1.1\r\n")
        head.headers.write(into: &output)
        output.appendLineEnd()
    }

    package static func write(_ head: borrowing ResponseHead, into output: inout [UInt8]) {
        let line = head.status.line
        if let reason = head.reason {
            output.append(line.span.extracting(first: StatusLine.phraseStart))
            for byte in reason { output.append(ASCII.isFieldValue(byte) ? byte : ASCII.space) }
            output.appendLineEnd()
        } else {
            output.append(line.span)
        }
        head.headers.write(into: &output)
        output.appendLineEnd()
    }
}

/// Writes a body in the chunked transfer coding (RFC 9112 section 7.1).
package enum ChunkedWriter {
    /// Appends the line before `count` bytes of data, which the caller sends before `writeDataEnd`; `count` is
    /// not 0.
    package static func writeSizeLine(_ count: Int, into output: inout [UInt8]) {
        precondition(count > 0, "a chunk of no data ends the body")
        var shift = (63 - count.leadingZeroBitCount) & ~3
        while shift >= 0 {
            output.append(hexadecimal(UInt8(truncatingIfNeeded: count >> shift) & 15))
            shift -= 4
        }
        output.appendLineEnd()
    }

    package static func writeDataEnd(into output: inout [UInt8]) { output.appendLineEnd() }

    /// Appends the last chunk and the trailer section.
    package static func writeEnd(trailers: Headers = Headers(), into output: inout [UInt8]) {
        output.append("0\r\n")
        trailers.write(into: &output)
        output.appendLineEnd()
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x57 + digit }
}
