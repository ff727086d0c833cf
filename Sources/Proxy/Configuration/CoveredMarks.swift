/// A text in which `&` and `*` are covered wherever they may begin an anchor or an alias of YAML.
///
/// Yams hashes keys, and aliases of aliases may expand to a billion nodes. A cover begins nothing, so the covered text can be
/// parsed, and then tells which marks stood in quotes or comments: a plain scalar begins with each of the others.
struct CoveredMarks {
    /// The text with a cover for each mark: as many characters as before.
    let text: String
    /// The place of an anchor whose cover may break what follows.
    let anchor: ConfigurationNode.Position?
    private let covers: [Unicode.Scalar: Unicode.Scalar]

    /// Returns nil unless the text has marks of both kinds: an anchor alone multiplies nothing, and YAML refuses an alias alone.
    init?(_ source: String) {
        var scalars = Array(source.unicodeScalars)
        let places = Self.places(in: scalars)
        guard Set(places.map { scalars[$0] }).count == 2 else { return nil }
        let used = Set(scalars)
        var free = (UInt32(0xE100)...0xF8FF).lazy.compactMap(Unicode.Scalar.init)
            .filter { !used.contains($0) }.makeIterator()
        guard let ampersand = free.next(), let star = free.next() else { return nil }
        anchor = places.first { Self.opens($0, in: scalars) }
            .map { Self.position(of: $0, in: scalars) }
        for place in places { scalars[place] = scalars[place] == "&" ? ampersand : star }
        text = String(String.UnicodeScalarView(scalars))
        covers = [ampersand: "&", star: "*"]
    }

    /// Returns a part of the covered text as it was before.
    func uncovered(_ part: String) -> String {
        String(String.UnicodeScalarView(part.unicodeScalars.map { covers[$0] ?? $0 }))
    }

    /// True if a part of the covered text begins with a cover.
    func begins(_ part: String) -> Bool {
        part.unicodeScalars.first.map { covers[$0] != nil } ?? false
    }

    /// Returns the places of all marks that may begin a token, and that a name follows.
    private static func places(in scalars: [Unicode.Scalar]) -> [Int] {
        scalars.indices.dropLast().filter { index in
            let (mark, next) = (scalars[index], scalars[index + 1])
            guard mark == "&" || mark == "*", !next.properties.isWhitespace else { return false }
            guard index > 0 else { return true }
            let former = scalars[index - 1]
            return former.properties.isWhitespace || "[{,:?-\u{FEFF}".unicodeScalars.contains(former)
        }
    }

    /// True for an anchor that a whole block, list or mapping may follow, as far as its line tells.
    private static func opens(_ place: Int, in scalars: [Unicode.Scalar]) -> Bool {
        let line = scalars[..<place].reversed().prefix { $0 != "\n" }
        return scalars[place] == "&" && !line.contains { "#'\"".unicodeScalars.contains($0) }
            && line.first { $0 != " " }.map { ":-[{,?".unicodeScalars.contains($0) } ?? true
    }

    private static func position(of place: Int, in scalars: [Unicode.Scalar]) -> ConfigurationNode.Position {
        let before = scalars[..<place]
        let start = before.lastIndex(of: "\n").map { $0 + 1 } ?? 0
        return .init(line: before.count { $0 == "\n" } + 1, column: place - start + 1)
    }
}
