import Primitives
import Testing

@testable import Redis

/// The decisions of the client that need no server.
struct DecisionTests {
    // MARK: The breaker

    @Test func `five time-outs in a row open the breaker, and a reply in between starts the count again`() {
        var breaker = CircuitBreaker()
        breaker.beginTrial()
        let probes = (0..<CircuitBreaker.probeCount).map { _ in breaker.noteProbe(now: 0) }
        #expect(probes == [false, false, true])
        #expect(breaker.state == .closed)
        let few = (1..<CircuitBreaker.timeoutsMax).map { _ in breaker.noteTimeout() }
        breaker.noteReply()
        let more = (0..<CircuitBreaker.timeoutsMax).map { _ in breaker.noteTimeout() }
        #expect(few + more == Array(repeating: false, count: 8) + [true])
        breaker.open(now: 1)
        #expect(breaker.state == .open)
        let late = breaker.noteTimeout()
        #expect(!late, "an open breaker counts nothing")
    }

    @Test func `after each outage three probes are needed again`() {
        var breaker = CircuitBreaker()
        for outage in 0..<2 {
            breaker.beginTrial()
            let probes = (0..<CircuitBreaker.probeCount).map { _ in breaker.noteProbe(now: 0) }
            #expect(probes == [false, false, true], "outage \(outage)")
            breaker.open(now: 1)
        }
    }

    @Test func `pauses double up to ten seconds, and half of each is spread`() {
        var breaker = CircuitBreaker()
        breaker.open(now: 0)
        #expect(breaker.pause(chance: 0) == 50)
        #expect(breaker.pause(chance: 1) == 100)
        var pauses: [Int64] = []
        // An outage of a day, in which the clock goes on.
        for step in 0..<80 {
            breaker.open(now: Int64(step) * CircuitBreaker.longestPause)
            pauses.append(breaker.pause(chance: 1))
        }
        #expect(pauses.prefix(4) == [200, 400, 800, 1_600])
        #expect(pauses.dropFirst(8).allSatisfy { $0 == CircuitBreaker.longestPause })
    }

    @Test func `a server that was well for ten seconds starts with short pauses again`() {
        var breaker = CircuitBreaker()
        for _ in 0..<9 { breaker.open(now: 0) }
        breaker.beginTrial()
        for _ in 0..<CircuitBreaker.probeCount { _ = breaker.noteProbe(now: 1_000) }
        var early = breaker
        early.open(now: 10_999)
        #expect(early.pause(chance: 1) == 10_000)
        breaker.open(now: 11_000)
        #expect(breaker.pause(chance: 1) == 100)
    }

    // MARK: The deadline

    @Test func `the deadline follows the slowest hundredth of the replies, from 5 ms to the setting`() {
        var quantile = LatencyQuantile()
        #expect(quantile.deadline(longest: 20) == 20, "nothing is known yet")
        for _ in 0..<100 { quantile.add(microseconds: 200) }
        #expect(quantile.deadline(longest: 20) == 5)
        for _ in 0..<2_000 { quantile.add(microseconds: 2_500) }
        #expect(11...13 ~= quantile.deadline(longest: 20))
        for _ in 0..<2_000 { quantile.add(microseconds: 50_000) }
        #expect(quantile.deadline(longest: 20) == 20)
        for _ in 0..<5_000 { quantile.add(microseconds: 200) }
        #expect(quantile.deadline(longest: 20) == 5, "old replies fade")
        #expect(quantile.deadline(longest: 3) == 3, "the setting is the most")
        var few = LatencyQuantile()
        for _ in 0..<19 { few.add(microseconds: 200) }
        #expect(few.deadline(longest: 20) == 20, "too few to tell")
        few.add(microseconds: 200)
        #expect(few.deadline(longest: 20) == 5)
        var mixed = LatencyQuantile()
        for number in 0..<100 { mixed.add(microseconds: number < 98 ? 200 : 2_500) }
        #expect(11...13 ~= mixed.deadline(longest: 20), "two of a hundred are slow")
        var single = LatencyQuantile()
        for number in 0..<100 { single.add(microseconds: number < 99 ? 200 : 2_500) }
        #expect(single.deadline(longest: 20) == 5, "one of a hundred is slow")
    }

    @Test func `replies that take longer than any bound make the deadline long, not short`() {
        var quantile = LatencyQuantile()
        for _ in 0..<100 { quantile.add(microseconds: 3_000_000) }
        #expect(quantile.deadline(longest: 60_000) > 10_000)
    }

    // MARK: Counts

    @Test func `error codes that a server makes up count together`() {
        var statistics = RedisStatistics()
        statistics.count([Self.error("OOM"), Self.error("STRANGE"), Self.error("ODD")])
        #expect(statistics.errors == ["OOM": 1, "other": 2])
    }

    @Test func `each command counts once by its result, and a key that is missing is no error`() {
        var statistics = RedisStatistics()
        statistics.count([.null, Self.error("ERR", "no such key"), Self.error("OOM")])
        statistics.count(.busy, 3)
        statistics.count(.timedOut, 2)
        #expect(statistics.commands == ["ok": 2, "error": 1, "busy": 3, "timeout": 2])
        #expect(statistics.errors == ["OOM": 1])
    }

    @Test func `a reply counts in the bucket whose bound it does not exceed`() {
        var latency = LatencyHistogram()
        for microseconds in [100, 101, 2_000_000, 2_000_001] { latency.add(microseconds: microseconds) }
        let counts: [Int] = [1, 1] + Array(repeating: 0, count: 9) + [1, 1]
        #expect(latency.counts == counts && latency.sumMicroseconds == 4_000_202)
    }

    // MARK: The bounds of what waits

    @Test(arguments: [(1_024, 0), (1, 4 << 20)])
    func `commands of requests wait up to 1,024 or up to 4 MiB, whatever background commands may`(
        commands: Int, bytes: Int
    ) throws {
        let gate = RedisGate(.request, bytesMax: 0)
        gate.note(ObjectIdentifier(gate), isReady: true)
        let most = RedisGate.Cost(commands: commands, bytes: bytes)
        try gate.enter(most)
        #expect(throws: RedisFailure.busy) { try gate.enter(RedisGate.Cost(commands: 1, bytes: 1)) }
        gate.leave(most)
        #expect(throws: Never.self) { try gate.enter(most) }
    }

    @Test(arguments: [(4_096, 0), (1, 5 << 20)])
    func `commands in the background wait up to 4,096 or up to the bytes that are given`(
        commands: Int, bytes: Int
    ) throws {
        let gate = RedisGate(.background, bytesMax: 5 << 20)
        gate.note(ObjectIdentifier(gate), isReady: true)
        try gate.enter(RedisGate.Cost(commands: commands, bytes: bytes))
        #expect(gate.bytes == bytes)
        #expect(throws: RedisFailure.busy) { try gate.enter(RedisGate.Cost(commands: 1, bytes: 1)) }
        #expect(gate.bytes == bytes, "what is refused waits for nothing")
    }

    @Test func `a gate is open as long as one connection is ready`() {
        final class Lane {}
        let (gate, lanes) = (RedisGate(.request, bytesMax: 0), [Lane(), Lane()])
        for lane in lanes { gate.note(ObjectIdentifier(lane), isReady: true) }
        gate.note(ObjectIdentifier(lanes[0]), isReady: false)
        #expect(gate.isOpen)
        gate.note(ObjectIdentifier(lanes[1]), isReady: false)
        #expect(!gate.isOpen)
        #expect(throws: RedisFailure.unavailable) { try gate.enter(RedisGate.Cost(commands: 1, bytes: 1)) }
    }

    private static func settings(password: String? = nil, user: String? = nil, database: Int = 0)
        -> RedisSettings
    {
        var settings = RedisSettings(address: .host("a.test", port: 6379))
        settings.user = user
        settings.database = database
        return settings
    }

    private static func hello(_ facts: String...) -> RESPValue {
        .array(facts.map { .bytes(Array($0.utf8)) })
    }

    private static func error(_ code: String, _ message: String = "x") -> RESPValue {
        .error(RedisErrorReply(code: code, message: message))
    }

    @Test func `HELLO carries user and password, and SELECT the database`() {
        var greeting = RedisGreeting(Self.settings(user: "u", database: 3), password: "p")
        #expect(greeting.hello == RedisCommand("HELLO", "3", "AUTH", "u", "p", "SETNAME", "dictum"))
        let facts = Self.hello("server", "redis", "version", "7.0.15", "mode", "standalone", "role", "master")
        let selection = greeting.next(facts)
        #expect(selection == .send([RedisCommand("SELECT", "3")]))
        guard case .done(let found) = greeting.next(.status(Array("OK".utf8))) else {
            Issue.record("the greeting does not end")
            return
        }
        #expect(found.server == "redis" && found.version == "7.0.15" && found.role == "master")
    }

    @Test(arguments: ["ERR", "NOPROTO", "NOPERM"])
    func `a server without HELLO gets AUTH, and speaks RESP2`(code: String) {
        var greeting = RedisGreeting(Self.settings(), password: "p")
        let authentication = greeting.next(Self.error(code, "unknown command 'HELLO'"))
        #expect(authentication == .send([RedisCommand("AUTH", "p")]))
        let role = greeting.next(.status(Array("OK".utf8)))
        #expect(role == .send([RedisCommand("INFO")]))
        guard case .done(let facts) = greeting.next(.bytes(Array("# Replication\r\nrole:master\r\n".utf8)))
        else {
            Issue.record("the greeting does not end")
            return
        }
        #expect(facts.role == "master" && facts.server.isEmpty)
    }

    @Test func `a replica is refused, with HELLO or without it`() {
        let refusal = RedisGreeting.Step.refused(RedisErrorReply.replicaFault)
        var greeting = RedisGreeting(Self.settings(), password: nil)
        let new = greeting.next(Self.hello("server", "redis", "mode", "standalone", "role", "replica"))
        #expect(new == refusal)
        greeting = RedisGreeting(Self.settings(), password: nil)
        _ = greeting.next(Self.error("ERR", "unknown command 'HELLO'"))
        let old = greeting.next(.bytes(Array("role:slave\r\nmaster_host:a\r\n".utf8)))
        #expect(old == refusal)
        #expect(RedisErrorReply.replicaFault.contains("name the master"))
    }

    @Test func `a cluster is refused, with HELLO or without it`() {
        var greeting = RedisGreeting(Self.settings(), password: nil)
        let new = greeting.next(Self.hello("server", "redis", "mode", "cluster", "role", "master"))
        greeting = RedisGreeting(Self.settings(), password: nil)
        _ = greeting.next(Self.error("ERR", "unknown command 'HELLO'"))
        let old = greeting.next(.bytes(Array("role:master\r\n# Cluster\r\ncluster_enabled:1\r\n".utf8)))
        #expect(new == old)
        guard case .refused(let reason) = old else {
            Issue.record("it is not refused")
            return
        }
        #expect(reason.contains("cluster mode"))
    }

    @Test func `a server that has no place for a connection is not taken for one without HELLO`() {
        for password in [nil, "p"] {
            var greeting = RedisGreeting(Self.settings(), password: password)
            guard case .refused(let text) = greeting.next(Self.error("ERR", "max number of clients reached"))
            else {
                Issue.record("it is not refused")
                return
            }
            #expect(text.contains("maxclients"))
        }
    }

    @Test(arguments: [
        ("NOAUTH", "store.shared.password_file"), ("WRONGPASS", "ACL LIST"), ("LOADING", "loading"),
        ("MOVED", "cluster"), ("ASK", "cluster"), ("CLUSTERDOWN", "cluster"), ("CROSSSLOT", "cluster"),
        ("MASTERDOWN", "whose master is down"),
        ("BUSY", "SCRIPT KILL"), ("EVIL", "EVIL x"),
    ])
    func `a refusal says what to do`(code: String, words: String) {
        var greeting = RedisGreeting(Self.settings(), password: "secret")
        guard case .refused(let text) = greeting.next(Self.error(code)) else {
            Issue.record("\(code) is not refused")
            return
        }
        #expect(text.contains(words))
        #expect(!text.contains("secret"))
    }

    @Test(arguments: [
        "unknown command 'AUTH', with args beginning with: 'sec", "what does secret mean",
    ])
    func `a server that does not know AUTH repeats the password, and the message does not`(reply: String) {
        var greeting = RedisGreeting(Self.settings(), password: "secret")
        _ = greeting.next(Self.error("ERR", "unknown command 'HELLO'"))
        guard case .refused(let text) = greeting.next(Self.error("ERR", reply)) else {
            Issue.record("it is not refused")
            return
        }
        #expect(text.hasPrefix("ERR ") && !text.contains("sec"), "\(text)")
    }

    @Test(arguments: ["cluster", "sentinel"])
    func `clusters and sentinels are refused with words`(mode: String) {
        var greeting = RedisGreeting(Self.settings(), password: nil)
        guard case .refused(let text) = greeting.next(Self.hello("server", "redis", "mode", mode)) else {
            Issue.record("\(mode) is not refused")
            return
        }
        #expect(text.lowercased().contains(mode) && text.contains("name"))
    }

    // MARK: Streams

    private static func facts(length: Int64, added: Int64, last: UInt64) throws -> StreamFacts {
        try #require(
            StreamFacts(
                .array([
                    .bytes(Array("length".utf8)), .integer(length), .bytes(Array("entries-added".utf8)),
                    .integer(added), .bytes(Array("last-generated-id".utf8)), .bytes(Array("\(last)-0".utf8)),
                ])))
    }

    private static func entry(_ milliseconds: UInt64) -> RedisStreamEntry {
        RedisStreamEntry(id: RedisStreamID(milliseconds: milliseconds, sequence: 0), fields: [])
    }

    @Test func `a stream that was trimmed before it was read begins again`() throws {
        var progress = StreamProgress()
        let isBroken1 = progress.adopt(try Self.facts(length: 10, added: 30, last: 30))
        #expect(!isBroken1)
        #expect(!progress.hasCaughtUp)
        progress.pass((21...30).map { Self.entry($0) })
        #expect(progress.hasCaughtUp)
        // Ten more came; up to the last one that was read may go.
        let again = progress.adopt(try Self.facts(length: 10, added: 30, last: 30))
        #expect(!again, "nothing has happened")
        let isBroken2 = progress.adopt(try Self.facts(length: 10, added: 40, last: 40))
        #expect(!isBroken2 && !progress.hasCaughtUp, "the ten are still to be read")
        let isBroken3 = progress.adopt(try Self.facts(length: 9, added: 40, last: 40))
        #expect(isBroken3)
    }

    @Test func `a stream that was made anew begins again, although its positions go on`() throws {
        var progress = StreamProgress()
        _ = progress.adopt(try Self.facts(length: 5, added: 5, last: 5))
        progress.pass((1...5).map { Self.entry($0) })
        let isBroken4 = progress.adopt(try Self.facts(length: 2, added: 2, last: 90))
        #expect(isBroken4)
        let missing = try #require(StreamFacts(Self.error("ERR", "no such key")))
        let isBroken5 = progress.adopt(missing)
        #expect(isBroken5)
        progress.restart(missing)
        #expect(progress.last == .zero && progress.hasCaughtUp)
    }

    @Test func `a stream made anew by a clock that was set back begins again, however many entries it has`()
        throws
    {
        var progress = StreamProgress()
        _ = progress.adopt(try Self.facts(length: 5, added: 5, last: 95))
        progress.pass((91...95).map { Self.entry($0) })
        let isBroken = progress.adopt(try Self.facts(length: 7, added: 7, last: 37))
        #expect(isBroken, "nothing behind 95 would ever come")
    }

    @Test(arguments: [Int64.max, .min, -1]) func `numbers to which no server counts do not trap`(added: Int64)
        throws
    {
        var progress = StreamProgress()
        for length in [Int64.min, 5, .max] {
            let facts = try Self.facts(length: length, added: added, last: 5)
            _ = progress.adopt(facts)
            progress.restart(facts)
            progress.pass((1...5).map { Self.entry($0) })
            progress.pass((6...9).map { Self.entry($0) })
            _ = progress.adopt(facts)
        }
        #expect(progress.last == RedisStreamID(milliseconds: 9, sequence: 0))
    }

    @Test(arguments: ["length", "entries-added", "last-generated-id"])
    func `a reply that does not tell all of a stream tells nothing`(missing: String) {
        let facts: [(String, RESPValue)] = [
            ("length", .integer(1)), ("entries-added", .integer(1)),
            ("last-generated-id", .bytes(Array("1-0".utf8))), ("groups", .integer(0)),
        ]
        func told(_ facts: [(String, RESPValue)]) -> RESPValue {
            .array(facts.flatMap { [.bytes(Array($0.utf8)), $1] })
        }
        #expect(StreamFacts(told(facts)) != nil)
        #expect(StreamFacts(told(facts.filter { $0.0 != missing })) == nil)
    }

    @Test func `an entry is appended with the length to which its stream is trimmed`() {
        #expect(
            RedisCommand.append(to: [0x73], [(name: [0x66], value: [0x76])], lengthMax: 7)
                == RedisCommand("XADD", "s", "MAXLEN", "~", "7", "*", "f", "v"))
    }

    @Test func `XREAD reads the same in both versions of the protocol`() throws {
        let entry = RESPValue.array([
            .bytes(Array("5-1".utf8)), .array([.bytes([0x66]), .bytes([0x76])]),
        ])
        let key = RESPValue.bytes(Array("news".utf8))
        let two = try #require(StreamReply.read(.array([.array([key, .array([entry])])])))
        let three = try #require(StreamReply.read(.array([key, .array([entry])])))
        for found in [two, three] {
            #expect(found.count == 1 && found[0].stream == Array("news".utf8))
            #expect(found[0].entries.first?.id == RedisStreamID(milliseconds: 5, sequence: 1))
            #expect(found[0].entries.first?.fields.first?.value == [0x76])
        }
        #expect(StreamReply.read(.null)?.isEmpty == true)
        #expect(StreamReply.read(.integer(1)) == nil)
        let id = RESPValue.bytes(Array("5-1".utf8))
        for broken: [RESPValue] in [
            [key], [key, .array([entry]), key], [.array([key])], [key, .integer(1)],
            [key, .array([.array([id])])],
            [key, .array([.array([key, .array([])])])], [key, .array([.array([id, .array([key])])])],
            [key, .array([.array([id, .array([key, .integer(1)])])])],
        ] {
            #expect(StreamReply.read(.array(broken)).map(\.count) == nil, "\(broken)")
        }
    }
}
