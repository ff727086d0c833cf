internal import RawStructuredFieldValues

/// The Available-Dictionary request field (RFC 9842 section 2.2).
package enum AvailableDictionary {
    /// Longer lines are taken as malformed; a digest takes 46 bytes, the rest is room for parameters.
    package static let lineBytesMax = 1024

    /// The digest that the client offers; nil where there is not exactly one line with exactly one of 32 bytes.
    package static func parse(_ lines: [String]) -> Digest? {
        guard lines.count == 1, let line = lines.first else { return nil }
        let bytes = line.utf8
        guard bytes.count <= lineBytesMax else { return nil }
        return plain(bytes.span) ?? general(line)
    }

    /// The form that clients send: a colon, 44 characters, a colon.
    private static func plain(_ text: Span<UInt8>) -> Digest? {
        guard text.count == 46, text[0] == UInt8(ascii: ":"), text[45] == UInt8(ascii: ":"),
            let bytes = ByteSequence.decoded(1..<45, in: text)
        else { return nil }
        return Digest(bytes: bytes)
    }

    /// Whatever else is a structured-field Item of type Byte Sequence (RFC 9651 section 3.3.5).
    private static func general(_ line: String) -> Digest? {
        var parser = StructuredFieldValueParser(Array(line.utf8))
        guard let item = try? parser.parseItemFieldValue(),
            case .undecodedByteSequence(let text) = item.rfc9651BareItem
        else { return nil }
        let characters = text.utf8
        guard let bytes = ByteSequence.decoded(0..<characters.count, in: characters.span) else { return nil }
        return Digest(bytes: bytes)
    }
}
