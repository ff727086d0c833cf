internal import Foundation
internal import TestSupport
internal import Testing

/// The dashboard, the alerts, and the numbers behind them, with a real Prometheus and foreign readers of the log.
@Suite(.timeLimit(.minutes(40)), .serialized) struct MonitoringTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized.path

    private func run(_ script: String, _ arguments: [String] = []) throws -> (status: Int32, text: String) {
        let result = try RunningProcess.run(
            ["\(Self.tests)/\(script)", "--binary", RunningProcess.dictum] + arguments, of: "/usr/bin/python3"
        )
        return (result.status, result.text + result.errors)
    }

    @Test func `each query of the dashboard and each alert has data in a real Prometheus`() throws {
        let (status, text) = try run("Monitoring/run")
        #expect(status == 0, "\(text)")
        for what in [
            "promtool check metrics: passed", "promtool test rules: passed", "of the dashboard have data",
        ] {
            #expect(text.contains(what), "\(text)")
        }
    }

    /// `make totals` does it with a hundred thousand requests.
    @Test func `metrics, access log and clients agree on every request and byte`() throws {
        let (status, text) = try run("Totals/run", ["--requests", "3000"])
        #expect(status == 0 && text.contains(" comparisons, 0 differ"), "\(text)")
    }

    /// Reads each line of standard input with a parser that is not ours, and prints what it found as JSON.
    private static let parser = """
        import json, sys
        from apachelogs import COMBINED, LogParser
        parser = LogParser(COMBINED, encoding="utf-8")
        for line in sys.stdin:
            entry = parser.parse(line)
            fields = entry.headers_in
            print(json.dumps([entry.remote_host, entry.request_line, entry.final_status, entry.bytes_sent,
                              entry.request_time.isoformat()[:4], fields["Referer"], fields["User-Agent"]]))
        """

    @Test func `a foreign parser reads the combined format, and a client cannot forge a line`() throws {
        guard let python = try PythonEnvironment.python("apachelogs", with: ["apachelogs==0.6.1"]) else {
            return print("skipped: PyPI is out of reach, so there is no parser")
        }
        let folder = try TemporaryFolder()
        let body = Feed.bytes(version: 0, items: 40)
        let origin = try Origin(wire("HTTP/1.1 200 OK", "Content-Type: application/json", body: body))
        let proxy = try ServedProxy(
            origin, in: folder,
            log: "format: json, access: {file: \"\(folder.path)/access.log\", format: combined}")
        let agents = ["Mozilla/5.0 (X11; Linux) \"quoted\" \\ end", "\" 200 0 \"-\" \"forged", "caf\u{E9}"]
        for agent in agents {
            let client = try WireSocket(port: proxy.port)
            #expect(
                try client.get("/feed?a=b", "User-Agent: \(agent)", "Referer: https://page.test/a?token=1")
                    .status
                    == 200)
        }
        let malformed = try WireSocket(port: proxy.port)
        malformed.send("nonsense\r\n\r\n")
        #expect(try malformed.receive().status == 400)
        #expect(try proxy.process.terminate().status == 0)
        try folder.write(Array(Self.parser.utf8), to: "parse.py")
        let parsed = try RunningProcess.run(
            ["-c", "\(python) parse.py < access.log"], of: "/bin/bash", in: folder.path)
        let lines = try parsed.text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [Any?])
        }
        try #require(lines.count == 4, "\(parsed.text)\(parsed.errors)")
        // Each loop writes its own lines, so their order may differ.
        let whole = lines.filter { $0[2] as? Int == 200 }
        #expect(Set(whole.compactMap { $0[6] as? String }) == Set(agents) && whole.count == agents.count)
        for line in whole {
            #expect(line[0] as? String == "127.0.0.1" && line[1] as? String == "GET /feed?a=b HTTP/1.1")
            #expect(line[3] as? Int == body.count && line[5] as? String == "https://page.test/a?-")
        }
        #expect(lines.count { $0[2] as? Int == 400 } == 1)
    }
}
