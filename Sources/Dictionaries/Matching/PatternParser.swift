/// A parser of one component's pattern into parts (URL Pattern Standard, "Parsing pattern strings").
struct PatternParser {
    /// The components that Dictum matches; the others are the same for all URLs of an origin.
    enum Component { case pathname, search }

    private let component: Component
    private let tokens: ArraySlice<PatternToken>
    private var index: Int
    private var parts: [PatternPart] = []
    private var names: Set<String> = []
    private var nextNumber = 0
    private var pending: [Unicode.Scalar] = []
    private var repeatableCount = 0

    /// The maximum number of groups and repeated texts of a component: each makes a match take longer, and eight
    /// express all real patterns.
    static let repeatablesMax = 8

    static func parts(
        _ tokens: ArraySlice<PatternToken>, of component: Component
    ) throws(PatternError) -> [PatternPart] {
        var parser = PatternParser(component: component, tokens: tokens, index: tokens.startIndex)
        while parser.index < tokens.endIndex { try parser.step() }
        parser.addPending()
        return parser.parts
    }

    private var current: PatternToken? { index < tokens.endIndex ? tokens[index] : nil }

    private mutating func step() throws(PatternError) {
        let start = index
        let character = takeCharacter()
        if let group = try takeGroup() {
            var prefix: [Unicode.Scalar] = []
            if let character {
                // Only a slash before a group belongs to it, so that `/books/:id?` matches /books.
                if component == .pathname, character == "/" {
                    prefix = [character]
                } else {
                    pending.append(character)
                }
            }
            addPending()
            try add(prefix: prefix, group: group, suffix: [], modifier: takeModifier(), at: start)
        } else if let character = character ?? takeEscaped() {
            pending.append(character)
        } else {
            try braces()
        }
    }

    private mutating func braces() throws(PatternError) {
        guard let token = current, token.kind == .open else { throw unexpected() }
        index += 1
        let prefix = takeText()
        let group = try takeGroup()
        let suffix = takeText()
        guard let end = current, end.kind == .close else {
            if current == nil {
                throw PatternError(offset: token.offset, "an unclosed brace; expected }")
            }
            throw unexpected()
        }
        index += 1
        try add(prefix: prefix, group: group, suffix: suffix, modifier: takeModifier(), at: index - 1)
    }

    private func unexpected() -> PatternError {
        guard let token = current else { return PatternError(offset: 0, "an incomplete pattern") }
        let text =
            switch token.kind {
            case .close: "a closing brace without an opening one; expected \\} for a brace itself"
            case .open: "a brace inside braces; expected text, a group, or }"
            case .modifier(let scalar):
                "\(scalar) with nothing to repeat; expected \\\(scalar) for the character itself"
            case .invalid(_, let text): text
            default: "a second group inside one pair of braces; expected text or }"
            }
        return PatternError(offset: token.offset, text)
    }

    private mutating func takeCharacter() -> Unicode.Scalar? {
        guard case .character(let scalar) = current?.kind else { return nil }
        index += 1
        return scalar
    }

    private mutating func takeEscaped() -> Unicode.Scalar? {
        guard case .escaped(let scalar) = current?.kind else { return nil }
        index += 1
        return scalar
    }

    private mutating func takeText() -> [Unicode.Scalar] {
        var text: [Unicode.Scalar] = []
        while let scalar = takeCharacter() ?? takeEscaped() { text.append(scalar) }
        return text
    }

    /// Takes a group: a name with or without a regular expression, a regular expression, or `*`.
    private mutating func takeGroup() throws(PatternError)
        -> (name: String?, matcher: PatternPart.Matcher, offset: Int)?
    {
        guard let token = current else { return nil }
        switch token.kind {
        case .name(let name):
            index += 1
            return (name, try takeSpelledWildcard() ?? .segment, token.offset)
        case .asterisk:
            index += 1
            return (nil, .wildcard, token.offset)
        default:
            guard let matcher = try takeSpelledWildcard() else { return nil }
            return (nil, matcher, token.offset)
        }
    }

    /// Takes `(.*)`, which the standard treats as the wildcard; throws for any other regexp group.
    private mutating func takeSpelledWildcard() throws(PatternError) -> PatternPart.Matcher? {
        guard let token = current, case .regexp(let text) = token.kind else { return nil }
        guard text == ".*" else {
            throw PatternError(
                offset: token.offset,
                "a regular expression, which RFC 9842 forbids; expected *, :name or {…}, or several patterns")
        }
        index += 1
        return .wildcard
    }

    private mutating func takeModifier() -> PatternPart.Modifier {
        let modifier: PatternPart.Modifier
        switch current?.kind {
        case .modifier("?"): modifier = .optional
        case .modifier("+"): modifier = .oneOrMore
        case .asterisk: modifier = .zeroOrMore
        default: return .none
        }
        index += 1
        return modifier
    }

    private mutating func add(
        prefix: [Unicode.Scalar], group: (name: String?, matcher: PatternPart.Matcher, offset: Int)?,
        suffix: [Unicode.Scalar], modifier: PatternPart.Modifier, at start: Int
    ) throws(PatternError) {
        if group != nil || modifier != .none { repeatableCount += 1 }
        guard repeatableCount <= Self.repeatablesMax else {
            throw PatternError(
                offset: start < tokens.endIndex ? tokens[start].offset : 0,
                "more than \(Self.repeatablesMax) groups; expected a shorter pattern")
        }
        guard let group else {
            if modifier == .none {
                pending += prefix
            } else {
                addPending()
                addFixed(prefix, modifier)
            }
            return
        }
        addPending()
        let name = group.name ?? String(nextNumber)
        if group.name == nil { nextNumber += 1 }
        guard names.insert(name).inserted else {
            throw PatternError(
                offset: group.offset, "the name \(name) twice; expected a unique name for each group")
        }
        parts.append(
            PatternPart(
                matcher: group.matcher, name: name, prefix: canonical(prefix), suffix: canonical(suffix),
                modifier: modifier))
    }

    private mutating func addPending() {
        addFixed(pending, .none)
        pending = []
    }

    private mutating func addFixed(_ text: [Unicode.Scalar], _ modifier: PatternPart.Modifier) {
        guard !text.isEmpty else { return }
        parts.append(
            PatternPart(
                matcher: .fixedText, name: "", prefix: canonical(text), suffix: [], modifier: modifier))
    }

    private func canonical(_ text: [Unicode.Scalar]) -> [UInt8] {
        switch component {
        case .pathname: CanonicalText.pathname(text)
        case .search: CanonicalText.search(text)
        }
    }
}

/// A part of a component's pattern (URL Pattern Standard, "Parts").
struct PatternPart: Equatable {
    /// The text that a part matches between its prefix and suffix.
    enum Matcher: Equatable {
        /// The prefix is the whole text.
        case fixedText
        /// At least one character, and no delimiter.
        case segment
        /// Any text.
        case wildcard
    }

    /// The number of times that a part may occur.
    enum Modifier: Equatable {
        /// Once.
        case none
        /// `?`
        case optional
        /// `*`
        case zeroOrMore
        /// `+`
        case oneOrMore
    }

    let matcher: Matcher
    /// The name of the group; empty for fixed text.
    let name: String
    /// The canonical bytes before the group, or the fixed text.
    let prefix: [UInt8]
    /// The canonical bytes behind the group.
    let suffix: [UInt8]
    let modifier: Modifier
}
