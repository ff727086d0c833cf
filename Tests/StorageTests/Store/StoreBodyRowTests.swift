import Foundation
import Testing

@testable import Dictionaries
@testable import Storage

/// The row of a body, which versions share as long as one of them is there.
@Suite(.timeLimit(.minutes(40))) struct StoreBodyRowTests {
    private let folder: StoreFolder
    private let store: DictionaryStore
    private let body = sampleBody(1)

    init() throws {
        folder = try StoreFolder()
        store = try .open(folder.database)
    }

    private func chain(_ match: String, authority: String = "api.example") -> ChainKey {
        ChainKey(authority: authority, match: match)
    }

    /// Returns the number of rows of bodies and of versions; bodies without a version are a fault.
    private func rows() throws -> String {
        #expect(
            try folder.sqlite("SELECT count(*) FROM body WHERE id NOT IN (SELECT body FROM version)") == "0")
        return try folder.sqlite("SELECT (SELECT count(*) FROM body), (SELECT count(*) FROM version)")
    }

    /// Does all of the work before the next transaction, so that it is one transaction.
    private func inOneBatch(_ work: () -> Void) {
        store.writeQueue.suspend()
        work()
        store.writeQueue.resume()
        #expect(store.upkeep.flush())
    }

    /// Reopens the store, and returns true if every version has its body.
    private func allLoad() async throws -> Bool {
        store.close()
        let reopened = try DictionaryStore.open(folder.database)
        for version in reopened.index.allVersions() {
            guard await reopened.loaded(version)?.digest == version.digest else { return false }
        }
        return true
    }

    @Test func `a row in the way that makes no sense keeps the new one out, and its body as well`() throws {
        store.admit(body)
        #expect(store.upkeep.flush())
        store.close()
        try folder.sqlite("UPDATE version SET size = -1")
        let reopened = try DictionaryStore.open(folder.database)
        try #require(!reopened.finds(body))
        reopened.admit(body)
        #expect(reopened.upkeep.flush())
        #expect(try rows() == "1|1")
        #expect(reopened.finds(body))
    }

    @Test(arguments: [true, false])
    func `URLs, chains and authorities with one body share its row`(inOneBatch: Bool) async throws {
        let places = [
            (chain("/a"), "/a"), (chain("/a"), "/a?1"), (chain("/b"), "/b"),
            (chain("/a", authority: "other.example"), "/a"), (chain("/c", authority: "third.example"), "/c"),
        ]
        func admitAll() {
            for (chain, url) in places {
                store.admit(body, chain: chain, url: url)
                if !inOneBatch { store.upkeep.flush() }
            }
        }
        if inOneBatch { self.inOneBatch(admitAll) } else { admitAll() }
        #expect(try rows() == "1|5")
        #expect(try await allLoad())
    }

    @Test func `the row outlives the version that made it, whichever goes`() async throws {
        for place in 0..<4 { store.admit(body, chain: chain("/\(place)"), maxAge: [10, 40, 20, 30][place]) }
        store.upkeep.flush()
        for (now, rows) in [(1010, "1|3"), (1020, "1|2"), (1030, "1|1")] {
            store.upkeep.sweep(now: now)
            store.upkeep.flush()
            #expect(try self.rows() == rows)
        }
        store.admit(body, chain: chain("/4"), now: 1030)
        store.upkeep.flush()
        #expect(try rows() == "1|2", "what is left can be shared")
        #expect(try await allLoad())
    }

    @Test func `where the version it would share with goes in the same transaction, it is written anew`()
        async throws
    {
        store.admit(body, chain: chain("/a"), keep: 1)
        store.upkeep.flush()
        inOneBatch {
            store.admit(body, chain: chain("/b"))
            store.admit(sampleBody(2), chain: chain("/a"), keep: 1)
        }
        #expect(try rows() == "2|2")
        #expect(try await allLoad())
    }

    @Test func `where the version it would share with goes before it was written, the next one writes it`()
        async throws
    {
        inOneBatch {
            for match in ["/a", "/b", "/c"] { store.admit(body, chain: chain(match), keep: 1) }
            store.admit(sampleBody(2), chain: chain("/a"), keep: 1)
        }
        #expect(try rows() == "2|3")
        #expect(try await allLoad())
    }

    @Test func `where another process has removed the version it would share with, it is written anew`()
        async throws
    {
        store.admit(body, chain: chain("/a"))
        store.upkeep.flush()
        try folder.sqlite("DELETE FROM version")
        store.admit(body, chain: chain("/b"))
        store.upkeep.flush()
        #expect(try rows() == "1|1")
        #expect(try await allLoad())
    }

    @Test func `where somebody has removed the bytes alone, they are written anew`() async throws {
        store.admit(body, chain: chain("/a"))
        store.upkeep.flush()
        try folder.sqlite("DELETE FROM body")
        store.admit(body, chain: chain("/b"))
        #expect(store.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM body") == "1")
        let version = try #require(store.index.versions(of: chain("/b")).first)
        store.close()
        let reopened = try DictionaryStore.open(folder.database)
        #expect(await reopened.loaded(version)?.digest == body.digest)
    }

    @Test func `bodies whose digests begin alike share nothing`() async throws {
        let beginning = Array(sampleBody(1).digest.bytes.prefix(8))
        for place in 0..<2 {
            let digest = try #require(Digest(bytes: beginning + [UInt8](repeating: UInt8(place), count: 24)))
            store.admit(Body(Array("body \(place)".utf8), digest: digest), chain: chain("/\(place)"))
        }
        store.upkeep.flush()
        #expect(try rows() == "2|2")
        #expect(try folder.sqlite("SELECT group_concat(CAST(bytes AS TEXT)) FROM body") == "body 0,body 1")
    }

    // MARK: Reading

    @Test func `while another version has the row, its bytes are read although the one asked for is gone`()
        async throws
    {
        for match in ["/a", "/b"] { store.admit(body, chain: chain(match)) }
        store.close()
        let events = StoreEvents()
        let reopened = try DictionaryStore.open(folder.database, log: events.log)
        let version = try #require(reopened.index.versions(of: chain("/a")).first)
        try folder.sqlite("DELETE FROM version WHERE id = \(version.id)")
        #expect(await reopened.loaded(version)?.bytes == body.bytes)
        #expect(reopened.statistics.evictions == [.removed: 1])
        #expect(reopened.index.versions(of: chain("/b")).count == 1)
        #expect(events.all.isEmpty)
    }

    @Test func `where a row is damaged, another one of the same body serves`() async throws {
        for match in ["/a", "/b"] { store.admit(body, chain: chain(match)) }
        store.close()
        // Nothing in the file forbids this.
        try folder.sqlite(
            """
            INSERT INTO body (id, bytes) SELECT 1000, bytes FROM body;
            UPDATE version SET body = 1000 WHERE url = '/feed' AND chain = (SELECT id FROM chain WHERE "match" = '/b');
            """)
        #expect(try rows() == "2|2")
        let events = StoreEvents()
        let reopened = try DictionaryStore.open(folder.database, log: events.log)
        let damaged = try #require(reopened.index.versions(of: chain("/a")).first)
        try folder.sqlite(
            "UPDATE body SET bytes = zeroblob(1000) "
                + "WHERE id = (SELECT body FROM version WHERE id = \(damaged.id))")
        #expect(await reopened.loaded(damaged)?.bytes == body.bytes)
        #expect(reopened.statistics.evictions == [.damaged: 1])
        #expect(reopened.index.versions(of: chain("/b")).count == 1)
        #expect(reopened.index.versions(of: chain("/a")).isEmpty)
        #expect(events.errors.count == 1)
    }

    @Test func `with a damaged row all versions go that share it, which is said once`() async throws {
        for place in 0..<40 { store.admit(body, chain: chain("/\(place)")) }
        store.admit(sampleBody(2))
        store.close()
        try folder.sqlite("UPDATE body SET bytes = zeroblob(1000) WHERE id = \(folder.bodyRow(of: body))")
        let events = StoreEvents()
        let reopened = try DictionaryStore.open(folder.database, log: events.log)
        let version = try #require(reopened.index.versions(of: chain("/7")).first)
        #expect(await reopened.loaded(version) == nil)
        #expect(reopened.statistics.evictions == [.damaged: 40])
        #expect(reopened.statistics.versions == 1)
        #expect(events.errors.count == 1)
        reopened.upkeep.flush()
        #expect(try rows() == "1|1")
    }
}
