/// Base64 in both alphabets of RFC 4648, and the Byte Sequence of structured fields.
@usableFromInline package enum Base64 {
    /// The characters for the values 0 to 63, which differ in the last two.
    @usableFromInline package enum Alphabet: Sendable {
        /// RFC 4648 section 4.
        case standard
        /// RFC 4648 section 5, for URLs and file names.
        case url

        fileprivate var characters: [UInt8] {
            let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
            return Array((common + (self == .standard ? "+/" : "-_")).utf8)
        }
    }

    // MARK: Encoding

    package static func encode(_ bytes: [UInt8]) -> String { encode(bytes, standard, isPadded: true) }

    package static func encodeURL(_ bytes: [UInt8]) -> String { encode(bytes, url, isPadded: false) }

    private static let standard = Alphabet.standard.characters
    private static let url = Alphabet.url.characters

    private static func encode(_ bytes: [UInt8], _ alphabet: [UInt8], isPadded: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << ((3 - group.count) * 8)
            for index in 0...group.count { text.append(alphabet[bits >> (18 - 6 * index) & 63]) }
            if isPadded { text.append(contentsOf: repeatElement(ASCII.equals, count: 3 - group.count)) }
        }
        return String(text.span)
    }

    // MARK: Decoding

    /// Decodes the standard alphabet with padding; nil unless the text is canonical.
    package static func decode(_ text: String) -> [UInt8]? {
        let bytes = text.utf8Bytes
        let characters = bytes.span
        guard characters.count % 4 == 0 else { return nil }
        let end = endWithoutPadding(characters)
        return decodeCanonically(characters.extracting(0..<end), .standard)
    }

    /// Decodes the alphabet for URLs without padding; nil unless the text is canonical.
    package static func decodeURL(_ text: String) -> [UInt8]? {
        decodeCanonically(text.utf8Bytes.span, .url)
    }

    /// Decodes a Byte Sequence (RFC 9651 section 4.2.7): the standard alphabet, where padding may be missing.
    ///
    /// Bits that belong to no byte are ignored.
    package static func decodeByteSequence(_ text: Span<UInt8>) -> [UInt8]? {
        let end = endWithoutPadding(text)
        guard end == text.count || text.count % 4 == 0, end % 4 != 1 else { return nil }
        return decodeAll(text.extracting(0..<end), .standard)?.bytes
    }

    /// Passes the bytes of a text without padding to `body`.
    ///
    /// Returns the bits that belong to no byte, nil if a character is not in the alphabet.
    @inlinable
    package static func forEachByte(
        of text: Span<UInt8>, in alphabet: Alphabet, _ body: (UInt8) -> Void
    ) -> UInt32? {
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for index in text.indices {
            guard let value = value(of: text[index], in: alphabet) else { return nil }
            bits = bits << 6 | value
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                body(UInt8(truncatingIfNeeded: bits >> bitCount))
                bits &= (1 << bitCount) - 1
            }
        }
        return bits
    }

    @inlinable
    package static func value(of character: UInt8, in alphabet: Alphabet) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case alphabet == .standard ? UInt8(ascii: "+") : UInt8(ascii: "-"): 62
        case alphabet == .standard ? UInt8(ascii: "/") : UInt8(ascii: "_"): 63
        default: nil
        }
    }

    private static func endWithoutPadding(_ text: Span<UInt8>) -> Int {
        var end = text.count
        while end > 0, text[end - 1] == ASCII.equals, text.count - end < 2 { end -= 1 }
        return end
    }

    // RFC 4648 section 3.5: bits that are left over must be zero, so that each value has one spelling.
    private static func decodeCanonically(_ text: Span<UInt8>, _ alphabet: Alphabet) -> [UInt8]? {
        guard text.count % 4 != 1, let (bytes, rest) = decodeAll(text, alphabet), rest == 0 else {
            return nil
        }
        return bytes
    }

    private static func decodeAll(_ text: Span<UInt8>, _ alphabet: Alphabet) -> (
        bytes: [UInt8], rest: UInt32
    )? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        guard let rest = forEachByte(of: text, in: alphabet, { bytes.append($0) }) else { return nil }
        return (bytes, rest)
    }
}
