internal import Dictionaries
internal import Foundation
internal import Glibc
internal import Storage
internal import TestSupport
internal import Testing

private let old = Feed.bytes(version: 0, items: 850)
private let new = Feed.bytes(version: 1, items: 850)

/// Tests several processes on one store: proxies during a hand-over, and commands.
@Suite(.timeLimit(.minutes(40))) struct StoreHandOverTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(old, to: "old")
    }

    /// Sends requests until the response is a delta over `old`, or until it is not.
    private func wait(_ proxy: ServedProxy, untilDelta isDelta: Bool) throws {
        try waitUntil(isDelta ? "a delta over the old version" : "no delta over the old version") {
            try (proxy.curl("/feed", "dcz", over: "old").head["Content-Encoding"] == "dcz") == isDelta
        }
    }

    private func store(_ arguments: String...) throws -> ProcessResult {
        try RunningProcess.run(["store"] + arguments + ["--store", "\(folder.path)/store.sqlite"])
    }

    @Test func `a second proxy reads the store and waits for its turn, however the first ends`() throws {
        let first = try ServedProxy(Origin(storable(old)), in: folder)
        #expect(try first.curl("/feed").carries(old))
        try waitUntil("the first has written") { try first.sqlite("SELECT count(*) FROM version") == "1" }
        let second = try ServedProxy(Origin(storable(new)), in: folder)
        try wait(second, untilDelta: true)
        // A client without a dictionary is offered the new body, which becomes a version as well.
        #expect(try second.curl("/feed").carries(new))
        let line = try second.process.waitFor("this process keeps new dictionaries in memory only")
        #expect(line.contains("process \(first.process.pid) writes the store"))
        #expect(try first.process.terminate().status == 0)
        try waitUntil("the second has written what it had in memory") {
            try second.sqlite("SELECT count(*) FROM version") == "2"
        }
        let third = try ServedProxy(Origin(storable(new)), in: folder)
        try wait(third, untilDelta: true)
        second.process.stop()
        _ = try second.process.result()
        #expect(try third.curl("/feed", "dcb", over: "old").head["Content-Encoding"] == "dcb")
        #expect(try third.process.terminate().status == 0)
        #expect(try third.sqlite("PRAGMA integrity_check") == "ok")
        #expect(try third.sqlite("SELECT count(*), count(DISTINCT body) FROM version") == "2|2")
        #expect(!folder.names().contains { $0.contains("damaged") })
    }

    @Test func `what is offered up to a hand-over, and after it, survives kill -9 of the successor`() throws {
        let proxy = try ServedProxy(Origin([storable(old), storable(new)]), in: folder)
        #expect(try proxy.curl("/feed").carries(old))
        // The hand-over begins while the admitted version is still being written.
        proxy.process.signal(SIGUSR2)
        let accepts = try proxy.process.waitFor("has taken over").firstMatch(
            of: /process ([0-9]+) has taken over/)
        let pid = try #require(accepts.flatMap { pid_t($0.output.1) })
        try wait(proxy, untilDelta: true)
        // A client without a dictionary is offered the new body, which becomes a version as well.
        #expect(try proxy.curl("/feed").carries(new))
        #expect(try proxy.process.result().status == 0)
        try waitUntil("the successor has written") {
            try proxy.sqlite("SELECT count(*) FROM version") == "2"
        }
        kill(pid, SIGKILL)
        try waitUntil("process \(pid) has ended") { kill(pid, 0) != 0 && errno == ESRCH }
        let next = try ServedProxy(Origin(storable(new)), in: folder)
        try wait(next, untilDelta: true)
        #expect(try next.process.terminate().status == 0)
    }

    @Test func `rm takes effect in the running proxy`() throws {
        let proxy = try ServedProxy(Origin([storable(old), storable(new)]), in: folder)
        #expect(try proxy.curl("/feed").carries(old))
        try wait(proxy, untilDelta: true)
        let digest = Body(old).digest.hex
        // The index in memory may be ahead of the disk.
        try waitUntil("the version is on disk") { try store("show", digest).status == 0 }
        #expect(try store("rm", digest).status == 0)
        try wait(proxy, untilDelta: false)
        #expect(try proxy.curl("/feed").carries(new), "and all else goes on")
        #expect(try store("verify").status == 0)
        #expect(try proxy.process.terminate().status == 0)
    }

    @Test func `the commands work beside a proxy, and change nothing that it has`() throws {
        let proxy = try ServedProxy(Origin(storable(old)), in: folder)
        #expect(try proxy.curl("/feed").carries(old))
        let digest = Body(old).digest.hex
        try waitUntil("the version is on disk") { try store("show", digest).status == 0 }
        #expect(try store("export", digest).output == old)
        #expect(try store("list").text.contains("1 chain, 1 version"))
        #expect(try store("prune").text.contains("0 versions removed"))
        #expect(try proxy.curl("/feed").carries(old))
        #expect(try proxy.process.terminate().errors.contains("error") == false)
    }

    @Test func `a store that another process locks costs nothing but its durability, for that time`() throws {
        let proxy = try ServedProxy(Origin([storable(old), storable(new), storable(new)]), in: folder)
        let lock = try RunningProcess(
            [
                "-c",
                "{ echo 'BEGIN EXCLUSIVE; SELECT 1234;'; while [ ! -e \(folder.path)/done ]; do sleep 0.1; done; } "
                    + "| sqlite3 \(folder.path)/store.sqlite",
            ], of: "/bin/bash")
        _ = try lock.waitFor("1234")
        #expect(try proxy.curl("/feed").carries(old))
        #expect(try proxy.curl("/feed", "dcz", over: "old").head["Content-Encoding"] == "dcz", "from memory")
        // A client without a dictionary is offered the new body, which becomes a version as well.
        #expect(try proxy.curl("/feed").carries(new))
        _ = try proxy.process.waitFor("cannot be written")
        try folder.write([], to: "done")
        _ = try lock.result()
        _ = try proxy.process.waitFor("can be written again")
        #expect(try proxy.sqlite("SELECT count(*) FROM version") == "2")
    }
}
