internal import Foundation
internal import TestSupport
internal import Testing

/// The steps of the README, run as written.
@Suite(.timeLimit(.minutes(40))) struct ReadmeTests {
    @Test func `the tour works, and its fifth step shows a body that has changed`() throws {
        let tour = try #require(
            try Documentation.blocks("sh", of: "README.md", under: "## A tour in five minutes").first)
        let parts = tour.components(separatedBy: "# 7.")
        try #require(parts.count == 2)
        let folder = try TemporaryFolder()
        let demo = try RunningProcess(["demo", "--listen", "127.0.0.1:0"])
        defer { demo.stop() }
        let text = try demo.waitFor("serve --upstream http://your-api")
        let place = try #require(text.firstMatch(of: /Dictum listens on http:\/\/([0-9.:]+)/)).output.1
        let steps = parts[0].replacing("127.0.0.1:8080", with: String(place))
            .replacing(".build/release/dictum", with: RunningProcess.dictum)
        let script = steps.replacing("sleep 5      #", with: "cp feed.json former.json; sleep 5 #")
        try #require(script != steps, "the fifth step waits for another body")
        let result = try RunningProcess.run(
            ["-ec", script], of: "/bin/bash", in: folder.path, environment: ["XDG_CACHE_HOME": folder.path])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.lowercased().contains("content-encoding: dcz"), "\(result.text)")
        let files = try ["first", "second", "third", "former", "feed"].map {
            try #require(folder.read("\($0).json"), "\($0)")
        }
        #expect(files.allSatisfy { $0.count > 100_000 && $0.starts(with: Array(#"{"version":"#.utf8)) })
        #expect(files[1] != files[0] && files[2] != files[0] && files[4] != files[3])
        let delta = try #require(folder.read("delta.dcz"))
        #expect(delta.count * 20 < files[0].count)
        #expect(result.text.contains("HTTP/2\n") && result.errors.contains("dictum: 200 over HTTP/2, dcz: "))
        // The last block queries metrics, which must exist.
        let origin = try Origin(wire("HTTP/1.1 200 OK", "Content-Type: application/json", body: files[0]))
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        _ = try proxy.curl("/feed")
        let command = try #require(parts[1].firstMatch(of: /grep -E '\^(.*)'/)).output.1
        let pattern = try Regex("(?m)^" + command)
        #expect(try proxy.metrics().matches(of: pattern).count >= 2)
    }
}
