/// An entity tag (RFC 9110 section 8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// The opaque tag with its quotation marks.
    package let opaque: String
    /// Whether the tag is weak.
    package let isWeak: Bool

    /// The tag that a field value is; nil where it is anything but one tag.
    package init?(_ value: String) {
        let bytes = value.utf8
        let text = bytes.span
        let whole = FieldSyntax.trimmed(0..<text.count, in: text)
        guard let (tag, end) = Self.read(from: whole.lowerBound, in: text), end == whole.upperBound else {
            return nil
        }
        self = tag
    }

    private init(opaque: String, isWeak: Bool) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// The tag as a field value.
    package var serialized: String { isWeak ? "W/" + opaque : opaque }

    /// The weak tag of the same opaque part.
    package var weakened: EntityTag { EntityTag(opaque: opaque, isWeak: true) }

    /// The strong tag of the same opaque part.
    package var strengthened: EntityTag { EntityTag(opaque: opaque, isWeak: false) }

    /// The weak comparison of RFC 9110 section 8.8.3.2.
    package func weakMatches(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// The strong comparison of RFC 9110 section 8.8.3.2.
    package func strongMatches(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// The tags of an If-Match or If-None-Match field; reading stops at the first that is malformed.
    package static func parseList(_ lines: [String]) -> EntityTagList {
        if lines.count == 1, lines.first == "*" { return .any }
        var tags: [EntityTag] = []
        for line in lines {
            let bytes = line.utf8
            guard collect(from: bytes.span, into: &tags) else { break }
        }
        return .tags(tags)
    }

    private static func collect(from text: Span<UInt8>, into tags: inout [EntityTag]) -> Bool {
        var offset = 0
        while offset < text.count {
            if FieldSyntax.isWhitespace(text[offset]) || text[offset] == UInt8(ascii: ",") {
                offset += 1
                continue
            }
            guard let (tag, end) = read(from: offset, in: text) else { return false }
            let rest = FieldSyntax.trimmed(end..<text.count, in: text)
            guard rest.isEmpty || text[rest.lowerBound] == UInt8(ascii: ",") else { return false }
            tags.append(tag)
            offset = end
        }
        return true
    }

    /// `entity-tag = [ %s"W/" ] DQUOTE *etagc DQUOTE`: commas may stand inside, W is upper case.
    private static func read(from start: Int, in text: Span<UInt8>) -> (EntityTag, end: Int)? {
        var offset = start
        var isWeak = false
        if offset + 1 < text.count, text[offset] == UInt8(ascii: "W"), text[offset + 1] == UInt8(ascii: "/") {
            isWeak = true
            offset += 2
        }
        guard offset < text.count, text[offset] == UInt8(ascii: "\"") else { return nil }
        var end = offset + 1
        while end < text.count, text[end] != UInt8(ascii: "\"") {
            guard text[end] > 0x20, text[end] != 0x7F else { return nil }
            end += 1
        }
        guard end < text.count else { return nil }
        return (EntityTag(opaque: FieldSyntax.string(offset..<end + 1, in: text), isWeak: isWeak), end + 1)
    }
}
