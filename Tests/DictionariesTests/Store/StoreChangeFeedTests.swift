import Foundation
import Testing

@testable import Dictionaries

/// The feed by which a store hears what another process has done to its rows, and what must be written anew then.
@Suite(.timeLimit(.minutes(10))) final class StoreChangeFeedTests: StorePair {
    @Test func `a version that returns here while another process removes it is written anew`() async throws {
        first.admit(sampleBody(1))
        settle()
        try folder.sqlite("DELETE FROM version")
        first.admit(sampleBody(1), etag: "again")
        first.lookNow()
        #expect(first.flush())
        #expect(try folder.sqlite("SELECT etag FROM version") == "again")
        settle()
        #expect(second.finds(sampleBody(1)))
        let version = second.reader().version(chain: feedChain, digest: sampleBody(1).digest)
        #expect(await version.loaded(second))
    }

    @Test func `a version that returned here is written anew before its removal is heard of`() throws {
        first.admit(sampleBody(1))
        settle()
        // In one transaction after the removal, before the feed of changes is read again.
        try folder.sqlite("DELETE FROM version")
        first.admit(sampleBody(1), etag: "again")
        #expect(first.flush())
        #expect(try folder.sqlite("SELECT etag FROM version") == "again")
        first.lookNow()
        #expect(first.finds(sampleBody(1)))
        settle()
        #expect(second.finds(sampleBody(1)))
    }

    @Test func `what must be written anew is, whether or not anything else comes`() throws {
        first.admit(sampleBody(1))
        settle()
        try folder.sqlite("DELETE FROM version")
        first.admit(sampleBody(1), etag: "again")
        while first.statistics.pendingWrites > 0 { usleep(1000) }
        #expect(try folder.sqlite("SELECT etag FROM version") == "again")
    }

    @Test func `one that has missed the beginning of the feed reads all rows`() throws {
        for seed in 0..<5 { first.admit(sampleBody(seed)) }
        settle()
        for seed in 5..<8 { second.admit(sampleBody(seed)) }
        second.flush()
        try folder.sqlite(
            "DELETE FROM version WHERE rank = (SELECT min(rank) FROM version);"
                + "DELETE FROM change WHERE sequence < (SELECT max(sequence) FROM change)")
        first.lookNow()
        #expect(digests(first) == (1..<8).map { sampleBody($0).digest })
    }

    @Test func `rows that are yet to be made are not taken for removed ones`() throws {
        first.admit(sampleBody(1))
        settle()
        for seed in 4..<7 { second.admit(sampleBody(seed)) }
        second.flush()
        try folder.sqlite("DELETE FROM change WHERE sequence < (SELECT max(sequence) FROM change)")
        first.writeQueue.sync {
            first.admit(sampleBody(3))
            first.follow()
        }
        #expect(first.finds(sampleBody(6)) && first.finds(sampleBody(3)))
        #expect(first.statistics.evictions.isEmpty)
        #expect(first.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "5")
    }

    @Test func `the feed stays short`() throws {
        for round in 0..<3 {
            try folder.sqlite(
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9000) "
                    + "INSERT INTO change (version) SELECT i FROM n")
            first.admit(sampleBody(round))
            first.flush()
        }
        #expect(try #require(Int(folder.sqlite("SELECT count(*) FROM change"))) <= StoreRows.feedMax + 1)
    }

    @Test func `who has only written itself has nothing to read`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        for seed in 0..<5 { store.admit(sampleBody(seed)) }
        store.flush()
        let database = try #require(store.disk.withLock { $0.database })
        guard case .none = try database.changes(home: { _ in nil }) else {
            Issue.record("there is something to read")
            return
        }
        // And of what others write only that: not the five rows of its own before it.
        try folder.sqlite(
            "UPDATE version SET last_wanted = 2000 WHERE rank = (SELECT max(rank) FROM version)")
        guard case .some(let changes) = try database.changes(home: { _ in nil }) else {
            Issue.record("there is nothing to read, or everything")
            return
        }
        #expect(changes.map { $0.version?.digest } == [sampleBody(4).digest])
    }

    @Test func `one change among 10,000 rows is read alone`() throws {
        let folder = try StoreFolder()
        try DictionaryStore.open(folder.database).close()
        try folder.sqlite(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
            INSERT INTO body SELECT i, zeroblob(50) FROM n;
            INSERT INTO chain (id, authority, scope, "match", match_dest)
                SELECT id, 'api.example', 'public', '/items/' || id, '' FROM body WHERE id <= 1000;
            INSERT INTO version (id, chain, body, digest, url, variant, etag, content_type, size, rank, admitted,
                last_wanted, max_age)
                SELECT id, 1 + id % 1000, id, randomblob(32), '/items/' || id, '', NULL, NULL, 50, id, 0, 0, 1000 FROM body;
            """)
        let store = try DictionaryStore.open(folder.database, maxChains: 10_000)
        let database = try #require(store.disk.withLock { $0.database })
        try folder.sqlite("DELETE FROM version WHERE id = 77")
        let looking = ContinuousClock().measure { store.lookNow() }
        #expect(store.statistics.versions == 9_999)
        try folder.sqlite("UPDATE version SET last_wanted = 9 WHERE id = 78")
        guard case .some(let changes) = try database.changes(home: { _ in nil }) else {
            Issue.record("everything was read, or nothing")
            return
        }
        #expect(changes.map(\.id) == [78])
        let idle = ContinuousClock().measure { for _ in 0..<100 { store.lookNow() } } / 100
        print("among 10,000 versions: one change taken over in \(looking), a look at nothing \(idle)")
    }
}
