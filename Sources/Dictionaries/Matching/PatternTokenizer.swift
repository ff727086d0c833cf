/// A tokenizer of pattern strings (URL Pattern Standard, "Tokenizing", with the policy "lenient").
struct PatternTokenizer {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var tokens: [PatternToken] = []

    static func tokens(_ scalars: [Unicode.Scalar]) -> [PatternToken] {
        var tokenizer = PatternTokenizer(scalars: scalars)
        while tokenizer.index < scalars.count { tokenizer.step() }
        return tokenizer.tokens
    }

    private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    private mutating func add(_ kind: PatternToken.Kind, length: Int) {
        tokens.append(PatternToken(kind: kind, offset: index))
        index += length
    }

    private mutating func step() {
        let scalar = scalars[index]
        switch scalar {
        case "*": add(.asterisk, length: 1)
        case "+", "?": add(.modifier(scalar), length: 1)
        case "{": add(.open, length: 1)
        case "}": add(.close, length: 1)
        case "\\": escaped()
        case ":": name()
        case "(": regexp()
        default: add(.character(scalar), length: 1)
        }
    }

    private mutating func escaped() {
        guard index + 1 < scalars.count else {
            return add(.invalid("\\", "a backslash at the end; expected a character behind it"), length: 1)
        }
        add(.escaped(scalars[index + 1]), length: 2)
    }

    private mutating func name() {
        var end = index + 1
        while end < scalars.count, Self.isNamePart(scalars[end], isFirst: end == index + 1) { end += 1 }
        guard end > index + 1 else {
            return add(
                .invalid(":", "a colon without a name; expected a name, or {\\:} for a colon itself"),
                length: 1)
        }
        add(.name(String(scalars[index + 1..<end])), length: end - index)
    }

    /// Returns true for a scalar that JavaScript allows in identifiers.
    private static func isNamePart(_ scalar: Unicode.Scalar, isFirst: Bool) -> Bool {
        if scalar == "$" || scalar == "_" { return true }
        if isFirst { return scalar.properties.isIDStart }
        return scalar.properties.isIDContinue || scalar == "\u{200C}" || scalar == "\u{200D}"
    }

    private mutating func regexp() {
        var depth = 1
        var end = index + 1
        while end < scalars.count {
            switch scalars[end] {
            case "\\": end += 1
            case "(":
                depth += 1
                // URL Pattern Standard: a group that captures would shift the numbers of the others.
                if end + 1 >= scalars.count || scalars[end + 1] != "?" {
                    return add(
                        .invalid("(", "a capturing group inside a regular expression; expected (?:…)"),
                        length: 1)
                }
            case ")": depth -= 1
            default: break
            }
            if depth == 0 { break }
            end += 1
        }
        guard end < scalars.count, end > index + 1, scalars[index + 1] != "?" else {
            return add(
                .invalid("(", "no regular expression; expected (…), or \\( for a parenthesis itself"),
                length: 1)
        }
        add(.regexp(String(scalars[index + 1..<end])), length: end + 1 - index)
    }
}

extension String {
    init(_ scalars: ArraySlice<Unicode.Scalar>) {
        self.init(UnicodeScalarView(scalars))
    }
}

/// A token of a pattern string (URL Pattern Standard, "Tokens").
struct PatternToken {
    enum Kind: Equatable {
        /// `{`
        case open
        /// `}`
        case close
        /// `(…)`, without the parentheses.
        case regexp(String)
        /// `:name`, without the colon.
        case name(String)
        /// A character that stands for itself.
        case character(Unicode.Scalar)
        /// A character behind a backslash.
        case escaped(Unicode.Scalar)
        /// `?` or `+`
        case modifier(Unicode.Scalar)
        /// `*`
        case asterisk
        /// A colon without a name or an unbalanced parenthesis; allowed only at the positions where URLs need them.
        case invalid(Unicode.Scalar, String)
    }

    let kind: Kind
    /// The start of the token, in scalars.
    let offset: Int

    /// The character of the token in a URL: plain, escaped or invalid.
    var urlCharacter: Unicode.Scalar? {
        switch kind {
        case .character(let scalar), .escaped(let scalar), .invalid(let scalar, _): scalar
        default: nil
        }
    }
}
