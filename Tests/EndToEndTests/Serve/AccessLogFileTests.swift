internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

private let body = Feed.bytes(version: 0, items: 40)

/// `log.access.file` as an operator uses it: rotation, a full disk, a folder that is missing.
@Suite(.timeLimit(.minutes(40))) struct AccessLogFileTests {
    private func origin() throws -> Origin {
        try Origin(
            wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                body: body))
    }

    private func lines(of file: String) -> [Substring] {
        ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n")
    }

    /// True for a line that is one object of JSON, as Foundation reads it.
    private func isWhole(_ line: Substring) -> Bool {
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return object?["complete"] as? Bool == true && object?["status"] as? Int == 200
    }

    @Test func `rename and SIGUSR1, as logrotate does it, lose no line under load`() throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/access.log"
        let proxy = try ServedProxy(origin(), in: folder, log: "format: json, access: {file: \"\(file)\"}")
        let clients = LoadClients(port: proxy.port, expecting: body, kept: 3, fresh: 1)
        for number in 1...5 {
            try clients.awaitAnswers(50)
            try FileManager.default.moveItem(atPath: file, toPath: "\(file).\(number)")
            proxy.process.signal(SIGUSR1)
            try waitUntil("the file is there again") { FileManager.default.fileExists(atPath: file) }
        }
        try clients.awaitAnswers(50)
        #expect(clients.stop() == [])
        let result = try proxy.process.terminate()
        #expect(result.status == 0 && result.text.isEmpty)
        let all = [file] + (1...5).map { "\(file).\($0)" }
        #expect(all.map { lines(of: $0).count }.reduce(0, +) == clients.answerCount)
        for name in all { #expect(lines(of: name).allSatisfy(isWhole), "\(name)") }
        #expect(result.errors.components(separatedBy: "is open again").count == 6)
    }

    @Test(.enabled(if: SmallDisk.isAllowed, "a small disk needs a namespace of its own"))
    func `a full disk stops no request, tears no line, and is told in the log and the metrics`() throws {
        let folder = try TemporaryFolder()
        let disk = try SmallDisk(in: folder)
        let proxy = try ServedProxy(
            origin(), in: folder, log: "format: json, access: {file: \"\(disk.path)/access.log\"}",
            launcher: disk.launcher)
        let file = "\(disk.path(seenBy: proxy.process))/access.log"
        var count = 0
        func ask(_ times: Int) throws {
            let client = try WireSocket(port: proxy.port)
            for _ in 0..<times { #expect(try client.get("/feed").body == body) }
            count += times
        }
        try ask(10)
        try disk.fill(proxy.process)
        try waitUntil("lines are lost") {
            try ask(20)
            return try proxy.metric("dictum_log_lines_dropped_total", where: "refused") > 0
        }
        #expect(try proxy.process.waitFor("cannot write the access log").contains("No space left on device"))
        try disk.empty(proxy.process)
        try ask(10)
        _ = try proxy.process.waitFor("takes lines again")
        try waitUntil("each request is written or lost") {
            let written = try proxy.metric("dictum_log_lines_total")
            return try Int(written + proxy.metric("dictum_log_lines_dropped_total")) == count
        }
        let written = try Int(proxy.metric("dictum_log_lines_total"))
        #expect(lines(of: file).count == written && written < count)
        #expect(lines(of: file).allSatisfy(isWhole))
        #expect(try proxy.process.terminate().status == 0)
    }

    @Test func `without its folder check warns, and serve names the setting`() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            Array(
                """
                upstream: {urls: ["http://127.0.0.1:9"]}
                listeners: [{address: "127.0.0.1:0"}]
                store: {path: ":memory:"}
                admin: off
                log: {access: {file: "\(folder.path)/missing/access.log"}}
                """.utf8), to: "dictum.yaml")
        let check = try RunningProcess.run(["check", "--config", "\(folder.path)/dictum.yaml"])
        #expect(check.status == 0 && check.errors.contains("log.access.file"), "\(check.errors)")
        let serve = try RunningProcess.run(["serve", "--config", "\(folder.path)/dictum.yaml"])
        #expect(serve.status == 1 && serve.errors.contains("cannot open the access log"), "\(serve.errors)")
    }
}
