/// Patterns of names without case; a `*` at the beginning, the end or both stands for any characters.
struct NamePatterns: Sendable {
    private var exact: [[UInt8]] = []
    private var prefixes: [[UInt8]] = []
    private var suffixes: [[UInt8]] = []
    private var infixes: [[UInt8]] = []

    /// True if there is no pattern.
    var isEmpty: Bool { exact.isEmpty && prefixes.isEmpty && suffixes.isEmpty && infixes.isEmpty }

    init(_ patterns: [String]) {
        for pattern in patterns { insert(pattern.utf8.map(FieldSyntax.lowercased)) }
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
        for word in exact where FieldSyntax.equals(name, in: text, ignoringCase: word) { return true }
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
        return FieldSyntax.equals(start..<start + word.count, in: text, ignoringCase: word)
    }
}
