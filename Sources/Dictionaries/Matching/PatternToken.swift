/// A token of a pattern string (URL Pattern Standard, "Tokens").
struct PatternToken {
    /// The kinds of tokens.
    enum Kind: Equatable {
        /// `{`
        case open
        /// `}`
        case close
        /// `(…)`, without the parentheses.
        case regexp(String)
        /// `:name`, without the colon.
        case name(String)
        /// A character that means itself.
        case character(Unicode.Scalar)
        /// A character behind a backslash.
        case escaped(Unicode.Scalar)
        /// `?` or `+`
        case modifier(Unicode.Scalar)
        /// `*`
        case asterisk
        /// A colon without a name or a parenthesis without its partner; only allowed where URLs need them.
        case invalid(Unicode.Scalar, String)
        /// The end of the text.
        case end
    }

    /// What it is.
    let kind: Kind
    /// Where it begins, in scalars.
    let offset: Int

    /// The character that the token would be in a URL: a plain, an escaped or an invalid one.
    var urlCharacter: Unicode.Scalar? {
        switch kind {
        case .character(let scalar), .escaped(let scalar), .invalid(let scalar, _): scalar
        default: nil
        }
    }
}
