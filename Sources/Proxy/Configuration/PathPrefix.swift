internal import Dictionaries
internal import HTTP

/// The start of the paths of a route that its upstream does not get.
///
/// A class, so that requests of most routes only see that there is none.
package final class PathPrefix: Sendable {
    /// The prefix without a slash at its end.
    let text: String
    /// Its segments as they stand in a routed path.
    private let segments: [[UInt8]]

    /// Takes a path in normal form that is not `/`; a slash at its end does not count.
    init?(_ text: String) {
        let path = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard path.hasPrefix("/"), path.utf8.count <= 1024, path.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
            !path.contains(where: { "*?#:{}()\\".contains($0) }), NormalPath.isNormal(path),
            !DictionaryPath.isReserved(path)
        else { return nil }
        self.text = path
        segments = path.utf8.split(separator: UInt8(ascii: "/")).map { PathReadings.routed(segment: $0) }
    }

    /// Returns the target without the prefix, in origin form; nil if its path does not begin with these segments.
    func removed(from target: RequestTarget) -> RequestTarget? {
        guard target.form != .asterisk else { return nil }
        guard let rest = rest(of: target.pathAndQuery[...]) else { return nil }
        // Two slashes at the start would read as a host in a redirect that the upstream makes of its path.
        let slash = UInt8(ascii: "/")
        let left = [slash] + rest.drop { $0 == slash }
        return try? RequestTarget(left.span, method: .get)
    }

    /// Returns true unless a path begins with the prefix, in any spelling, and its dot segments stay behind it.
    ///
    /// Dot segments in front of the prefix or inside it count as leaving it, since they cannot be removed with it.
    func isLeft(by path: String) -> Bool {
        guard let rest = rest(of: Array(path.utf8)[...]) else { return true }
        var depth = 0
        for written in rest.split(separator: UInt8(ascii: "/")) {
            switch PathReadings.dotCount(PathReadings.routed(segment: written)) {
            case 0: depth += 1
            case 1: break
            default: depth -= 1
            }
            if depth < 0 { return true }
        }
        return false
    }

    /// Returns what follows the prefix in a path with or without a query; nil if it does not begin with these segments.
    private func rest(of path: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = path
        for segment in segments {
            guard rest.first == UInt8(ascii: "/") else { return nil }
            rest = rest.drop { $0 == UInt8(ascii: "/") }
            let written = rest.prefix { !Self.endsSegment($0) }
            guard PathReadings.routed(segment: written) == segment else { return nil }
            rest = rest.dropFirst(written.count)
        }
        return rest
    }

    private static func endsSegment(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?")
    }
}
