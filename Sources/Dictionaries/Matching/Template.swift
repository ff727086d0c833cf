/// A URL Pattern with placeholders `<name>`, which the groups of a route's match fill.
package struct Template: Sendable {
    private enum Piece: Sendable {
        case pattern(String)
        case group(String)
    }

    package let text: String
    private let pieces: [Piece]

    /// Parses a template; each placeholder must name a group of the route's match.
    package init(_ text: String, groupNames: [String]) throws(PatternError) {
        self.text = text
        pieces = try Self.pieces(Array(text.unicodeScalars), groupNames: groupNames)
        // Filled with any value, the template must be a pattern that RFC 9842 allows.
        let example = pieces.map { piece in
            switch piece {
            case .pattern(let text): text
            case .group(let name): String(repeating: "x", count: name.unicodeScalars.count + 2)
            }
        }
        _ = try URLPattern(example.joined())
    }

    /// Returns the pattern with the escaped values filled in; nil if one is missing or cannot be expressed.
    package func filled(_ captures: [String: Substring]) -> String? {
        var match = ""
        var isGroupEnd = false
        for piece in pieces {
            switch piece {
            case .pattern(let text):
                // An escaped colon ends in a brace, and a modifier behind it would repeat that.
                if isGroupEnd, let first = text.utf8.first, "*?+".utf8.contains(first) { return nil }
                match += text
                // Between two placeholders there may be no text.
                if !text.isEmpty { isGroupEnd = false }
            case .group(let name):
                guard let value = captures[name], Covers.isExpressible(value, isPath: true) else {
                    return nil
                }
                match += URLPattern.escaped(value)
                if !value.isEmpty { isGroupEnd = value.utf8.last == UInt8(ascii: ":") }
            }
        }
        return match.utf8.count <= URLPattern.bytesMax && !Self.hasDotSegment(match) ? match : nil
    }

    /// Returns true if a value and the template together have made a dot segment.
    ///
    /// A client resolves the text before a group on its own, so that `/app/..*` would become a pattern for `/*`.
    private static func hasDotSegment(_ match: String) -> Bool {
        // The number of dots since the last slash; nil behind any other byte.
        var dots: Int?
        for byte in match.utf8 {
            switch byte {
            case UInt8(ascii: "."): dots = dots.map { $0 + 1 }
            case UInt8(ascii: "/"):
                if dots == 1 || dots == 2 { return true }
                dots = 0
            case UInt8(ascii: "*"), UInt8(ascii: ":"), UInt8(ascii: "{"), UInt8(ascii: "?"),
                UInt8(ascii: "\\"):
                if dots == 1 || dots == 2 { return true }
                dots = nil
            default: dots = nil
            }
        }
        return dots == 1 || dots == 2
    }

    private static func pieces(
        _ scalars: [Unicode.Scalar], groupNames: [String]
    ) throws(PatternError) -> [Piece] {
        var pieces: [Piece] = []
        var pattern = String.UnicodeScalarView()
        var index = 0
        while index < scalars.count {
            if scalars[index] == "\\", index + 1 < scalars.count {
                pattern.append(contentsOf: scalars[index...index + 1])
                index += 2
            } else if scalars[index] == "<" {
                let end = try placeholderEnd(at: index, in: scalars, groupNames: groupNames)
                if case .name(let name) = PatternTokenizer.tokens(Array(pattern)).last?.kind {
                    throw PatternError(
                        offset: index,
                        "a placeholder directly behind the group :\(name); expected some text between them")
                }
                pieces.append(.pattern(String(pattern)))
                pieces.append(.group(String(scalars[index + 1..<end])))
                pattern = String.UnicodeScalarView()
                index = end + 1
            } else {
                pattern.append(scalars[index])
                index += 1
            }
        }
        return pieces + [.pattern(String(pattern))]
    }

    /// Returns the end of the placeholder that begins at the index.
    private static func placeholderEnd(
        at start: Int, in scalars: [Unicode.Scalar], groupNames: [String]
    ) throws(PatternError) -> Int {
        guard let end = scalars[start...].firstIndex(of: ">") else {
            throw PatternError(
                offset: start,
                "an unclosed placeholder; expected <name>, or \\< for the character itself")
        }
        let name = String(scalars[start + 1..<end])
        guard groupNames.contains(name) else {
            let known =
                groupNames.isEmpty ? "no groups" : groupNames.map { "<\($0)>" }.joined(separator: ", ")
            throw PatternError(
                offset: start, "the unknown placeholder <\(name)>; the route's match has \(known)")
        }
        return end
    }
}
