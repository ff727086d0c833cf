internal import CLinux
internal import Glibc

extension ListeningSocket {
    /// Starts a program that inherits the sockets from descriptor 3 on, then `last`, and the standard
    /// descriptors.
    ///
    /// Returns its process id.
    package static func start(
        _ program: String, arguments: [String], environment: [String: String],
        passing sockets: [ListeningSocket],
        last: Int32
    ) throws(SystemError) -> Int32 {
        let pid = try ChildProcess.start(
            program, arguments: arguments, environment: environment, passing: sockets.map(\.raw) + [last])
        return withExtendedLifetime(sockets) { pid }
    }
}

/// Starts child processes.
package enum ChildProcess {
    /// Starts a program that inherits these descriptors from 3 on, and the standard descriptors.
    ///
    /// Returns its process id.
    package static func start(
        _ program: String, arguments: [String], environment: [String: String], passing descriptors: [Int32]
    ) throws(SystemError) -> Int32 {
        // Safe: the texts are copies that are freed after the call; the callee reads only the given number of
        // descriptors.
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        let pid = unsafe CLinux_start(
            program, &words, &variables, descriptors, Int32(clamping: descriptors.count))
        guard pid > 0 else { throw .last }
        return pid
    }
}
