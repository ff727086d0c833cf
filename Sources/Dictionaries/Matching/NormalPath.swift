/// The normal form of paths: a path in another form uses no dictionary, since two spellings of one path would be
/// two chains.
package enum NormalPath {
    /// Returns true if the path is in normal form.
    ///
    /// Such a path begins with a slash. It has no dot segments, no backslashes, no bytes that URLs exclude, and no
    /// empty segments except the last. Each percent sign begins a triple that encodes neither an unreserved
    /// character (RFC 3986 section 6.2.2.2) nor a slash nor a backslash. The digits of a triple may be of either
    /// case, since clients do not change them.
    package static func isNormal(_ path: String) -> Bool {
        let bytes = path.utf8
        return isNormal(bytes.span)
    }

    private static func isNormal(_ path: Span<UInt8>) -> Bool {
        guard path.count > 0, path[0] == UInt8(ascii: "/") else { return false }
        var segmentStart = 1
        var index = 1
        while index < path.count {
            switch path[index] {
            case UInt8(ascii: "/"):
                if index == segmentStart || isDotSegment(segmentStart..<index, in: path) { return false }
                segmentStart = index + 1
            case UInt8(ascii: "%"):
                guard isReservedTriple(at: index, in: path) else { return false }
                index += 2
            case 0...0x20, 0x7F...0xFF, UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "#"): return false
            default: break
            }
            index += 1
        }
        return !isDotSegment(segmentStart..<path.count, in: path)
    }

    /// An encoded dot needs no check here: a dot is unreserved, and refused as a triple.
    private static func isDotSegment(_ segment: Range<Int>, in path: Span<UInt8>) -> Bool {
        segment.count >= 1 && segment.count <= 2 && segment.allSatisfy { path[$0] == UInt8(ascii: ".") }
    }

    private static func isReservedTriple(at offset: Int, in path: Span<UInt8>) -> Bool {
        guard let byte = PercentEncoding.triple(at: offset, in: path, limit: path.count) else { return false }
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "\\"):
            return false
        default: return true
        }
    }
}

/// Percent-encoding of URLs (RFC 3986 section 2.1).
enum PercentEncoding {
    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns the byte that `%XX` at the offset encodes; nil without such a triple.
    static func triple(at offset: Int, in text: Span<UInt8>, limit: Int) -> UInt8? {
        guard offset + 2 < limit, text[offset] == UInt8(ascii: "%"), let high = digit(text[offset + 1]),
            let low = digit(text[offset + 2])
        else { return nil }
        return high << 4 | low
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

    /// Appends `%XX` with upper-case digits.
    static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
    }
}
