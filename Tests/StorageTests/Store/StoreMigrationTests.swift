import Foundation
import Glibc
import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// Migrations from schema to schema; the first schema is written out here, because such files exist.
@Suite(.timeLimit(.minutes(20))) struct StoreMigrationTests {
    private static let first = """
        PRAGMA auto_vacuum = INCREMENTAL;
        PRAGMA journal_mode = WAL;
        CREATE TABLE chain (id INTEGER PRIMARY KEY, authority TEXT NOT NULL, scope TEXT NOT NULL,
            "match" TEXT NOT NULL, match_dest TEXT NOT NULL, UNIQUE (authority, scope, "match", match_dest)) STRICT;
        CREATE TABLE body (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
        CREATE TABLE version (id INTEGER PRIMARY KEY, chain INTEGER NOT NULL REFERENCES chain,
            body INTEGER NOT NULL REFERENCES body, digest BLOB NOT NULL, url TEXT NOT NULL,
            variant TEXT NOT NULL, etag TEXT, content_type TEXT, size INTEGER NOT NULL, rank INTEGER NOT NULL,
            admitted INTEGER NOT NULL, last_wanted INTEGER NOT NULL, max_age INTEGER NOT NULL,
            UNIQUE (chain, url, variant, digest)) STRICT;
        CREATE INDEX version_body ON version (body);
        CREATE TRIGGER version_deleted AFTER DELETE ON version BEGIN
            DELETE FROM body WHERE id = old.body AND NOT EXISTS (SELECT 1 FROM version WHERE body = old.body);
            DELETE FROM chain WHERE id = old.chain AND NOT EXISTS (SELECT 1 FROM version WHERE chain = old.chain);
        END;
        INSERT INTO chain VALUES (7, 'api.example', 'public', '/feed', '');
        INSERT INTO body VALUES (9, X'\(sampleBody(1).bytes.map { String(format: "%02x", $0) }.joined())');
        INSERT INTO version VALUES (3, 7, 9, X'\(sampleBody(1).digest.hex)', '/feed', '', 'one', 'application/json', 1000, 5, 1000, 1000, 1000);
        PRAGMA application_id = \(0x4449_4354);
        PRAGMA user_version = 1;
        """

    private func old() throws -> StoreFolder {
        let folder = try StoreFolder()
        try folder.sqlite(Self.first)
        return folder
    }

    @Test func `a store of the first schema is brought up to date and serves`() async throws {
        let folder = try old()
        let events = StoreEvents()
        let store = try DictionaryStore.open(folder.database, log: events.log)
        let version = store.reader().version(
            VersionKey(chain: feedChain, url: "/feed", variant: ""), etag: "one")
        #expect(await version.loaded(store))
        store.admit(sampleBody(2))
        store.admit(sampleBody(1), etag: "again")
        store.close()
        #expect(events.all.isEmpty)
        #expect(try folder.sqlite("PRAGMA user_version") == "\(StoreSchema.steps.count)")
        let reopened = try DictionaryStore.open(folder.database)
        #expect(reopened.publisher.index.versions(of: feedChain).map(\.etag) == [nil, "again"])
    }

    @Test func `a migration that fails leaves the file as it was`() throws {
        let folder = try old()
        let before = try folder.sqlite("SELECT sql FROM sqlite_schema")
        #expect(throws: StoreDatabaseError.self) {
            try StoreDatabase(
                path: folder.database,
                steps: StoreSchema.steps + ["CREATE TABLE more (a)", "CREATE TABLE more (a)"])
        }
        #expect(try folder.sqlite("PRAGMA user_version") == "1")
        #expect(try folder.sqlite("SELECT sql FROM sqlite_schema") == before)
        #expect(try DictionaryStore.open(folder.database).statistics.versions == 1)
    }

    @Test func `kill -9 in the middle of a migration leaves the file as it was`() async throws {
        let folder = try StoreFolder(sharedAs: "migration")
        try folder.sqlite(Self.first)
        let before = try folder.sqlite("SELECT sql FROM sqlite_schema")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            alarm(120)
            let path = StoreFolder.sharedDatabase("migration")
            Thread.detachNewThread {
                // The step is in its middle once its rows are in the log, because they exceed the cache.
                while ((try? FileManager.default.attributesOfItem(atPath: path + "-wal"))?[.size] as? Int ?? 0)
                    < 1 << 20
                {
                    usleep(100)
                }
                kill(getpid(), SIGKILL)
            }
            _ = try StoreDatabase(
                path: path,
                steps: StoreSchema.steps + [
                    """
                    CREATE TABLE many AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                    SELECT i, zeroblob(1000) FROM n LIMIT 200000
                    """
                ])
        }
        #expect(folder.files.contains("dictum.sqlite-wal"), "it was killed in the middle")
        #expect(try folder.sqlite("PRAGMA user_version") == "1")
        #expect(try folder.sqlite("SELECT sql FROM sqlite_schema") == before)
        let store = try DictionaryStore.open(folder.database)
        #expect(store.finds(sampleBody(1)))
    }

    @Test func `a process of the release before can read a migrated file, and hears of no change`() throws {
        let folder = try old()
        let store = try DictionaryStore.open(folder.database)
        store.admit(sampleBody(2))
        #expect(store.flush())
        // The queries of the former program while its successor runs. It writes nothing to a newer schema.
        #expect(try folder.sqlite("SELECT ifnull(max(sequence), 0) FROM change") == "0")
        #expect(try folder.sqlite("SELECT DISTINCT version FROM change WHERE sequence > 0") == "")
        #expect(
            try folder.sqlite(
                """
                SELECT count(id) FROM (SELECT id, chain, digest, url, variant, etag, content_type, size, rank, admitted,
                last_wanted, max_age, pinned_until, is_upstream_match, head FROM version)
                """) == "2")
        #expect(
            try folder.sqlite(
                "SELECT length(bytes) FROM version JOIN body ON body.id = version.body WHERE version.id = 3")
                == "1000")
    }

    // MARK: The release that kept every body whole

    @Test func `a store of whole bodies keeps them all, and packs what comes`() async throws {
        let folder = try StoreFolder()
        let keys = try PrivateStore.keys()
        let tag = try #require(
            keys.identityTag(
                authority: "api.example", items: [("authorization", Array("Bearer ann-token".utf8))]))
        let chain = ChainKey(authority: "api.example", scope: .private(tag), match: "/feed")
        let (public1, private1) = (
            Body(Feed.bytes(version: 1, items: 60)), Body(Feed.bytes(version: 9, items: 60))
        )
        let (name, row) = (keys.name(of: chain, tag), keys.name(of: private1.digest, tag))
        let facts = try keys.seal(PrivateChainFacts.bytes(chain), ofChain: name)
        let sealed = try keys.seal(private1.bytes, ofRow: row, inChain: name)
        let url = keys.name(of: "/feed", as: .url, tag)
        let variant = keys.name(of: "", as: .variant, tag)
        func blob(_ bytes: [UInt8]) -> String {
            "X'" + bytes.map { String(format: "%02x", $0) }.joined() + "'"
        }
        let ahead = SystemClock.unixMicroseconds / 1_000_000 + 10_000_000
        try folder.sqlite(
            """
            PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
            \(StoreSchema.steps.prefix(7).joined(separator: ";\n"));
            INSERT INTO chain VALUES (7, 'api.example', 'public', '/feed', '', 1);
            INSERT INTO body VALUES (9, \(blob(public1.bytes)));
            INSERT INTO version VALUES (3, 7, 9, \(blob(public1.digest.bytes)), '/feed', '', 'one', 'application/json',
                \(public1.count), 5, 1000, \(ahead), 1000, 0, 0, X'00');
            INSERT INTO private_chain VALUES (1, \(blob(name)), \(blob(facts)));
            INSERT INTO private_version VALUES (4, 1, \(blob(row.bytes)), '\(url)', '\(variant)', NULL, NULL,
                \(private1.count), 6, 1000, 1000, 1000, 0);
            INSERT INTO private_body VALUES (4, \(blob(sealed)));
            PRAGMA application_id = \(StoreSchema.applicationID); PRAGMA user_version = 7;
            """)
        let opened = try PrivateStore(folder.database)
        let store = opened.store
        let old = try #require(store.reader().version(chain: feedChain, digest: public1.digest))
        #expect(await store.loaded(old)?.bytes == public1.bytes)
        #expect(old.lastWanted < ahead, "the clock was ahead")
        let own = try #require(try opened.version(private1, "ann"))
        #expect(await store.loaded(own)?.bytes == private1.bytes)
        for version in 2...4 {
            store.admit(Body(Feed.bytes(version: version, items: 60)))
            #expect(store.flush())
        }
        store.close()
        #expect(
            try folder.sqlite(
                "SELECT count(*), count(body.size), count(base), sum(holders > 0) FROM body, version ON version.body = body.id"
            )
                == "4|3|2|4")
        let reopened = try DictionaryStore.open(folder.database)
        for version in 1...4 {
            let body = Body(Feed.bytes(version: version, items: 60))
            let found = try #require(reopened.reader().version(chain: feedChain, digest: body.digest))
            #expect(await reopened.loaded(found)?.bytes == body.bytes)
        }
    }
}
