/// An error in a URL Pattern, with its position.
package struct PatternError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The position in the pattern, in Unicode scalars from its beginning.
    package let offset: Int
    /// The error and the expected form.
    package let text: String

    package init(offset: Int, _ text: String) {
        self.offset = offset
        self.text = text
    }

    package var description: String { "at character \(offset + 1): \(text)" }
}
