internal import Foundation
internal import Glibc
internal import Primitives
internal import TestSupport
internal import Testing

/// The inputs of `dictum estimate`: URLs, HAR files, lists, and what it refuses.
@Suite(.timeLimit(.minutes(40))) struct EstimateInputTests {
    // MARK: The file of the report

    @Test func `a report that cannot be written is said before the polling`() throws {
        let (origin, folder) = (try EstimatePollTests.origin(), try TemporaryFolder())
        let result = try RunningProcess.run([
            "estimate", "\(origin.url)/feed", "--for", "10m", "--html", folder.file("none/report.html"),
        ])
        #expect(
            result.status == 1 && result.errors.contains("none/report.html: No such file"), "\(result.errors)"
        )
        #expect(origin.heads.isEmpty)
    }

    @Test func `a former report stays until there is another, and the text is not lost with the file`() throws
    {
        let (origin, folder) = (try EstimatePollTests.origin(), try TemporaryFolder())
        let former = Array("former report, ".utf8)
        try folder.write(Array(repeating: former, count: 100_000).flatMap(\.self), to: "report.html")
        func run(_ path: String, _ file: String) throws -> ProcessResult {
            try RunningProcess.run(
                ["estimate", "\(origin.url)\(path)", "--every", "1s", "--for", "1s", "--html", file]
                    + Estimating.quick)
        }
        #expect(try run("/missing", folder.file("report.html")).status == 1)
        #expect(folder.read("report.html")?.starts(with: former) == true)
        let full = try run("/feed", "/dev/full")
        #expect(full.status == 1 && full.text.contains("/feed"), "\(full.text)")
        #expect(full.errors.contains("cannot write to /dev/full"), "\(full.errors)")
        #expect(try run("/feed", folder.file("report.html")).status == 0)
        let page = String(decoding: folder.read("report.html") ?? [], as: UTF8.self)
        #expect(page.hasSuffix("</html>\n") && !page.contains("former"))
        #expect(try run("/missing", folder.file("none.html")).status == 1)
        #expect(folder.read("none.html") == nil, "a file that was made for a report goes with it")
    }

    @Test func `a folder in the place of the report is said before the polling`() throws {
        let (origin, folder) = (try EstimatePollTests.origin(), try TemporaryFolder())
        let result = try RunningProcess.run([
            "estimate", "\(origin.url)/feed", "--for", "0s", "--html", folder.path,
        ])
        #expect(result.status == 1 && result.errors.contains("Is a directory"), "\(result.errors)")
        #expect(origin.heads.isEmpty)
    }

    @Test func `the report is written although nobody takes the text`() throws {
        let (origin, folder) = (try EstimatePollTests.origin(), try TemporaryFolder())
        let script = #""$0" estimate "$1" --every 1s --for 1s --html "$2" $3 >/dev/full"#
        let result = try RunningProcess.run(
            [
                "-c", script, RunningProcess.dictum, "\(origin.url)/feed", folder.file("new.html"),
                Estimating.quick.joined(separator: " "),
            ],
            of: "/bin/sh")
        #expect(result.status == 1 && result.errors.contains("standard output"), "\(result.errors)")
        #expect(String(decoding: folder.read("new.html") ?? [], as: UTF8.self).hasSuffix("</html>\n"))
    }

    // MARK: HAR files

    @Test func `a HAR file gives the history of each URL in the order of time`() throws {
        let folder = try TemporaryFolder()
        let body = { (number: Int) in Feed.bytes(version: number, items: 40) }
        var entries = [3, 1, 2, 0].map { ArchiveEntry(second: $0 * 60, body: body($0)) }
        entries.append(ArchiveEntry(second: 200, body: body(3)))
        // None of these is the body of a response to GET of this URL.
        entries.append(ArchiveEntry(second: 210, status: 304))
        entries.append(ArchiveEntry(second: 220, method: "POST", body: body(9)))
        entries.append(ArchiveEntry(url: "data:text/plain,x", second: 230, body: body(9)))
        try ArchiveEntry.write(entries, to: folder)
        let resource = try #require(try Estimating.of("\(folder.path)/session.har").resources.first)
        #expect(resource.responses == 5 && resource.versions == 4 && resource.unchangedShare == 0.25)
        #expect(resource.deltas.map(\.versionsBack) == [1, 3])
        #expect(resource.browser?.keepsSeconds == 600 && resource.findingNames.isEmpty)
        // In order, a version has two more items than the one before.
        #expect(try #require(resource.deltas.first).dcz.bytes * 4 < resource.plain.br.bytes)
    }

    @Test func `a HAR file's responses are as old as their dates say, when they came`() throws {
        let folder = try TemporaryFolder()
        let fields = ["Cache-Control": "max-age=600", "Date": "Sun, 01 Nov 2026 09:58:20 GMT"]
        let entries = (0..<2).map {
            ArchiveEntry(second: $0 * 60, fields: fields, body: Feed.bytes(version: $0, items: 20))
        }
        try ArchiveEntry.write(entries, to: folder)
        let resource = try #require(try Estimating.of("\(folder.path)/session.har").resources.first)
        #expect(resource.browser?.keepsSeconds == 600 - 160, "the last came at 10:01:00")
    }

    @Test func `entries without a readable time are left out, and named`() throws {
        let folder = try TemporaryFolder()
        try ArchiveEntry.write(
            (0..<3).map { ArchiveEntry(second: $0 * 60, body: Feed.bytes(version: $0, items: 20)) },
            to: folder)
        let whole = String(decoding: try #require(folder.read("session.har")), as: UTF8.self)
        // Local times, as some programs write them.
        try folder.write(
            Array(whole.replacing(":00.123Z", with: ":00.123", maxReplacements: 1).utf8), to: "one.har")
        try folder.write(Array(whole.replacing(":00.123Z", with: ":00.123").utf8), to: "all.har")
        func run(_ name: String) throws -> ProcessResult {
            try RunningProcess.run(["estimate", name] + Estimating.quick, in: folder.path)
        }
        let text =
            "have a startedDateTime without date, time or zone (ISO 8601), such as \"2026-11-01T10:00:00.123\""
        let one = try run("one.har")
        #expect(
            one.status == 0 && one.errors.contains("1 of 3 entries \(text): they are left out"),
            "\(one.errors)")
        let all = try run("all.har")
        #expect(
            all.status == 1 && all.errors.contains("has no times: 3 of 3 entries \(text)"), "\(all.errors)")
    }

    @Test func `a HAR file's size that no body has is none`() throws {
        let folder = try TemporaryFolder()
        let entries = (0..<3).map { ArchiveEntry(second: $0 * 60, body: Feed.bytes(version: $0, items: 20)) }
        try ArchiveEntry.write(entries, to: folder)
        let text = String(decoding: try #require(folder.read("session.har")), as: UTF8.self)
            .replacing(#""bodySize":-1"#, with: #""bodySize":\#(Int.max)"#)
        try folder.write(Array(text.utf8), to: "session.har")
        let resource = try #require(try Estimating.of("\(folder.path)/session.har").resources.first)
        #expect(resource.responses == 3 && resource.sentBytes == nil)
    }

    @Test func `a HAR file's size of a body is the size that was sent`() throws {
        let folder = try TemporaryFolder()
        let entries = (0..<3).map { ArchiveEntry(second: $0 * 60, body: Feed.bytes(version: $0, items: 20)) }
        try ArchiveEntry.write(entries, to: folder)
        let text = String(decoding: try #require(folder.read("session.har")), as: UTF8.self)
            .replacing(#""bodySize":-1"#, with: #""bodySize":500"#)
        try folder.write(Array(text.utf8), to: "session.har")
        let resource = try #require(try Estimating.of("\(folder.path)/session.har").resources.first)
        #expect(resource.responses == 3 && resource.sentBytes == 500)
    }

    @Test func `the lines of a field that a HAR file has as one value are judged one by one`() throws {
        let folder = try TemporaryFolder()
        let fields = ["Cache-Control": "max-age=600", "Set-Cookie": #"AWSALB=1\nsid=2"#]
        let entries = (0..<2).map {
            ArchiveEntry(second: $0 * 60, fields: fields, body: Feed.bytes(version: $0, items: 20))
        }
        try ArchiveEntry.write(entries, to: folder)
        let resource = try #require(try Estimating.of("\(folder.path)/session.har").resources.first)
        #expect(resource.personal == "set-cookie")
        #expect(Set(resource.findingNames) == ["sets-harmless-cookie", "sets-cookie"])
    }

    @Test func `a HAR file's POSTs are histories by operation, and their route says so`() throws {
        let folder = try TemporaryFolder()
        var entries: [ArchiveEntry] = []
        for number in 0..<4 {
            for (place, name) in ["Feed", "Profile"].enumerated() {
                entries.append(
                    ArchiveEntry(
                        url: "https://api.test/graphql", second: number * 60 + place, method: "POST",
                        fields: ["Last-Modified": "Sat, 01 Nov 2025 10:00:00 GMT"],
                        content: #"{\"operationName\":\"\#(name)\",\"query\":\"{}\"}"#,
                        body: Feed.bytes(version: number + 100 * place, items: 40)))
            }
        }
        try ArchiveEntry.write(entries, to: folder)
        let estimate = try Estimating.of("\(folder.path)/session.har")
        #expect(estimate.resources.map(\.versions) == [4, 4])
        #expect(estimate.resources.allSatisfy { $0.findingNames.contains("unkept") }, "no heuristic")
        let yaml = try RunningProcess.run(["estimate", "session.har"] + Estimating.quick, in: folder.path)
            .text
        #expect(yaml.contains("methods: [GET, QUERY, POST]"), "\(yaml)")
        #expect(yaml.contains("key: [operationName]"), "\(yaml)")
        #expect(yaml.contains("POST https://api.test/graphql (Profile)"), "\(yaml)")
    }

    /// The fields of a response, and what follows from them.
    struct Judgement: Sendable {
        let fields: [String: String]
        var obstacle: String?
        var personal: String?
        var findings: [String] = []
    }

    private static let judgements = [
        Judgement(fields: ["Cache-Control": "no-store"], obstacle: "no-store", findings: ["not-offerable"]),
        Judgement(
            fields: ["Cache-Control": "max-age=600", "Vary": "*"], obstacle: "vary-any",
            findings: ["not-offerable"]),
        Judgement(fields: ["Cache-Control": "private, max-age=600"], personal: "private"),
        Judgement(
            fields: ["Cache-Control": "max-age=600", "Set-Cookie": "sid=1"], personal: "set-cookie",
            findings: ["sets-cookie"]),
        Judgement(
            fields: ["Cache-Control": "max-age=600", "Set-Cookie": "AWSALB=1"],
            findings: ["sets-harmless-cookie"]),
        Judgement(
            fields: ["Cache-Control": "max-age=600", "Vary": "User-Agent"], findings: ["varies-widely"]),
        Judgement(fields: ["Cache-Control": "public, no-cache"], findings: ["unkept"]),
        Judgement(
            fields: ["Cache-Control": "private, no-cache"], personal: "private", findings: ["needs-twin"]),
        Judgement(fields: ["ETag": "1"], findings: ["unkept", "not-announceable"]),
    ]

    @Test(arguments: judgements)
    func `the judgement of browsers is that of doctor`(of judgement: Judgement) throws {
        let folder = try TemporaryFolder()
        let entries = (0..<2).map {
            ArchiveEntry(
                second: $0 * 60, fields: judgement.fields, body: Feed.bytes(version: $0, items: 20))
        }
        try ArchiveEntry.write(entries, to: folder)
        let estimate = try Estimating.of("\(folder.path)/session.har")
        let resource = try #require(estimate.resources.first)
        #expect(resource.findingNames == judgement.findings)
        #expect(resource.obstacle == judgement.obstacle && resource.personal == judgement.personal)
        #expect(estimate.suggestions.isEmpty == (judgement.obstacle != nil))
    }

    @Test func `a request with credentials makes a response personal, unless only analytics set the cookie`()
        throws
    {
        let folder = try TemporaryFolder()
        let cases: [(String, String, String?)] = [
            ("Cookie", "sid=1", "cookie"), ("Authorization", "Bearer x", "authorization"),
            ("X-Api-Key", "k", "field"),
            ("Cookie", "_ga=GA1.1", nil),
        ]
        for (field, value, personal) in cases {
            let entries = (0..<2).map {
                ArchiveEntry(
                    second: $0 * 60, requestFields: [field: value], fields: ["Cache-Control": "max-age=600"],
                    body: Feed.bytes(version: $0, items: 20))
            }
            try ArchiveEntry.write(entries, to: folder)
            let resource = try #require(try Estimating.of("\(folder.path)/session.har").resources.first)
            #expect(resource.personal == personal, "\(field): \(value)")
        }
    }

    // MARK: Refusals

    @Test func `an input that cannot be read is an error of one line that says what is expected`() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("{}".utf8), to: "empty.har")
        try folder.write(Array("nothing".utf8), to: "text.har")
        try folder.write(Array(#"{"log":{"entries":[]}}"#.utf8), to: "none.har")
        try folder.write(Array("# nothing\n".utf8), to: "none.txt")
        try folder.write(Array("https://api.test/a\nhttp://\n".utf8), to: "wrong.txt")
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/none", withIntermediateDirectories: true)
        let closed = try Origin.closing { _ in nil }
        let port = closed.port
        closed.stop()
        let cases: [(String, String)] = [
            ("missing", "missing does not exist: expected a URL with http:// or https://"),
            ("empty.har", "empty.har is not a HAR file (it has no \"log\")"),
            ("text.har", "text.har is not a HAR file (it is not JSON)"),
            ("none.har", "has no bodies of responses to GET, QUERY or POST"),
            ("none.txt", "none.txt has no URLs"), ("wrong.txt", "wrong.txt:2: invalid URL http://"),
            ("none", "the folder none has no files"), ("http://", "invalid URL http://"),
            ("http://127.0.0.1:\(port)/", "check that the server is running"),
        ]
        for (source, text) in cases {
            let result = try RunningProcess.run(["estimate", source, "--for", "0s"], in: folder.path)
            let status: Int32 = source == "http://" ? 64 : 1
            #expect(result.status == status && result.errorLines.count == 1, "\(source): \(result.errors)")
            #expect(result.errors.hasPrefix("dictum: ") && result.errors.contains(text), "\(result.errors)")
            #expect(result.output.isEmpty)
        }
    }

    @Test func `every input has a limit`() throws {
        let folder = try TemporaryFolder()
        for (name, bytes, text) in [
            ("large.har", (256 << 20) + 1, "large.har is larger than 256.0 MiB"),
            ("large.txt", (1 << 20) + 1, "large.txt is larger than 1.0 MiB: expected a text file"),
        ] {
            try folder.write([], to: name)
            let handle = try #require(FileHandle(forWritingAtPath: "\(folder.path)/\(name)"))
            try handle.truncate(atOffset: UInt64(bytes))
            let result = try RunningProcess.run(["estimate", name], in: folder.path)
            #expect(result.status == 1 && result.errors.contains(text), "\(result.errors)")
        }
        for number in 0..<1001 { try folder.write(Array("[\(number)]".utf8), to: "\(number).json") }
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/many", withIntermediateDirectories: true)
        for number in 0..<1001 {
            try FileManager.default.moveItem(
                atPath: "\(folder.path)/\(number).json", toPath: "\(folder.path)/many/\(number).json")
        }
        let many = try Estimating.of("\(folder.path)/many")
        #expect(many.resources.first?.versions == 1000)
        #expect(many.warnings == ["\(folder.path)/many: left out files after the first 1000"])
    }

    @Test func `the name of a folder is a path, whatever characters it has`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/all/two words", withIntermediateDirectories: true)
        for number in 1...3 {
            try folder.write(Feed.bytes(version: number, items: 30), to: "all/two words/\(number).json")
        }
        let estimate = try Estimating.of("\(folder.path)/all")
        #expect(estimate.resources.map(\.name) == ["two words"])
        #expect(estimate.suggestions.first?.routes.map(\.match) == ["/two%20words"])
    }

    @Test func `a list of URLs that is no text is refused as such`() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("http://127.0.0.1:1/".utf8) + [0xFF, 0x0A], to: "list.txt")
        let result = try RunningProcess.run(["estimate", "list.txt", "--for", "0s"], in: folder.path)
        #expect(result.status == 1 && result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.contains("list.txt is not UTF-8: expected a text file"), "\(result.errors)")
    }

    @Test func `the versions of a folder may be a day apart`() throws {
        let folder = try TemporaryFolder()
        _ = try Estimating.write(3, items: 20, to: folder)
        let resource = try #require(try Estimating.of(folder.path, "--every", "1d").resources.first)
        #expect(resource.periodSeconds == 86_400)
    }

    @Test(arguments: [
        ["--every", "0s"], ["--every", "2d"], ["--every", "10"], ["--for", "8d"],
        ["--for", "1h", "--every", "1s"],
        ["--clients", "0"], ["--clients", "10000001"], ["--returns", "some"], ["--simulate", "1s"],
        ["-H", "x"], ["--json", "--html", "-"],
    ])
    func `options out of bounds are wrong usage`(options: [String]) throws {
        let result = try RunningProcess.run(["estimate", "http://127.0.0.1:9/"] + options)
        #expect(result.status == 64, "\(result.errors)")
    }
}
