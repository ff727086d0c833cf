internal import RawStructuredFieldValues

/// The Dictionary-ID request field (RFC 9842 section 2.3).
///
/// For a dictionary that is for everybody a hint; for any other the proof that the client was given it.
package enum DictionaryID {
    /// The longest id that RFC 9842 section 2.1.3 allows.
    package static let charactersMax = 1024

    /// The id; nil where there is not exactly one line with one String of at most 1,024 characters.
    package static func parse(_ lines: [String]) -> String? {
        // Each character may be written as two bytes; parameters have some room.
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
