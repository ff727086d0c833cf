internal import Foundation
internal import TestSupport
internal import Testing

/// `make figures`: the table and the plot, from git repositories as from GitHub.
@Suite(.timeLimit(.minutes(20))) struct FiguresTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Figures/run").standardizedFileURL.path

    @Test func `the figures come from the commits that changed a file, one after the other`() throws {
        let folder = try TemporaryFolder()
        let versions = (0..<5).map { Feed.bytes(version: $0, items: 40) }
        for (number, version) in versions.enumerated() { try folder.write(version, to: "\(number)") }
        let commands = """
            export GIT_CONFIG_GLOBAL=/dev/null
            commit() { git -C "$1" add . && git -C "$1" -c user.name=test -c user.email=test@localhost commit -qm "$2"; }
            for pair in ca-fires-history/incidents.json scrape-hacker-news-by-domain/simonwillison-net.json; do
                repository=all/${pair%/*}
                git init -q "$repository"
                for number in 0 1 2 3 4; do
                    cp $number "all/$pair" && commit "$repository" $number
                    echo $number > "$repository/other" && commit "$repository" "another file"
                done
            done
            """
        let made = try RunningProcess.run(["-ec", commands], of: "/bin/bash", in: folder.path)
        try #require(made.status == 0, "\(made.errors)")
        let result = try RunningProcess.run(
            [
                Self.script, "--from", "all", "--every", "1", "--count", "4", "--binary",
                RunningProcess.dictum,
                "--out", "out",
            ], of: "/usr/bin/python3", in: folder.path)
        #expect(result.status == 0, "\(result.errors)")
        for name in ["fires", "hn"] {
            #expect(folder.names(in: "out/histories/\(name)") == (0..<4).map { "\($0).json" })
            for number in 0..<4 {
                #expect(folder.read("out/histories/\(name)/\(number).json") == versions[number])
            }
            #expect(result.text.contains("\n| \(name), bytes | "))
        }
        #expect(result.text.hasPrefix("| response | plain | gzip | br | zstd | dcz, 1 back | dcz, 3 back |"))
        let parsed = try RunningProcess.run(
            ["-c", "import xml.dom.minidom as x; x.parse('out/figures.svg')"], of: "/usr/bin/python3",
            in: folder.path)
        #expect(parsed.status == 0, "\(parsed.errors)")
    }

    @Test func `a folder without histories is an error that names it`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/data", withIntermediateDirectories: true)
        try folder.write(Array("[1]".utf8), to: "data/0.json")
        let result = try RunningProcess.run(
            [Self.script, "--histories", "data", "--binary", RunningProcess.dictum, "--out", "out"],
            of: "/usr/bin/python3", in: folder.path)
        #expect(result.status == 1 && result.errors.contains("no history in data has two versions"))
    }
}
