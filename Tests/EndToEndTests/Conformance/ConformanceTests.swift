internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

@testable internal import dictum

/// `dictum conformance`: what it says of clients, and the table of `deploy/CLIENTS.md`.
@Suite(.timeLimit(.minutes(40))) struct ConformanceTests {
    /// A line of `--json`.
    private struct Line: Decodable {
        let rule: String
        let verdict: String
        let detail: String?
    }

    private static func lines(_ text: String) throws -> [Line] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    /// Judges a client within this process; returns the findings as `--json` prints them.
    private static func judge(
        _ client: any ClientUnderTest & Sendable, by rules: [ClientRule] = ClientRule.all
    ) async throws -> String {
        try await onOwnThread {
            let server = try JudgeServer(rules, at: ("127.0.0.1", 0), host: "127.0.0.1", tls: nil)
            defer { server.stop() }
            let findings = try Conformance(server: server, rules: rules).run(client)
            return findings.map(OutputFormat.json).joined(separator: "\n")
        }
    }

    /// Expects the findings that the page's table has for a client.
    private static func expectTable(_ column: String, _ findings: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(findings.utf8), to: "findings")
        let script = Documentation.root.appending(path: "Tests/Clients/verdicts.py").path
        let result = try RunningProcess.run(
            [script, column, "\(folder.path)/findings"], of: "/usr/bin/python3")
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test func `the client of apps has the verdicts of the table`() async throws {
        let folder = try TemporaryFolder()
        try Self.expectTable("DictumClient", try await Self.judge(LibraryClient(folder: folder)))
    }

    @Test func `fetch has the verdicts of the table, over HTTP2`() throws {
        let folder = try TemporaryFolder()
        let certificates = try TestCertificates()
        let result = try RunningProcess.run([
            "conformance", "--json", "--certificate", certificates.file("server.pem"), "--private-key",
            certificates.file("server.key"), "--", RunningProcess.dictum, "fetch", "--ca",
            certificates.file("ca.pem"), "--cache", "\(folder.path)/cache", "-L", "-H",
            "Authorization: {user}",
        ])
        try Self.expectTable("fetch", result.text)
    }

    @Test(.enabled(if: Chromium.program != nil, Chromium.absence))
    func `Chromium has the verdicts of the table, over HTTP2`() throws {
        let certificates = try TestCertificates()
        let judge = try RunningProcess([
            "conformance", "--json", "--name", "localhost", "--certificate", certificates.file("server.pem"),
            "--private-key", certificates.file("server.key"),
        ])
        let line = try judge.waitFor("/next")
        let url = try #require(line.firstMatch(of: /https:[^ ]*/)).output
        let browser = try Chromium(String(url), trusting: certificates)
        try Self.expectTable("Chromium", try withExtendedLifetime(browser) { try judge.result().text })
    }

    @Test func `a careless client fails each rule that it breaks`() async throws {
        let findings = try Self.lines(try await Self.judge(CarelessClient()))
        let failed = findings.filter { $0.verdict == "fail" }.map(\.rule)
        #expect(
            failed == [
                "first-request", "id", "other-id", "stale", "age", "must-revalidate-stale", "no-store",
                "type",
                "regexp", "pattern", "query", "most-specific", "other-origin", "foreign-pattern", "users",
            ])
        #expect(findings.first { $0.rule == "bomb" }?.verdict == "not tried")
    }

    @Test func `a client that gets a short-lived offer late is offered it again`() async throws {
        let client = LibraryClient(folder: try TemporaryFolder(), transport: LateTransport())
        let rules = ClientRule.all.filter { $0.name == "not-modified" }
        let findings = try Self.lines(try await Self.judge(client, by: rules))
        #expect(findings.map(\.verdict) == ["pass"], "\(findings)")
    }

    @Test func `a client without dictionaries fails nothing, and the exit status is 0`() throws {
        let result = try RunningProcess.run([
            "conformance", "--json", "--only", "first-request,delta-zstd,users", "--", "curl", "-sf",
        ])
        let lines = try Self.lines(result.text)
        #expect(lines.map(\.rule) == ["first-request", "delta-zstd", "users"])
        #expect(lines.map(\.verdict) == ["pass", "not tried", "not tried"])
        #expect(lines[1].detail == "/zstd?2 does not name /zstd" && result.status == 0)
    }

    @Test(arguments: ["false", "true"])
    func `a client that asks for nothing is not judged, and that is a failure`(client: String) throws {
        let result = try RunningProcess.run([
            "conformance", "--only", "first-request,delta-zstd", "--", client,
        ])
        #expect(result.status == 1)
        #expect(result.text.hasSuffix("0 pass, 0 fail, 2 not tried\n"), "\(result.text)")
        #expect(
            result.errors.hasPrefix("dictum: the client asked for none of the URLs")
                && result.errors.contains("by hand"),
            "\(result.errors)")
    }

    @Test(arguments: ["http2", "users"])
    func `a rule that is not for a client is no failure`(rule: String) throws {
        let result = try RunningProcess.run(["conformance", "--only", rule, "--", "curl", "-sf"])
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(result.text.hasSuffix("0 pass, 0 fail, 1 not tried\n"), "\(result.text)")
    }

    @Test func `a client that writes something else fails with 1`() throws {
        let result = try RunningProcess.run([
            "conformance", "--only", "first-request", "--", "sh", "-c", "curl -sf $0 && echo more", "{url}",
        ])
        #expect(result.status == 1)
        #expect(result.text.contains("/first: expected the body, came another one"), "\(result.text)")
        #expect(result.text.hasSuffix("0 pass, 1 fail, 0 not tried\n"), "\(result.text)")
    }

    @Test func `what a client writes to standard error is shown with -v alone`() throws {
        let script = "echo complaint >&2; curl -sf $0"
        let client = ["--only", "first-request", "--", "sh", "-c", script, "{url}"]
        let silent = try RunningProcess.run(["conformance"] + client)
        #expect(silent.status == 0 && silent.errors.isEmpty, "\(silent.errors)")
        let verbose = try RunningProcess.run(["conformance", "-v"] + client)
        #expect(verbose.status == 0 && verbose.errors == "complaint\n", "\(verbose.errors)")
    }

    // The second leaves a child behind that holds its output, until the judge is gone: more might come.
    @Test(arguments: ["exec sleep 600", "tail --pid=$PPID -f /dev/null &"])
    func `a command whose output does not end has given no body`(rest: String) throws {
        let hanging = try RunningProcess.run([
            "conformance", "--only", "first-request", "--max-time", "5", "--", "sh", "-c",
            "curl -sf $0; \(rest)",
        ])
        #expect(
            hanging.text.contains("/first: expected the body, came nothing within 5 s"), "\(hanging.text)")
    }

    @Test func `a command that does not exist is said`() throws {
        let missing = try RunningProcess.run(["conformance", "--", "dictum-has-no-such-command"])
        #expect(
            missing.status == 1 && missing.errors.contains("there is no command dictum-has-no-such-command"))
    }

    @Test(arguments: [
        (["--only", "delta-zst"], #"--only: unknown rule delta-zst: did you mean "delta-zstd"?"#),
        (["--only", ""], "--only: expected at least one rule"),
        (["--certificate", "a.pem"], "--certificate and --private-key: expected both or none"),
        (["--listen", "here"], "--listen: expected HOST:PORT, such as 127.0.0.1:0"),
        (["--max-time", "0"], "--max-time: expected 1 to 86400 seconds"),
        (["--certificate", "/none", "--private-key", "/none"], "/none"),
    ])
    func `wrong options are said before anything starts`(options: [String], expected: String) throws {
        let result = try RunningProcess.run(["conformance"] + options)
        #expect(result.status == 64 && result.errors.contains(expected), "\(result.errors)")
    }

    /// Sends a request to a judge.
    private static func get(_ target: String, at origin: some StringProtocol) throws -> WireMessage {
        let socket = try WireSocket(port: #require(UInt16(origin.split(separator: ":").last ?? "")))
        socket.send("GET \(target) HTTP/1.1\r\nHost: \(origin.dropFirst(7))\r\nConnection: close\r\n\r\n")
        return try socket.receive()
    }

    private static func origin(of judge: RunningProcess) throws -> Substring {
        try #require(judge.waitFor("/next").firstMatch(of: /http:[^ ]*/)).output.dropLast()
    }

    @Test func `a script is told the URLs one by one, and the end`() throws {
        let judge = try RunningProcess(["conformance", "--json", "--only", "first-request,unasked"])
        let origin = try Self.origin(of: judge)
        func next(_ result: String) throws -> WireMessage { try Self.get("/next\(result)", at: origin) }
        #expect(String(decoding: try next("").body, as: UTF8.self) == "\(origin)/first")
        // Who asks again without a result gets the same.
        #expect(String(decoding: try next("").body, as: UTF8.self) == "\(origin)/first")
        #expect(String(decoding: try next("?failed=x").body, as: UTF8.self) == "\(origin)/unasked")
        #expect(try next("?failed=x").status == 204)
        let result = try judge.result()
        #expect(try Self.lines(result.text).map(\.verdict) == ["not tried", "not tried"])
        #expect(result.status == 1, "it asked for neither")
    }

    @Test func `a client that falls silent loses no verdict, and is not judged whole`() throws {
        let judge = try RunningProcess([
            "conformance", "--json", "--only", "first-request,delta-zstd", "--max-time", "1",
        ])
        let origin = try Self.origin(of: judge)
        _ = try Self.get("/next", at: origin)
        let body = try Self.get("/first", at: origin).body
        _ = try Self.get("/next?sha256=\(Body(body).digest.hex)", at: origin)
        let result = try judge.result()
        let lines = try Self.lines(result.text)
        #expect(lines.map(\.verdict) == ["pass", "not tried"], "\(result.text)")
        #expect(
            result.status == 1 && result.errors.contains("the client told no more results"),
            "\(result.errors)")
    }

    @Test func `a late result is not that of the next URL`() throws {
        let server = try JudgeServer([], at: ("127.0.0.1", 0), host: "Judge.test", tls: nil)
        defer { server.stop() }
        // Clients send the name in lower case.
        #expect(
            server.origin.hasPrefix("http://judge.test:") && server.elsewhere.hasPrefix("http://judge.test:"))
        let results = Guarded<[Delivered]>([])
        server.handPage("first") { _ in }
        #expect(try Self.get("/next", at: server.origin).body == Array("first".utf8))
        server.handPage("second") { result in results.withLock { $0.append(result) } }
        #expect(try Self.get("/next?failed=late", at: server.origin).body == Array("second".utf8))
        server.handPage(nil) { _ in }
        #expect(try Self.get("/next?failed=2", at: server.origin).status == 204)
        #expect(results.withLock { $0 }.isEmpty)
    }
}
