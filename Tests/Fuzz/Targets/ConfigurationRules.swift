internal import Proxy

/// The rules for configurations: a text is read, or every mistake in it is named by its place on one line; nothing traps.
enum ConfigurationRules {
    static func check(_ bytes: [UInt8]) throws(BrokenRule) {
        guard let problems = problems(of: bytes) else { return }
        try require(!problems.isEmpty, "what is refused has a mistake")
        for problem in problems {
            try require(problem.line >= 1 && problem.column >= 1, "a mistake has a place")
            try require(!problem.text.isEmpty, "a mistake says what it is")
            try require(
                problem.text.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "a mistake is told on one line")
        }
    }

    /// The mistakes; nil where the text is taken.
    private static func problems(of bytes: [UInt8]) -> [ConfigurationError.Problem]? {
        do throws(ConfigurationError) {
            _ = try Configuration.parse(bytes, environment: ["NAME": "value"])
            return nil
        } catch {
            return error.problems
        }
    }
}
