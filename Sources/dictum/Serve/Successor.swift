internal import Foundation
internal import Glibc
internal import HTTP
internal import Proxy

/// The program as it is on disk now, started with the listening sockets of this process to take its place.
///
/// Both accept at the same sockets then, whose queues no moment closes: that is why descriptors are handed on, and not
/// opened once more with SO_REUSEPORT, where connections in the queue of the one that closes are reset.
struct Successor: Sendable {
    /// What became of it.
    enum Outcome: Sendable {
        /// It accepts, under this process id.
        case ready(pid_t)
        /// It has ended, or was ended, and why.
        case failed(String)
    }

    /// Why it could not be started.
    struct CannotStart: Error {
        let text: String
    }

    /// Its process id.
    let pid: pid_t
    /// Where it says that it accepts; ended with it if it does not.
    private let readiness: Int32

    /// Starts it with the arguments of this process.
    init(sockets: [ListeningSocket]) throws(CannotStart) {
        var ends: [Int32] = [-1, -1]
        // Safe: the array has the two places that pipe fills.
        guard unsafe pipe(&ends) == 0 else { throw CannotStart(text: SystemError(code: errno).text) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        do throws(SystemError) {
            pid = try ListeningSocket.start(
                Self.program, arguments: CommandLine.arguments,
                environment: Self.environment(socketCount: sockets.count), passing: sockets, last: ends[1])
        } catch {
            close(ends[0])
            throw CannotStart(text: "\(Self.program): \(error.text)")
        }
        readiness = ends[0]
    }

    /// Waits until it accepts or fails; one that does neither is killed.
    func wait() -> Outcome {
        defer { close(readiness) }
        var entry = pollfd(fd: readiness, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        // Safe: one entry and one byte, both local, used within the calls.
        while unsafe poll(&entry, 1, Self.readyMilliseconds) < 0, errno == EINTR {}
        if entry.revents != 0, unsafe read(readiness, &byte, 1) == 1 { return .ready(pid) }
        // It is this process's child and not waited for yet: the number cannot be another's.
        if entry.revents == 0 { kill(pid, SIGKILL) }
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        if entry.revents == 0 { return .failed("it was not ready within \(Self.readyMilliseconds / 1000) s") }
        let signal = status & 0x7F
        return .failed(
            signal == 0 ? "it ended with exit code \(status >> 8 & 0xFF)" : "it was ended by signal \(signal)"
        )
    }

    private static let readyMilliseconds: Int32 = 60_000

    // MARK: Starting

    private static func environment(socketCount: Int) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment["LISTEN_FDS"] = String(socketCount)
        environment["DICTUM_SUCCEEDS"] = "\(getpid()):\(Inheritance.first + Int32(clamping: socketCount))"
        return environment
    }

    /// Where the program is, as it was called: behind a link that leads elsewhere by now, so does it.
    ///
    /// One that was found by its name alone is where the system says; read at the start, before the file is replaced.
    private static let program: String = {
        let name = CommandLine.arguments.first ?? ""
        if name.contains("/") { return URL(filePath: name).path }
        return (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? name
    }()

    /// Finds out where the program is.
    static func prepare() { _ = program }
}
