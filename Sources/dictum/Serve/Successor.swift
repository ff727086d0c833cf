internal import Foundation
internal import Glibc
internal import HTTP
internal import Proxy

/// The program as it is on disk now, started with the listening sockets of this process to take over.
///
/// Both processes accept from the same sockets, whose queues are never closed. With a second set of sockets
/// (SO_REUSEPORT), connections in the queue of the closing one would be reset.
struct Successor: Sendable {
    enum Outcome: Sendable {
        /// It accepts connections.
        case ready(pid_t)
        /// It ended or was killed, with the reason.
        case failed(String)
    }

    let pid: pid_t
    /// The pipe on which it reports that it accepts; closed if it ends.
    private let readiness: Int32

    /// Starts it with the arguments of this process.
    init(sockets: [ListeningSocket]) throws(CommandError) {
        defer { withExtendedLifetime(sockets) {} }
        do throws(SystemError) {
            (pid, readiness) = try ChildProcess.startPiped(
                Self.program, arguments: CommandLine.arguments,
                environment: Self.environment(socketCount: sockets.count), passing: sockets.map(\.raw))
        } catch {
            throw CommandError("\(Self.program): \(error.text)")
        }
    }

    /// Waits until it accepts or fails; kills it if it does neither in time.
    func wait() -> Outcome {
        defer { close(readiness) }
        var byte: [UInt8] = [0]
        let count = ChildProcess.read(readiness, into: &byte, within: Self.readyMilliseconds)
        if count == 1 { return .ready(pid) }
        // A pipe without the byte ends with the process, which takes a moment, unless a script lives on without it.
        guard let status = ChildProcess.end(pid, within: count == nil ? 0 : Self.endMilliseconds) else {
            return .failed(
                count == nil
                    ? "it was not ready within \(Self.readyMilliseconds / 1000) s"
                    : "it closed its pipe without a report, and did not end")
        }
        return .failed(
            status < 128 ? "it ended with exit code \(status)" : "it was killed by signal \(status - 128)")
    }

    private static let readyMilliseconds = 60_000
    private static let endMilliseconds = 5_000

    // MARK: Starting

    private static func environment(socketCount: Int) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment["LISTEN_FDS"] = String(socketCount)
        environment["DICTUM_SUCCEEDS"] = "\(getpid()):\(Inheritance.first + Int32(clamping: socketCount))"
        return environment
    }

    /// The path of the program as it was called, so that an updated symbolic link leads to the new file.
    ///
    /// For a program found through PATH it is the path that the system reports, read before the file is replaced.
    private static let program: String = {
        let name = CommandLine.arguments.first ?? ""
        if name.contains("/") { return URL(filePath: name).path }
        return (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? name
    }()

    /// Reads the path of the program; call it before the file can be replaced.
    static func prepare() { _ = program }
}

/// The sockets and the readiness descriptor that this process inherited, removed from its environment.
struct InheritanceInUse {
    let sockets: InheritedSockets
    private let readiness: Int32?

    /// Reads and unsets the variables; call it once, before any thread is started.
    init() throws(StartError) {
        let inheritance = try Inheritance(
            ProcessInfo.processInfo.environment, own: getpid(), parent: getppid())
        // Safe: the texts are terminated and used during the calls only; no other thread runs yet.
        for name in Inheritance.variables { unsafe unsetenv(name) }
        readiness = inheritance.readiness
        if let readiness { _ = fcntl(readiness, F_SETFD, FD_CLOEXEC) }
        sockets = try inheritance.sockets()
    }

    /// Reports that connections are accepted: to the predecessor, which informs the service manager, or directly
    /// to the manager.
    func tellReady() {
        guard let readiness else { return ServiceManager.notify(.ready) }
        var one: UInt8 = 1
        // Safe: the byte is a local variable.
        _ = unsafe write(readiness, &one, 1)
        close(readiness)
    }
}
