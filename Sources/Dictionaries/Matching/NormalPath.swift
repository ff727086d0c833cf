/// The normal form of paths, outside which no dictionary is used: two spellings of one place would be two chains.
package enum NormalPath {
    /// Whether the path is in normal form.
    ///
    /// It begins with a slash; it has no dot segments, empty segments but for the last, backslashes or bytes that URLs do
    /// not have; each percent sign begins a triple that stands for neither an unreserved character (RFC 3986 section
    /// 6.2.2.2) nor a slash nor a backslash. The digits of a triple may be of either case: clients keep what was written.
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

    /// Encoded dots need no care: a dot is unreserved.
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
