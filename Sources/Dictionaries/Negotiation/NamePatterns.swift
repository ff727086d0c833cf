internal import Primitives

/// Patterns of names without case; a `*` at the beginning, the end or both stands for any characters.
struct NamePatterns: Sendable {
    private var exact: [[UInt8]] = []
    private var prefixes: [[UInt8]] = []
    private var suffixes: [[UInt8]] = []
    private var infixes: [[UInt8]] = []

    var isEmpty: Bool { exact.isEmpty && prefixes.isEmpty && suffixes.isEmpty && infixes.isEmpty }

    init(_ patterns: [String]) {
        for pattern in patterns { insert(pattern.utf8.map(ASCII.lowercased)) }
    }

    private mutating func insert(_ pattern: [UInt8]) {
        let star = UInt8(ascii: "*")
        let isOpenAtStart = pattern.first == star
        let isOpenAtEnd = pattern.last == star && pattern.count > 1
        let word = Array(pattern.dropFirst(isOpenAtStart ? 1 : 0).dropLast(isOpenAtEnd ? 1 : 0))
        switch (isOpenAtStart, isOpenAtEnd) {
        case (false, false): exact.append(word)
        case (false, true): prefixes.append(word)
        case (true, false): suffixes.append(word)
        case (true, true): infixes.append(word)
        }
    }

    /// Returns true if a pattern matches the name in the range; linear in the patterns and the length.
    func match(_ name: Range<Int>, in text: Span<UInt8>) -> Bool {
        guard !name.isEmpty else { return false }
        for word in exact where text.extracting(name).equalsIgnoringCase(word.span) { return true }
        for word in prefixes where holds(word, at: name.lowerBound, name, in: text) { return true }
        for word in suffixes where holds(word, at: name.upperBound - word.count, name, in: text) {
            return true
        }
        for word in infixes where isInside(word, name, in: text) { return true }
        return false
    }

    private func isInside(_ word: [UInt8], _ name: Range<Int>, in text: Span<UInt8>) -> Bool {
        guard word.count <= name.count else { return false }
        for start in name.lowerBound...(name.upperBound - word.count)
        where holds(word, at: start, name, in: text) {
            return true
        }
        return false
    }

    private func holds(_ word: [UInt8], at start: Int, _ name: Range<Int>, in text: Span<UInt8>) -> Bool {
        guard start >= name.lowerBound, start + word.count <= name.upperBound else { return false }
        return text.extracting(start..<start + word.count).equalsIgnoringCase(word.span)
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
