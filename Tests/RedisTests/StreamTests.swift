import Dispatch
import Primitives
import Redis
import TestSupport
import Testing

/// Streams that are followed on a real server.
@Suite(
    .enabled(if: RedisServer.program != nil, Comment(rawValue: RedisServer.absence)), .timeLimit(.minutes(40))
)
struct StreamTests {
    @Test func `entries of several streams come once and in order, the old ones before the new ones`() throws
    {
        let server = try RedisServer()
        for index in 0..<1_200 { try add(server, "news", "\(index)", isLast: index == 1_199) }
        let test = try TestClient(server)
        test.follow("news", "demand")
        try test.waitFor(.caughtUp)
        #expect(test.values == (0..<1_200).map(String.init))
        try server.command("XADD", "demand", "*", "v", "d")
        try test.waitForValues((0..<1_200).map(String.init) + ["d"])
        guard case .entries(let stream, _)? = test.seen.last else {
            Issue.record("no entries at the end: \(test.seen)")
            return
        }
        #expect(stream == 1)
    }

    /// Adds entries many at a time, by a script, since redis-cli takes milliseconds each.
    private func add(_ server: RedisServer, _ stream: String, _ value: String, isLast: Bool) throws {
        guard isLast else { return }
        try server.command(
            "EVAL", "for i = 0, tonumber(ARGV[1]) do redis.call('XADD', KEYS[1], '*', 'v', i) end return 1",
            "1", stream, value)
    }

    @Test func `kill -9 between two entries loses none that the server kept, and repeats all`() throws {
        let server = try RedisServer(["--appendonly", "yes", "--appendfsync", "always"])
        let test = try TestClient(server)
        test.follow("news")
        try test.waitFor(.caughtUp)
        try server.command("XADD", "news", "*", "v", "one")
        try test.waitForValues(["one"])
        server.kill()
        try test.waitFor(.interrupted)
        try server.start()
        try server.command("XADD", "news", "*", "v", "two")
        // Another process may know less than the former one, so everything comes again.
        try test.waitFor(.restarted(stream: 0))
        try test.waitForValues(["one", "one", "two"])
        try test.waitFor(.caughtUp, count: 2)
    }

    @Test func `a lost connection continues behind the last entry`() throws {
        let server = try RedisServer()
        let test = try TestClient(server)
        test.follow("news")
        try test.waitFor(.caughtUp)
        #expect(test.client.counts.commands["error"] == nil, "a stream that nobody has made is no error")
        #expect(!test.warnings.contains { $0.contains("no such key") })
        try server.command("XADD", "news", "*", "v", "one")
        try test.waitForValues(["one"])
        try server.command("CLIENT", "KILL", "TYPE", "normal")
        try test.waitFor(.resumed)
        try server.command("XADD", "news", "*", "v", "two")
        try test.waitForValues(["one", "two"])
        // The receiver may not trust what it knows between the two.
        try test.waitFor(.caughtUp, count: 2)
    }

    @Test func `a receiver that was behind when its connection was lost hears of each entry once`() throws {
        let server = try RedisServer()
        let test = try TestClient(server)
        let queue = DispatchQueue(label: "a busy receiver")
        test.follow("news", on: queue)
        try test.waitFor(.caughtUp)
        func waitForRead(_ isWaiting: Bool) throws {
            try waitUntil("a read waits: \(isWaiting)") {
                try server.command("INFO", "clients").contains("blocked_clients:\(isWaiting ? 1 : 0)")
            }
        }
        try waitForRead(true)
        queue.suspend()
        try server.command("XADD", "news", "*", "v", "one")
        try waitForRead(false)
        try server.command("CLIENT", "KILL", "TYPE", "normal")
        try waitForRead(true)
        // Now it asks for more, of a connection that has gone.
        queue.resume()
        try test.waitForValues(["one"])
        for value in ["two", "three", "four"] {
            try server.command("XADD", "news", "*", "v", value)
            try waitUntil("\(value): \(test.values)") { test.values.last == value }
        }
        #expect(test.values == ["one", "two", "three", "four"])
    }

    @Test func `FLUSHALL is noticed, with entries behind it and without`() throws {
        let server = try RedisServer()
        let test = try TestClient(server)
        test.follow("news")
        try test.waitFor(.caughtUp)
        for value in ["one", "two"] { try server.command("XADD", "news", "*", "v", value) }
        try test.waitForValues(["one", "two"])
        try server.command("FLUSHALL")
        try test.waitFor(.restarted(stream: 0))
        try server.command("XADD", "news", "*", "v", "three")
        try test.waitForValues(["one", "two", "three"])
        try server.command("XADD", "news", "*", "v", "four")
        try test.waitForValues(["one", "two", "three", "four"])
        try server.command("EVAL", "redis.call('FLUSHALL') redis.call('XADD', 'news', '*', 'v', 'five')", "0")
        try test.waitFor(.restarted(stream: 0), count: 2)
        try waitUntil("the new entry: \(test.values)") { test.values.last == "five" }
    }

    @Test func `a stream whose last entry was deleted is read to its end`() throws {
        let server = try RedisServer()
        try server.command("XADD", "news", "1-1", "v", "one")
        try server.command("XADD", "news", "2-1", "v", "two")
        try server.command("XDEL", "news", "2-1")
        let test = try TestClient(server)
        test.follow("news")
        try waitUntil("the end: \(test.seen)") { test.seen.contains(.caughtUp) }
        #expect(test.values == ["one"])
    }

    @Test func `entries that are too large together are read a few at a time`() throws {
        let server = try RedisServer()
        try server.command(
            "EVAL",
            """
            for i = 1, 400 do redis.call('XADD', KEYS[1], i .. '-1', 'v', string.rep('x', 100000)) end return 1
            """, "1", "news")
        let test = try TestClient(server)
        test.follow("news")
        try waitUntil("the end") { test.seen.contains(.caughtUp) }
        #expect(test.values.map(\.utf8.count) == Array(repeating: 100_000, count: 400))
    }

    @Test func `an entry that is larger than any of Dictum's is passed over`() throws {
        let server = try RedisServer()
        try server.command("XADD", "news", "1-1", "v", "before")
        try server.command(
            "EVAL", "return redis.call('XADD', KEYS[1], '2-1', 'v', string.rep('x', 30000000), 'w', 'small')",
            "1",
            "news")
        try server.command("XADD", "news", "3-1", "v", "after")
        let test = try TestClient(server)
        test.follow("news")
        try test.waitFor(.caughtUp)
        #expect(test.values == ["before", "small", "after"])
    }

    @Test func `a receiver that is slow is not handed more than it takes`() throws {
        let server = try RedisServer()
        try add(server, "news", "999", isLast: true)
        let test = try TestClient(server)
        let queue = DispatchQueue(label: "a slow receiver")
        queue.suspend()
        test.follow("news", on: queue)
        try waitUntil("the first read") { try reads(server) == 1 }
        for _ in 0..<200 { _ = try test.ask(RedisCommand("PING")) }
        #expect(try reads(server) == 1 && test.seen.isEmpty)
        queue.resume()
        try test.waitFor(.caughtUp)
        #expect(test.values == (0..<1_000).map(String.init))
    }

    private func reads(_ server: RedisServer) throws -> Int {
        let line = try server.command("INFO", "commandstats").split(whereSeparator: \.isNewline)
            .first { $0.hasPrefix("cmdstat_xread:calls=") }
        return line.flatMap { Int($0.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }) } ?? 0
    }

    /// A client that may be gone.
    private struct Trace {
        weak var client: RedisClient?
    }

    @Test func `nothing keeps an ended client that followed a stream`() throws {
        let server = try RedisServer()
        try add(server, "news", "9", isLast: true)
        let queue = DispatchQueue(label: "a slow receiver")
        queue.suspend()
        let ended = try endedClient(of: server, on: queue)
        // Its follower would go on now.
        queue.resume()
        try waitUntil("the client is gone", seconds: 60) { ended.client == nil }
    }

    /// Follows a stream until entries wait for the receiver, and ends the client.
    private func endedClient(of server: RedisServer, on queue: DispatchQueue) throws -> Trace {
        let test = try TestClient(server)
        test.follow("news", on: queue)
        try waitUntil("the first read") { try reads(server) == 1 }
        for _ in 0..<200 { _ = try test.ask(RedisCommand("PING")) }
        return Trace(client: test.client)
    }

    @Test func `entries say when they were appended, however late they are read or handled`() throws {
        let server = try RedisServer()
        try server.command("XADD", "news", "*", "v", "before")
        let test = try TestClient(server)
        let queue = DispatchQueue(label: "a busy receiver")
        test.follow("news", "demand", on: queue)
        try test.waitFor(.caughtUp)
        /// Appends an entry; returns a time before and one after.
        func append(_ stream: String, _ value: String) throws -> [Int64] {
            let start = SystemClock.unixMilliseconds
            // The position is that of a server or writer whose clock is ahead.
            let id = "\(start + 86_400_000)-*"
            try server.command("XADD", stream, stream == "news" ? id : "*", "v", value)
            return [start, SystemClock.unixMilliseconds]
        }
        try waitUntil("a read waits") {
            try server.command("INFO", "clients").contains("blocked_clients:1")
        }
        queue.suspend()
        let first = try append("news", "first")
        for _ in 0..<200 { _ = try test.ask(RedisCommand("PING")) }
        let second = try append("demand", "second")
        queue.resume()
        try test.waitForValues(["before", "first", "second"])
        let appended = test.entries.map(\.appended)
        #expect(appended[0] == nil)
        for (range, times) in zip(appended.dropFirst(), [first, second]) {
            let range = try #require(range)
            #expect(range.lowerBound <= times[1] && range.upperBound >= times[0])
        }
        #expect(try #require(appended[1]).upperBound <= second[0])
        try server.command(
            "EVAL", "redis.call('FLUSHALL') redis.call('XADD', 'news', '*', 'v', 'third')", "0")
        try waitUntil("it is read as one that may be old: \(test.seen)") {
            test.values.last == "third" && test.entries.last?.appended == nil
        }
    }

    @Test func `an entry that is larger than a reply may be is skipped, and those behind it come`() throws {
        let server = try RedisServer()
        let test = try TestClient(server)
        test.follow("news")
        try test.waitFor(.caughtUp)
        let script = """
            local fields = {}
            for i = 1, 18 do fields[2 * i - 1] = 'f' .. i; fields[2 * i] = string.rep('x', 1200000) end
            return redis.call('XADD', KEYS[1], '*', unpack(fields))
            """
        try server.command("EVAL", script, "1", "news")
        try server.command("XADD", "news", "*", "v", "behind it")
        try test.waitForValues(["behind it"])
        #expect(!test.seen.contains(.interrupted))
    }

    @Test func `a server whose streams cannot be read does not seem to come and go`() throws {
        let server = try RedisServer()
        try server.command("XADD", "news", "*", "v", "one")
        try server.command("ACL", "SETUSER", "dictum", "on", ">pw", "~*", "+@all", "-xread")
        var settings = RedisSettings(address: .unix(path: server.socket))
        (settings.user, settings.password) = ("dictum", "pw")
        let test = try TestClient(settings)
        test.follow("news")
        try test.waitForReport("FLEET.md")
        // Two connections for commands, and the others for the stream.
        try waitUntil("the stream is tried again") { test.client.counts.connections >= 6 }
        #expect(test.reports.count { $0.contains("not available") } == 1, "\(test.reports)")
        #expect(!test.reports.contains { $0.contains("available again") })
    }

    @Test func `a restart with an old snapshot is noticed`() throws {
        let server = try RedisServer()
        let test = try TestClient(server)
        test.follow("news")
        try test.waitFor(.caughtUp)
        try server.command("XADD", "news", "*", "v", "kept")
        try server.command("SAVE")
        try server.command("XADD", "news", "*", "v", "forgotten")
        try test.waitForValues(["kept", "forgotten"])
        server.kill()
        try server.start()
        try test.waitFor(.restarted(stream: 0))
        try test.waitForValues(["kept", "forgotten", "kept"])
    }
}
