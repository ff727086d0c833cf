/// Everything that is wrong with a configuration, in the order of the text.
package struct ConfigurationError: Error, Sendable, Equatable {
    /// One mistake: where it is, what it is and what was expected.
    package struct Problem: Sendable, Equatable {
        /// The line, from 1.
        package let line: Int
        /// The column in characters, from 1.
        package let column: Int
        /// What is wrong, and what was expected; one line.
        package let text: String

        /// Makes a problem; whatever of the file its text repeats stays on one line.
        package init(line: Int, column: Int, text: String) {
            self.line = line
            self.column = column
            self.text = text.shortened(to: .max)
        }
    }

    /// The mistakes, never none, sorted by position.
    package let problems: [Problem]

    init(_ problems: [Problem]) {
        self.problems = problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    }

    /// One line a mistake, `FILE:LINE:COLUMN: what, and what was expected`.
    package func lines(file: String) -> [String] {
        problems.map { "\(file):\($0.line):\($0.column): \($0.text)" }
    }
}
