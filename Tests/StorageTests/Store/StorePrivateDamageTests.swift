import Foundation
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StorePrivateDamageTests {
    private let one = sampleBody(1)

    /// Returns a closed store with the body in the chains of two users.
    private func stored() throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try PrivateStore(folder.database)
        for user in ["ann", "bob"] {
            store.store.admit(one, chain: try store.chain(user))
            #expect(store.store.upkeep.flush(), "in this order")
        }
        store.store.close()
        return folder
    }

    @Test func `with another key nothing is used, it leaves the disk, and the log says so once`() throws {
        let folder = try stored()
        let events = StoreEvents()
        let other = try PrivateStore(folder.database, key: 2, log: events.log)
        #expect(other.store.statistics.versions == 0)
        #expect(try !other.finds(one, "ann"))
        #expect(events.all.map(\.level) == [.warning])
        #expect(events.all.first?.text.hasPrefix("removed 2 private dictionaries") == true)
        other.store.close()
        for table in ["private_version", "private_body", "private_chain"] {
            #expect(try folder.sqlite("SELECT count(*) FROM \(table)") == "0")
        }
        #expect(
            try PrivateStore(folder.database).store.statistics.versions == 0, "the key does not bring it back"
        )
    }

    @Test func `without private routes private rows leave the disk, and whoever only looks leaves them`()
        throws
    {
        let folder = try stored()
        let looking = try DictionaryStore.open(folder.database)
        #expect(looking.statistics.versions == 0)
        looking.close()
        #expect(try folder.sqlite("SELECT count(*) FROM private_version") == "2")
        let events = StoreEvents()
        var configuration = StoreConfiguration(path: folder.database, log: events.log)
        configuration.privateRows = .removed
        let without = try DictionaryStore(configuration: configuration)
        without.close()
        #expect(
            events.all == [.info("removed 2 private dictionaries from the store: no route is private now")])
        #expect(try folder.sqlite("SELECT count(*) FROM private_version") == "0")
    }

    @Test(arguments: [
        "UPDATE private_body SET sealed = zeroblob(length(sealed))",
        "UPDATE private_body SET sealed = x''",
        "UPDATE private_body SET sealed = substr(sealed, 1, length(sealed) - 1)",
        // Ann's row becomes Bob's, sealed with the same key file for another row.
        "UPDATE private_body SET sealed = (SELECT sealed FROM private_body JOIN private_version USING (id) WHERE chain = 2)",
        "DELETE FROM private_body",
    ])
    func `a body whose seal is broken is never used, and its version goes`(change: String) async throws {
        let folder = try stored()
        try folder.sqlite(change)
        let events = StoreEvents()
        let store = try PrivateStore(folder.database, log: events.log)
        let version = try #require(try store.version(one, "ann"))
        #expect(await store.store.loaded(version) == nil)
        #expect(try !store.finds(one, "ann"))
        #expect(store.store.statistics.evictions == [.damaged: 1])
        #expect(events.errors.count == 1)
        #expect(!events.errors.contains { $0.contains(one.digest.hex) })
        store.store.close()
    }

    @Test func `where one row of an identity is broken, its other row of the same body serves`() async throws
    {
        let folder = try StoreFolder()
        let first = try PrivateStore(folder.database)
        for url in ["/feed", "/feed?2"] { first.store.admit(one, chain: try first.chain("ann"), url: url) }
        first.store.close()
        let store = try PrivateStore(folder.database)
        let versions = store.store.index.allVersions()
        try #require(versions.count == 2)
        try folder.sqlite(
            "UPDATE private_body SET sealed = zeroblob(length(sealed)) WHERE id = \(versions[0].id)")
        #expect(await store.store.loaded(versions[0])?.bytes == one.bytes)
        #expect(store.store.statistics.evictions == [.damaged: 1])
        #expect(store.store.index.allVersions().map(\.id) == [versions[1].id])
        store.store.close()
    }

    @Test(arguments: [
        "UPDATE private_chain SET facts = zeroblob(length(facts))",
        "UPDATE private_chain SET name = randomblob(32)",
        "UPDATE private_chain SET facts = x'00'",
    ])
    func `a chain whose facts are not its own goes`(change: String) throws {
        let folder = try stored()
        try folder.sqlite(change + " WHERE id = 1")
        let store = try PrivateStore(folder.database)
        #expect(store.store.statistics.versions == 1)
        #expect(try !store.finds(one, "ann"))
        #expect(try store.finds(one, "bob"))
        store.store.close()
        #expect(try folder.sqlite("SELECT count(*) FROM private_body") == "1")
    }

    @Test func `a row whose name is another's opens nothing`() async throws {
        let folder = try stored()
        try folder.sqlite(
            "UPDATE private_version SET name = (SELECT name FROM private_version WHERE chain = 1) WHERE chain = 2"
        )
        let store = try PrivateStore(folder.database)
        // Bob's own name is gone from the store; the name in its place is Ann's, which he never asks for.
        #expect(try !store.finds(one, "bob"))
        #expect(try store.finds(one, "ann"))
        store.store.close()
    }

    @Test func `what another process removed is given up without a word`() async throws {
        let folder = try stored()
        let events = StoreEvents()
        let store = try PrivateStore(folder.database, log: events.log)
        try folder.sqlite("DELETE FROM private_version WHERE chain = 1")
        let version = try #require(try store.version(one, "ann"))
        #expect(await store.store.loaded(version) == nil)
        #expect(try !store.finds(one, "ann"))
        #expect(store.store.statistics.evictions == [.removed: 1])
        #expect(events.all == [])
        let other = try #require(try store.version(one, "bob"))
        #expect(await store.store.loaded(other)?.bytes == one.bytes)
        store.store.close()
    }

    @Test func `others lose their rights to the files of a store that was readable`() throws {
        let folder = try stored()
        try runCommand("chmod", ["644", folder.database])
        let events = StoreEvents()
        let store = try PrivateStore(folder.database, log: events.log)
        store.store.admit(sampleBody(3), chain: try store.chain("ann"))
        #expect(store.store.upkeep.flush())
        let modes = try runCommand("stat", ["-c", "%a"] + folder.files.map { "\(folder.path)/\($0)" })
        #expect(modes == "600\n600\n600\n600", "database, lock, log and shared memory")
        #expect(
            events.all == [
                .warning("other users could read the store \(folder.database): its files now have mode 0600")
            ])
        store.store.close()
    }
}
