internal import Dictionaries
internal import HTTP

/// The start of the paths of a route that its upstream does not get.
///
/// A class, so that requests of most routes only see that there is none.
package final class PathPrefix: Sendable {
    /// The prefix without a slash at its end.
    let text: String

    /// Takes a path in normal form that is not `/`; a slash at its end does not count.
    init?(_ text: String) {
        let path = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard path.hasPrefix("/"), path.utf8.count <= 1024, path.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
            !path.contains(where: { "*?#:{}()\\".contains($0) }), NormalPath.isNormal(path),
            !DictionaryPath.isReserved(path)
        else { return nil }
        self.text = path
    }

    /// Returns the target without the prefix, in origin form; nil if its path does not begin with these segments.
    func removed(from target: RequestTarget) -> RequestTarget? {
        guard target.form != .asterisk else { return nil }
        let bytes = target.pathAndQuery
        var rest = bytes[...]
        guard rest.starts(with: text.utf8) else { return nil }
        rest = rest.dropFirst(text.utf8.count)
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?") else {
            return nil
        }
        // Two slashes at the start would read as a host in a redirect that the upstream makes of its path.
        let slash = UInt8(ascii: "/")
        let left = [slash] + rest.drop { $0 == slash }
        return try? RequestTarget(left.span, method: .get)
    }
}
