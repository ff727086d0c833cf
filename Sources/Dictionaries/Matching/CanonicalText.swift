/// The form in which URLs write the fixed text of patterns: percent-encoded, dot segments resolved (URL Standard,
/// "URL parsing").
enum CanonicalText {
    static func pathname(_ text: [Unicode.Scalar]) -> [UInt8] {
        removingDotSegments(encoded(text, where: isEncodedInPath))
    }

    static func search(_ text: [Unicode.Scalar]) -> [UInt8] {
        encoded(text, where: isEncodedInQuery)
    }

    /// Returns true if URLs always encode this byte of a path (URL Standard, path percent-encode set).
    static func isEncodedInPath(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "?"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "}"):
            true
        default: isEncodedInQuery(byte)
        }
    }

    /// Returns true if URLs always encode this byte of a query (URL Standard, query percent-encode set).
    static func isEncodedInQuery(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F...0xFF, UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "<"),
            UInt8(ascii: ">"):
            true
        default: false
        }
    }

    private static func encoded(_ text: [Unicode.Scalar], where isEncoded: (UInt8) -> Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text {
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                if isEncoded(byte) { PercentEncoding.append(byte, to: &bytes) } else { bytes.append(byte) }
            }
        }
        return bytes
    }

    /// Segments count from the first slash on: the text before it is the end of a segment that a group began.
    private static func removingDotSegments(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: ".")) || bytes.contains(UInt8(ascii: "%")),
            let first = bytes.firstIndex(of: UInt8(ascii: "/"))
        else { return bytes }
        let written = bytes[(first + 1)...].split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let segments = PathReadings.withoutDots(written, dots: dots)
        return Array(bytes[..<first]) + segments.flatMap { [UInt8(ascii: "/")] + $0 }
    }

    /// Returns 1 for a segment that means the same directory, 2 for one that means the parent, 0 for any other.
    private static func dots(_ segment: ArraySlice<UInt8>) -> Int {
        guard segment.count <= 6 else { return 0 }
        let text = String(decoding: segment, as: UTF8.self).lowercased()
        switch text {
        case ".", "%2e": return 1
        case "..", ".%2e", "%2e.", "%2e%2e": return 2
        default: return 0
        }
    }
}
