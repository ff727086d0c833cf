internal import Foundation
internal import Testing

/// Runs the clients of `deploy/CLIENTS.md`, from the page's text, against Dictum (`Tests/Clients/run`), and lets foreign
/// decoders judge the test vectors (`Tests/Vectors/make`).
@Suite(.serialized, .timeLimit(.minutes(40))) struct ClientTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL

    private static func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let result = try RunningProcess.run(
            [tests.appending(path: "Clients/run").path] + arguments, of: "/usr/bin/python3")
        return (result.status, result.text + result.errors)
    }

    /// True once the packages are installed; false where PyPI is out of reach.
    static let isInstalled = (try? run(["--install"]).status) == 0

    @Test(
        .enabled(if: isInstalled, "the packages of the clients come from PyPI, which is out of reach"),
        arguments: ["httpx", "requests", "OkHttp", "C"])
    func `a client of the page gets deltas, keeps users apart, and asks again if a delta is damaged`(
        client: String
    ) throws {
        let result = try Self.run(["--dictum", RunningProcess.dictum, "--only", client])
        #expect(result.status == 0, "\(result.text)")
        if result.text.contains("skipped") { print(result.text) }
    }

    @Test(.enabled(if: isInstalled, "the foreign decoder comes from PyPI, which is out of reach"))
    func `the test vectors are what their script makes, and foreign decoders agree`() throws {
        let result = try Self.run(["--vectors"])
        #expect(result.status == 0, "\(result.text)")
    }
}
