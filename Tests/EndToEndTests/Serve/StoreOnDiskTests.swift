internal import Foundation
internal import TestSupport
internal import Testing

private let old = Feed.bytes(version: 0, items: 850)
private let new = Feed.bytes(version: 1, items: 850)

/// Tests the store when the program, the file or the disk fails.
@Suite(.timeLimit(.minutes(40))) struct StoreOnDiskTests {
    /// Serves the old version once, and waits until its row is on disk.
    private func servedOnce(_ folder: TemporaryFolder) throws -> ServedProxy {
        let proxy = try ServedProxy(Origin(storable(old)), in: folder)
        #expect(try proxy.curl("/feed").carries(old))
        try waitUntil("the version is on disk") { try proxy.sqlite("SELECT count(*) FROM version") == "1" }
        try folder.write(old, to: "old")
        return proxy
    }

    @Test func `what was admitted outlives kill -9`() throws {
        let folder = try TemporaryFolder()
        let first = try servedOnce(folder)
        first.process.stop()
        #expect(try first.process.result().status == 128 + 9)
        let proxy = try ServedProxy(Origin(storable(new)), in: folder)
        #expect(try proxy.sqlite("PRAGMA integrity_check") == "ok")
        #expect(try proxy.delta("/feed", "dcz", over: "old").body.count * 20 < new.count)
    }

    @Test func `what was admitted outlives SIGTERM, however soon it comes`() throws {
        let folder = try TemporaryFolder()
        try folder.write(old, to: "old")
        let first = try ServedProxy(Origin(storable(old)), in: folder)
        #expect(try first.curl("/feed").carries(old))
        #expect(try first.process.terminate().status == 0)
        let second = try ServedProxy(Origin(storable(new)), in: folder)
        #expect(try second.delta("/feed", "dcb", over: "old").body.count * 20 < new.count)
    }

    @Test func `a store that is no database any more is set aside, and the proxy serves`() throws {
        let folder = try TemporaryFolder()
        let first = try servedOnce(folder)
        #expect(try first.process.terminate().status == 0)
        try folder.write(Noise.bytes(40_960, seed: 1), to: "store.sqlite")
        let proxy = try ServedProxy(Origin([storable(old), storable(new)]), in: folder)
        #expect(try proxy.curl("/feed").carries(old))
        try folder.write(old, to: "old")
        #expect(try proxy.curl("/feed", "dcz", over: "old").head["Content-Encoding"] == "dcz")
        #expect(folder.names().contains { $0.hasPrefix("store.sqlite.damaged-") }, "nothing is lost")
        #expect(try proxy.process.terminate().errors.contains("damaged"))
    }

    @Test func `a body that was changed on disk is never used`() throws {
        let folder = try TemporaryFolder()
        let first = try servedOnce(folder)
        #expect(try first.process.terminate().status == 0)
        let zeros = try RunningProcess.run(
            ["sqlite3", "store.sqlite", "UPDATE body SET bytes = zeroblob(length(bytes))"],
            of: "/usr/bin/env",
            in: folder.path)
        try #require(zeros.status == 0)
        let proxy = try ServedProxy(Origin(storable(new)), in: folder)
        let answer = try proxy.curl("/feed", "dcz, dcb", over: "old")
        #expect(answer.head["Content-Encoding"] == nil)
        #expect(answer.carries(new))
    }

    @Test func `a full disk costs durability, not answers`() throws {
        let folder = try TemporaryFolder()
        try folder.write(old, to: "old")
        let proxy = try ServedProxy(
            Origin([storable(old), storable(new)]), in: folder,
            launcher: ["/bin/bash", "-c", "trap '' XFSZ; exec \"$@\"", "bash"])
        // A file-size limit below one version imitates a full disk. It is set only now, since the thread sanitizer
        // writes a file as it starts.
        let limited = try RunningProcess.run(
            ["--pid", "\(proxy.process.pid)", "--fsize=\(128 << 10)"], of: "/usr/bin/prlimit")
        try #require(limited.status == 0)
        #expect(try proxy.curl("/feed").carries(old))
        let delta = try proxy.curl("/feed", "dcz", over: "old")
        #expect(delta.head["Content-Encoding"] == "dcz", "from memory")
        #expect(try proxy.process.waitFor("cannot be written").contains("store.sqlite"))
        #expect(try proxy.process.terminate().status == 0)
    }

    @Test func `a store that belongs to another program is refused, and left alone`() throws {
        let folder = try TemporaryFolder()
        let made = try RunningProcess.run(
            ["sqlite3", "store.sqlite", "CREATE TABLE other (a); INSERT INTO other VALUES (1)"],
            of: "/usr/bin/env", in: folder.path)
        try #require(made.status == 0)
        let before = folder.read("store.sqlite")
        let result = try RunningProcess.run(
            [
                "serve", "--upstream", "http://127.0.0.1:9", "--listen", "127.0.0.1:0", "--store",
                "\(folder.path)/store.sqlite",
            ])
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1)
        #expect(folder.read("store.sqlite") == before)
    }

    @Test func `a wrong path is refused by check and by each start, and what is there stays`() throws {
        let folder = try TemporaryFolder()
        let program = Array("print('mine')\n".utf8)
        try folder.write(program, to: "some.py")
        try folder.write(
            Array(
                """
                listeners: [{address: "127.0.0.1:0"}]
                admin: off
                upstream: {urls: ["http://127.0.0.1:9"]}
                store: {path: "\(folder.path)/some.py"}
                """.utf8), to: "dictum.yaml")
        let file = "\(folder.path)/dictum.yaml"
        let check = try RunningProcess.run(["check", "--config", file])
        #expect(check.status == 78)
        #expect(check.errors.contains("dictum.yaml:4:15: store.path: "), "\(check.errors)")
        for _ in 0..<2 {
            let start = try RunningProcess.run(["serve", "--config", file])
            #expect(start.status == 1)
            #expect(start.errors.contains("some.py is no store of Dictum"), "\(start.errors)")
        }
        #expect(folder.names() == ["dictum.yaml", "some.py"], "no key and no lock beside it")
        #expect(folder.read("some.py") == program)
    }
}
