internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import dictum

/// `dictum demo` as a new user runs it.
@Suite(.serialized) struct DemoTests {
    /// Returns the cells of the table's rows: fetch, coding, body, gzip, wire, saved.
    private static func rows(_ text: String) -> [[Substring]] {
        text.split(separator: "\n").map { $0.split(separator: " ") }.filter {
            $0.count == 7 && Int($0[0]) != nil
        }
    }

    private static func number(_ cell: Substring) -> Int { Int(cell.filter { $0 != "," }) ?? -1 }

    @Test(.timeLimit(.minutes(40)))
    func `the table shows eight fetches of which all but the first are deltas`() throws {
        let result = try RunningProcess.run(["demo", "--once", "--listen", "127.0.0.1:0"])
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let rows = Self.rows(result.text)
        #expect(rows.map { $0[1] } == ["zstd"] + Array(repeating: "dcz", count: 7))
        for (index, row) in rows.enumerated() {
            let (body, gzip, wire) = (Self.number(row[2]), Self.number(row[3]), Self.number(row[4]))
            #expect(body == DemoFeed.bytes(version: index).count)
            #expect(gzip < body && wire > 0)
            if index > 0 { #expect(wire * 20 < gzip) }
        }
        #expect(!result.text.contains("100.0"))
        let widths = Set(result.text.split(separator: "\n").filter { $0.hasSuffix("%") }.map(\.count))
        #expect(widths.count == 1)
    }

    @Test(.timeLimit(.minutes(40)))
    func `the files of a folder are served in natural order`() throws {
        let folder = try TemporaryFolder()
        for (name, count) in [("v10.json", 3000), ("v9.json", 2000), ("v1.json", 1000), (".hidden", 4000)] {
            try folder.write(Array("[\(String(repeating: "1,", count: count / 2))0]".utf8), to: name)
        }
        let result = try RunningProcess.run([
            "demo", "--once", "--listen", "127.0.0.1:0", "--versions", folder.path,
        ])
        #expect(result.status == 0)
        #expect(Self.rows(result.text).map { Self.number($0[2]) } == [1003, 2003, 3003])
    }

    @Test(.timeLimit(.minutes(40)))
    func `SIGTERM ends it with 0 also before the table is complete`() throws {
        let folder = try TemporaryFolder()
        for number in 0..<50 { try folder.write(Feed.bytes(version: number, items: 20_000), to: "\(number)") }
        let demo = try RunningProcess(["demo", "--listen", "127.0.0.1:0", "--versions", folder.path])
        defer { demo.stop() }
        _ = try demo.waitFor(DemoTable.title)
        let result = try demo.terminate()
        #expect(result.status == 0 && 1..<50 ~= Self.rows(result.text).count, "\(result.text)")
    }

    @Test(.timeLimit(.minutes(40)))
    func `a port that is taken is replaced with a note`() throws {
        // If another process has the port already, that serves the test as well.
        let holder = try? Origin.closing(port: 8080) { _ in nil }
        defer { holder?.stop() }
        let result = try RunningProcess.run(["demo", "--once"])
        #expect(result.status == 0)
        #expect(result.errors.contains(" is in use; the demo listens on another port"))
        #expect(Self.rows(result.text).count == 8)
    }

    @Test(.timeLimit(.minutes(40)), arguments: [[], ["--listen", "127.0.0.1:0"]])
    func `metrics are where it says, also beside another demo`(options: [String]) throws {
        // If another process has the port already, that serves the test as well.
        let holder = try? Origin.closing(port: 9901) { _ in nil }
        defer { holder?.stop() }
        let demo = try RunningProcess(["demo"] + options)
        defer { demo.stop() }
        let text = try demo.waitFor("serve --upstream http://your-api")
        let url = try #require(text.firstMatch(of: /http:[^ ]*\/metrics/)).output
        let metrics = try RunningProcess.run(
            ["curl", "-sS", "--max-time", "300", String(url)], of: "/usr/bin/env")
        #expect(metrics.text.contains("\ndictum_requests_total{"), "\(metrics.errors)")
        #expect(try demo.terminate().status == 0)
    }

    @Test func `the help says where metrics are with --listen`() throws {
        let help = try RunningProcess.run(["help", "demo"]).text
        let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("With it, metrics are at a free port."), "\(help)")
    }

    @Test(.timeLimit(.minutes(40)))
    func `the printed commands work as they are, and SIGTERM ends it with 0`() throws {
        let folder = try TemporaryFolder()
        let demo = try RunningProcess(["demo", "--listen", "127.0.0.1:0"])
        defer { demo.stop() }
        let text = try demo.waitFor("serve --upstream http://your-api")
        let steps = try #require(text.range(of: "# 1."))
        let end = try #require(text.range(of: "Ctrl-C"))
        let script = "set -e\n" + text[steps.lowerBound..<end.lowerBound]
        let result = try RunningProcess.run(
            ["-c", script], of: "/bin/bash", in: folder.path, environment: ["XDG_CACHE_HOME": folder.path])
        #expect(result.status == 0, "\(result.errors)")
        let old = try #require(folder.read("dictum-old.json"))
        let delta = try #require(folder.read("dictum-delta.dcz"))
        #expect(old.count > 100_000 && delta.count * 20 < old.count)
        let new = try #require(folder.read("dictum-new.json"))
        let version = try #require(
            String(decoding: new, as: UTF8.self).firstMatch(of: /"version":([0-9]+)/)?.output.1)
        #expect(new == DemoFeed.bytes(version: try #require(Int(version)) - 1))
        // The first three commands alone give the new feed too; fetch has only written it again.
        let zstd = try RunningProcess.run(
            ["zstd", "-q", "-d", "-D", "dictum-old.json", "-c", "dictum-delta.dcz"], of: "/usr/bin/env",
            in: folder.path)
        #expect(zstd.status == 0 && zstd.output.starts(with: Array(#"{"version":"#.utf8)))
        #expect(try demo.terminate().status == 0)
    }

    @Test(.timeLimit(.minutes(40)), arguments: [["demo"], ["serve", "--upstream", "http://127.0.0.1:9"]])
    func `an address that was given and is taken is an error that names the option`(command: [String]) throws
    {
        let folder = try TemporaryFolder()
        let holder = try Origin.closing { _ in nil }
        defer { holder.stop() }
        let result = try RunningProcess.run(
            command + ["--listen", "127.0.0.1:\(holder.port)"], in: folder.path)
        #expect(result.status == 1 && result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.contains("cannot listen on 127.0.0.1:\(holder.port)"))
        #expect(result.errors.contains("choose another address with --listen, or stop the process using it"))
        #expect(!result.errors.contains("listeners"))
    }

    @Test(.timeLimit(.minutes(40)))
    func `what cannot be shown is an error of one line`() throws {
        let folder = try TemporaryFolder()
        for path in [folder.path, "\(folder.path)/none"] {
            let result = try RunningProcess.run([
                "demo", "--once", "--listen", "127.0.0.1:0", "--versions", path,
            ])
            #expect(result.status == 1 && result.errorLines.count == 1 && result.errors.hasPrefix("dictum: "))
        }
        let usage = try RunningProcess.run(["demo", "--listen", "unix:/x"])
        #expect(usage.status == 64)
    }

    // MARK: Parts

    @Test func `the sum is of all fetches, and the comparison of those with a dictionary`() {
        var table = DemoTable()
        _ = table.add(.init(coding: "zstd", bodyBytes: 1_000, gzipBytes: 900, wireBytes: 800))
        #expect(table.summary == nil)
        let row = table.add(.init(coding: "dcz", bodyBytes: 1_000, gzipBytes: 900, wireBytes: 450))
        #expect(row.split(separator: " ").joined(separator: " ") == "2 dcz 1,000 900 450 55.00 %")
        let sum = table.total.split(separator: "\n").last?.split(separator: " ").joined(separator: " ")
        #expect(sum == "all 2,000 1,800 1,250 37.50 %")
        #expect(
            table.summary == "With a dictionary, a fetch took 2 times fewer bytes than with gzip.")
        _ = table.add(.init(coding: "dcb", bodyBytes: 1_000, gzipBytes: 900, wireBytes: 451))
        #expect(table.summary == nil, "the deltas took more than half of gzip's bytes")
    }

    @Test func `a link to a file is a version, and one that leads nowhere is none`() throws {
        let folder = try TemporaryFolder()
        try folder.write([1], to: "a")
        for (name, target) in [("b", "a"), ("c", "none")] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.file(name), withDestinationPath: target)
        }
        #expect(try DemoVersions.paths(in: folder.path) == ["a", "b"].map { folder.file($0) })
    }

    @Test(arguments: [
        ("a.htm", "text/html"), ("a.HTML", "text/html"), ("a.rss", "application/xml"),
        ("a.mjs", "application/javascript"), ("a.css", "text/css"), ("a.csv", "text/csv"),
        ("a.md", "text/plain"), ("a.svg", "image/svg+xml"), ("a.wasm", "application/wasm"),
        ("a.json", "application/json"), ("a", "application/json"),
    ])
    func `a file is of the type that its name says, or JSON`(name: String, type: String) {
        #expect(DemoVersions.mediaType(ofFile: name) == type)
        #expect(DemoVersions.files([name, "b.txt"]).mediaType == type)
    }
}
