import Foundation
import Testing

@testable import Dictionaries

/// Private versions of two stores with one key on one file, as two processes have it during a hand-over.
@Suite(.timeLimit(.minutes(10))) struct StorePrivateSharingTests {
    private let folder: StoreFolder
    private let first: PrivateStore
    private let second: PrivateStore
    private let one = sampleBody(1)

    init() throws {
        folder = try StoreFolder()
        first = try PrivateStore(folder.database)
        second = try PrivateStore(folder.database)
    }

    private func settle(_ stores: [DictionaryStore]? = nil) {
        settleAll(stores ?? [first.store, second.store])
    }

    private func digests(_ store: PrivateStore, _ user: String) throws -> [Digest] {
        store.store.publisher.index.versions(of: try store.chain(user)).map(\.digest)
    }

    private func forgetTheFeed() throws {
        try folder.sqlite(
            "PRAGMA busy_timeout = 5000; DELETE FROM change WHERE sequence < (SELECT max(sequence) FROM change)"
        )
    }

    @Test func `what one admits no other identity finds in the other`() throws {
        first.store.admit(one, chain: try first.chain("ann"))
        settle()
        #expect(try second.finds(one, "ann"))
        #expect(try !second.finds(one, "bob"))
        #expect(try !second.finds(one, "ann", authority: "other.example"))
        #expect(!second.store.finds(one), "nor a public route")
    }

    @Test func `what one admits its identity finds in the other and can read, without being asked to look`()
        async throws
    {
        first.store.admit(one, chain: try first.chain("ann"))
        while try !second.finds(one, "ann") { try await Task.sleep(for: .milliseconds(10)) }
        let version = try #require(try second.version(one, "ann"))
        #expect(await second.store.loaded(version)?.bytes == one.bytes)
    }

    @Test func `what one removes is gone from the other, and counted as removed`() throws {
        for store in [first, second] {
            let chain = try store.chain("ann")
            store.store.admit(one, chain: chain, maxAge: 10, now: 1000)
            store.store.admit(sampleBody(2), chain: chain, maxAge: 1000, now: 1000)
            settle()
        }
        first.store.sweep(now: 1010)
        settle()
        #expect(try !second.finds(one, "ann"))
        #expect(try second.finds(sampleBody(2), "ann"))
        #expect(second.store.statistics.evictions == [.removed: 1])
        #expect(second.store.statistics.pendingWrites == 0)
    }

    @Test(arguments: [false, true])
    func `own rows that come back through the feed change nothing`(isUpstreamMatch: Bool) throws {
        // On its queue, so that it does not look by itself meanwhile.
        try first.store.writeQueue.sync {
            second.store.admit(sampleBody(9))
            second.store.flush()
            // Written behind a change of another, so that the feed is read from before it.
            let version = try first.store.admit(
                one, chain: try first.chain("ann"), url: "/feed", variant: "", etag: "v1",
                contentType: "application/json", policy: AdmissionPolicy(), now: 1000,
                isUpstreamMatch: isUpstreamMatch)
            first.store.drain(isForced: true)
            let database = try #require(first.store.disk.withLock { $0.database })
            guard case .some(let changes) = try database.changes(home: { _ in nil }) else {
                Issue.record("there is nothing to read, or everything")
                return
            }
            let row = try #require(changes.first { $0.id == version.id }?.version)
            #expect(row.facts == version.facts && row.chain == version.chain)
            let merged = first.store.state.withLock { $0.merge(changes, now: 1000) { _ in nil } }
            #expect(merged.evicted.versions.isEmpty)
            #expect(try first.version(one, "ann") === version)
            #expect(first.store.statistics.pendingWrites == 0)
        }
    }

    @Test func `a body that both admit at once is one row and one version in both`() throws {
        first.store.admit(one, chain: try first.chain("ann"), now: 1000)
        second.store.admit(one, chain: try second.chain("ann"), now: 1000)
        // The later one is written first: its rank is the one that stays.
        second.store.flush()
        settle()
        #expect(
            try folder.sqlite("SELECT (SELECT count(*) FROM private_version), count(*) FROM private_body")
                == "1|1")
        let known = [first, second].map { $0.store.publisher.index.allVersions().map { [$0.id, $0.rank] } }
        #expect(known[0] == known[1] && known[0].count == 1)
        let rank = try folder.sqlite("SELECT rank FROM private_version")
        #expect(known[0].first?.last.map { "\($0)" } == rank)
        first.store.sweep(now: 5000)
        settle()
        #expect(try folder.sqlite("SELECT count(*) FROM private_body") == "0")
        #expect(try !second.finds(one, "ann"))
    }

    @Test func `admissions of both stand in the order in which they came`() throws {
        for seed in 0..<10 {
            let store = seed.isMultiple(of: 2) ? first : second
            store.store.admit(sampleBody(seed), chain: try store.chain("ann"))
        }
        settle()
        let chain = try first.chain("ann")
        let expected = (0..<10).map { chain.scope.name(of: sampleBody($0).digest, first.keys) }
        #expect(try digests(first, "ann") == expected)
        #expect(try digests(second, "ann") == expected)
    }

    @Test func `the versions of a chain are bounded over both`() throws {
        for seed in 0..<8 {
            let store = seed.isMultiple(of: 2) ? first : second
            store.store.admit(sampleBody(seed), chain: try store.chain("ann"), keep: 1)
        }
        settle()
        settle()
        #expect(try folder.sqlite("SELECT count(*) FROM private_version") == "1")
        for store in [first, second] {
            #expect(try (0..<8).filter { try store.finds(sampleBody($0), "ann") } == [7])
        }
    }

    @Test func `the budget holds over both`() throws {
        let folder = try StoreFolder()
        let stores = try [0, 1].map { _ in try PrivateStore(folder.database, privateBytesMax: 1 << 20) }
        for seed in 0..<160 {
            let store = stores[seed % 2]
            let body = sampleBody(seed, count: 10_000)
            store.store.admit(body, chain: try store.chain("user \(seed)"), now: 1000 + seed)
        }
        settle(stores.map(\.store))
        let stored = try #require(Int(folder.sqlite("SELECT sum(length(sealed)) FROM private_body")))
        #expect(stored <= 1 << 20)
        #expect(stored > 1 << 19, "and it is used")
        for store in stores {
            #expect(store.store.publisher.index.privateBytes <= 1 << 20)
            #expect(try store.finds(sampleBody(158, count: 10_000), "user 158"))
            #expect(try store.finds(sampleBody(159, count: 10_000), "user 159"))
            #expect(try !store.finds(sampleBody(0, count: 10_000), "user 0"))
        }
    }

    @Test func `what another admits is within the budget once it is read`() throws {
        let small = try PrivateStore(folder.database, privateBytesMax: 1 << 20)
        for seed in 0..<200 {
            first.store.admit(sampleBody(seed, count: 10_000), chain: try first.chain("user \(seed)"))
        }
        first.store.flush()
        let index = small.store.publisher.index
        let bytes = small.store.writeQueue.sync {
            small.store.follow()
            return index.privateBytes
        }
        #expect(bytes <= 1 << 20 && bytes > 1 << 19)
    }

    @Test func `a process without keys neither sees nor removes them`() throws {
        let without = try DictionaryStore.open(folder.database)
        first.store.admit(one, chain: try first.chain("ann"))
        first.store.admit(sampleBody(2))
        settle([first.store, without])
        #expect(without.statistics.versions == 1 && without.finds(sampleBody(2)))
        without.admit(sampleBody(3))
        first.store.admit(sampleBody(4), chain: try first.chain("bob"))
        first.store.flush()
        without.flush()
        // It reads every row, as it has missed some of the feed.
        try forgetTheFeed()
        settle([without, first.store])
        #expect(without.statistics.versions == 2)
        #expect(try folder.sqlite("SELECT count(*) FROM private_version") == "2")
        #expect(try first.finds(one, "ann"))
        #expect(try first.finds(sampleBody(4), "bob"))
    }

    @Test func `one that has missed the beginning of the feed reads all private rows`() throws {
        for seed in 0..<3 { first.store.admit(sampleBody(seed), chain: try first.chain("ann")) }
        settle()
        second.store.admit(sampleBody(3), chain: try second.chain("ann"))
        second.store.flush()
        try folder.sqlite(
            "DELETE FROM private_version WHERE rank = (SELECT min(rank) FROM private_version)")
        try forgetTheFeed()
        first.store.lookNow()
        #expect(try (0..<4).filter { try first.finds(sampleBody($0), "ann") } == [1, 2, 3])
    }

    @Test func `what clients of one want does not age in the other`() throws {
        first.store.admit(one, chain: try first.chain("ann"), maxAge: 100, now: 1000)
        settle()
        second.store.touch(try #require(try second.version(one, "ann")), now: 1090)
        settle()
        first.store.sweep(now: 1150)
        #expect(try first.finds(one, "ann"))
        first.store.sweep(now: 1190)
        #expect(try !first.finds(one, "ann"))
    }

    @Test func `a version that returns here while another process removes it is written anew`() async throws {
        first.store.admit(one, chain: try first.chain("ann"))
        settle()
        try folder.sqlite("DELETE FROM private_version")
        first.store.admit(one, chain: try first.chain("ann"), etag: "again")
        first.store.lookNow()
        #expect(first.store.flush())
        settle()
        let version = try #require(try second.version(one, "ann"))
        #expect(await second.store.loaded(version)?.bytes == one.bytes)
    }

    @Test func `when the last private route goes, its versions are gone from a process that still has it`()
        throws
    {
        for user in ["ann", "bob"] { first.store.admit(one, chain: try first.chain(user)) }
        settle()
        let successor = try DictionaryStore(
            configuration: StoreConfiguration(path: folder.database, privateRows: .removed))
        second.store.lookNow()
        #expect(second.store.statistics.versions == 0)
        successor.close()
    }
}
