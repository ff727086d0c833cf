internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

/// A program that runs beside the test; every wait for it has an end, and it is killed by its own pid, at the latest when
/// nobody holds this any more.
///
/// It writes to files, and is waited for by its pid: pipes that other children inherit for a moment would keep
/// Foundation's `Process` waiting for those as well.
final class RunningProcess: Sendable {
    struct CannotStart: Error {
        let code: Int32
    }

    /// The program that this test bundle was built with, or the one that `DICTUM_BINARY` names: a release build.
    static let dictum: String = {
        if let path = ProcessInfo.processInfo.environment["DICTUM_BINARY"] { return path }
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: own).deletingLastPathComponent().appending(path: "dictum").path
    }()

    private static let secondsMax: TimeInterval = 300
    private static let pollSeconds: TimeInterval = 0.02

    private let folder: TemporaryFolder
    /// Its process id, which is valid until it was waited for.
    let pid: pid_t
    private let ending: Ending

    /// How the program ended, for all who wait for that.
    private final class Ending: @unchecked Sendable {
        // Proof: `status` is touched only while `condition` is locked; all else never changes.
        private let condition = NSCondition()
        private var status: Int32?

        /// Waits for the program on a thread of its own.
        init(of pid: pid_t) {
            Thread.detachNewThread { [self] in
                var status: Int32 = 0
                // `status` is local and outlives the call.
                while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
                condition.lock()
                self.status = status
                condition.broadcast()
                condition.unlock()
            }
        }

        /// Its status, after at most so many seconds; nil if it has not ended.
        func wait(seconds: TimeInterval) -> Int32? {
            let deadline = Date(timeIntervalSinceNow: seconds)
            condition.lock()
            defer { condition.unlock() }
            while status == nil, condition.wait(until: deadline) {}
            return status
        }

        /// Sends a signal if it still runs: once waited for, the pid may be somebody else's.
        func signal(_ number: Int32, to pid: pid_t) {
            condition.lock()
            defer { condition.unlock() }
            if status == nil { kill(pid, number) }
        }
    }

    init(
        _ arguments: [String], of program: String = RunningProcess.dictum, in directory: String = "/",
        environment: [String: String] = [:]
    ) throws {
        folder = try TemporaryFolder()
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // env(1) sets folder and variables and then becomes the program, under the same pid.
        let words =
            ["env", "-i", "-C", directory] + variables.map { "\($0)=\($1)" } + [program] + arguments
        pid = try Self.spawn(words, output: "\(folder.path)/output", errors: "\(folder.path)/errors")
        ending = Ending(of: pid)
    }

    deinit { stop() }

    private static func spawn(_ words: [String], output: String, errors: String) throws -> pid_t {
        var pid: pid_t = 0
        // The program starts as from a shell, whatever signals the thread of the test blocks.
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        unsafe posix_spawnattr_init(&attributes)
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // Both live from init to destroy; the words are copies that are freed behind the call, which copies them.
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT, 0o600)
        var copies = unsafe words.map { unsafe strdup($0) } + [nil]
        let code = unsafe posix_spawn(&pid, "/usr/bin/env", &actions, &attributes, &copies, nil)
        unsafe copies.forEach { unsafe free($0) }
        unsafe posix_spawn_file_actions_destroy(&actions)
        unsafe posix_spawnattr_destroy(&attributes)
        guard code == 0 else { throw CannotStart(code: code) }
        return pid
    }

    /// What it has written to standard output and to standard error so far.
    private var texts: (output: String, errors: String) {
        let (output, errors) = (folder.read("output") ?? [], folder.read("errors") ?? [])
        return (String(decoding: output, as: UTF8.self), String(decoding: errors, as: UTF8.self))
    }

    /// Waits until it has written something to either, and returns all of that one.
    func waitFor(_ text: String) throws -> String {
        let deadline = Date(timeIntervalSinceNow: Self.secondsMax)
        while true {
            let isLast = ending.wait(seconds: Self.pollSeconds) != nil || deadline.timeIntervalSinceNow < 0
            let texts = texts
            if texts.output.contains(text) { return texts.output }
            if texts.errors.contains(text) { return texts.errors }
            try #require(!isLast, "no \(text) in \(texts)")
        }
    }

    /// Waits for its end; kills it if there is none in time.
    func result() throws -> ProcessResult {
        let ended = ending.wait(seconds: Self.secondsMax)
        if ended == nil { stop() }
        let status = try #require(ended, "the program did not end in time: \(texts)")
        // wait(2): the low seven bits are the signal, the next byte is the exit code.
        return ProcessResult(
            status: status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F),
            output: folder.read("output") ?? [], errors: texts.errors)
    }

    /// Asks it to end, and waits for that.
    func terminate() throws -> ProcessResult {
        signal(SIGTERM)
        return try result()
    }

    /// Ends it if it still runs, without asking.
    func stop() { signal(SIGKILL) }

    /// Sends it a signal if it still runs.
    func signal(_ number: Int32) { ending.signal(number, to: pid) }

    /// True if it runs and blocks a signal.
    func blocks(_ signal: Int32) throws -> Bool { try has(signal, in: "SigBlk") }

    /// True if it runs, and has not yet taken a signal that was sent to it.
    func hasPending(_ signal: Int32) throws -> Bool { try has(signal, in: "ShdPnd") }

    /// True if it runs, and a set of signals in its status (proc_pid_status(5)) has this one.
    private func has(_ signal: Int32, in set: String) throws -> Bool {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("\(set):") })
        let mask = try #require(line.split(separator: "\t").last)
        return try #require(UInt64(mask, radix: 16)) >> UInt64(signal - 1) & 1 == 1
    }

    /// Runs a program to its end.
    static func run(
        _ arguments: [String], of program: String = RunningProcess.dictum, in directory: String = "/",
        environment: [String: String] = [:]
    ) throws -> ProcessResult {
        try RunningProcess(arguments, of: program, in: directory, environment: environment).result()
    }
}

/// How a program ended.
struct ProcessResult {
    let status: Int32
    let output: [UInt8]
    let errors: String

    /// Standard output as text.
    var text: String { String(decoding: output, as: UTF8.self) }
    /// The lines of standard error.
    var errorLines: [Substring] { errors.split(separator: "\n") }
}
