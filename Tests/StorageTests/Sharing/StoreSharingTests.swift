import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

/// Stores of two nodes that exchange versions and holder counts, without anything between them.
@Suite struct StoreSharingTests {
    private let here: DictionaryStore
    private let there: DictionaryStore

    /// The versions that a store has reported.
    private final class Reported: Sendable {
        let versions = Guarded<[SharableVersion]>([])
        let chains = Guarded<[ChainKey]>([])

        init(of store: DictionaryStore) {
            store.sharing.share(
                with: StoreListener(
                    admitted: { version, candidate in
                        let one = SharableVersion(version, candidate, nil)
                        self.versions.withLock { $0.append(one) }
                    }, established: { chain in self.chains.withLock { $0.append(chain) } }))
        }
    }

    init() throws {
        here = try DictionaryStore.open(":memory:")
        there = try DictionaryStore.open(":memory:")
    }

    private func record(_ number: Int, url: String = "/feed") throws -> SharedRecord {
        let version = there.admit(sampleBody(number), url: url, etag: "tag \(number)")
        return there.sharing.readSharable(version, sampleBody(number)).record
    }

    private func told(_ record: SharedRecord, _ change: Int32) -> SharedDemand {
        SharedDemand(name: name(record), change: change, contact: 0)
    }

    @Test func `an adopted version is found, and its body is in memory`() throws {
        let record = try record(1)
        let version = try here.sharing.adopt(record, told: told(record, 3), now: 1000)
        #expect(here.finds(sampleBody(1)))
        #expect(here.hotBody(of: version)?.bytes == sampleBody(1).bytes)
        #expect(version.holders == 3 && version.hasReturned)
        #expect(try here.sharing.adopt(record, now: 1001) === version, "adopted once")
        #expect(version.holders == 3)
        let key = VersionKey(chain: feedChain, url: "/feed", variant: "")
        #expect(here.reader().version(key, etag: "tag 1") === version)
    }

    @Test func `what other nodes have told of an adopted version counts once, and whoever asked holds it`()
        throws
    {
        let (first, second) = (try record(1), try record(2))
        #expect(try here.sharing.adopt(first, now: 1000).holders == 1)
        #expect(try here.sharing.adopt(second, told: told(second, 4), now: 1000).holders == 4)
        #expect(
            try here.sharing.adopt(second, told: told(second, 2), now: 1000).holders == 6,
            "it was here before")
    }

    @Test func `a version whose names or body no route of this node would keep is not adopted`() throws {
        let small = try DictionaryStore.open(":memory:", maxBytes: 4_000_000)
        func adopt(bytes: Int, url: String = "/feed") throws {
            let body = Body([UInt8](repeating: 1, count: bytes))
            let facts = VersionFacts(digest: body.digest, url: url, bytes: bytes, maxAge: 1000)
            _ = try small.sharing.adopt(
                SharedRecord(chain: feedChain, facts: facts, rank: 1, body: body), now: 1000)
        }
        #expect(throws: AdmissionRefusal.size) { try adopt(bytes: 1_000_001) }
        #expect(throws: Never.self) { try adopt(bytes: 1_000_000) }
        // Two names of four kilobytes, of which the match has five bytes.
        let url = "/" + String(repeating: "u", count: 2 * 4_096 - 6)
        #expect(throws: AdmissionRefusal.names) { try adopt(bytes: 300, url: url + "u") }
        #expect(throws: Never.self) { try adopt(bytes: 300, url: url) }
        #expect(small.statistics.versions == 2)
    }

    @Test func `the same body of two chains is found under the name of each`() throws {
        let other = ChainKey(authority: "api.example", match: "/other")
        here.admit(sampleBody(1))
        here.admit(sampleBody(1), chain: other, url: "/other")
        for chain in [feedChain, other] {
            let name = SharedName(publicChain: chain, digest: sampleBody(1).digest)
            #expect(here.sharing.version(name, chain: nil)?.chainKey == chain)
            #expect(here.sharing.version(name, chain: chain)?.chainKey == chain)
        }
        let nowhere = ChainKey(authority: "api.example", match: "/nowhere")
        #expect(
            here.sharing.version(SharedName(publicChain: nowhere, digest: sampleBody(1).digest), chain: nil)
                == nil)
    }

    @Test func `what was purged here is refused if another node brings it back`() throws {
        let earlier = try [1, 2].map { try record($0) }
        _ = try here.sharing.adopt(earlier[0], now: 1000)
        #expect(
            here.upkeep.purge([Purge(PurgeOrder(path: "/feed")) { _, _, _ in false }]).versions.count == 1)
        for record in earlier {
            #expect(throws: AdmissionRefusal.purged) { try here.sharing.adopt(record, now: 1000) }
        }
        #expect(!here.finds(sampleBody(1)) && here.memory.hot.withLock { $0.pinnedBytes } == 0)
        _ = try here.sharing.adopt(try record(3), now: 1000)
        #expect(here.finds(sampleBody(3)), "it came later")
    }

    @Test func `however many versions another node gives one rank, each has a row`() throws {
        let store = try DictionaryStore.open(":memory:")
        for number in 0..<200 {
            let one = try record(number)
            _ = try store.sharing.adopt(
                SharedRecord(chain: one.chain, facts: one.facts, rank: 1, body: one.body), now: 1000)
        }
        let versions = store.index.allVersions()
        #expect(Set(versions.map(\.id)).count == versions.count)
        store.evict(versions, reason: .removed)
        #expect(store.memory.hot.withLock { $0.pinnedBytes } == 0)
    }

    @Test func `the names of a stored version go out as its response stated them`() async throws {
        let folder = try StoreFolder()
        let before = try PrivateStore(folder.database)
        let many = ChainKey(authority: "api.example", match: "/items/*")
        for number in 0..<5 {
            before.store.admit(
                sampleBody(number), chain: many, url: "/items/\(number)", etag: "tag \(number)")
            try before.give(sampleBody(10 + number), network: number, now: 1000)
        }
        before.store.close()
        let users = try PrivateStore(folder.database, versionsInUseMax: 1)
        var records = 0
        for number in 0..<5 {
            let version = try #require(
                users.store.reader().version(chain: many, digest: sampleBody(number).digest))
            if version.isFromRecord { records += 1 }
            let record = users.store.sharing.readSharable(version, sampleBody(number)).record
            #expect(record.url == "/items/\(number)" && record.facts.etag == "tag \(number)")
            let own = try #require(try users.held(sampleBody(10 + number)))
            #expect(users.store.sharing.readSharable(own, sampleBody(10 + number)).record.url.isEmpty)
            if own.isFromRecord { records += 1 }
        }
        #expect(records > 5, "the names of most are on disk only")
        users.store.close()
    }

    @Test func `an adopted version is written once a second request wants it`() async throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        let once = try store.sharing.adopt(try record(1), now: 1000)
        let twice = try store.sharing.adopt(try record(2), now: 1000)
        for version in [once, twice, twice, twice] { store.demand.advertised(version, now: 1000) }
        #expect(store.upkeep.flush())
        #expect(await store.loaded(once)?.bytes == sampleBody(1).bytes)
        store.close()
        #expect(try await bodies([1, 2], in: folder) == [nil, sampleBody(2).bytes])
    }

    @Test func `an adopted version is written at once if this node gets its body, too`() async throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        _ = try store.sharing.adopt(try record(1), now: 1000)
        store.admit(sampleBody(1), url: "/feed", etag: "another tag")
        store.close()
        #expect(try await bodies([1], in: folder) == [sampleBody(1).bytes])
    }

    @Test func `adopted versions beyond an eighth of the memory go, the least recently wanted ones first`()
        throws
    {
        let body = sampleBody(0).count
        var configuration = StoreConfiguration(path: ":memory:")
        configuration.memoryBytes = 64 * body
        let store = try DictionaryStore(configuration: configuration)
        defer { store.close() }
        // The eighth has room for eight bodies without what each takes beside its bytes, for fewer with it.
        let versions = try (0..<8).map { try store.sharing.adopt(try record($0), now: 1000) }
        #expect(!store.finds(sampleBody(0)) && store.finds(sampleBody(7)))
        #expect(store.hotBody(of: versions[7])?.bytes == sampleBody(7).bytes)
        #expect(store.statistics.evictions[.unused, default: 0] >= 1)
        #expect(store.upkeep.flush(), "nothing is left to write")
        let again = try store.sharing.adopt(try record(0), now: 1001)
        for _ in 0..<2 { store.demand.advertised(again, now: 1001) }
        for number in 8..<16 { _ = try store.sharing.adopt(try record(number), now: 1002) }
        #expect(store.finds(sampleBody(0)), "it is written, so that it no longer counts")
    }

    /// The bodies that a store on disk finds for these samples.
    private func bodies(_ numbers: [Int], in folder: StoreFolder) async throws -> [[UInt8]?] {
        let store = try DictionaryStore.open(folder.database)
        defer { store.close() }
        var found: [[UInt8]?] = []
        for number in numbers {
            let version = store.reader().find(
                digest: sampleBody(number).digest, authority: "api.example", url: PathAndQuery(path: "/feed"))
            if let version { found.append(await store.loaded(version)?.bytes) } else { found.append(nil) }
        }
        return found
    }

    @Test func `an older version that is adopted later does not become the newest`() throws {
        let old = try record(1)
        let own = here.admit(sampleBody(2))
        _ = try here.sharing.adopt(old, now: 1000)
        let key = VersionKey(chain: feedChain, url: "/feed", variant: "")
        #expect(here.reader().newest(key) === own)
        let newer = there.admit(sampleBody(3))
        _ = try here.sharing.adopt(there.sharing.readSharable(newer, sampleBody(3)).record, now: 1000)
        #expect(here.reader().newest(key)?.digest == sampleBody(3).digest)
    }

    @Test func `a clock that is ahead does not keep later versions from becoming the newest`() throws {
        let record = try record(1)
        let ahead = SharedRecord(
            chain: record.chain, facts: record.facts, rank: .max - 1, body: record.body)
        _ = try here.sharing.adopt(ahead, now: 1000)
        let own = here.admit(sampleBody(2))
        #expect(here.reader().newest(VersionKey(chain: feedChain, url: "/feed", variant: "")) === own)
    }

    @Test func `adopted versions keep within the versions that the route of this node keeps`() throws {
        here.admit(sampleBody(100), keep: 16)
        for number in 0..<40 { _ = try here.sharing.adopt(try record(number), now: 1000 + number) }
        #expect(here.index.versions(of: feedChain).count == 16)
    }

    @Test func `another node whose route keeps one version takes no place of those that this one keeps`()
        throws
    {
        let reported = Reported(of: there)
        there.admit(sampleBody(100), keep: 1)
        let own = (0..<40).map { here.admit(sampleBody($0), keep: 1_000_000) }
        let written = try #require(reported.versions.withLock { $0.first }).record
        let values = try #require(written.values(named: name(written), keys: nil))
        let content = try #require(SharedValue(values[0])?.content())
        let read = try #require(SharedRecord(content, named: name(written), keys: nil))
        _ = try here.sharing.adopt(read, now: 1001)
        #expect(here.index.versions(of: feedChain).count == own.count + 1)
    }

    @Test func `a version that was published again from a store takes no place of those that clients hold`()
        throws
    {
        let own = (0..<40).map { here.admit(sampleBody($0), keep: 1_000_000) }
        let record = try record(100)
        let values = try #require(record.values(named: name(record), keys: nil))
        let content = try #require(SharedValue(values[0])?.content())
        let read = try #require(SharedRecord(content, named: name(record), keys: nil))
        _ = try here.sharing.adopt(read, now: 1001)
        #expect(here.index.versions(of: feedChain).count == own.count + 1)
    }

    private func name(_ record: SharedRecord) -> SharedName {
        SharedName(publicChain: record.chain, digest: record.digest)
    }

    @Test func `each new version is reported once, and its chain when it leaves probation`() throws {
        let reported = Reported(of: here)
        here.admit(sampleBody(1))
        here.admit(sampleBody(1))
        #expect(reported.versions.withLock { $0.map(\.body.digest) } == [sampleBody(1).digest])
        let chain = ChainKey(authority: "api.example", match: "/other")
        let version = here.admit(sampleBody(2), chain: chain, url: "/other", isImplied: true)
        #expect(reported.versions.withLock { $0.map(\.isInProbation) } == [false, true])
        here.demand.advertised(version, now: 1001)
        #expect(reported.chains.withLock { $0 } == [chain])
        #expect(reported.versions.withLock { $0.map(\.isInProbation) } == [false, false])
        #expect(here.sharing.readSharable(of: chain).map(\.body.digest) == [sampleBody(2).digest])
    }

    @Test func `the newest versions that somebody holds are shared, and what is in demand is known`() throws {
        let versions = (1...3).map { here.admit(sampleBody($0)) }
        let unheld = VersionCandidate(
            sampleBody(4), key: VersionKey(chain: feedChain, url: "/feed", variant: ""),
            policy: AdmissionPolicy())
        try here.admission.admit(unheld, isOffered: false, now: 1000)
        #expect(here.sharing.versionsToShare(max: 2).map(\.id) == [versions[2].id, versions[1].id])
        #expect(
            here.sharing.isInDemand(feedChain, since: 1000)
                && !here.sharing.isInDemand(feedChain, since: 1001))
        let odd = ChainKey(authority: "api.example", match: "/odd")
        here.admit(sampleBody(5), chain: odd, url: "/odd", isImplied: true)
        #expect(!here.sharing.isInDemand(odd, since: 1000), "it may be made up")
        here.upkeep.restrict { $0.chainKey == odd }
        #expect(
            here.sharing.versionsToShare(max: 9).map(\.chainKey) == [odd],
            "what no route makes any more is not")
    }

    @Test func `an adopted version is not reported, so that it does not travel in circles`() throws {
        let reported = Reported(of: here)
        _ = try here.sharing.adopt(try record(1), now: 1000)
        #expect(reported.versions.withLock { $0.isEmpty })
    }

    // MARK: Holders

    @Test func `a client that changes nodes is one holder, of the version that it was offered last`() throws {
        _ = Reported(of: here)
        _ = Reported(of: there)
        let first = there.admit(sampleBody(1))
        let adopted = try here.sharing.adopt(
            there.sharing.readSharable(first, sampleBody(1)).record, now: 1000)
        #expect(there.sharing.takeDemand(max: 100, keys: nil).map(\.change) == [1])
        here.demand.advertised(adopted, now: 1010)
        let second = here.admit(sampleBody(2), over: adopted, now: 1010)
        #expect(second.hasReturned && second.holders == 1 && adopted.holders == 0)
        _ = try there.sharing.adopt(here.sharing.readSharable(second, sampleBody(2)).record, now: 1011)
        there.memoryAdvance(to: 1020)
        for demand in here.sharing.takeDemand(max: 100, keys: nil) {
            there.sharing.add(demand, to: try #require(there.sharing.version(demand.name, chain: nil)))
        }
        #expect(first.holders == 0)
        #expect(here.sharing.takeDemand(max: 100, keys: nil).isEmpty, "told once")
    }

    @Test func `a version that other nodes' clients come back for is not silent`() throws {
        _ = Reported(of: there)
        let version = there.admit(sampleBody(1))
        there.memoryAdvance(to: 5000)
        let name = SharedName(publicChain: feedChain, digest: sampleBody(1).digest)
        there.sharing.add(SharedDemand(name: name, change: 2, contact: 4000), to: version)
        #expect(version.lastWanted == 4000 && version.lastContact == 4000)
        #expect(version.holders == 3 && version.hasReturned)
        there.sharing.add(SharedDemand(name: name, change: -9, contact: .max), to: version)
        #expect(version.holders == 0)
        #expect(version.lastContact == 5000, "no contact in the future")
    }

    @Test func `changes that nobody could be told of are told later, and their sum never overflows`() throws {
        _ = Reported(of: here)
        let version = here.admit(sampleBody(1))
        let taken = here.sharing.takeDemand(max: 10, keys: nil)
        #expect(taken.map(\.change) == [1])
        for demand in taken { here.sharing.giveBack(demand, of: version) }
        here.sharing.giveBack(SharedDemand(name: taken[0].name, change: .max, contact: 7), of: version)
        #expect(here.sharing.takeDemand(max: 10, keys: nil).map(\.change) == [.max])
        for _ in 0..<2 {
            here.sharing.giveBack(SharedDemand(name: taken[0].name, change: .min, contact: 0), of: version)
        }
        #expect(here.sharing.takeDemand(max: 10, keys: nil).map(\.change) == [.min])
    }

    @Test func `so many versions have changes that no node has heard of, and more are left out`() {
        var log = DemandLog()
        for row in 0...20_000 { log.record(Int64(row), holders: 1) }
        log.record(7, holders: 2, contact: 50)
        log.record(7, contact: 40)
        let first = log.take(max: 1)
        let rest = log.take(max: .max)
        #expect(first.count == 1 && rest.count == 19_999, "each is told once")
        let seventh = (first + rest).first { $0.row == 7 }?.change
        #expect(seventh?.holders == 3 && seventh?.contact == 50, "a known one still counts")
        let none = log.take(max: .max)
        #expect(none.isEmpty)
    }

    @Test func `a store that is not shared notes no changes`() {
        here.demand.advertised(here.admit(sampleBody(1)), now: 1001)
        #expect(here.sharing.takeDemand(max: 10, keys: nil).isEmpty)
    }
}

extension DictionaryStore {
    fileprivate func memoryAdvance(to now: Int) { memory.advance(to: now) }
}
