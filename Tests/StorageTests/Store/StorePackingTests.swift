import Foundation
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// Bodies on disk and in memory as frames over other bodies of their chain.
@Suite(.timeLimit(.minutes(40))) struct StorePackingTests {
    private let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    private func body(_ version: Int, items: Int = 80) -> Body {
        Body(Feed.bytes(version: version, items: items))
    }

    /// Admits one body per transaction, as a feed brings them.
    private func admit(_ versions: Range<Int>, to store: DictionaryStore, chain: ChainKey = feedChain)
        -> [Version]
    {
        versions.map { number in
            let version = store.admit(body(number), chain: chain, url: chain.match, keep: 10_000)
            #expect(store.upkeep.flush())
            return version
        }
    }

    private func number(_ query: String) throws -> Int { try #require(Int(folder.sqlite(query))) }

    private func allLoad(_ versions: Range<Int>) async throws -> Bool {
        let store = try DictionaryStore.open(folder.database)
        defer { store.close() }
        for number in versions {
            let expected = body(number)
            let version = store.reader().version(chain: feedChain, digest: expected.digest)
            guard let version, await store.loaded(version)?.bytes == expected.bytes else { return false }
        }
        return true
    }

    // MARK: On disk

    @Test func `a feed is a few bodies and many frames over them, and loads exactly`() async throws {
        let store = try DictionaryStore.open(folder.database)
        _ = admit(0..<60, to: store)
        store.close()
        let whole = (0..<60).reduce(0) { $0 + body($1).count }
        let stored = try number("SELECT sum(length(bytes)) FROM body")
        #expect(stored * 8 < whole)
        #expect(try number("SELECT count(*) FROM body WHERE base IS NULL") < 12)
        #expect(
            try number(
                "SELECT count(*) FROM body AS one JOIN body AS base ON base.id = one.base WHERE base.base IS NOT NULL"
            ) == 0)
        #expect(try await allLoad(0..<60))
        print("60 bodies, \(whole) bytes, take \(stored)")
    }

    @Test func `Python unpacks every frame to the body that its digest names`() throws {
        let store = try DictionaryStore.open(folder.database)
        _ = admit(0..<20, to: store)
        store.close()
        let script = """
            import hashlib, sqlite3, sys, zstandard
            def whole(bytes, size, base):
                if size is None: return bytes
                kind = zstandard.DICT_TYPE_RAWCONTENT
                options = {"dict_data": zstandard.ZstdCompressionDict(base, dict_type=kind)} if base else {}
                result = zstandard.ZstdDecompressor(max_window_size=1 << 27, **options).decompress(bytes)
                assert len(result) == size
                return result
            rows = sqlite3.connect(sys.argv[1]).execute(
                "SELECT digest, one.bytes, one.size, base.bytes, base.size FROM version JOIN body AS one "
                "ON one.id = version.body LEFT JOIN body AS base ON base.id = one.base").fetchall()
            for digest, bytes, size, base, base_size in rows:
                base = whole(base, base_size, None) if base is not None else None
                assert hashlib.sha256(whole(bytes, size, base)).digest() == digest
            print(len(rows))
            """
        #expect(try runCommand("/usr/bin/python3", ["-c", script, folder.database]) == "20")
    }

    @Test func `noise stays whole, and so do small bodies`() throws {
        let store = try DictionaryStore.open(folder.database)
        for seed in 0..<10 { store.admit(sampleBody(seed, count: 5000)) }
        store.admit(Body(Array(repeating: 7, count: 255)))
        store.close()
        #expect(try number("SELECT count(*) FROM body WHERE size IS NULL AND base IS NULL") == 11)
    }

    @Test func `a base stays as long as a body leans on it, and goes with the last`() async throws {
        let store = try DictionaryStore.open(folder.database)
        let versions = admit(0..<4, to: store)
        #expect(try number("SELECT count(*) FROM body WHERE base = \(versions[0].id)") == 3)
        store.evict([versions[0], versions[1]], reason: .size)
        #expect(store.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*), count(base) FROM body") == "3|2")
        #expect(await store.loaded(versions[3])?.bytes == body(3).bytes)
        store.close()
        #expect(try await allLoad(2..<4))
        let reopened = try DictionaryStore.open(folder.database)
        reopened.evict(reopened.index.allVersions(), reason: .size)
        #expect(reopened.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM body; PRAGMA foreign_key_check") == "0")
    }

    @Test func `a body whose base has left the disk is written whole`() async throws {
        let store = try DictionaryStore.open(folder.database)
        let versions = admit(0..<1, to: store)
        store.evict(versions, reason: .size)
        #expect(store.upkeep.flush())
        #expect(try number("SELECT count(*) FROM body") == 0)
        _ = admit(1..<4, to: store)
        store.close()
        #expect(try number("SELECT count(*) FROM body WHERE size IS NULL") == 1)
        #expect(
            try number("SELECT count(*) FROM body WHERE base IS NOT NULL") > 0, "the next choose another base"
        )
        #expect(try await allLoad(1..<4))
    }

    @Test(arguments: [false, true])
    func `what an operator removes is in no file, though others leaned on it`(isInUse: Bool) async throws {
        let store = try DictionaryStore.open(folder.database)
        let secret = Array("the removed one".utf8)
        // Incompressible bytes are stored as they are.
        let first = Body(secret + sampleBody(1, count: 20_000).bytes)
        store.admit(first, keep: 100)
        #expect(store.upkeep.flush())
        let others = (1...30).map {
            Body(Array(first.bytes.dropFirst(secret.count)) + Array("number \($0)".utf8))
        }
        for other in others {
            store.admit(other, keep: 100)
            #expect(store.upkeep.flush())
        }
        #expect(try number("SELECT count(*) FROM body WHERE base IS NOT NULL") == 30)
        if !isInUse { store.close() }
        let catalogue = try StoreCatalogue(path: folder.database)
        #expect(try catalogue.remove(catalogue.versions().filter { $0.digest == first.digest }).count == 1)
        try catalogue.shrink()
        for version in try catalogue.versions() {
            guard case .sound = try catalogue.body(of: version) else {
                Issue.record("\(version.digest) cannot be read any more")
                continue
            }
        }
        catalogue.close()
        store.lookNow()
        store.close()
        for file in folder.files {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + file))
            #expect(bytes.range(of: Data(secret)) == nil, "\(file)")
        }
        #expect(try folder.sqlite("SELECT count(*), count(base) FROM body") == "30|29")
        let reopened = try DictionaryStore.open(folder.database)
        for other in others {
            let version = try #require(reopened.reader().version(chain: feedChain, digest: other.digest))
            #expect(await reopened.loaded(version)?.bytes == other.bytes)
        }
    }

    @Test func `paths of one chain have bases of their own, and queries share that of their path`() throws {
        let chain = ChainKey(authority: "api.example", match: "/*")
        let store = try DictionaryStore.open(folder.database)
        for number in 0..<20 {
            for path in ["/a", "/b"] {
                // The two bodies have nothing in common.
                let noise = sampleBody(path == "/a" ? 1 : 2, count: 4000).bytes
                store.admit(
                    Body(noise + Array("\(path) \(number)".utf8)), chain: chain, url: "\(path)?\(number)",
                    keep: 100)
            }
            #expect(store.upkeep.flush())
        }
        store.close()
        #expect(
            try folder.sqlite("SELECT count(*), count(DISTINCT base) FROM body WHERE base IS NOT NULL")
                == "38|2")
    }

    // MARK: Damage

    @Test(arguments: [
        "SET bytes = zeroblob(length(bytes))", "SET bytes = x''", "SET size = size + 1", "SET size = -1",
        "SET size = 9007199254740991", "SET size = NULL", "SET base = NULL",
        "SET bytes = (SELECT bytes FROM body AS other WHERE other.base IS NOT NULL AND other.id <> body.id)",
    ])
    func `a packed row that was changed costs its version, and no wrong byte comes out`(change: String)
        async throws
    {
        let store = try DictionaryStore.open(folder.database)
        let versions = admit(0..<4, to: store)
        store.close()
        try folder.sqlite("UPDATE body \(change) WHERE id = \(versions[2].id)")
        let events = StoreEvents()
        let reopened = try DictionaryStore.open(folder.database, log: events.log)
        let damaged = try #require(reopened.index.version(row: versions[2].id))
        #expect(await reopened.loaded(damaged) == nil)
        #expect(reopened.statistics.evictions == [.damaged: 1])
        #expect(events.errors.count == 1)
        for number in [0, 1, 3] {
            let version = try #require(reopened.index.version(row: versions[number].id))
            #expect(await reopened.loaded(version)?.bytes == body(number).bytes)
        }
    }

    @Test func `a damaged base costs what leans on it, and nothing else`() async throws {
        let store = try DictionaryStore.open(folder.database)
        let versions = admit(0..<3, to: store)
        let other = store.admit(
            body(9), chain: ChainKey(authority: "api.example", match: "/other"), url: "/other")
        store.close()
        try folder.sqlite("UPDATE body SET bytes = zeroblob(length(bytes)) WHERE id = \(versions[0].id)")
        let reopened = try DictionaryStore.open(folder.database)
        for version in versions {
            let row = try #require(reopened.index.version(row: version.id))
            #expect(await reopened.loaded(row) == nil)
        }
        let row = try #require(reopened.index.version(row: other.id))
        #expect(await reopened.loaded(row)?.bytes == body(9).bytes)
        #expect(reopened.statistics.versions == 1)
    }

    // MARK: In memory

    @Test func `in little memory packed bodies are at hand where whole ones have no place`() throws {
        let store = try DictionaryStore.open(folder.database, memoryBytes: 1 << 20)
        let versions = admit(0..<120, to: store)
        let whole = (0..<120).reduce(0) { $0 + body($1).count }
        try #require(whole > 2 << 20)
        for number in [0, 50, 99, 1, 98] {
            #expect(store.hotBody(of: versions[number])?.bytes == body(number).bytes)
        }
        #expect(versions.count { store.hotBody(of: $0) != nil } == 120)
        let statistics = store.statistics
        #expect(statistics.loads == 0)
        #expect(statistics.packedBytes > 0 && statistics.packedBytes <= 1 << 19)
        #expect(statistics.memoryBytes + statistics.packedBytes <= 1 << 20)
        #expect(statistics.bodyBytesStored * 8 < statistics.bodyBytesWritten)
    }

    @Test func `what was read from disk is packed in memory, over one base for all`() async throws {
        let store = try DictionaryStore.open(folder.database)
        let ids = admit(0..<10, to: store).map(\.id)
        store.close()
        let reopened = try DictionaryStore.open(folder.database, memoryBytes: 1 << 20)
        for id in ids { _ = await reopened.loaded(try #require(reopened.index.version(row: id))) }
        #expect(reopened.statistics.loads == 10)
        let one = body(0).count
        #expect(reopened.statistics.packedBytes < 3 * one)
    }

    // MARK: Private

    @Test func `private bodies are compressed and sealed, each for itself`() async throws {
        let store = try PrivateStore(folder.database)
        let chain = try store.chain("ann")
        for number in 0..<3 {
            store.store.admit(body(number), chain: chain, keep: 10)
            #expect(store.store.upkeep.flush())
        }
        store.store.close()
        #expect(try number("SELECT max(length(sealed)) FROM private_body") < body(0).count / 2)
        #expect(try number("SELECT count(*) FROM body") == 0)
        let reopened = try PrivateStore(folder.database)
        for number in 0..<3 {
            let version = try #require(try reopened.version(body(number), "ann"))
            #expect(await reopened.store.loaded(version)?.bytes == body(number).bytes)
            #expect(try !reopened.finds(body(number), "bob"))
        }
    }
}
