/// A part of a component's pattern (URL Pattern Standard, "Parts").
struct PatternPart: Equatable {
    /// What a part matches between its prefix and suffix.
    enum Matcher: Equatable {
        /// Nothing more: the prefix is the text.
        case fixedText
        /// At least one character, none of them the delimiter.
        case segment
        /// Anything.
        case wildcard
    }

    /// How often a part may occur.
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

    /// What it matches.
    let matcher: Matcher
    /// The name of its group; empty for fixed text.
    let name: String
    /// The canonical bytes before the group, or the fixed text.
    let prefix: [UInt8]
    /// The canonical bytes behind the group.
    let suffix: [UInt8]
    /// How often it may occur.
    let modifier: Modifier
}
