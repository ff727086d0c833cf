import Foundation
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreDamageTests {
    /// Returns a folder with a closed store of so many versions.
    private func filled(_ count: Int, bytes: Int = 1000) throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        for seed in 0..<count { store.admit(sampleBody(seed, count: bytes), keep: count) }
        store.close()
        return folder
    }

    @Test func `a body whose bytes were changed is refused and dropped, the others stay`() async throws {
        let folder = try filled(3)
        try folder.sqlite(
            "UPDATE body SET bytes = zeroblob(1000) WHERE id = \(folder.bodyRow(of: sampleBody(1)))")
        let events = StoreEvents()
        let store = try DictionaryStore.open(folder.database, log: events.log)
        let versions = store.reader()
        let damaged = try #require(versions.version(chain: feedChain, digest: sampleBody(1).digest))
        #expect(await store.loaded(damaged) == nil)
        #expect(!store.finds(sampleBody(1)))
        #expect(store.finds(sampleBody(0)) && store.finds(sampleBody(2)))
        #expect(await versions.version(chain: feedChain, digest: sampleBody(0).digest).loaded(store))
        #expect(store.statistics.evictions == [.damaged: 1])
        #expect(events.errors.count == 1)
        #expect(events.errors.first?.contains("do not match its digest") == true)
        store.upkeep.flush()
        #expect(try folder.sqlite("SELECT count(*) FROM body") == "2")
    }

    @Test func `a body that was damaged can be admitted again`() async throws {
        let folder = try filled(1)
        try folder.sqlite("UPDATE body SET bytes = X'00'")
        let store = try DictionaryStore.open(folder.database)
        let damaged = try #require(store.reader().version(chain: feedChain, digest: sampleBody(0).digest))
        #expect(await store.loaded(damaged) == nil)
        store.admit(sampleBody(0))
        store.close()
        let reopened = try DictionaryStore.open(folder.database)
        #expect(
            await reopened.reader().version(chain: feedChain, digest: sampleBody(0).digest).loaded(reopened))
    }

    @Test func `a store that is no database any more is set aside whole and an empty store used`() throws {
        let folder = try filled(1)
        let garbage = String(repeating: "not a database ", count: 1000)
        try garbage.write(toFile: folder.database, atomically: true, encoding: .utf8)
        let events = StoreEvents()
        let store = try DictionaryStore.open(folder.database, log: events.log)
        #expect(store.statistics.versions == 0)
        store.admit(sampleBody(1))
        #expect(store.upkeep.flush())
        #expect(events.errors.count == 1)
        let aside = try #require(folder.files.first { $0.hasPrefix("dictum.sqlite.damaged-20") })
        #expect(try String(contentsOfFile: folder.path + "/" + aside, encoding: .utf8) == garbage)
        #expect(events.errors.first?.contains(aside) == true)
        #expect(store.statistics.setAsides == 1)
    }

    @Test func `two damaged files in one second are both kept`() throws {
        let folder = try filled(1)
        for _ in 0..<2 {
            try String(repeating: "x", count: 5000).write(
                toFile: folder.database, atomically: true, encoding: .utf8)
            try DictionaryStore.open(folder.database).close()
            try FileManager.default.removeItem(atPath: folder.database)
        }
        #expect(
            folder.files.filter { $0.contains("damaged") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
                .count == 2)
    }

    @Test func `a schema of zeroes is set aside`() throws {
        let folder = try filled(3)
        try folder.edit(folder.database) {
            $0.replaceSubrange(100..<4096, with: repeatElement(0, count: 3996))
        }
        let events = StoreEvents()
        let store = try DictionaryStore.open(folder.database, log: events.log)
        #expect(store.statistics.versions == 0)
        #expect(events.errors.count == 1)
    }

    @Test func `rows of nonsense are passed over`() throws {
        let folder = try filled(3)
        try folder.sqlite(
            """
            UPDATE version SET size = -1 WHERE rank = (SELECT min(rank) FROM version);
            UPDATE version SET rank = 9223372036854775807 WHERE rank = (SELECT max(rank) FROM version);
            """)
        let store = try DictionaryStore.open(folder.database)
        #expect(store.statistics.versions == 1)
        store.admit(sampleBody(9))
        #expect(store.upkeep.flush())
    }

    @Test func `values of another type than the column's are none`() async throws {
        let folder = try filled(2)
        try folder.sqlite(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT', ''), 'NOT NULL', '') WHERE type = 'table';
            """)
        try folder.sqlite("UPDATE chain SET established = NULL; UPDATE body SET size = X'', base = X'00'")
        let store = try DictionaryStore.open(folder.database)
        for number in 0..<2 {
            let version = store.reader().version(chain: feedChain, digest: sampleBody(number).digest)
            #expect(await version.loaded(store))
        }
        store.close()
    }

    @Test func `damage found while running sets the file aside and keeps what is in memory`() async throws {
        let folder = try filled(50, bytes: 20_000)
        let events = StoreEvents()
        let store = try DictionaryStore.open(folder.database, log: events.log)
        let hot = store.admit(sampleBody(100, count: 20_000), keep: 100)
        store.upkeep.flush()
        // This version of the first run is in memory before the damage.
        let read = try #require(
            store.reader().version(chain: feedChain, digest: sampleBody(3, count: 20_000).digest))
        #expect(await store.loaded(read) != nil)

        // Damage every page but the first, so that the next write hits one.
        try folder.sqlite("PRAGMA wal_checkpoint(TRUNCATE)")
        let file = try #require(FileHandle(forUpdatingAtPath: folder.database))
        let size = try file.seekToEnd()
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0xff, count: Int(size) - 4096))
        try file.close()

        for seed in 200..<210 {
            store.admit(
                sampleBody(seed, count: 20_000), chain: ChainKey(authority: "api.example", match: "/\(seed)"))
            store.upkeep.flush()
        }
        store.upkeep.flush()
        #expect(events.errors.contains { $0.contains("set aside") })
        #expect(folder.files.contains { $0.contains("damaged-20") })
        for version in [hot, read] {
            #expect(store.reader().contains(chain: feedChain, digest: version.digest))
        }
        #expect(!store.reader().contains(chain: feedChain, digest: sampleBody(4, count: 20_000).digest))
        store.close()
        let reopened = try DictionaryStore.open(folder.database)
        #expect(reopened.statistics.versions == 12)
        #expect(await reopened.reader().version(chain: feedChain, digest: read.digest).loaded(reopened))
    }

    @Test(arguments: [0, StoreSchema.number - 1, StoreSchema.number + 1])
    func `another schema is refused and left alone`(number: Int) throws {
        let folder = try filled(1)
        try folder.sqlite("PRAGMA user_version = \(number)")
        #expect(throws: StoreError.otherSchema(path: folder.database, found: number)) {
            try DictionaryStore.open(folder.database)
        }
        #expect(try folder.sqlite("PRAGMA user_version; SELECT count(*) FROM version") == "\(number)\n1")
    }

    @Test func `a newer schema that comes while the store is open is not written to`() throws {
        let folder = try StoreFolder()
        let events = StoreEvents()
        let store = try DictionaryStore.open(folder.database, log: events.log)
        store.admit(sampleBody(1))
        #expect(store.upkeep.flush())
        try folder.sqlite("PRAGMA user_version = 99")
        store.admit(sampleBody(2))
        #expect(!store.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "1")
        #expect(events.errors.count == 1)
        #expect(events.errors.first?.contains("99") == true)
        #expect(store.finds(sampleBody(1)) && store.finds(sampleBody(2)), "it goes on in memory")
    }

    @Test func `the database of another program is refused and left alone`() throws {
        let folder = try StoreFolder()
        try folder.sqlite("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')")
        #expect(throws: StoreError.foreignDatabase(path: folder.database)) {
            try DictionaryStore.open(folder.database)
        }
        #expect(try folder.sqlite("SELECT text FROM notes; PRAGMA journal_mode") == "mine\ndelete")
        #expect(folder.files == ["dictum.sqlite", "dictum.sqlite.lock"])
    }

    /// The bytes of a database with this number of its program, all damaged but the head.
    private static func head(application: Int32) -> [UInt8] {
        var bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0xff, count: 5000)
        for place in 0..<4 { bytes[68 + place] = UInt8(truncatingIfNeeded: application >> (24 - 8 * place)) }
        return bytes
    }

    @Test(arguments: [
        Array("print('my program')\n".utf8), [0], Array(String(repeating: "long text ", count: 1000).utf8),
        [UInt8](repeating: 0, count: 40_960), head(application: 7),
    ])
    func `a file that never was a store is refused each time, and left alone`(bytes: [UInt8]) throws {
        let folder = try StoreFolder()
        try Data(bytes).write(to: URL(fileURLWithPath: folder.database))
        for _ in 0..<2 {
            #expect(throws: StoreError.self) { try DictionaryStore.open(folder.database) }
            #expect(throws: StoreError.self) { try StoreFile.check(path: folder.database) }
            #expect(throws: StoreCatalogueError.self) { try StoreCatalogue(path: folder.database) }
        }
        #expect(folder.files == ["dictum.sqlite"], "no lock tells that it is a store")
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.database))) == bytes)
    }

    @Test func `the lock of another program does not make its file a store`() throws {
        let folder = try StoreFolder()
        for (name, text) in [("", "name: x\n"), (".lock", "[[package]]\n")] {
            try text.write(toFile: folder.database + name, atomically: true, encoding: .utf8)
        }
        #expect(throws: StoreError.noStore(path: folder.database)) {
            try DictionaryStore.open(folder.database)
        }
    }

    @Test func `a folder is refused`() throws {
        let folder = try StoreFolder()
        #expect(throws: StoreError.noStore(path: folder.path)) { try DictionaryStore.open(folder.path) }
        #expect(folder.files.isEmpty)
    }

    @Test(arguments: [0, Int32(StoreSchema.applicationID)])
    func `a damaged database whose head may be a store's is set aside without a lock, too`(application: Int32)
        throws
    {
        let folder = try StoreFolder()
        try Data(Self.head(application: application)).write(to: URL(fileURLWithPath: folder.database))
        let store = try DictionaryStore.open(folder.database)
        #expect(store.statistics.setAsides == 1)
    }

    @Test func `what took the place of a store while its disk failed is not set aside`() throws {
        let folder = try StoreFolder()
        let home = folder.path + "/later"
        let events = StoreEvents()
        let store = try DictionaryStore.open(home + "/d.sqlite", log: events.log)
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        try "mine".write(toFile: home + "/d.sqlite", atomically: true, encoding: .utf8)
        store.admit(sampleBody(1))
        #expect(!store.upkeep.flush())
        #expect(try FileManager.default.contentsOfDirectory(atPath: home) == ["d.sqlite"])
        #expect(store.finds(sampleBody(1)), "it goes on in memory")
        #expect(store.statistics.setAsides == 0)
    }

    @Test func `an empty file becomes a store`() throws {
        let folder = try StoreFolder()
        try Data().write(to: URL(fileURLWithPath: folder.database))
        let events = StoreEvents()
        let store = try DictionaryStore.open(folder.database, log: events.log)
        store.admit(sampleBody(1))
        #expect(store.upkeep.flush())
        #expect(events.all.isEmpty)
    }
}
