/// The setting `authorities`: the hosts whose responses become dictionaries.
///
/// A name is a host, with a port or for any port, and may have a `*` at its beginning or its end. Without any name,
/// the responses of every host become dictionaries.
package struct AuthorityNames: Sendable {
    private let names: NamePatterns

    /// Takes items that `isItem` accepts.
    package init(_ items: [String] = []) { names = NamePatterns(items) }

    /// Returns true if a text is a host, a host and a port, or either with a `*` at its ends.
    package static func isItem(_ text: String) -> Bool {
        let word = text.utf8.drop { $0 == UInt8(ascii: "*") }
        return 1...256 ~= text.utf8.count && text.utf8.count - word.count <= 1 && !word.isEmpty
            && word.dropLast(text.hasSuffix("*") ? 1 : 0).allSatisfy(isHostByte)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".-_:[]".utf8.contains(byte)
        }
    }

    /// Returns true if responses of an authority (RFC 9110 section 4.2.3) may become dictionaries.
    package func contains(_ authority: String) -> Bool {
        guard !names.isEmpty else { return true }
        let text = Array(authority.utf8)
        return names.match(text.indices, in: text.span) || names.match(Self.host(of: text), in: text.span)
    }

    /// Returns the part before the port, if there is one; an IPv6 address keeps its brackets.
    private static func host(of text: [UInt8]) -> Range<Int> {
        guard let colon = text.lastIndex(of: UInt8(ascii: ":")), !text[colon...].contains(UInt8(ascii: "]"))
        else { return text.indices }
        return 0..<colon
    }
}
