internal import ArgumentParser

extension ExitCode {
    /// 78, EX_CONFIG of sysexits(3): the configuration is invalid.
    static let wrongConfiguration = ExitCode(78)
}
