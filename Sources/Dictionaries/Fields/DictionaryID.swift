internal import RawStructuredFieldValues

/// The Dictionary-ID request field (RFC 9842 section 2.3).
///
/// For a public dictionary it is a hint. For any other one it proves that the client was given the dictionary.
package enum DictionaryID {
    /// The length of the longest id (RFC 9842 section 2.1.3).
    package static let charactersMax = 1024

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
