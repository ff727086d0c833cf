/// What is wrong with a URL Pattern, and where.
package struct PatternError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The place in the pattern, in Unicode scalars from its beginning.
    package let offset: Int
    /// What is wrong and what was expected.
    package let text: String

    package init(offset: Int, _ text: String) {
        self.offset = offset
        self.text = text
    }

    package var description: String { "at character \(offset + 1): \(text)" }
}
