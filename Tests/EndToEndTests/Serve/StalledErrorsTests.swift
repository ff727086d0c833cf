internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

/// The service while its standard error is a pipe that nobody reads.
@Suite(.timeLimit(.minutes(40))) struct StalledErrorsTests {
    @Test func `a full standard error stops neither requests, nor the admin listener, nor the end`() throws {
        let folder = try TemporaryFolder()
        let text = """
            listeners: [{address: "unix:\(folder.path)/a.sock"}]
            upstream: {urls: ["http://127.0.0.1:9"]}
            store: {path: ":memory:"}
            admin: {address: "unix:\(folder.path)/admin.sock"}
            """
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        // The texts are terminated, and used during the calls only; the array has as many bytes as are written.
        try #require(unsafe mkfifo(folder.file("errors"), 0o600) == 0)
        let pipe = unsafe open(folder.file("errors"), O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(pipe >= 0)
        defer { close(pipe) }
        for size in [4096, 1] {
            let filler = [UInt8](repeating: 0x78, count: size)
            while unsafe write(pipe, filler, size) > 0 {}
        }
        let process = try RunningProcess(
            ["-c", "exec \"$0\" serve --config dictum.yaml 2>errors", RunningProcess.dictum], of: "/bin/sh",
            in: folder.path)
        defer { process.stop() }
        func status(_ path: String, at socket: String) throws -> String {
            try RunningProcess.run(
                [
                    "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "60",
                    "--unix-socket",
                    folder.file(socket), "http://localhost\(path)",
                ], of: "/usr/bin/env"
            ).text
        }
        try waitUntil("it serves") { try status("/healthz", at: "admin.sock") == "200" }
        for _ in 1...20 { #expect(try status("/feed", at: "a.sock") == "502") }
        process.signal(SIGHUP)
        #expect(try status("/metrics", at: "admin.sock") == "200")
        #expect(try process.terminate().status == 0)
    }
}
