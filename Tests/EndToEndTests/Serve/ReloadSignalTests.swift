internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

private let old = Feed.bytes(version: 0, items: 850)
private let new = Feed.bytes(version: 1, items: 850)

extension ServedProxy {
    /// Changes the configuration by replacing a text in it, and has the program read it again.
    fileprivate func reload(replacing text: String, with other: String) throws {
        let file = String(decoding: folder.read("dictum.yaml") ?? [], as: UTF8.self)
        try #require(file.contains(text))
        try folder.write(Array(file.replacing(text, with: other).utf8), to: "dictum.yaml")
        process.signal(SIGHUP)
    }
}

@Suite(.timeLimit(.minutes(40))) struct ReloadSignalTests {
    @Test func `SIGHUP with a wrong file says what check says, and all stays as it is`() throws {
        let proxy = try ServedProxy(Origin(storable(old)), in: TemporaryFolder(), "explain: off")
        try proxy.reload(replacing: "explain: off", with: "explain: perhaps\nlimts: {}")
        let errors = try proxy.process.waitFor("keeping the current one")
        let check = try RunningProcess.run(["check", "--config", "\(proxy.folder.path)/dictum.yaml"])
        #expect(check.status == 78)
        #expect(check.errorLines.count == 2)
        for line in check.errorLines {
            let text = line.replacing("\"", with: #"\""#)
            #expect(errors.contains(text), "\(line)")
        }
        #expect(try proxy.curl("/feed").carries(old))
    }

    @Test func `check, the start and SIGHUP tell a route that is never reached, and take it`() throws {
        let proxy = try ServedProxy(
            Origin(storable(old)), in: TemporaryFolder(), "routes: [{match: /*}, {match: /feed}]")
        let check = try RunningProcess.run(["check", "--config", "\(proxy.folder.path)/dictum.yaml"])
        #expect(check.status == 0 && check.text.hasPrefix("the configuration is valid\n"))
        #expect(check.errorLines.count == 1)
        let line = String(try #require(check.errorLines.first)).replacing("\"", with: #"\""#)
        #expect(line.contains("dictum.yaml:6:31: warning: ") && line.contains("never reached"))
        _ = try proxy.process.waitFor(line)
        try proxy.reload(replacing: "{match: /feed}", with: "{match: /other}")
        _ = try proxy.process.waitFor(line.replacing("/feed", with: "/other"))
        #expect(try proxy.curl("/feed").carries(old))
    }

    @Test func `SIGHUP with a file that is gone leaves all as it is`() throws {
        let proxy = try ServedProxy(Origin(storable(old)), in: TemporaryFolder())
        try FileManager.default.removeItem(atPath: "\(proxy.folder.path)/dictum.yaml")
        proxy.process.signal(SIGHUP)
        #expect(try proxy.process.waitFor("keeping the current one").contains("cannot be opened"))
        #expect(try proxy.curl("/feed").carries(old))
    }

    @Test func `SIGHUP with another store is refused by name`() throws {
        let proxy = try ServedProxy(Origin(storable(old)), in: TemporaryFolder())
        try proxy.reload(replacing: "store.sqlite", with: "other.sqlite")
        #expect(try proxy.process.waitFor("keeping the current configuration").contains("store.path"))
        #expect(!proxy.folder.names().contains("other.sqlite"))
    }

    @Test func `SIGHUP takes a right file: upstream, routes, log level, and it says what waits`() throws {
        let proxy = try ServedProxy(Origin(storable(old)), in: TemporaryFolder(), "explain: off")
        let second = try Origin(storable(new))
        defer { second.stop() }
        #expect(try proxy.curl("/feed").carries(old))
        try proxy.reload(
            replacing: "127.0.0.1:\(proxy.origin.port)\"]}",
            with: "127.0.0.1:\(second.port)\"]}\nroutes: [{match: \"/x\"}]")
        _ = try proxy.process.waitFor("is in effect")
        let answer = try proxy.curl("/feed")
        #expect(answer.carries(new))
        #expect(answer.head["Use-As-Dictionary"] == nil)
        try proxy.reload(replacing: "store.sqlite\"", with: "store.sqlite\", max_chains: 7")
        #expect(try proxy.process.waitFor("takes effect at the next start").contains("store.max_chains"))
        // At this level the proxy logs no successful event, not even its end.
        try proxy.reload(replacing: "{format: json}", with: "{format: json, level: error}")
        try proxy.reload(replacing: "explain: off", with: "explain: on")
        try waitUntil("the new configuration explains") {
            try proxy.curl("/feed").head["Dictum-Explain"] != nil
        }
        let result = try proxy.process.terminate()
        #expect(result.status == 0)
        #expect(!result.errors.contains("draining"))
    }

    @Test(arguments: [true, false])
    func `without a file SIGHUP is an orderly end, unless nohup has it ignored`(isIgnored: Bool) throws {
        let folder = try TemporaryFolder()
        let process = try RunningProcess(
            [
                "--\(isIgnored ? "ignore" : "default")-signal=HUP", RunningProcess.dictum, "serve",
                "--upstream", "http://127.0.0.1:9",
                "--listen", "127.0.0.1:0", "--store",
                "\(folder.path)/store.sqlite",
            ], of: "/usr/bin/env")
        _ = try process.waitFor("listening on")
        process.signal(SIGHUP)
        if isIgnored {
            let isBlocked = try process.blocks(SIGHUP)
            #expect(!isBlocked)
            process.signal(SIGTERM)
        }
        let result = try process.result()
        #expect(result.status == 0)
        #expect(result.errors.contains("\(isIgnored ? "SIGTERM" : "SIGHUP"): draining"), "\(result.errors)")
    }

    @Test func `a second SIGTERM stops at once, and what was stored stays`() throws {
        let origin = try Origin { request, connection in
            if request.target != "/never" { connection.send(storable(old)) }
        }
        let folder = try TemporaryFolder()
        let proxy = try ServedProxy(origin, in: folder, "limits: {drain_timeout: 1h}")
        #expect(try proxy.curl("/feed").carries(old))
        let client = try WireSocket(port: proxy.port)
        client.send(wire("GET /never HTTP/1.1", "Host: api.test"))
        try waitUntil("the origin has two requests") { proxy.origin.requests.count >= 2 }
        proxy.process.signal(SIGTERM)
        _ = try proxy.process.waitFor("SIGTERM: draining")
        proxy.process.signal(SIGTERM)
        #expect(try proxy.process.result().status == 0)
        #expect(client.receiveAll().isEmpty)
        #expect(client.ending == .reset)
        #expect(try proxy.sqlite("SELECT count(*) FROM version") == "1")
    }

    @Test func `the time to drain is limits.drain_timeout`() throws {
        let origin = try Origin { _, _ in }
        let proxy = try ServedProxy(origin, in: TemporaryFolder(), "limits: {drain_timeout: 50ms}")
        let client = try WireSocket(port: proxy.port)
        client.send(wire("GET /never HTTP/1.1", "Host: api.test"))
        try waitUntil("the origin has a request") { !origin.requests.isEmpty }
        #expect(try proxy.process.terminate().status == 0)
        #expect(client.receiveAll().isEmpty)
        #expect(client.ending == .reset)
    }
}
