/// The tokens of a pattern by component (URL Pattern Standard, "Constructor string parsing" and "process a URLPatternInit").
struct PatternSources {
    /// The absolute pattern of the path.
    private(set) var pathname: [PatternToken]
    /// The pattern of the query; nil if any query matches.
    private(set) var search: [PatternToken]?
    /// The text that the pattern has as an absolute path.
    private(set) var absolute = ""

    /// Splits a pattern and resolves it against the path of the URL that it came from.
    init(_ text: String, basePath: String, origin: String?) throws(PatternError) {
        let scalars = Array(text.unicodeScalars)
        let tokens = PatternTokenizer.tokens(scalars)
        let start = try Self.pathStart(tokens, scalars, origin: origin)
        let rest = tokens[start...]
        let searchStart =
            Self.firstOutsideBraces(rest) { Self.isSearchPrefix($0, in: tokens) } ?? rest.endIndex
        if let hash = Self.firstOutsideBraces(rest, where: { tokens[$0].urlCharacter == "#" }) {
            throw PatternError(
                offset: tokens[hash].offset,
                "a fragment, which never reaches a server; expected a path and a query")
        }
        pathname = Array(rest[..<searchStart])
        search = searchStart < rest.endIndex ? Array(rest[(searchStart + 1)...]) : nil
        let place = start < tokens.count ? tokens[start].offset : scalars.count
        absolute.unicodeScalars.append(contentsOf: scalars[place...])
        let base = try base(basePath: basePath, isWholeURL: start > 0)
        // The standard concatenates texts: a slash of the base may belong to the group behind it.
        if !base.isEmpty { self = try Self.inPlace(base, absolute, behind: place) }
    }

    /// Returns the sources of two texts, with offsets in the text of which the second is the part from `place` on.
    private static func inPlace(_ base: String, _ rest: String, behind place: Int) throws(PatternError)
        -> PatternSources
    {
        var sources = try PatternSources(base + rest, basePath: "/", origin: nil)
        let surplus = base.unicodeScalars.count - place
        func moved(_ token: PatternToken) -> PatternToken {
            PatternToken(kind: token.kind, offset: max(0, token.offset - surplus))
        }
        sources.pathname = sources.pathname.map(moved)
        sources.search = sources.search?.map(moved)
        return sources
    }

    /// Returns the text that makes the pattern absolute.
    private func base(basePath: String, isWholeURL: Bool) throws(PatternError) -> String {
        if pathname.isEmpty, isWholeURL {
            // "https://example.com" matches every path, "https://example.com?a" only the root.
            return search == nil ? "/*" : "/"
        }
        if pathname.isEmpty, search != nil {
            guard !basePath.hasSuffix(":") else {
                throw PatternError(
                    offset: 0, "a query alone behind a path that ends with a colon; expected a path")
            }
            return URLPattern.escaped(basePath)
        }
        guard !Self.isAbsolute(pathname) else { return "" }
        let slash = basePath.utf8.lastIndex(of: UInt8(ascii: "/"))
        return URLPattern.escaped(slash.map { basePath[...$0] } ?? "/")
    }

    /// Returns true if the pattern begins with a slash, which may be escaped or in braces.
    private static func isAbsolute(_ tokens: [PatternToken]) -> Bool {
        guard let first = tokens.first else { return false }
        if first.kind == .open, tokens.count > 1 { return tokens[1].kind == .character("/") }
        return first.kind == .character("/") || first.kind == .escaped("/")
    }

    private static func firstOutsideBraces(
        _ tokens: ArraySlice<PatternToken>, where isWanted: (Int) -> Bool
    ) -> Int? {
        var depth = 0
        for index in tokens.indices {
            switch tokens[index].kind {
            case .open: depth += 1
            case .close: depth -= 1
            default: break
            }
            if depth <= 0, isWanted(index) { return index }
        }
        return nil
    }

    /// Returns true if a question mark begins the query rather than making a group optional.
    private static func isSearchPrefix(_ index: Int, in tokens: [PatternToken]) -> Bool {
        if tokens[index].urlCharacter == "?" { return true }
        guard tokens[index].kind == .modifier("?") else { return false }
        guard index > 0 else { return true }
        switch tokens[index - 1].kind {
        case .name, .regexp, .close, .asterisk: return false
        default: return true
        }
    }

    /// Returns the index of the first token behind scheme and authority, which must be those of the origin; 0
    /// without them.
    private static func pathStart(
        _ tokens: [PatternToken], _ scalars: [Unicode.Scalar], origin: String?
    ) throws(PatternError) -> Int {
        // Escaped or not: the standard takes any colon that begins no name as the end of a scheme.
        guard let colon = firstOutsideBraces(tokens[...], where: { tokens[$0].urlCharacter == ":" }) else {
            return 0
        }
        let afterSlashes = colon + 3
        guard tokens[..<colon].allSatisfy({ Self.isSchemeCharacter($0.kind) }), colon > 0,
            afterSlashes <= tokens.count,
            tokens[colon + 1].kind == .character("/"), tokens[colon + 2].kind == .character("/")
        else {
            throw PatternError(
                offset: tokens[colon].offset,
                "a colon that would end the scheme of a URL; expected {\\:} for a colon itself")
        }
        let rest = tokens[afterSlashes...]
        let end =
            firstOutsideBraces(rest) { index in
                tokens[index].urlCharacter == "/" || tokens[index].urlCharacter == "#"
                    || isSearchPrefix(index, in: tokens)
            } ?? tokens.count
        let endOffset = end < tokens.count ? tokens[end].offset : scalars.count
        let written = String(scalars[..<endOffset])
        guard let origin, normalOrigin(written) == normalOrigin(origin) else {
            throw PatternError(
                offset: 0,
                "the origin \(written); expected \(origin ?? "a path"), since a dictionary is for its own origin only"
            )
        }
        return end
    }

    private static func isSchemeCharacter(_ kind: PatternToken.Kind) -> Bool {
        switch kind {
        case .character(let scalar):
            scalar.isASCII
                && (scalar.properties.isAlphabetic || "0123456789+-.".unicodeScalars.contains(scalar))
        case .modifier("+"): true
        default: false
        }
    }

    /// Returns the origin in lower case, without the default port of the scheme.
    private static func normalOrigin(_ origin: String) -> String {
        let text = origin.lowercased()
        if text.hasPrefix("https://"), text.hasSuffix(":443") { return String(text.dropLast(4)) }
        if text.hasPrefix("http://"), text.hasSuffix(":80") { return String(text.dropLast(3)) }
        return text
    }
}
