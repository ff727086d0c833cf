internal import TestSupport
internal import Testing

private let old = Feed.bytes(version: 0, items: 850)

/// Tests stored responses that the upstream confirms, across restarts and damage.
@Suite(.timeLimit(.minutes(40))) struct RevalidationOnDiskTests {
    private let route = #"routes: [{match: "/*", dictionary: {revalidate: true}}]"#

    private func origin() throws -> Origin {
        try Origin { request, connection in
            let isKnown = request["If-None-Match"] == #""v1""#
            connection.send(
                isKnown
                    ? wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#)
                    : storable(old, #"ETag: "v1""#, "X-Kept: yes"))
        }
    }

    /// Serves the response once, and waits until it is on disk.
    private func servedOnce(_ folder: TemporaryFolder) throws {
        let proxy = try ServedProxy(origin(), in: folder, route)
        #expect(try proxy.curl("/feed").carries(old))
        #expect(try proxy.process.terminate().status == 0)
    }

    @Test func `a body that is damaged on disk has the request sent again without condition`() throws {
        let folder = try TemporaryFolder()
        try servedOnce(folder)
        let zeros = try RunningProcess.run(
            ["sqlite3", "store.sqlite", "UPDATE body SET bytes = zeroblob(length(bytes))"],
            of: "/usr/bin/env", in: folder.path)
        try #require(zeros.status == 0)
        let proxy = try ServedProxy(origin(), in: folder, route)
        #expect(try proxy.curl("/feed").carries(old))
        #expect(proxy.origin.requests.map { $0["If-None-Match"] } == [#""v1""#, nil])
    }

    @Test(arguments: ["x''", "x'00'", "zeroblob(9000)", "CAST('HTTP/1.1 200 OK' AS BLOB)"])
    func `a head that is damaged on disk is none`(blob: String) throws {
        let folder = try TemporaryFolder()
        try servedOnce(folder)
        let change = try RunningProcess.run(
            ["sqlite3", "store.sqlite", "UPDATE version SET head = \(blob)"], of: "/usr/bin/env",
            in: folder.path)
        try #require(change.status == 0)
        let proxy = try ServedProxy(origin(), in: folder, route)
        #expect(try proxy.curl("/feed").carries(old))
        #expect(proxy.origin.requests.map { $0["If-None-Match"] } == [nil])
    }

    @Test func `after a restart head and body are read from disk, off the loop`() throws {
        let folder = try TemporaryFolder()
        try servedOnce(folder)
        let proxy = try ServedProxy(origin(), in: folder, route)
        // A body that is not read in time has the request go on without a condition, and is there for a later one.
        try waitUntil("the upstream is asked about the response") {
            let answer = try proxy.curl("/feed")
            #expect(answer.carries(old))
            #expect(answer.head["X-Kept"] == "yes")
            return proxy.origin.requests.last?["If-None-Match"] == #""v1""#
        }
    }

    @Test func `a route that asks no more uses no head, and writes none`() throws {
        let folder = try TemporaryFolder()
        try servedOnce(folder)
        let proxy = try ServedProxy(origin(), in: folder)
        #expect(try proxy.curl("/feed").carries(old))
        #expect(proxy.origin.requests.map { $0["If-None-Match"] } == [nil])
        #expect(try proxy.curl("/other").carries(old))
        try waitUntil("two versions are on disk") {
            try proxy.sqlite("SELECT count(*) FROM version") == "2"
        }
        #expect(try proxy.sqlite("SELECT count(head) FROM version") == "1")
    }
}
