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
        /// The end of the text.
        case end
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
