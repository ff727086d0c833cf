internal import Primitives

/// An entity tag (RFC 9110 section 8.8.3) of printable ASCII.
///
/// The RFC allows other bytes. As texts, two such tags may be equal that are not: bytes that are no UTF-8 become U+FFFD, and
/// Unicode has several spellings. So a tag with such a byte is none here: it is forwarded as it came, and equals no other.
package struct EntityTag: Hashable, Sendable {
    /// The opaque tag with its quotation marks.
    package let opaque: String
    package let isWeak: Bool
}

extension EntityTag {
    /// Reads a field value; nil unless it is exactly one tag.
    package init?(_ value: String) {
        let bytes = value.utf8Bytes
        let text = bytes.span
        let whole = text.trimmedRange(0..<text.count)
        guard let position = Self.read(from: whole.lowerBound, in: text),
            position.opaque.upperBound == whole.upperBound
        else { return nil }
        // Nearly every upstream's tag is strong, and then the whole text is the opaque tag.
        opaque = position.opaque.count == text.count ? value : String(text.extracting(position.opaque))
        isWeak = position.isWeak
    }

    package var serialized: String { isWeak ? "W/" + opaque : opaque }

    package var weakened: EntityTag { EntityTag(opaque: opaque, isWeak: true) }

    /// The strong tag of the same opaque part.
    package var strengthened: EntityTag { EntityTag(opaque: opaque, isWeak: false) }

    /// The weak comparison of RFC 9110 section 8.8.3.2.
    package func weakMatches(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// Returns true if a field value is a tag that matches by the strong comparison (RFC 9110 section 8.8.3.2).
    package func strongMatches(_ value: Span<UInt8>) -> Bool {
        let whole = value.trimmedRange(0..<value.count)
        let bytes = opaque.utf8Bytes
        guard !isWeak, whole.count == bytes.count else { return false }
        let text = bytes.span
        return text.indices.allSatisfy { text[$0] == value[whole.lowerBound + $0] }
    }

    /// Returns the tags of an If-Match or If-None-Match field; reading stops at the first malformed tag.
    package static func parseList(_ lines: [String]) -> EntityTagList {
        if lines.count == 1, lines.first == "*" { return .any }
        var tags: [EntityTag] = []
        let isWhole = lines.allSatisfy { collect(from: $0.utf8Bytes.span, into: &tags) }
        return .tags(tags, isWhole: isWhole)
    }

    private static func collect(from text: Span<UInt8>, into tags: inout [EntityTag]) -> Bool {
        var offset = 0
        while offset < text.count {
            if ASCII.isBlank(text[offset]) || text[offset] == UInt8(ascii: ",") {
                offset += 1
                continue
            }
            guard let position = read(from: offset, in: text) else { return false }
            let end = position.opaque.upperBound
            let rest = text.trimmedRange(end..<text.count)
            guard rest.isEmpty || text[rest.lowerBound] == UInt8(ascii: ",") else { return false }
            tags.append(EntityTag(opaque: String(text.extracting(position.opaque)), isWeak: position.isWeak))
            offset = end
        }
        return true
    }

    /// Reads `entity-tag = [ %s"W/" ] DQUOTE *etagc DQUOTE`: the tag may contain commas, and W is upper case.
    private static func read(from start: Int, in text: Span<UInt8>) -> (opaque: Range<Int>, isWeak: Bool)? {
        var offset = start
        var isWeak = false
        if offset + 1 < text.count, text[offset] == UInt8(ascii: "W"), text[offset + 1] == UInt8(ascii: "/") {
            isWeak = true
            offset += 2
        }
        guard offset < text.count, text[offset] == UInt8(ascii: "\"") else { return nil }
        var end = offset + 1
        while end < text.count, text[end] != UInt8(ascii: "\"") {
            guard 0x21...0x7E ~= text[end] else { return nil }
            end += 1
        }
        guard end < text.count else { return nil }
        return (offset..<end + 1, isWeak)
    }
}

/// The value of an If-Match or If-None-Match field (RFC 9110 sections 13.1.1 and 13.1.2).
package enum EntityTagList: Equatable, Sendable {
    /// `*`: any current representation.
    case any
    /// The listed tags in order; without `isWhole` the list has a malformed member, and these stand before it.
    case tags([EntityTag], isWhole: Bool)

    /// Returns true if the list contains the tag by the weak comparison, which If-None-Match requires.
    package func weakMatches(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags, _): tags.contains { $0.weakMatches(tag) }
        }
    }
}
