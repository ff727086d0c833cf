internal import Primitives

/// The settings that tell if a response is personal: `personal_fields`, `personal_query`, `ignore_cookies`, and a
/// route's `cookies` and `ignore_set_cookie`.
package struct PersonalPolicy: Sendable {
    /// The maximum length of a personal name in a query.
    private static let queryNameBytesMax = 256

    private let fields: NamePatterns
    private let queryNames: NamePatterns
    /// True if cookies do not make responses personal: `cookies: ignore`.
    package var cookiesIgnored: Bool
    /// The request cookies that never make a response personal.
    package let ignoredCookies: IgnoredCookies
    /// The names of cookies whose Set-Cookie does not make a response personal.
    package let ignoredSetCookies: [String]

    /// Makes a policy of patterns of field and query names, compared without case.
    package init(
        fieldPatterns: [String] = [], queryNames: [String] = [], cookiesIgnored: Bool = false,
        ignoredCookies: IgnoredCookies = IgnoredCookies(), ignoredSetCookies: [String] = []
    ) {
        fields = NamePatterns(fieldPatterns)
        self.queryNames = NamePatterns(queryNames)
        self.ignoredCookies = ignoredCookies
        self.ignoredSetCookies = ignoredSetCookies
        self.cookiesIgnored = cookiesIgnored
    }

    package func matches(fieldName: String) -> Bool {
        matches(fieldName: fieldName.utf8Bytes.span)
    }

    /// Returns true if a field of this name, as it was received, is personal.
    package func matches(fieldName text: Span<UInt8>) -> Bool { fields.match(0..<text.count, in: text) }

    /// Returns true if a name in the query, percent-decoded and without case, is personal.
    package func hasPersonalQuery(_ query: String?) -> Bool {
        guard let query, !query.isEmpty, !queryNames.isEmpty else { return false }
        let bytes = query.utf8Bytes
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
            // Some servers also separate by semicolons. Treating one as a separator only makes more responses
            // personal.
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
        if name.allSatisfy({ text[$0] != UInt8(ascii: "%") }) { return isPersonalPart(name, in: text) }
        let decoded = PercentEncoding.decoded(name, in: text)
        return isPersonalPart(0..<decoded.count, in: decoded.span)
    }

    /// Returns true if a name or a part of it is personal: `user[token]` and `user.token` are as personal as
    /// `token`.
    private func isPersonalPart(_ name: Range<Int>, in text: Span<UInt8>) -> Bool {
        if queryNames.match(name, in: text) { return true }
        var start = name.lowerBound
        for index in name where Self.isPartEnd(text[index]) {
            if queryNames.match(start..<index, in: text) { return true }
            start = index + 1
        }
        return start > name.lowerBound && queryNames.match(start..<name.upperBound, in: text)
    }

    private static func isPartEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: ".")
    }
}
