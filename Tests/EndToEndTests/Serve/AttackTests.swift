internal import Foundation
internal import TestSupport
internal import Testing

/// The attacks of `Tests/Attack` in a short form: `make attack` has each of them for a minute.
@Suite(.timeLimit(.minutes(40)), .serialized) struct AttackTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Attack").standardized.path

    /// Runs a script of `Tests/Attack`, and returns its exit code and output.
    private func run(_ script: String, _ arguments: [String]) throws -> (status: Int32?, text: String) {
        let result = try RunningProcess.run(["\(Self.folder)/\(script)"] + arguments, of: "/usr/bin/python3")
        return (result.status, result.text + result.errors)
    }

    @Test(arguments: ["patterns", "fields", "many fields"])
    func `fifty clients get their deltas, and right ones, beside one that attacks`(attack: String) throws {
        let (status, text) = try run(
            "run", ["--seconds", "4", "--no-times", "--only", attack, "--binary", RunningProcess.dictum])
        #expect(status == 0, "\(text)")
    }

    /// It took a compiler as many steps as the product of its counts.
    private static let hostile = "/x((?:(?:(?:(?:(?:){256}){256}){256}){256}){256})"

    @Test(arguments: ["fetch", "doctor"])
    func `a hostile pattern of a server holds up no command`(command: String) throws {
        let body = Feed.bytes(version: 0, items: 40)
        let origin = try Origin(
            wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: max-age=600",
                "Use-As-Dictionary: match=\"\(Self.hostile)\"", body: body))
        let folder = try TemporaryFolder()
        let result = try RunningProcess.run(
            [command, "http://127.0.0.1:\(origin.port)/x"]
                + (command == "fetch" ? ["--cache", "\(folder.path)/cache"] : []))
        #expect(result.status == (command == "fetch" ? 0 : 1), "\(result.text)\(result.errors)")
    }

    @Test func `a hostile pattern in a configuration is told`() throws {
        let folder = try TemporaryFolder()
        let text = "upstream: {urls: ['http://127.0.0.1:9']}\nroutes: [{match: '\(Self.hostile)'}]\n"
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        let result = try RunningProcess.run(["check", "--config", "\(folder.path)/dictum.yaml"])
        #expect(result.status == 78)
        #expect(result.errors.contains("a regular expression, which RFC 9842 forbids"))
    }

    @Test func `a page that has its name resolve to the admin listener reads nothing there`() throws {
        let proxy = try ServedProxy(Origin(wire("HTTP/1.1 204 No Content")), in: TemporaryFolder())
        for path in ["/metrics", "/dictionaries"] {
            #expect(try proxy.adminStatus(path, host: "rebound.test") == "403")
            #expect(try proxy.adminStatus(path, host: "localhost") == "200")
        }
        for path in ["/healthz", "/readyz"] {
            #expect(try proxy.adminStatus(path, host: "pod.test") == "200")
        }
    }

    @Test func `a process with a stuck loop says so, and ends at the second SIGTERM`() throws {
        let (status, text) = try run("stuck", [RunningProcess.dictum])
        // 77: the system gives no leave to trace.
        #expect(status == 0 || status == 77, "\(text)")
    }
}
