internal import Primitives

/// Reading of field values as bytes: words, tokens, quoted strings and numbers (RFC 9110 section 5.6).
enum FieldSyntax {
    /// Returns the end of the token that begins at the offset; the offset itself if there is none.
    static func tokenEnd(from offset: Int, in text: Span<UInt8>, limit: Int) -> Int {
        var index = offset
        while index < limit, ASCII.isToken(text[index]) { index += 1 }
        return index
    }

    /// Returns true if the range is one quoted-string (RFC 9110 section 5.6.4), in ASCII.
    static func isQuotedString(_ range: Range<Int>, in text: Span<UInt8>) -> Bool {
        guard range.count >= 2, text[range.lowerBound] == ASCII.quote else { return false }
        var index = range.lowerBound + 1
        while index < range.upperBound, text[index] != ASCII.quote {
            if text[index] == ASCII.backslash { index += 1 }
            guard index < range.upperBound, 0x20...0x7E ~= text[index] || text[index] == ASCII.tab else {
                return false
            }
            index += 1
        }
        return index == range.upperBound - 1
    }

    /// Returns the range without the quotation marks around it, if there are two.
    static func unquoted(_ range: Range<Int>, in text: Span<UInt8>) -> Range<Int> {
        let isQuoted =
            range.count >= 2 && text[range.lowerBound] == ASCII.quote
            && text[range.upperBound - 1] == ASCII.quote
        return isQuoted ? range.lowerBound + 1..<range.upperBound - 1 : range
    }

    /// Returns the decimal number in the range, at most 2^31; nil for other text.
    ///
    /// RFC 9111 section 1.2.2: a number too large to hold is taken as 2^31.
    static func deltaSeconds(_ range: Range<Int>, in text: Span<UInt8>) -> Int? {
        guard !range.isEmpty else { return nil }
        var value = 0
        for index in range {
            guard ASCII.isDigit(text[index]) else { return nil }
            value = min(value * 10 + Int(text[index] - 0x30), 1 << 31)
        }
        return value
    }

    /// Writes a String of printable ASCII characters (RFC 9651 section 4.1.6): only the quotation mark and the
    /// backslash are escaped.
    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 8)
        bytes.append(ASCII.quote)
        for byte in text.utf8 {
            if byte == ASCII.quote || byte == ASCII.backslash { bytes.append(ASCII.backslash) }
            bytes.append(byte)
        }
        bytes.append(ASCII.quote)
        return String(decoding: bytes, as: UTF8.self)
    }
}
