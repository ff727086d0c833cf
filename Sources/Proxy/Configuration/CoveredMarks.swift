/// A text in which `&` and `*` are covered wherever they may begin an anchor or an alias of YAML.
///
/// Yams hashes keys, and aliases of aliases may expand to a billion nodes. A cover means nothing in YAML, so Yams can parse the
/// covered text. Marks in quotes and comments did no harm; each of the others is now the beginning of a plain scalar.
struct CoveredMarks {
    /// The text with a cover for each mark: as many characters as before.
    let text: String
    /// The place of an anchor whose cover may break what follows.
    let anchor: ConfigurationNode.Position?
    private let covers: [Unicode.Scalar: Unicode.Scalar]

    /// Returns nil without a mark that may begin an anchor: YAML itself refuses an alias alone.
    init?(_ source: String) {
        var scalars = Array(source.unicodeScalars)
        var scan = Scan()
        for index in scalars.indices.dropLast() {
            scan.take(index, scalars[index], before: scalars[index + 1])
        }
        guard scan.places.contains(where: { scalars[$0] == "&" }) else { return nil }
        let used = Set(scalars)
        var free = (UInt32(0xE100)...0xF8FF).lazy.compactMap(Unicode.Scalar.init)
            .filter { !used.contains($0) }.makeIterator()
        guard let ampersand = free.next(), let star = free.next() else { return nil }
        anchor = scan.anchor
        for place in scan.places { scalars[place] = scalars[place] == "&" ? ampersand : star }
        text = String(String.UnicodeScalarView(scalars))
        covers = [ampersand: "&", star: "*"]
    }

    func uncovered(_ part: String) -> String {
        String(String.UnicodeScalarView(part.unicodeScalars.map { covers[$0] ?? $0 }))
    }

    func begins(_ part: String) -> Bool {
        part.unicodeScalars.first.map { covers[$0] != nil } ?? false
    }

    /// One pass over the text, which remembers no more than the line so far.
    private struct Scan {
        /// The places of all marks that may begin a token, and that a name follows.
        private(set) var places: [Int] = []
        /// The first anchor that a whole block, list or mapping may follow.
        private(set) var anchor: ConfigurationNode.Position?
        private var position = ConfigurationNode.Position(line: 1, column: 1)
        private var former: Unicode.Scalar = "\n"
        /// The last scalar of the line that is no blank; nil at its beginning.
        private var last: Unicode.Scalar?
        private var mayBeQuoted = false

        mutating func take(_ index: Int, _ scalar: Unicode.Scalar, before next: Unicode.Scalar) {
            let isMark = (scalar == "&" || scalar == "*") && !next.properties.isWhitespace
            let isBehindBlank = former.properties.isWhitespace
            if isMark, isBehindBlank || "[{,:?-\u{FEFF}".unicodeScalars.contains(former) {
                places.append(index)
                if scalar == "&", isBehindBlank || "[{,".unicodeScalars.contains(former) { noteAnchor() }
            }
            former = scalar
            position.column += 1
            if "#'\"".unicodeScalars.contains(scalar) { mayBeQuoted = true }
            if !scalar.properties.isWhitespace { last = scalar }
            guard scalar == "\n" else { return }
            (position.line, position.column) = (position.line + 1, 1)
            (last, mayBeQuoted) = (nil, false)
        }

        private mutating func noteAnchor() {
            guard anchor == nil, !mayBeQuoted, last.map({ ":-[{,?".unicodeScalars.contains($0) }) ?? true
            else { return }
            anchor = position
        }
    }
}
