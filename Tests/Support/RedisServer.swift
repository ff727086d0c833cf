internal import Foundation
internal import Glibc

/// A real Redis or Valkey server of one test, at a Unix socket, and at a port if one is asked for.
///
/// `DICTUM_REDIS_SERVER` names another program than `redis-server`. Used by one thread at a time.
package final class RedisServer {
    struct CannotStart: Error, CustomStringConvertible {
        let description: String
    }

    /// The path of the program; nil if there is none.
    package static let program: String? = {
        if let named = ProcessInfo.processInfo.environment["DICTUM_REDIS_SERVER"] { return named }
        let folders = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/opt/homebrew/bin"]
        let paths = folders.flatMap { ["\($0)/redis-server", "\($0)/valkey-server"] }
        return paths.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// The words for tests that need it.
    package static let absence: String = "needs redis-server or valkey-server"

    private let files: TemporaryFolder
    /// The folder of its socket, its log and its snapshot.
    package var folder: String { files.path }
    /// The port on 127.0.0.1; nil without one.
    package let port: UInt16?
    private let options: [String]
    private var process: Process?

    /// The path of its socket.
    package var socket: String { "\(folder)/socket" }

    /// Starts a server that saves nothing, unless the options say so; `port` has it listen at a free port, for which
    /// `options` may say more.
    package init(_ options: [String] = [], port: UInt16? = nil, tlsPort: UInt16? = nil) throws {
        files = try TemporaryFolder()
        self.port = port ?? tlsPort
        let ports = ["--port", "\(port ?? 0)"] + (tlsPort.map { ["--tls-port", "\($0)"] } ?? [])
        self.options = ports + ["--bind", "127.0.0.1", "--save", ""] + options
        try start()
    }

    deinit { kill() }

    /// Starts it, again after `kill`, and waits until it accepts commands.
    package func start() throws {
        guard let program = Self.program else { throw CannotStart(description: Self.absence) }
        try? FileManager.default.removeItem(atPath: socket)
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments =
            ["--unixsocket", socket, "--dir", folder, "--logfile", "\(folder)/log", "--daemonize", "no"]
            + options
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        try waitUntil("redis-server is up") {
            guard process.isRunning else {
                let log = try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)
                throw CannotStart(description: "redis-server has ended: \(log ?? "no log")")
            }
            guard FileManager.default.fileExists(atPath: socket) else { return false }
            let reply = (try? command("PING")) ?? "LOADING"
            return !reply.contains("LOADING") && !reply.contains("Could not connect")
        }
    }

    /// Kills it without a chance to save anything (SIGKILL).
    package func kill() {
        guard let process, process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
    }

    /// Has it stand still (SIGSTOP): connections stay, and nothing is read or sent.
    package func pause() { signal(SIGSTOP) }

    /// Lets it go on.
    package func resume() { signal(SIGCONT) }

    private func signal(_ number: Int32) {
        if let process, process.isRunning { Glibc.kill(process.processIdentifier, number) }
    }

    /// Runs a command by redis-cli, and returns what it prints; errors too.
    @discardableResult
    package func command(_ words: String...) throws -> String { try command(words: words) }

    @discardableResult
    package func command(words: [String]) throws -> String {
        let output = try ForeignTool.run("redis-cli", ["-s", socket] + words, input: [])
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
