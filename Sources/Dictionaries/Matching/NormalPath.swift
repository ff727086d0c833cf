internal import Primitives

/// The normal form of paths: a path in another form uses no dictionary, since two spellings of one path would be
/// two chains.
package enum NormalPath {
    /// Returns true if the path is in normal form.
    ///
    /// Such a path begins with a slash. It has no dot segments, also none with parameters, no backslashes, no bytes that
    /// URLs exclude, and no
    /// empty segments except the last. Each percent sign begins a triple that encodes neither an unreserved
    /// character (RFC 3986 section 6.2.2.2) nor a slash nor a backslash. The digits of a triple may be of either
    /// case, since clients do not change them.
    package static func isNormal(_ path: String) -> Bool { form(of: path) != .other }

    /// The forms of a path, the plainest first.
    package enum Form: Sendable {
        /// Normal, and spelled as URLs are always written: with triples only where a character has to be encoded.
        case plain
        /// Normal, with other triples, or with characters that URLs always encode.
        case encoded
        /// Not normal.
        case other
    }

    package static func form(of path: String) -> Form { form(of: path.utf8Bytes.span) }

    private static func form(of path: Span<UInt8>) -> Form {
        guard path.count > 0, path[0] == UInt8(ascii: "/") else { return .other }
        var isPlain = true
        var segmentStart = 1
        var index = 1
        while index < path.count {
            switch path[index] {
            case UInt8(ascii: "/"):
                if index == segmentStart || isDotSegment(segmentStart..<index, in: path) { return .other }
                segmentStart = index + 1
            case UInt8(ascii: "%"):
                guard isReservedTriple(at: index, in: path) else { return .other }
                if !PercentEncoding.isCanonicalTriple(at: index, in: path) { isPlain = false }
                index += 2
            case 0...0x20, 0x7F...0xFF, UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "#"):
                return .other
            case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "^"),
                UInt8(ascii: "`"),
                UInt8(ascii: "{"), UInt8(ascii: "}"):
                isPlain = false
            default: break
            }
            index += 1
        }
        if isDotSegment(segmentStart..<path.count, in: path) { return .other }
        return isPlain ? .plain : .encoded
    }

    /// Returns true for one dot or two, also with parameters behind a semicolon.
    ///
    /// An encoded dot needs no check here: a dot is unreserved, and refused as a triple.
    private static func isDotSegment(_ segment: Range<Int>, in path: Span<UInt8>) -> Bool {
        let dots = segment.prefix { path[$0] == UInt8(ascii: ".") }
        guard 1...2 ~= dots.count else { return false }
        return dots.count == segment.count || path[dots.endIndex] == UInt8(ascii: ";")
    }

    private static func isReservedTriple(at offset: Int, in path: Span<UInt8>) -> Bool {
        guard let byte = PercentEncoding.triple(at: offset, in: path, limit: path.count) else { return false }
        return !PercentEncoding.isUnreserved(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "\\")
    }
}

/// Percent-encoding of URLs (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// Returns a text as browsers and curl write it in a URL: with every byte encoded that URLs exclude.
    package static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if ASCII.isVisible(byte) { bytes.append(byte) } else { append(byte, to: &bytes) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a text with the digits of its triples in upper case, by which spellings of one URL are compared (RFC 3986
    /// section 6.2.2.1).
    package static func upperCased(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var bytes = Array(text.utf8)
        for place in bytes.indices {
            guard let byte = triple(at: place, in: bytes.span, limit: bytes.count) else { continue }
            bytes[place + 1] = upperDigit(byte >> 4)
            bytes[place + 2] = upperDigit(byte & 15)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns true for the characters that no URL needs to encode (RFC 3986 section 2.3).
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Returns the byte that `%XX` at the offset encodes; nil without such a triple.
    static func triple(at offset: Int, in text: Span<UInt8>, limit: Int) -> UInt8? {
        guard offset + 2 < limit, text[offset] == UInt8(ascii: "%"),
            let high = ASCII.hexadecimal(text[offset + 1]), let low = ASCII.hexadecimal(text[offset + 2])
        else { return nil }
        return high << 4 | low
    }

    /// Returns true if URLs always write the triple at the offset so: its character has to be encoded, and its digits are
    /// upper-case.
    static func isCanonicalTriple(at offset: Int, in text: Span<UInt8>) -> Bool {
        guard let byte = triple(at: offset, in: text, limit: text.count) else { return false }
        return (byte == UInt8(ascii: "%") || CanonicalText.isEncodedInPath(byte))
            && text[offset + 1] <= UInt8(ascii: "F") && text[offset + 2] <= UInt8(ascii: "F")
    }

    /// Returns the bytes of the range with each `%XX` decoded; malformed triples stay.
    static func decoded(_ range: Range<Int>, in text: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            if let byte = triple(at: index, in: text, limit: range.upperBound) {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return bytes
    }

    private static func upperDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// Appends `%XX` with upper-case digits.
    static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(upperDigit(byte >> 4))
        bytes.append(upperDigit(byte & 15))
    }
}
