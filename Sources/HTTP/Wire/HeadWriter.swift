/// Writes heads, always as HTTP/1.1, because an intermediary sends its own version (RFC 9110 section 2.5).
package enum HeadWriter {
    /// Appends a request's head with the target in origin form (RFC 9112 section 3.2.1).
    package static func write(_ head: borrowing RequestHead, into output: inout [UInt8]) {
        output.append(contentsOf: head.method.text.utf8)
        output.append(ASCII.space)
        head.target.writePathAndQuery(into: &output)
        output.append(" HTTP/1.1\r\n")
        head.headers.write(into: &output)
        output.append("\r\n")
    }

    package static func write(_ head: borrowing ResponseHead, into output: inout [UInt8]) {
        output.append("HTTP/1.1 ")
        output.append(decimal: UInt64(head.status.rawValue))
        // RFC 9112 4: the blank stays even if the phrase is empty.
        output.append(ASCII.space)
        if let reason = head.reason {
            for byte in reason { output.append(ASCII.isFieldValue(byte) ? byte : ASCII.space) }
        } else {
            output.append(head.status.reason)
        }
        output.append("\r\n")
        head.headers.write(into: &output)
        output.append("\r\n")
    }
}
