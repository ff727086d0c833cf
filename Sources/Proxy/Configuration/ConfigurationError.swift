/// All errors of a configuration.
package struct ConfigurationError: Error, Sendable, Equatable {
    /// An error or a warning, with its position.
    package struct Problem: Sendable, Equatable {
        /// The line, from 1.
        package let line: Int
        /// The column in characters, from 1.
        package let column: Int
        /// One line that says what is wrong and what was expected.
        package let text: String

        /// Makes a problem; its text is put on one line, since it may quote the file.
        package init(line: Int, column: Int, text: String) {
            self.line = line
            self.column = column
            self.text = text.shortened(to: .max)
        }
    }

    /// The errors, sorted by position; at least one.
    package let problems: [Problem]

    init(_ problems: [Problem]) {
        self.problems = problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    }

    /// Returns lines of the form `FILE:LINE:COLUMN: TEXT`.
    package func lines(file: String) -> [String] {
        problems.map { "\(file):\($0.line):\($0.column): \($0.text)" }
    }
}
