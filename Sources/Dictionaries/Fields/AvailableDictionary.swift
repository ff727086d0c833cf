internal import Primitives
internal import RawStructuredFieldValues

/// The Available-Dictionary request field (RFC 9842 section 2.2).
package enum AvailableDictionary {
    /// The maximum length of the line; a longer one counts as malformed.
    ///
    /// A digest takes 46 bytes, the rest is for parameters.
    package static let lineBytesMax = 1024

    package static func serialized(_ digest: Digest) -> String { ":\(digest.base64):" }

    /// Returns the digest that the client advertises; nil unless there is exactly one line with one digest of 32
    /// bytes.
    package static func parse(_ lines: [String]) -> Digest? {
        guard lines.count == 1, let line = lines.first else { return nil }
        return parse(line.utf8Bytes.span)
    }

    /// Returns the digest of the only line of the field.
    package static func parse(_ line: Span<UInt8>) -> Digest? {
        guard line.count <= lineBytesMax else { return nil }
        return plain(line) ?? general(line)
    }

    /// Reads the form that clients send: a colon, 44 characters, a colon.
    private static func plain(_ text: Span<UInt8>) -> Digest? {
        guard text.count == 46, text[0] == UInt8(ascii: ":"), text[45] == UInt8(ascii: ":"),
            text[44] == UInt8(ascii: "=")
        else { return nil }
        return digest(1..<44, in: text)
    }

    /// Returns the digest that 43 sextets encode: 32 bytes, and two unused bits.
    private static func digest(_ range: Range<Int>, in text: Span<UInt8>) -> Digest? {
        var words = SIMD4<UInt64>()
        var byteCount = 0
        let rest = Base64.forEachByte(of: text.extracting(range), in: .standard) { byte in
            words[byteCount >> 3] = words[byteCount >> 3] << 8 | UInt64(byte)
            byteCount += 1
        }
        return rest != nil && byteCount == Digest.byteCount ? Digest(words: { words[$0] }) : nil
    }

    /// Reads any other structured-field Item of type Byte Sequence (RFC 9651 section 3.3.5).
    private static func general(_ line: Span<UInt8>) -> Digest? {
        var parser = StructuredFieldValueParser([UInt8](copying: line))
        guard let item = try? parser.parseItemFieldValue(),
            case .undecodedByteSequence(let text) = item.rfc9651BareItem
        else { return nil }
        guard let bytes = Base64.decodeByteSequence(text.utf8Bytes.span) else { return nil }
        return Digest(bytes: bytes)
    }
}

/// The Dictionary-ID request field (RFC 9842 section 2.3).
///
/// For a public dictionary it is a hint. For any other one it proves that the client was given the dictionary.
package enum DictionaryID {
    /// The length of the longest id (RFC 9842 section 2.1.3).
    package static let charactersMax = 1024

    /// Writes an id, which has printable ASCII characters only.
    package static func serialized(_ id: String) -> String { FieldSyntax.quoted(id) }

    /// Returns the id; nil unless there is exactly one line with one String of at most 1,024 characters.
    package static func parse(_ lines: [String]) -> String? {
        // An escaped character takes two bytes, and parameters have some room.
        guard lines.count == 1, let line = lines.first, line.utf8.count <= 2 * charactersMax + 256 else {
            return nil
        }
        var parser = StructuredFieldValueParser(Array(line.utf8))
        guard let item = try? parser.parseItemFieldValue(), case .string(let id) = item.rfc9651BareItem,
            id.utf8.count <= charactersMax
        else { return nil }
        return id
    }
}
