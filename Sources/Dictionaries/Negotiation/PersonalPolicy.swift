/// What tells that a request is somebody's own: the settings `personal_fields`, `personal_query` and a route's `cookies`.
package struct PersonalPolicy: Sendable {
    /// Longer names are no personal query names.
    private static let queryNameBytesMax = 256

    private var exactFields: [[UInt8]] = []
    private var fieldPrefixes: [[UInt8]] = []
    /// The bytes that personal field names begin with, which most names of a request do not.
    private var firstBytes = ByteSet()
    private var queryNames: [[UInt8]]
    /// Whether cookies do not personalise: `cookies: ignore`.
    package var cookiesIgnored: Bool

    /// A policy of field names, exact or ending in `*`, and of query names, all without case.
    package init(fieldPatterns: [String] = [], queryNames: [String] = [], cookiesIgnored: Bool = false) {
        self.queryNames = queryNames.map { $0.utf8.map(FieldSyntax.lowercased) }
        self.cookiesIgnored = cookiesIgnored
        for pattern in fieldPatterns {
            let bytes = pattern.utf8.map(FieldSyntax.lowercased)
            if bytes == [UInt8(ascii: "*")] {
                firstBytes = .all
            } else {
                bytes.first.map { firstBytes.insert($0) }
            }
            if bytes.last == UInt8(ascii: "*") {
                fieldPrefixes.append(bytes.dropLast())
            } else {
                exactFields.append(bytes)
            }
        }
    }

    /// Whether a field of this name is personal.
    package func matches(fieldName: String) -> Bool {
        let bytes = fieldName.utf8
        return matches(fieldName: bytes.span)
    }

    /// Whether a field of this name, as it was received, is personal.
    package func matches(fieldName text: Span<UInt8>) -> Bool {
        guard text.count > 0, firstBytes.contains(FieldSyntax.lowercased(text[0])) else { return false }
        for name in exactFields where FieldSyntax.equals(0..<text.count, in: text, ignoringCase: name) {
            return true
        }
        for prefix in fieldPrefixes
        where prefix.count <= text.count
            && FieldSyntax.equals(0..<prefix.count, in: text, ignoringCase: prefix)
        {
            return true
        }
        return false
    }

    /// Whether a name in the query, percent-decoded and without case, is personal.
    package func hasPersonalQuery(_ query: String?) -> Bool {
        guard let query, !query.isEmpty, !queryNames.isEmpty else { return false }
        let bytes = query.utf8
        let text = bytes.span
        var start = 0
        var index = 0
        var isName = true
        while index <= text.count {
            let byte = index < text.count ? text[index] : UInt8(ascii: "&")
            if isName, byte == UInt8(ascii: "=") || byte == UInt8(ascii: "&") {
                if isPersonal(start..<index, in: text) { return true }
                isName = false
            }
            // Some servers separate by semicolons too; taking one for a separator only makes more personal.
            if byte == UInt8(ascii: "&") || byte == UInt8(ascii: ";") {
                start = index + 1
                isName = true
            }
            index += 1
        }
        return false
    }

    private func isPersonal(_ name: Range<Int>, in text: Span<UInt8>) -> Bool {
        guard !name.isEmpty, name.count <= 3 * Self.queryNameBytesMax else { return false }
        let isPlain = name.allSatisfy { text[$0] != UInt8(ascii: "%") }
        if isPlain {
            for known in queryNames where FieldSyntax.equals(name, in: text, ignoringCase: known) {
                return true
            }
            return false
        }
        let decoded = PercentEncoding.decoded(name, in: text).map(FieldSyntax.lowercased)
        return queryNames.contains(decoded)
    }
}
