import Glibc
import Testing

@testable import HTTP

struct ChildProcessTests {
    @Test func `a child does not ignore SIGPIPE, although the program does`() throws {
        signal(SIGPIPE, SIG_IGN)
        let child = try ChildProcess.startPiped(
            "/bin/sh", arguments: ["sh", "-c", "grep SigIgn /proc/self/status >&3"],
            environment: ["PATH": "/usr/bin:/bin"])
        defer { close(child.output) }
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 100)
        while let count = ChildProcess.read(child.output, into: &buffer, within: 60_000), count > 0 {
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        #expect(ChildProcess.end(child.pid, within: 60_000) == 0)
        let mask = try #require(
            text.split(whereSeparator: \.isWhitespace).last.flatMap { UInt64($0, radix: 16) })
        #expect(mask >> UInt64(SIGPIPE - 1) & 1 == 0, "\(text)")
    }
}
