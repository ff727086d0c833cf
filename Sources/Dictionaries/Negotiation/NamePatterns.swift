internal import Primitives

/// Patterns of names without case, in which `*` stands for any characters.
struct NamePatterns: Sendable {
    private let patterns: [[UInt8]]

    var isEmpty: Bool { patterns.isEmpty }

    init(_ patterns: [String]) { self.patterns = patterns.map { $0.utf8.map(ASCII.lowercased) } }

    /// Returns true if a pattern matches the name in the range; at most the product of both lengths for each.
    func match(_ name: Range<Int>, in text: Span<UInt8>) -> Bool {
        guard !name.isEmpty else { return false }
        return patterns.contains { StarPattern.matches($0, name, ignoringCaseOf: text) }
    }
}

/// The setting `authorities`: the hosts whose responses become dictionaries.
///
/// A name is a host, with a port or for any port, and may have a `*` at its beginning or its end. Without any name,
/// the responses of every host become dictionaries.
package struct AuthorityNames: Sendable {
    private let names: NamePatterns
    /// True without any name; stored, because a look into `names` would copy its lists.
    private let hasAll: Bool

    /// Takes items that `isItem` accepts.
    package init(_ items: [String] = []) {
        names = NamePatterns(items)
        hasAll = items.isEmpty
    }

    /// Returns true if a text is a host, a host and a port, or either with a `*` at its ends.
    package static func isItem(_ text: String) -> Bool {
        let word = text.utf8.drop { $0 == UInt8(ascii: "*") }
        return 1...256 ~= text.utf8.count && text.utf8.count - word.count <= 1 && !word.isEmpty
            && word.dropLast(text.hasSuffix("*") ? 1 : 0).allSatisfy(isHostByte)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || ".-_:[]".utf8.contains(byte)
    }

    /// Returns true if responses of an authority (RFC 9110 section 4.2.3) may become dictionaries.
    package func contains(_ authority: String) -> Bool {
        guard !hasAll else { return true }
        let text = Array(authority.utf8)
        let host = Self.host(of: text)
        guard host == text.indices else { return match(text) || names.match(host, in: text.span) }
        // Without a port it is the scheme's.
        return match(text) || match(text + ":443".utf8) || match(text + ":80".utf8)
    }

    private func match(_ text: [UInt8]) -> Bool { names.match(text.indices, in: text.span) }

    /// Returns the part before the port, if there is one; an IPv6 address keeps its brackets.
    private static func host(of text: [UInt8]) -> Range<Int> {
        guard let colon = text.lastIndex(of: UInt8(ascii: ":")), !text[colon...].contains(UInt8(ascii: "]"))
        else { return text.indices }
        return 0..<colon
    }
}
