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
