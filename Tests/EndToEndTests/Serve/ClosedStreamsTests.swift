internal import Foundation
internal import TestSupport
internal import Testing

/// What happens if the caller has closed the standard streams, as `>&-` does in a shell.
@Suite(.timeLimit(.minutes(40))) struct ClosedStreamsTests {
    @Test(arguments: [">&- 2>&-", "<&- >&- 2>&-"])
    func `no file of the proxy takes the place of a stream, so that none gets the log`(closed: String) throws
    {
        let origin = try Origin(wire("HTTP/1.1 200 OK", "Content-Length: 1") + [0x78])
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let text = """
            listeners: [{address: "127.0.0.1:0"}]
            upstream: {urls: ["http://127.0.0.1:\(origin.port)"]}
            store: {path: "\(folder.path)/d.sqlite"}
            admin: off
            """
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        let process = try RunningProcess(
            [
                "-c", "exec \"$0\" \"$@\" \(closed)", RunningProcess.dictum, "serve", "--config",
                "\(folder.path)/dictum.yaml",
            ], of: "/bin/sh")
        defer { process.stop() }
        // It cannot tell its port.
        var port: UInt16?
        try waitUntil("it listens") {
            port = try listeningPorts(of: process.pid).first
            return port != nil
        }
        for stream in 1...2 {
            let place = "/proc/\(process.pid)/fd/\(stream)"
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place) == "/dev/null")
        }
        let client = try WireSocket(port: try #require(port))
        for _ in 1...3 { #expect(try client.get("/feed").status == 200) }
        #expect(try process.terminate().status == 0)
        // The end has written what was left of the log.
        #expect(folder.read("d.sqlite.lock") == Array("\(process.pid)\n".utf8))
    }
}
