internal import Dispatch
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Dictionaries
@testable import Proxy
@testable import Redis
@testable import Storage

/// Reading from the shared store, and writing to it.
@Suite(
    .timeLimit(.minutes(40)),
    .enabled(if: RedisServer.program != nil, Comment(rawValue: RedisServer.absence)))
final class SharedStoreWritingTests {
    private let server: RedisServer
    private let shared: SharedStore
    private let chain = ChainKey(authority: "api.test", match: "/feed")

    init() throws {
        server = try RedisServer()
        shared = try SharedStore.ofTest(at: server.socket)
        shared.store.sharing.share(with: StoreListener(admitted: { _, _ in }, established: { _ in }))
        shared.client.start()
        let client = shared.client
        try waitUntil("the client is available") {
            client.isAvailable && client.isBackgroundAvailable
        }
    }

    deinit { shared.client.stop() }

    private func adopt(_ number: Int) throws -> Storage.Version {
        try shared.store.sharing.adopt(SharedRecord.ofTest(number, in: chain), now: 1_000)
    }

    private func offer(_ version: Storage.Version) {
        shared.store.demand.offered(version, over: nil, now: SystemClock.unixSeconds)
    }

    /// Hears of a version as from another node.
    private func hear(_ news: SharedNews) {
        let batch = SharedNews.batches([news])[0]
        shared.heed(.entries(stream: SharedStore.newsPlace, [.now(SharedNews.Entry.versions, batch)]))
    }

    private func keys(_ pattern: String) throws -> Set<String> {
        Set(try server.command("--raw", "KEYS", pattern).split(separator: "\n").map(String.init))
    }

    // MARK: Values that this node reads

    /// Writes the value of a record, for so many seconds, as another node would.
    private func put(_ record: SharedRecord, seconds: Int = 1_000) throws -> (name: SharedName, key: String) {
        let name = SharedName(publicChain: record.chain, digest: record.digest)
        let key = try #require(shared.names.key(of: name))
        let values = try #require(record.values(named: name, keys: nil))
        try #require(values.count == 1)
        try send(.set(Array(key.utf8), to: values[0], seconds: seconds), .background)
        return (name, key)
    }

    /// Sends a command and waits for its reply.
    private func send(_ command: RedisCommand, _ urgency: RedisUrgency) throws {
        let gate = Gate()
        try shared.client.send([command], urgency) { _ in gate.open() }
        try #require(gate.wait(), "\(command.name) has no end")
    }

    /// Asks for a version as a request does.
    private func ask(_ name: SharedName, _ key: String) -> Guarded<Storage.Version?> {
        let found = Guarded<Storage.Version?>(nil)
        shared.state.withLock {
            _ = $0.flights.join(name) { version in found.withLock { $0 = version } }
        }
        shared.get(name, key: key, .request)
        return found
    }

    @Test(arguments: [(300, true), (2 << 20, false)])
    func `a small value is unpacked on a loop if its body is small as well`(count: Int, isOnLoop: Bool) throws
    {
        let body = Body([UInt8](repeating: 7, count: count))
        let (name, key) = try put(SharedRecord.ofTest(body, in: chain))
        shared.replies.suspend()
        let found = ask(name, key)
        // Its reply comes after the one that it follows.
        try send(RedisCommand("PING"), .request)
        #expect((found.withLock { $0 } != nil) == isOnLoop)
        shared.replies.resume()
        try waitUntil("the version is there") { found.withLock { $0?.digest } == body.digest }
    }

    @Test func `holders that other nodes told of count once for a version that is fetched`() throws {
        let record = SharedRecord.ofTest(1, in: chain)
        let (name, key) = try put(record)
        hear(SharedNews(of: record, named: name))
        let fields = SharedDemand.fields(of: [SharedDemand(name: name, change: 3, contact: 0)])
        let id = RedisStreamID(milliseconds: UInt64(SystemClock.unixMilliseconds), sequence: 0)
        shared.heed(.entries(stream: SharedStore.demandPlace, [RedisStreamEntry(id: id, fields: fields)]))
        let found = ask(name, key)
        try waitUntil("the version is there") { found.withLock { $0 } != nil }
        let version = try #require(found.withLock { $0 })
        #expect(version.holders == 3)
        shared.publish([shared.store.sharing.readSharable(version, record.body)])
        try waitUntil("nothing waits") { shared.publications.withLock { !$0.isScheduled } }
        #expect(version.holders == 3)
    }

    /// Writes a version in three parts as another node would; returns its name and the keys.
    private func putParts() throws -> (name: SharedName, keys: [String]) {
        let record = SharedRecord.ofTest(1, in: chain, count: 2_500_000)
        let version = try shared.store.sharing.adopt(record, now: 1_000)
        shared.publish([shared.store.sharing.readSharable(version, record.body)])
        try waitUntil("nothing waits") { shared.publications.withLock { !$0.isScheduled } }
        let name = SharedName(publicChain: chain, digest: record.digest)
        let key = try #require(shared.names.key(of: name))
        let parts = [key] + shared.names.partKeys(of: key, parts: 3)
        #expect(try keys("dictum:1:v:*") == Set(parts))
        return (name, parts)
    }

    @Test func `a part that the shared store has lost is a miss, and nobody's fault`() throws {
        let (name, parts) = try putParts()
        try server.command("DEL", parts[2])
        _ = ask(name, parts[0])
        try waitUntil("it is a miss") { shared.statistics.lookUps[.miss] == 1 }
        #expect(shared.statistics.lookUps[.corrupt] == nil)
        #expect(try keys("dictum:1:v:*") == [parts[0], parts[1]])
    }

    @Test func `a server that refuses to send the parts loses no version`() throws {
        let (name, parts) = try putParts()
        try server.command("ACL", "SETUSER", "default", "-mget")
        _ = ask(name, parts[0])
        try waitUntil("it is unavailable") { shared.statistics.lookUps[.unavailable] == 1 }
        #expect(try keys("dictum:1:v:*") == Set(parts))
    }

    // MARK: Values that this node writes

    @Test func `a version is written once the connection is back, though nothing is followed`() throws {
        server.kill()
        let client = shared.client
        try waitUntil("it is gone") { !client.isBackgroundAvailable }
        shared.publish([
            shared.store.sharing.readSharable(try adopt(1), SharedRecord.ofTest(1, in: chain).body)
        ])
        #expect(shared.publications.withLock { $0.isScheduled })
        try server.start()
        try waitUntil("it is there") { try keys("dictum:1:v:*").count == 1 }
        try waitUntil("it is announced") { try server.command("XLEN", "dictum:1:news") == "1" }
        #expect(publications[2] == 0)
    }

    @Test func `what is written again after a loss waits out an interruption`() throws {
        for number in 0..<120 { _ = try adopt(number) }
        server.kill()
        let client = shared.client
        try waitUntil("it is gone") { !client.isBackgroundAvailable && !client.isAvailable }
        shared.heed(.caughtUp)
        // A second one takes the place of the first.
        shared.heed(.caughtUp)
        try server.start()
        try waitUntil("all are there") { try keys("dictum:1:v:*").count == 120 }
        #expect(publications[2] == 0)
    }

    @Test
    func `a version that another node wrote for a short time lives for days once this one wants to write it`()
        throws
    {
        let record = SharedRecord.ofTest(1, in: chain)
        let (_, key) = try put(record, seconds: 1_000)
        let version = try shared.store.sharing.adopt(record, now: 1_000)
        shared.publish([shared.store.sharing.readSharable(version, record.body)])
        try waitUntil("it lives for days") { try Int(server.command("TTL", key)) ?? 0 > 86_400 }
    }

    @Test func `a version that is purged while it is written is not announced, and does not stay`() throws {
        let record = SharedRecord.ofTest(1, in: chain)
        let version = try shared.store.sharing.adopt(record, now: 1_000)
        try server.command("CLIENT", "PAUSE", "60000", "WRITE")
        shared.publish([shared.store.sharing.readSharable(version, record.body)])
        try waitUntil("it is on its way") { shared.publications.withLock { $0.bytes == 0 } }
        shared.work.sync {}
        shared.tell(PurgeOrder(path: "/feed"), removed: [])
        try server.command("CLIENT", "UNPAUSE")
        try waitUntil("nothing waits") { shared.publications.withLock { !$0.isScheduled } }
        try waitUntil("the order is there") { try server.command("XLEN", "dictum:1:news") == "1" }
        try waitUntil("it is gone") { try keys("dictum:1:v:*").isEmpty }
        #expect(publications == [0, 0, 0])
    }

    @Test func `a version counts as written, as known or as failed`() throws {
        let records = (0..<3).map { SharedRecord.ofTest($0, in: chain) }
        _ = try put(records[0])
        try publish(records[..<2])
        #expect(publications == [1, 1, 0])
        // A server that is full refuses.
        try server.command("CONFIG", "SET", "maxmemory", "1")
        try publish(records[2...])
        #expect(publications == [1, 1, 1])
    }

    /// Has the versions of records written, and waits for the end.
    private func publish(_ records: ArraySlice<SharedRecord>) throws {
        shared.publish(
            try records.map {
                shared.store.sharing.readSharable(try shared.store.sharing.adopt($0, now: 1_000), $0.body)
            })
        try waitUntil("nothing waits") { shared.publications.withLock { !$0.isScheduled } }
    }

    /// The versions that were written, known and refused.
    private var publications: [Int] {
        let statistics = shared.statistics
        return [statistics.published, statistics.alreadyThere, statistics.publishFailures]
    }

    @Test func `all changes of holders are told at once, however many there are`() throws {
        for number in 0..<2_500 { offer(try adopt(number)) }
        try waitUntil("three entries are there") {
            shared.tick()
            return try server.command("XLEN", "dictum:1:demand") == "3"
        }
        #expect(shared.store.sharing.takeDemand(max: 10, keys: nil).isEmpty)
    }

    @Test func `changes of holders that the server refuses are told later`() throws {
        offer(try adopt(1))
        try server.command("SET", "dictum:1:demand", "of another type")
        try waitUntil("the server has refused") {
            shared.tick()
            return shared.client.counts.errors["WRONGTYPE"] != nil
        }
        try server.command("DEL", "dictum:1:demand")
        try waitUntil("the change is told") {
            shared.tick()
            return try server.command("XLEN", "dictum:1:demand") == "1"
        }
    }

    @Test func `a renewal lengthens the lives of all parts`() throws {
        let record = SharedRecord.ofTest(1, in: chain, count: 2_500_000)
        let version = try shared.store.sharing.adopt(record, now: 1_000)
        shared.publish([shared.store.sharing.readSharable(version, record.body)])
        try waitUntil("three parts are there") { try keys("dictum:1:v:*").count == 3 }
        let parts = try keys("dictum:1:v:*")
        for key in parts { try server.command("EXPIRE", key, "100") }
        let name = SharedName(publicChain: chain, digest: version.digest)
        let batch = SharedNews.batches([SharedNews(of: record, named: name)])[0]
        let old = RedisStreamEntry(
            id: RedisStreamID(milliseconds: 1_000, sequence: 0),
            fields: [(SharedNews.Entry.versions, batch)])
        shared.heed(.entries(stream: SharedStore.newsPlace, [old]))
        offer(version)
        for key in parts {
            try waitUntil("\(key) lives for days") {
                shared.tick()
                return try Int(server.command("TTL", key)) ?? 0 > 86_400
            }
        }
    }

    @Test func `an offer alone gives a version of a chain in probation no longer life`() throws {
        let body = SharedRecord.ofTest(1, in: chain).body
        let key = VersionKey(chain: chain, url: "/feed", variant: "")
        let version = try shared.store.admission.admit(
            VersionCandidate(body, key: key, policy: AdmissionPolicy(startsInProbation: true)),
            now: SystemClock.unixSeconds)
        let sharable = shared.store.sharing.readSharable(version, body)
        shared.publish([sharable])
        try waitUntil("it is announced") { try server.command("XLEN", "dictum:1:news") == "1" }
        var news = SharedNews(
            of: sharable.record, named: SharedName(publicChain: chain, digest: version.digest))
        news.isInProbation = true
        hear(news)
        shared.tick()
        try waitUntil("its holder is told") { try server.command("XLEN", "dictum:1:demand") == "1" }
        // Its reply comes after those of the tick.
        try send(RedisCommand("PING"), .background)
        for name in try keys("dictum:1:v:*") {
            #expect(try Int(server.command("TTL", name)) ?? 0 <= SharedStore.probationSeconds)
        }
    }

    @Test func `a version that regains a holder within the minute stays, and others go`() throws {
        let records = [1, 2].map { SharedRecord.ofTest($0, in: chain) }
        let places = try records.map { try put($0) }
        let lost = places.map { SharedDemand(name: $0.name, change: -1, contact: 0) }
        shared.removeSuperseded(lost, now: 1_000)
        // The client of the first one was offered it again meanwhile.
        _ = try shared.store.sharing.adopt(records[0], now: 1_000)
        shared.removeSuperseded([], now: 1_060)
        try waitUntil("the other one is gone") { try keys("dictum:1:v:*").count < 2 }
        #expect(try keys("dictum:1:v:*") == [places[0].key])
    }

    @Test func `a version that has one holder left stays though this node forgets it`() throws {
        let record = SharedRecord.ofTest(1, in: chain)
        let (name, key) = try put(record)
        _ = try shared.store.sharing.adopt(record, now: 1_000)
        shared.removeSuperseded([SharedDemand(name: name, change: -1, contact: 0)], now: 1_000)
        let order = Purge(PurgeOrder(path: "/feed")) { _, _, _ in false }
        #expect(shared.store.upkeep.purge([order]).versions.count == 1)
        shared.removeSuperseded([], now: 1_000 + Superseded.pauseSeconds)
        try send(RedisCommand("PING"), .background)
        #expect(try keys("dictum:1:v:*") == [key])
    }

    @Test func `a version that another node has removed is written again while a client holds it`() throws {
        let records = [1, 2].map { SharedRecord.ofTest($0, in: chain) }
        let names = records.map { SharedName(publicChain: chain, digest: $0.digest) }
        let versions = try records.map {
            try shared.store.sharing.adopt($0, now: SystemClock.unixSeconds)
        }
        shared.store.sharing.add(SharedDemand(name: names[0], change: -1, contact: 0), to: versions[0])
        let news = zip(records, names).map { SharedNews(of: $0, named: $1) }
        let removed = SharedNews.batch(names: names)
        shared.heed(
            .entries(
                stream: SharedStore.newsPlace,
                SharedNews.batches(news).map { .now(SharedNews.Entry.versions, $0) }
                    + [.now(SharedNews.Entry.superseded, removed)]))
        #expect(shared.state.withLock { state in names.allSatisfy { !state.index.contains($0) } })
        let key = try #require(shared.names.key(of: names[1]))
        try waitUntil("the held one is there again") { try !keys("dictum:1:v:*").isEmpty }
        #expect(try keys("dictum:1:v:*") == [key])
    }

    @Test func `a version whose path fills an entry stays on its node, and others do not`() throws {
        let long = ChainKey(authority: "api.test", match: "/" + String(repeating: "a", count: 3_000))
        let versions = try [long, chain].map { chain in
            let record = SharedRecord.ofTest(1, in: chain)
            let version = try shared.store.sharing.adopt(record, now: 1_000)
            return shared.store.sharing.readSharable(version, record.body)
        }
        shared.publish(versions)
        try waitUntil("nothing waits") { shared.publications.withLock { !$0.isScheduled } }
        #expect(try keys("dictum:1:v:*").count == 1)
        try waitUntil("it is announced") {
            try server.command("XLEN", "dictum:1:news") == "1"
        }
    }

    @Test func `an entry has at most two kilobytes, whatever it tells`() throws {
        let demands = (0..<100).map { number in
            let name = SharedName(publicChain: chain, digest: Body(Array("\(number)".utf8)).digest)
            return SharedDemand(name: name, change: -1, contact: 0)
        }
        shared.removeSuperseded(demands, now: 1_000)
        shared.removeSuperseded([], now: 1_000 + Superseded.pauseSeconds)
        try waitUntil("all are announced") {
            try server.command("XLEN", "dictum:1:news") == "3"
        }
        let chains = (0..<200).map {
            ChainKey(authority: "api.test", match: "/\($0)/" + String(repeating: "a", count: 500))
        }
        shared.announce(
            chains.map {
                SharedNews(
                    of: SharedRecord.ofTest(1, in: $0),
                    named: SharedName(publicChain: $0, digest: Body([1]).digest))
            })
        try waitUntil("all are announced") {
            try server.command("XLEN", "dictum:1:news") == "70"
        }
        let largest =
            "local m = 0 for _, e in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do "
            + "m = math.max(m, #e[2][2]) end return m"
        #expect(try Int(server.command("EVAL", largest, "1", "dictum:1:news")) ?? .max <= 2_048)
    }

    @Test func `an order for more users than one entry has goes out in several`() throws {
        var order = PurgeOrder()
        order.owners = Set(
            (0...PurgeOrder.ownersMax).compactMap {
                IdentityTag(bytes: [UInt8](repeating: UInt8($0), count: 32))
            })
        shared.tell(order, removed: [])
        try waitUntil("both entries are there") { try server.command("XLEN", "dictum:1:news") == "2" }
    }
}
