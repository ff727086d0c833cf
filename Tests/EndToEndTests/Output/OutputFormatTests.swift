internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import dictum

/// The formats of what commands print and read, without any process.
struct OutputFormatTests {
    @Test(arguments: [
        (119, "119 s"), (120, "2 minutes"), (7_199, "119 minutes"), (7_200, "2 hours"),
        (172_799, "47 hours"), (172_800, "2 days"),
    ])
    func `a duration has the largest unit that fits twice, rounded down`(seconds: Int, text: String) {
        #expect(OutputFormat.duration(seconds) == text)
    }

    @Test(arguments: [
        (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1_060, "1.0 KiB"), (1_126, "1.1 KiB"),
        (1_048_576, "1.0 MiB"),
        (1_073_741_824, "1.0 GiB"), (1_099_511_627_776, "1.0 TiB"),
    ])
    func `a size has the largest unit that fits, rounded to a tenth`(bytes: Int, text: String) {
        #expect(OutputFormat.size(bytes) == text)
    }

    @Test func `a size may have units of another base`() {
        #expect(OutputFormat.size(9_000, base: 1_000, units: ["kB", "MB"]) == "9.0 kB")
        #expect(OutputFormat.size(999, base: 1_000, units: ["kB", "MB"]) == "999 B")
    }

    @Test func `only one thing is singular, and bodies have a plural of their own`() {
        #expect(OutputFormat.count(0, "chain") == "0 chains")
        #expect(OutputFormat.count(1, "body") == "1 body")
        #expect(OutputFormat.count(2, "body") == "2 bodies")
    }

    @Test func `a time after the year 9999 is the last one of that year`() {
        #expect(OutputFormat.time(0) == "1970-01-01T00:00:00Z")
        #expect(OutputFormat.time(253_402_300_800) == "9999-12-31T23:59:59Z")
    }

    @Test func `control and format characters are escaped, and all others stay`() {
        #expect(OutputFormat.plain("a\u{1b}[é") == "a\\u{1b}[é")
        #expect(OutputFormat.plain("a\u{202e}b") == "a\\u{202e}b")
    }

    @Test func `columns are two blanks apart, and nothing follows the last cell`() {
        let rows = [["a", "bbb"], ["cc", "d"], ["e"]]
        #expect(OutputFormat.table(rows) == "a   bbb\ncc  d\ne")
        #expect(OutputFormat.table([["a", "bbb"], ["cc", "d"]], alignsRight: true) == " a  bbb\ncc    d")
        #expect(OutputFormat.table([["\n", "b"], ["cc", "d"]]) == "\\u{a}  b\ncc     d")
    }

    @Test func `a file that cannot have its name leaves no part of it behind`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("taken"), withIntermediateDirectories: false)
        #expect(throws: CommandError.self) {
            try OutputFile.writeWhole([1, 2], toFile: folder.file("taken"))
        }
        #expect(folder.names() == ["taken"])
        try OutputFile.writeWhole([1, 2], toFile: folder.file("whole"))
        #expect(folder.names().count == 2 && folder.read("whole")?.count == 2)
    }

    @Test func `a URL in its parts has no default port, no fragment and no brackets`() throws {
        let plain = try FetchURL("http://a.test:80/x?b=http://c?d#e")
        #expect(plain.port == 80 && plain.authority == "a.test" && !plain.isTLS)
        #expect(plain.path == "/x" && plain.query == "b=http://c?d")
        #expect(plain.text == "http://a.test/x?b=http://c?d")
        let secure = try FetchURL("https://a.test:80/")
        #expect(secure.port == 80 && secure.text == "https://a.test:80/" && secure.isTLS)
        #expect(try FetchURL("https://a.test/").port == 443)
        let literal = try FetchURL("http://[::1]:8080/")
        #expect(literal.host == "::1" && literal.port == 8080 && literal.authority == "[::1]:8080")
        #expect(throws: FetchError.self) { try FetchURL("http://a.test:0/") }
    }

    @Test func `options are split from joined values, but neither values nor what follows two dashes`() {
        #expect(JoinedOptions.split(["-XPOST", "-X", "-da"]).joined(separator: " ") == "-X POST -X -da")
        #expect(
            JoinedOptions.split(["--data", "-da=1", "-da=1"]).joined(separator: " ") == "--data -da=1 -d a=1")
        #expect(JoinedOptions.split(["--", "a", "-XPOST"]).joined(separator: " ") == "-- a -XPOST")
        #expect(JoinedOptions.split(["-d", "--", "-Hx"]).joined(separator: " ") == "-d -- -H x")
        #expect(JoinedOptions.split(["-d", "-d", "-Hx"]).joined(separator: " ") == "-d -d -H x")
    }
}
