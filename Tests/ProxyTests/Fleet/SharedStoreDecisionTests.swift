internal import Dispatch
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Dictionaries
@testable import Proxy
@testable import Redis
@testable import Storage

/// Decisions about the announcements of other nodes, whoever wrote them; nothing is between them and the test.
@Suite(.timeLimit(.minutes(40))) final class SharedStoreDecisionTests {
    private let shared: SharedStore
    private let chain = ChainKey(authority: "api.test", match: "/feed")

    init() throws {
        shared = try SharedStore.ofTest(at: "/nowhere/redis")
    }

    deinit { shared.client.stop() }

    private func news(_ number: Int, _ chain: ChainKey? = nil) -> SharedNews {
        let digest = Body(Array("\(number)".utf8)).digest
        let name = SharedName(publicChain: chain ?? self.chain, digest: digest)
        return SharedNews(name: name, chain: chain ?? self.chain, rank: Int64(number), bytes: 8)
    }

    private func heed(_ news: [SharedNews], place: Int = SharedStore.newsPlace) {
        let entries = SharedNews.batches(news).map { RedisStreamEntry.now(SharedNews.Entry.versions, $0) }
        shared.heed(.entries(stream: place, entries))
    }

    // MARK: Announcements

    @Test func `a stream that begins again takes nothing of the other one along`() {
        let sealed = SharedNews(
            name: SharedName(chain: nil, digest: Body([1]).digest), chain: nil, rank: 1, bytes: 8)
        heed([news(1)])
        heed([sealed], place: 2)
        func isKnown(_ news: SharedNews) -> Bool { shared.state.withLock { $0.index.contains(news.name) } }
        shared.heed(.restarted(stream: SharedStore.newsPlace))
        #expect(!isKnown(news(1)) && isKnown(sealed))
        heed([news(1)])
        shared.heed(.restarted(stream: 2))
        #expect(isKnown(news(1)) && !isKnown(sealed))
    }

    @Test func `the ids of other nodes are forgotten with their own stream alone`() throws {
        let tag = try #require(PromisedTag(bytes: [UInt8](1...16)))
        let promise = SharedNews.batch(promises: [PromisedIDs.Promise(tag, network: 1)])
        shared.heed(.entries(stream: 2, [.now(SharedNews.Entry.promises, promise)]))
        shared.heed(.restarted(stream: SharedStore.newsPlace))
        #expect(shared.promise(tag) != nil)
        shared.heed(.restarted(stream: 2))
        #expect(shared.promise(tag) == nil)
    }

    @Test(arguments: [SharedNews.Entry.superseded, SharedNews.Entry.lost])
    func `what another node has removed, or misses, is known no more, and all else is`(field: [UInt8]) {
        heed([news(1), news(2)])
        let entry = RedisStreamEntry.now(field, SharedNews.batch(names: [news(1).name]))
        shared.heed(.entries(stream: SharedStore.newsPlace, [entry]))
        let isKnown = [1, 2].map { number in
            shared.state.withLock { $0.index.contains(news(number).name) }
        }
        #expect(isKnown == [false, true])
    }

    @Test func `a version goes a minute after its last holder, unless another node has one then`() {
        heed((1...3).map { news($0) })
        func demand(_ number: Int, _ change: Int32) -> SharedDemand {
            SharedDemand(name: news(number).name, change: change, contact: 0)
        }
        func known() -> [Int] {
            (1...3).filter { number in shared.state.withLock { $0.index.contains(news(number).name) } }
        }
        shared.removeSuperseded([demand(1, -1), demand(2, -1), demand(3, 1)], now: 1_000)
        let id = RedisStreamID(milliseconds: UInt64(SystemClock.unixMilliseconds), sequence: 0)
        let fields = SharedDemand.fields(of: [demand(2, 1)])
        shared.heed(.entries(stream: SharedStore.demandPlace, [RedisStreamEntry(id: id, fields: fields)]))
        shared.removeSuperseded([], now: 1_059)
        #expect(known() == [1, 2, 3])
        shared.removeSuperseded([], now: 1_060)
        #expect(known() == [2, 3])
    }

    @Test func `once a node has forgotten an announcement, it does not know them all`() {
        shared.state.withLock { $0.index = SharedIndex(countMax: 2) }
        heed([news(1), news(2)])
        shared.heed(.caughtUp)
        #expect(shared.state.withLock { $0.isComplete })
        heed([news(3)])
        #expect(shared.state.withLock { !$0.isComplete })
    }

    @Test(arguments: [(100_000, 3_600, false), (100_000, 4 * 86_400, true), (99_999, 3_600, true)])
    func `a full stream that is young has lost announcements that still count`(
        count: Int, age: Int, isComplete: Bool
    ) {
        let now = SystemClock.unixSeconds
        let entry = RedisStreamEntry(
            id: RedisStreamID(milliseconds: UInt64(now - age) * 1_000, sequence: 0), fields: [])
        shared.heed(.entries(stream: SharedStore.newsPlace, Array(repeating: entry, count: count)))
        shared.heed(.caughtUp)
        #expect(shared.state.withLock { $0.isComplete } == isComplete)
        shared.heed(.restarted(stream: SharedStore.newsPlace))
        shared.heed(.caughtUp)
        shared.heed(.entries(stream: SharedStore.newsPlace, Array(repeating: entry, count: 100_000)))
        shared.heed(.interrupted)
        shared.heed(.caughtUp)
        #expect(shared.state.withLock { $0.isComplete }, "what a node has read as it came is not lost")
        shared.heed(.restarted(stream: SharedStore.newsPlace))
        shared.heed(.entries(stream: SharedStore.newsPlace, Array(repeating: entry, count: count)))
        shared.heed(.caughtUp)
        #expect(shared.state.withLock { $0.isComplete } == isComplete, "a stream that begins anew")
    }

    @Test func `holders count that are told over a stream which was made anew, with earlier times`() {
        func tell(at milliseconds: UInt64) -> Int {
            let fields = SharedDemand.fields(of: [SharedDemand(name: news(1).name, change: 1, contact: 0)])
            let id = RedisStreamID(milliseconds: milliseconds, sequence: 0)
            shared.heed(
                .entries(stream: SharedStore.demandPlace, [RedisStreamEntry(id: id, fields: fields)]))
            return shared.state.withLock { $0.index.holders(of: news(1).name) }
        }
        heed([news(1)])
        #expect(tell(at: 2_000) == 1)
        #expect(tell(at: 1_000) == 1)
        shared.heed(.restarted(stream: SharedStore.demandPlace))
        shared.heed(.caughtUp)
        #expect(tell(at: 1_000) == 2)
    }

    // MARK: What waits to be published

    @Test func `of too much to publish the oldest goes, and later ones have room again`() throws {
        let versions = try (0..<10).map { number in
            let record = SharedRecord.ofTest(number, in: chain)
            let version = try shared.store.sharing.adopt(record, now: 1_000)
            return shared.store.sharing.readSharable(version, record.body)
        }
        let size = versions[0].body.count
        var publications = Publications(bytesMax: 3 * size)
        for round in 1...2 {
            _ = publications.add(versions, now: 0)
            #expect(publications.bytes == 3 * size && publications.dropped == 7 * round)
            // A batch has up to half of what may wait, and what goes beyond it with the last one.
            let batches = [publications.take(), publications.take()]
            #expect(batches.flatMap(\.self).map(\.body.digest) == versions.suffix(3).map(\.body.digest))
            #expect(publications.bytes == 0)
        }
        _ = publications.add(Array(versions[5...6]), now: 0)
        let failed = publications.take()
        _ = publications.add(Array(versions[7...8]), now: 0)
        publications.putBack(failed)
        #expect(publications.bytes == 3 * size && publications.dropped == 15)
        #expect(
            publications.take().map(\.body.digest) == [versions[6].body.digest],
            "the oldest that has room, alone")
    }

    @Test func `one version that cannot be written keeps no other waiting`() throws {
        let versions = try (0..<9).map { number in
            let record = SharedRecord.ofTest(number, in: chain)
            return shared.store.sharing.readSharable(
                try shared.store.sharing.adopt(record, now: 1_000), record.body)
        }
        let bad = versions[3].body.digest
        var publications = Publications(bytesMax: 1 << 20)
        _ = publications.add(versions, now: 0)
        var (written, attempts): ([Digest], Int) = ([], 0)
        while publications.bytes > 0, attempts < 100 {
            attempts += 1
            let batch = publications.take()
            if batch.contains(where: { $0.body.digest == bad }) {
                publications.putBack(batch)
            } else {
                publications.noteSuccess()
                written += batch.map(\.body.digest)
            }
        }
        #expect(written == versions.map(\.body.digest).filter { $0 != bad })
        #expect(publications.dropped == 1 && attempts < 20)
    }

    @Test(arguments: [0, 1_000, 9_223_372_036_854_775, .max] as [UInt64], [false, true])
    func `an order of any id includes nothing that comes after it`(id: UInt64, isLive: Bool) {
        let order = (PurgeOrder.entry, PurgeOrder(path: "/feed").sharedBytes)
        let now = SystemClock.unixMilliseconds
        let entry = RedisStreamEntry(
            id: RedisStreamID(milliseconds: id, sequence: 0), fields: [order],
            appended: isLive ? now...now : nil)
        shared.heed(.entries(stream: SharedStore.newsPlace, [entry]))
        #expect(shared.isPurged(chain, url: "/feed", rank: 1_000))
        #expect(!shared.isPurged(chain, url: "/feed", rank: SystemClock.unixMicroseconds + 60_000_000))
    }

    @Test func `a node heeds the orders of others, and its own ones not again`() {
        let nodes = [shared.node, [UInt8](repeating: 0, count: 8)]
        let isHeeded = nodes.map { node in
            let entry = RedisStreamEntry(
                id: RedisStreamID(milliseconds: 1_000, sequence: 0),
                fields: [
                    (PurgeOrder.entry, PurgeOrder(path: "/feed").sharedBytes),
                    (SharedDemand.Entry.node, node),
                ])
            shared.heed(.entries(stream: SharedStore.newsPlace, [entry]))
            return shared.isPurged(chain, url: "/feed", rank: 1_000)
        }
        #expect(isHeeded == [false, true])
    }

    @Test func `an order makes a node forget what it names and no more, and waits for the shared store`() {
        let other = ChainKey(authority: "api.test", match: "/other")
        let all = [news(1), news(2, other)]
        heed(all)
        shared.tell(PurgeOrder(path: "/feed"), removed: [])
        let isKnown = all.map { news in shared.state.withLock { $0.index.contains(news.name) } }
        #expect(isKnown == [false, true])
        #expect(shared.isPurged(chain, url: "/feed", rank: 1))
        #expect(!shared.isPurged(other, url: "/other", rank: 1))
        #expect(shared.waitingOrders.withLock { $0.count } == 1)
        #expect(shared.waitingDeletions.withLock { $0.count } == 1)
    }

    @Test func `of ten thousand keys to remove, those of twenty commands wait for the shared store`() {
        shared.delete((0..<10_501).map { Array("\($0)".utf8) })
        let sizes = shared.waitingDeletions.withLock { $0.map(\.count) }
        #expect(sizes == Array(repeating: 500, count: 20))
    }

    @Test func `the first log-out schedules a removal, and those that come before it go along`() throws {
        let tags = try ([1, 2, 3] as [UInt8]).map { byte in
            try #require(IdentityTag(bytes: [UInt8](repeating: byte, count: 32)))
        }
        var leaving = LeavingUsers()
        let isFirst = [leaving.add([]), leaving.add([tags[0]]), leaving.add([tags[1], tags[0]])]
        #expect(isFirst == [false, true, false])
        let taken = leaving.take()
        #expect(taken == Set(tags.prefix(2)))
        let isFirstAgain = leaving.add([tags[2]])
        #expect(isFirstAgain)
        let later = leaving.take()
        #expect(later == Set(tags.suffix(1)))
    }

    @Test(arguments: [(100_000, 100_000), (.max, .max), (-1, 0), (.min, 0)] as [(Int64, Int64)])
    func `an order that is given again includes nothing that came after it was given first`(
        age: Int64, counts: Int64
    ) {
        let now = SystemClock.unixMilliseconds
        let fields = [
            (PurgeOrder.entry, PurgeOrder(path: "/feed").sharedBytes), PurgeOrder.field(ofAge: age),
        ]
        let entry = RedisStreamEntry(
            id: RedisStreamID(milliseconds: UInt64(now), sequence: 0), fields: fields, appended: now...now)
        shared.heed(.entries(stream: SharedStore.newsPlace, [entry]))
        let given = max(0, now - counts)
        #expect(shared.isPurged(chain, url: "/feed", rank: given * 1_000))
        #expect(!shared.isPurged(chain, url: "/feed", rank: (given + 2_000) * 1_000))
    }

    @Test func `an order that is read again is not carried out again`() throws {
        func heed(_ milliseconds: Int64) {
            let entry = RedisStreamEntry(
                id: RedisStreamID(milliseconds: UInt64(milliseconds), sequence: 0),
                fields: [(PurgeOrder.entry, PurgeOrder(path: "/feed").sharedBytes)])
            shared.heed(.entries(stream: SharedStore.newsPlace, [entry]))
        }
        func isDone() -> Bool { shared.purges.withLock { $0.waiting.isEmpty } }
        heed(1_000)
        #expect(!isDone())
        try waitUntil("it is carried out") { isDone() }
        heed(1_000)
        #expect(isDone())
        heed(1_001)
        #expect(!isDone(), "it is another one")
    }

    @Test(arguments: [SharedNews.Entry.superseded, SharedNews.Entry.lost])
    func `what was removed long ago is not written again at once`(field: [UInt8]) throws {
        let records = [1, 2].map { SharedRecord.ofTest($0, in: chain) }
        for record in records { _ = try shared.store.sharing.adopt(record, now: SystemClock.unixSeconds) }
        let times = [SystemClock.unixMilliseconds - 61_000, SystemClock.unixMilliseconds]
        for (record, time) in zip(records, times) {
            let name = SharedName(publicChain: chain, digest: record.digest)
            let entry = RedisStreamEntry(
                id: RedisStreamID(milliseconds: UInt64(time), sequence: 0),
                fields: [(field, SharedNews.batch(names: [name]))])
            shared.heed(.entries(stream: SharedStore.newsPlace, [entry]))
        }
        // Another node may write it first, so each waits for up to half a second.
        let gate = Gate()
        shared.work.asyncAfter(deadline: .now() + .milliseconds(600)) { gate.open() }
        gate.wait()
        try waitUntil("the other one waits to be written") { shared.publications.withLock { $0.bytes } > 0 }
        #expect(shared.publications.withLock { $0.take() }.map(\.body.digest) == [records[1].digest])
    }

    // MARK: One body at many paths

    @Test func `a body of very many chains is found in each by those who ask for its path`() {
        let chains = (0..<300).map { ChainKey(authority: "api.test", match: "/page\($0)") }
        let digest = news(1).name.digest
        heed(chains.map { news(1, $0) })
        shared.heed(.caughtUp)
        for chain in chains {
            let url = PathAndQuery(path: chain.match)
            #expect(
                shared.find(digest, authority: "api.test", url: url, ownChain: chain)
                    == SharedName(publicChain: chain, digest: digest))
        }
        let other = Body([2]).digest
        #expect(
            shared.find(other, authority: "api.test", url: PathAndQuery(path: "/page1"), ownChain: nil) == nil
        )
    }

    // MARK: Holders

    @Test func `holders that other nodes told of count from when this node has the version itself`() throws {
        heed([news(1)])
        let fields = SharedDemand.fields(of: [SharedDemand(name: news(1).name, change: 10, contact: 0)])
        let id = RedisStreamID(milliseconds: UInt64(SystemClock.unixMilliseconds), sequence: 0)
        shared.heed(.entries(stream: SharedStore.demandPlace, [RedisStreamEntry(id: id, fields: fields)]))
        let body = Body(Array("1".utf8))
        let candidate = VersionCandidate(
            body, key: VersionKey(chain: chain, url: "/feed", variant: ""), policy: AdmissionPolicy())
        let version = try shared.store.admission.admit(candidate, over: nil, now: 1_000)
        #expect(version.holders == 1)
        shared.publish([SharableVersion(version, candidate, shared.store.keys)])
        try waitUntil("all eleven count") { version.holders == 11 }
        shared.publish([shared.store.sharing.readSharable(version, body)])
        shared.work.sync {}
        #expect(version.holders == 11, "once")
        #expect(shared.state.withLock { $0.index.holders(of: news(1).name) } == 0)
    }

    @Test func `what was told before the start is in the counts on disk, and does not count again`() throws {
        let version = try shared.store.sharing.adopt(SharedRecord.ofTest(1, in: chain), now: 1_000)
        let name = SharedName(publicChain: chain, digest: version.digest)
        func heed(_ change: Int32, at milliseconds: Int64, from node: [UInt8]? = nil) {
            let sender = node.map { [(name: SharedDemand.Entry.node, value: $0)] } ?? []
            let fields =
                sender + SharedDemand.fields(of: [SharedDemand(name: name, change: change, contact: 0)])
            let id = RedisStreamID(milliseconds: UInt64(milliseconds), sequence: 0)
            shared.heed(
                .entries(stream: SharedStore.demandPlace, [RedisStreamEntry(id: id, fields: fields)]))
        }
        heed(5, at: shared.startedAt - 1)
        #expect(version.holders == 1)
        heed(2, at: shared.startedAt + 1)
        #expect(version.holders == 3)
        heed(4, at: shared.startedAt + 2, from: shared.node)
        #expect(version.holders == 3, "what this node has told it has counted")
        heed(4, at: shared.startedAt + 3, from: [UInt8](repeating: 0, count: 8))
        #expect(version.holders == 7)
    }
}

extension RedisStreamEntry {
    /// An entry with one field that is added now.
    static func now(_ name: [UInt8], _ value: [UInt8]) -> RedisStreamEntry {
        RedisStreamEntry(
            id: RedisStreamID(milliseconds: UInt64(SystemClock.unixMilliseconds), sequence: 0),
            fields: [(name, value)])
    }
}
