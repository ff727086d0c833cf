/// Reading of field values as bytes: tokens, numbers and case (RFC 9110 section 5.6).
enum FieldSyntax {
    /// Returns true if a byte may stand in a token (RFC 9110 section 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Returns true if a byte is optional white space: a space or a tab.
    static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns the byte in lower case if it is an ASCII letter.
    static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Returns the range without the white space at both ends.
    static func trimmed(_ range: Range<Int>, in text: Span<UInt8>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, isWhitespace(text[lower]) { lower += 1 }
        while upper > lower, isWhitespace(text[upper - 1]) { upper -= 1 }
        return lower..<upper
    }

    /// Returns true if the range holds the given lower-case ASCII word, compared without case.
    static func equals(_ range: Range<Int>, in text: Span<UInt8>, ignoringCase word: String) -> Bool {
        let wordBytes = word.utf8
        return equals(range, in: text, ignoringCase: wordBytes.span)
    }

    /// Returns true if the range holds the given lower-case bytes, compared without case.
    static func equals(_ range: Range<Int>, in text: Span<UInt8>, ignoringCase word: [UInt8]) -> Bool {
        equals(range, in: text, ignoringCase: word.span)
    }

    /// Returns true if the range holds the given lower-case bytes, compared without case.
    static func equals(_ range: Range<Int>, in text: Span<UInt8>, ignoringCase word: Span<UInt8>) -> Bool {
        guard word.count == range.count else { return false }
        var place = range.lowerBound
        for index in word.indices {
            let byte = text[place]
            // Nearly all letters are written in lower case.
            if byte != word[index], lowercased(byte) != word[index] { return false }
            place += 1
        }
        return true
    }

    /// Returns true if both spans have the same bytes.
    static func equals(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        var index = 0
        while index + 8 <= one.count {
            // Safe: eight bytes from here on lie within both spans, and every pattern of bits is a number.
            let first = unsafe one.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            let second = unsafe other.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard first == second else { return false }
            index += 8
        }
        while index < one.count {
            guard one[index] == other[index] else { return false }
            index += 1
        }
        return true
    }

    /// Returns the end of the token that begins at the offset; the offset itself if there is none.
    static func tokenEnd(from offset: Int, in text: Span<UInt8>, limit: Int) -> Int {
        var index = offset
        while index < limit, isTokenByte(text[index]) { index += 1 }
        return index
    }

    /// Returns true if the range is one quoted-string (RFC 9110 section 5.6.4), in ASCII.
    static func isQuotedString(_ range: Range<Int>, in text: Span<UInt8>) -> Bool {
        guard range.count >= 2, text[range.lowerBound] == UInt8(ascii: "\"") else { return false }
        var index = range.lowerBound + 1
        while index < range.upperBound, text[index] != UInt8(ascii: "\"") {
            if text[index] == UInt8(ascii: "\\") { index += 1 }
            guard index < range.upperBound, 0x20...0x7E ~= text[index] || text[index] == 0x09 else {
                return false
            }
            index += 1
        }
        return index == range.upperBound - 1
    }

    /// Returns the bytes of the range as text; bytes that are not UTF-8 become replacement characters.
    static func string(_ range: Range<Int>, in text: Span<UInt8>) -> String {
        // Safe: the pointer is used only within the call, while the span is alive.
        unsafe text.extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Returns a copy of the bytes of the range.
    static func bytes(_ range: Range<Int>, in text: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        for index in range { bytes.append(text[index]) }
        return bytes
    }

    /// Returns the number that the digits of the range write, capped at 2^31; nil for anything else.
    ///
    /// RFC 9111 section 1.2.2: a number too large to hold is taken as 2^31.
    static func deltaSeconds(_ range: Range<Int>, in text: Span<UInt8>) -> Int? {
        guard !range.isEmpty else { return nil }
        var value = 0
        for index in range {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index]) else { return nil }
            value = min(value * 10 + Int(text[index] - UInt8(ascii: "0")), 1 << 31)
        }
        return value
    }
}
