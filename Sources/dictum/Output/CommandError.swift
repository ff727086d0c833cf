internal import ArgumentParser

/// An error that ends a command, in one line that says what to do.
struct CommandError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension ExitCode {
    /// 78, EX_CONFIG of sysexits(3): the configuration is invalid.
    static let invalidConfiguration = ExitCode(78)
}
