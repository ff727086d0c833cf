internal import Primitives

/// The recognition of segments that name one of many resources.
package enum PathShape {
    /// Returns a URL Pattern for a path: numbers, UUIDs and other identifiers become groups, all else stays literal.
    package static func pattern(of path: String) -> String {
        var groups = 0
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment -> String in
            guard isIdentifier(segment) else { return URLPattern.escaped(segment) }
            groups += 1
            return groups == 1 ? ":id" : ":id\(groups)"
        }
        return segments.joined(separator: "/")
    }

    private static func isIdentifier(_ segment: Substring) -> Bool {
        let bytes = segment.utf8Bytes
        let digits = bytes.count { 0x30...0x39 ~= $0 }
        guard digits > 0, bytes.allSatisfy({ $0 < 0x80 }) else { return false }
        if digits == bytes.count { return true }
        let isHexadecimal = segment.allSatisfy { $0.isHexDigit || $0 == "-" }
        if isHexadecimal, bytes.count >= 8, digits >= 2 { return true }
        let isToken = segment.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        return isToken && bytes.count >= 16 && digits * 5 >= bytes.count
    }
}
