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
