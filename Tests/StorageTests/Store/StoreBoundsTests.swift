import Foundation
import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreBoundsTests {
    @Test(arguments: [(999, true), (1000, false), (Int.max, false)])
    func `a version is found until its max age has passed since it was last wanted`(age: Int, isFound: Bool)
        throws
    {
        let store = try DictionaryStore.open(":memory:")
        let version = store.admit(sampleBody(1), maxAge: 1000, now: 500)
        store.demand.touch(version, now: 600)
        store.upkeep.sweep(now: age == .max ? .max : 600 + age)
        #expect(store.finds(sampleBody(1)) == isFound)
        #expect(store.statistics.evictions == (isFound ? [:] : [.age: 1]))
    }

    @Test func `an endless max age never passes`() throws {
        let store = try DictionaryStore.open(":memory:")
        store.admit(sampleBody(1), maxAge: .max, now: 500)
        store.upkeep.sweep(now: .max - 1)
        #expect(store.finds(sampleBody(1)))
    }

    @Test func `a version admitted after a sweep is swept at its own time`() throws {
        let store = try DictionaryStore.open(":memory:")
        store.admit(sampleBody(1), maxAge: 1000, now: 0)
        store.upkeep.sweep(now: 10)
        store.admit(sampleBody(2), maxAge: 20, now: 10)
        store.upkeep.sweep(now: 30)
        #expect(store.finds(sampleBody(1)))
        #expect(!store.finds(sampleBody(2)))
        store.upkeep.sweep(now: 1000)
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `a sweep goes by what is left, not by what has expired before`() throws {
        let store = try DictionaryStore.open(":memory:")
        store.admit(sampleBody(1), maxAge: 20, now: 0)
        store.admit(sampleBody(2), maxAge: 1000, now: 0)
        store.upkeep.sweep(now: 20)
        #expect(store.state.withLock { $0.earliestExpiry } == 1000)
    }

    @Test func `a version admitted during a sweep is swept at its own time`() throws {
        let store = try DictionaryStore.open(":memory:")
        _ = store.state.withLock { $0.beginExpiry() }
        store.admit(sampleBody(1), maxAge: 20, now: 10)
        store.state.withLock { $0.endExpiry(earliest: 1000) }
        store.upkeep.sweep(now: 30)
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `versions of the last run expire too`() throws {
        let folder = try StoreFolder()
        let first = try DictionaryStore.open(folder.database)
        first.admit(sampleBody(1), maxAge: 10, now: 1000)
        first.close()
        let store = try DictionaryStore.open(folder.database)
        store.upkeep.sweep(now: 1010)
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `beyond the bound the chains wanted the longest ago go`() throws {
        let store = try DictionaryStore.open(":memory:", maxChains: 10)
        var versions: [Version] = []
        for seed in 0..<10 {
            versions.append(
                store.admit(
                    sampleBody(seed), chain: ChainKey(authority: "api.example", match: "/\(seed)"),
                    now: 1000 + seed))
        }
        store.demand.touch(versions[0], now: 2000)
        store.admit(sampleBody(10), chain: ChainKey(authority: "api.example", match: "/10"), now: 2001)
        store.upkeep.flush()
        let reader = store.reader()
        #expect(reader.contains(chain: versions[0].chainKey, digest: versions[0].digest))
        #expect(!reader.contains(chain: versions[1].chainKey, digest: versions[1].digest))
        #expect(store.statistics.chains == 10)
        #expect(store.statistics.evictions == [.chains: 1])
    }

    @Test(arguments: [1 << 20, 4 << 20])
    func `the file never passes its bound, and the least wanted go first`(maxBytes: Int) async throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, maxBytes: maxBytes)
        let wanted = store.admit(sampleBody(0, count: 30_000), keep: 10_000, now: 0)
        var largest = 0
        for seed in 1..<400 {
            store.admit(sampleBody(seed, count: 30_000), keep: 10_000, maxAge: .max, now: seed)
            store.demand.advertised(wanted, now: seed)
            if seed % 3 == 0 {
                #expect(store.upkeep.flush())
                largest = max(largest, folder.fileBytes)
            }
        }
        #expect(largest <= maxBytes)
        #expect(largest > maxBytes / 2)
        let statistics = store.statistics
        #expect(statistics.versions * 30_000 > maxBytes / 3)
        #expect(statistics.evictions.keys.sorted { $0.rawValue < $1.rawValue } == [.size])
        #expect(store.finds(sampleBody(0, count: 30_000)))
        #expect(store.finds(sampleBody(399, count: 30_000)))
        #expect(!store.finds(sampleBody(1, count: 30_000)))
        store.close()
        let reopened = try DictionaryStore.open(folder.database, maxBytes: maxBytes)
        #expect(reopened.statistics.versions == statistics.versions)
    }

    @Test func `a store opened with less room shrinks`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        for seed in 0..<200 { store.admit(sampleBody(seed, count: 30_000), keep: 200, now: seed) }
        store.close()
        #expect(folder.bytesOnDisk > 6_000_000)
        let smaller = try DictionaryStore.open(folder.database, maxBytes: 2 << 20)
        smaller.upkeep.flush()
        #expect(folder.fileBytes <= 2 << 20)
        #expect(smaller.finds(sampleBody(199, count: 30_000)))
    }

    @Test func `a body too large for the store is refused, not written`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, maxBytes: 1 << 20)
        #expect(throws: AdmissionRefusal.size) {
            try store.admission.admit(
                VersionCandidate(
                    sampleBody(1, count: 300_000),
                    key: VersionKey(chain: feedChain, url: "/feed", variant: ""), policy: AdmissionPolicy()),
                now: 1000)
        }
        #expect(store.upkeep.flush())
        #expect(!store.finds(sampleBody(1, count: 300_000)))
        #expect(store.statistics.refusals == [.size: 1])
        #expect(folder.bytesOnDisk < 300_000)
    }

    @Test func `a body that finds no room beside what is named goes, and what comes after it is written`()
        throws
    {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, maxBytes: 4 << 20)
        for seed in 0..<3 {
            let version = store.admit(sampleBody(seed, count: 650_000), variant: "\(seed)", now: 1000)
            #expect(store.demand.nameInLinks(version, until: 9000, now: 1000))
        }
        #expect(store.upkeep.flush())
        // The store cannot evict another program's table to make room.
        try folder.sqlite("CREATE TABLE more (a); INSERT INTO more VALUES (zeroblob(1500000))")
        store.admit(sampleBody(3, count: 1_040_000), now: 1000)
        store.admit(sampleBody(4), now: 1000)
        #expect(store.upkeep.flush())
        #expect(store.statistics.evictions == [.size: 1])
        #expect(!store.finds(sampleBody(3, count: 1_040_000)) && store.finds(sampleBody(4)))
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "4")
        #expect(folder.fileBytes <= 4 << 20)
    }

    @Test func `hot bodies keep to the memory, and what left it is read from disk`() async throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, memoryBytes: 200_000)
        let versions = (0..<50).map { seed in
            defer { store.upkeep.flush() }
            return store.admit(sampleBody(seed, count: 10_000), keep: 100)
        }
        #expect(store.statistics.memoryBytes <= 200_000)
        #expect(store.hotBody(of: versions[0]) == nil)
        #expect(await store.loaded(versions[0])?.bytes == sampleBody(0, count: 10_000).bytes)
        #expect(store.hotBody(of: versions[0]) != nil)
        #expect(store.statistics.memoryBytes <= 200_000)
    }
}

extension StoreFolder {
    /// The size of the database without its log.
    var fileBytes: Int { StoreFile.bytes(of: database) }

    /// The size of the database, its log and the log's index.
    var bytesOnDisk: Int {
        files.reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + file)
            return sum + ((attributes?[.size] as? Int) ?? 0)
        }
    }
}
