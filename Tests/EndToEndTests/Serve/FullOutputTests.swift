internal import Foundation
internal import TestSupport
internal import Testing

/// What commands say if standard output takes nothing: every write to `/dev/full` fails.
@Suite(.timeLimit(.minutes(40))) struct FullOutputTests {
    /// Runs a command of the program with that output, and expects that it fails.
    private static func expectFailure(_ words: [String], in folder: TemporaryFolder) throws {
        let result = try RunningProcess.run(
            ["-c", "exec \"$0\" \"$@\" >/dev/full", RunningProcess.dictum] + words, of: "/bin/sh",
            in: folder.path,
            environment: ["XDG_CACHE_HOME": folder.path])
        #expect(result.status == 1, "\(words): \(result.errors)")
        #expect(
            result.errors.contains("dictum: cannot write to standard output: No space left on device"),
            "\(words): \(result.errors)")
    }

    @Test(arguments: [
        ["reference"], ["manual"], ["version"], ["check", "--config", "dictum.yaml"],
        ["check", "--config", "dictum.yaml", "--json"], ["estimate", "versions"],
        ["estimate", "versions", "--json"],
        ["conformance", "--only", "first-request", "--", "curl", "-sf"],
        ["demo", "--once", "--listen", "127.0.0.1:0"], ["--help"], ["help", "fetch"], ["--version"],
        ["--generate-completion-script", "bash"],
    ])
    func `a result that is lost is a failure`(words: [String]) throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("upstream: {urls: [\"http://127.0.0.1:9\"]}\n".utf8), to: "dictum.yaml")
        let versions = URL(filePath: folder.file("versions"))
        try FileManager.default.createDirectory(at: versions, withIntermediateDirectories: true)
        for number in 0..<3 {
            try folder.write(Feed.bytes(version: number, items: 40), to: "versions/\(number).json")
        }
        try Self.expectFailure(words, in: folder)
    }

    @Test func `a full pipe that does not block is waited for`() throws {
        let script = """
            import fcntl, os, subprocess, sys, termios
            reader, writer = os.pipe()
            os.set_blocking(writer, False)
            size = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
            child = subprocess.Popen(sys.argv[1:], stdout=writer)
            os.close(writer)
            filled = bytearray(4)
            while child.poll() is None and int.from_bytes(filled, "little") < size:
                fcntl.ioctl(reader, termios.FIONREAD, filled)
            sys.stdout.write(open(reader).read())
            sys.exit(child.wait())
            """
        let result = try RunningProcess.run(
            ["-c", script, RunningProcess.dictum, "reference"], of: "/usr/bin/python3")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.text == RunningProcess.run(["reference"]).text)
    }

    @Test func `so is what a server or a store has said`() throws {
        let origin = try Origin(
            wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                body: Feed.bytes(version: 0, items: 40)))
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        _ = try proxy.curl("/feed")
        for command in [
            ["report"], ["report", "--json"], ["purge", "--path", "/feed", "--dry-run"], ["store", "list"],
            ["store", "list", "--json"], ["store", "verify"], ["store", "rm", "--all", "--dry-run"],
        ] {
            try Self.expectFailure(command + ["--config", "dictum.yaml"], in: proxy.folder)
        }
        for option in [[], ["--json"]] {
            try Self.expectFailure(["fetch", "\(origin.url)/feed"] + option, in: proxy.folder)
        }
    }
}
