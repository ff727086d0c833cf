internal import Foundation
internal import TestSupport
internal import Testing

private let old = Feed.bytes(version: 0, items: 40)
private let new = Feed.bytes(version: 1, items: 40)

/// Tests which requests refresh `last_wanted`, which decides about eviction and `max_age`.
@Suite(.timeLimit(.minutes(40))) struct LastWantedTests {
    /// A folder whose store has the old version of `/feed`, last wanted long ago.
    private func folderWithOld(_ settings: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(old, to: "old")
        let proxy = try ServedProxy(Origin(storable(old, "ETag: \"1\"")), in: folder, settings)
        #expect(try proxy.curl("/feed").carries(old))
        #expect(try proxy.process.terminate().status == 0)
        try run("UPDATE version SET admitted = 1000, last_wanted = 1000, max_age = 1000000000000", in: folder)
        return folder
    }

    private func run(_ sql: String, in folder: TemporaryFolder) throws {
        let result = try RunningProcess.run(
            ["sqlite3", "store.sqlite", sql], of: "/usr/bin/env", in: folder.path)
        try #require(result.status == 0)
    }

    /// When the old version was last wanted, once a proxy before the upstream has done something and ended.
    private func lastWanted(
        before origin: Origin, _ settings: String = "", in folder: TemporaryFolder,
        after act: (ServedProxy) throws -> Void
    ) throws -> Int {
        let proxy = try ServedProxy(origin, in: folder, settings)
        try act(proxy)
        #expect(try proxy.process.terminate().status == 0)
        let text = try proxy.sqlite("SELECT last_wanted FROM version WHERE admitted = 1000")
        return try #require(Int(text))
    }

    private var now: Int { Int(Date().timeIntervalSince1970) }

    @Test func `a version that nobody advertises, offers or answers with is not wanted`() throws {
        let folder = try folderWithOld("")
        let wanted = try lastWanted(before: Origin(storable(new)), in: folder) {
            (proxy: ServedProxy) throws in
            #expect(try proxy.curl("/feed").carries(new))
            #expect(try proxy.curl("/other").carries(new))
        }
        #expect(wanted == 1000)
    }

    @Test func `a version that a client advertises is wanted`() throws {
        let folder = try folderWithOld("")
        let start = now
        let wanted = try lastWanted(before: Origin(storable(new)), in: folder) {
            (proxy: ServedProxy) throws in
            _ = try proxy.delta("/feed", "dcz", over: "old")
        }
        #expect(wanted >= start)
    }

    @Test func `a version that is the upstream's body and offered is wanted`() throws {
        let folder = try folderWithOld("")
        let start = now
        let wanted = try lastWanted(before: Origin(storable(old, "ETag: \"1\"")), in: folder) {
            (proxy: ServedProxy) throws in
            #expect(try proxy.curl("/feed").head["Use-As-Dictionary"] != nil)
        }
        #expect(wanted >= start)
    }

    @Test func `a version that is offered with a 304 is wanted`() throws {
        let folder = try folderWithOld("")
        let start = now
        let unmodified = wire("HTTP/1.1 304 Not Modified", "ETag: \"1\"")
        let wanted = try lastWanted(before: Origin(unmodified), in: folder) { (proxy: ServedProxy) throws in
            let answer = try proxy.curl("/feed", "-H", "If-None-Match: \"1\"")
            #expect(answer.head["Use-As-Dictionary"] != nil)
        }
        #expect(wanted >= start)
    }

    @Test func `a version that is the upstream's body again, with another tag, is wanted and not new`() throws
    {
        let folder = try folderWithOld("")
        let start = now
        let wanted = try lastWanted(before: Origin(storable(old, "ETag: \"2\"")), in: folder) {
            (proxy: ServedProxy) throws in
            #expect(try proxy.curl("/feed").carries(old))
        }
        #expect(wanted >= start)
    }

    @Test func `a version that is not wanted for max_age is gone, one that was advertised since is not`()
        throws
    {
        let folder = try folderWithOld("")
        try run("UPDATE version SET max_age = \(now - 1000 + 3600)", in: folder)
        let proxy = try ServedProxy(Origin(storable(new)), in: folder)
        _ = try proxy.delta("/feed", "dcz", over: "old")
        #expect(try proxy.process.terminate().status == 0)
        try run("UPDATE version SET max_age = 1, last_wanted = 1000 WHERE admitted = 1000", in: folder)
        let later = try ServedProxy(Origin(storable(new)), in: folder)
        // The sweep comes within a second or so.
        try waitUntil("the sweep has removed the version") {
            try later.sqlite("SELECT count(*) FROM version WHERE admitted = 1000") == "0"
        }
        #expect(try later.curl("/feed", "dcz", over: "old").head["Content-Encoding"] == nil)
    }

    @Test func `a body that cannot be had in time is told as cold, and the answer goes out without it`()
        throws
    {
        let folder = try folderWithOld("")
        try run("UPDATE body SET bytes = zeroblob(length(bytes))", in: folder)
        let proxy = try ServedProxy(Origin(storable(new)), in: folder, "explain: true")
        let first = try proxy.curl("/feed", "dcz, gzip;q=0", over: "old")
        #expect(first.carries(new))
        #expect(first.head["Dictum-Explain"]?.contains("reason=dictionary-cold") == true)
    }
}
