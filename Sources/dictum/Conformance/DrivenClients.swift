internal import Dictionaries
internal import Foundation
internal import HTTP

/// A client that is a command: it gets a URL as its last word, and writes the body to standard output.
///
/// It must keep dictionaries from one run to the next. `{user}` in its words stands for the user of the app, and `{url}`
/// for the URL.
struct CommandClient: ClientUnderTest {
    let words: [String]
    /// The time limit for one URL.
    let secondsMax: Int
    /// True to let its standard error through.
    let isVerbose: Bool
    let attempts = 1

    var hasUsers: Bool { words.contains { $0.contains("{user}") } }

    func get(_ url: String, for user: String) throws(CommandError) -> Delivered {
        let filled = words.map { word in
            word.replacing("{user}", with: user).replacing("{url}", with: url)
        }
        let all = words.contains { $0.contains("{url}") } ? filled : filled + [url]
        let errors = isVerbose ? "" : " 2>/dev/null"
        // The shell becomes the command. Its standard output is the pipe, which it inherits as descriptor 3.
        let script = "exec \"$@\" </dev/null >&3 3>&-" + errors
        let child: (pid: Int32, output: Int32)
        do throws(SystemError) {
            child = try ChildProcess.startPiped(
                "/bin/sh", arguments: ["sh", "-c", script, "sh"] + all,
                environment: ProcessInfo.processInfo.environment)
        } catch {
            throw CommandError("\(words[0]): \(error.text)")
        }
        defer { close(child.output) }
        let deadline = FetchDeadline(seconds: secondsMax)
        let digest = Self.read(child.output, until: deadline)
        let status = ChildProcess.end(child.pid, within: deadline.remainingMilliseconds)
        guard let digest, let status else { return .nothing("nothing within \(secondsMax) s") }
        // The status by which shells say that there is no such command.
        guard status != 127 else { throw CommandError("there is no command \(words[0]); give its path") }
        return status == 0 ? .body(digest) : .nothing("exit status \(status)")
    }

    /// Returns the digest of all that comes; nil if the end does not.
    private static func read(_ pipe: Int32, until deadline: FetchDeadline) -> Digest? {
        var builder = DigestBuilder()
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while let count = ChildProcess.read(pipe, into: &buffer, within: deadline.remainingMilliseconds) {
            guard count > 0 else { return builder.finish() }
            let piece = buffer[..<count]
            builder.append(piece.span)
        }
        return nil
    }
}

/// A client that asks the judge for its URLs: a page in a browser, or a script.
///
/// For one thread.
final class PageClient: ClientUnderTest {
    /// The time within which it asks for the first URL.
    private static let firstSeconds = 600
    /// So many URLs in a row without a result are the end of the client.
    private static let silencesMax = 2

    let hasUsers = false
    private let server: JudgeServer
    private let secondsMax: Int
    private var silences = 0

    init(server: JudgeServer, secondsMax: Int) { (self.server, self.secondsMax) = (server, secondsMax) }

    /// True once the client tells no more results.
    var isGone: Bool { silences == Self.silencesMax }
    var attempts: Int { isGone ? 1 : 50 }

    func get(_ url: String, for user: String) throws(CommandError) -> Delivered {
        guard !isGone else { return .nothing("nothing any more") }
        let result = AwaitedValue<Delivered>()
        let seconds = server.seenCount == 0 ? Self.firstSeconds : secondsMax
        server.handPage(url) { result.give($0) }
        if let delivered = result.take(until: .now() + .seconds(seconds)) {
            silences = 0
            return delivered
        }
        guard server.seenCount > 0 else {
            throw CommandError(
                "the client did not tell the result of \(url) within \(seconds) s; see GET /next")
        }
        silences += 1
        return .nothing("nothing within \(seconds) s")
    }

    /// Tells the client that there are no more URLs.
    func end() { server.handPage(nil) { _ in } }
}
