import Foundation
import Testing

@testable import Dictionaries
@testable import Storage

/// Versions that Links name.
@Suite struct StorePinsTests {
    private func named(_ store: DictionaryStore, chain: ChainKey = feedChain, now: Int) -> Digest? {
        store.reader().named(chain: chain, variant: "", now: now)?.digest
    }

    @Test func `a named version outlives the newest of its chain, and nothing else does`() throws {
        let store = try DictionaryStore.open(":memory:")
        let first = store.admit(sampleBody(1), keep: 2)
        #expect(store.demand.nameInLinks(first, until: 2000, now: 1000))
        for seed in 2...5 { store.admit(sampleBody(seed), keep: 2) }
        #expect(store.finds(sampleBody(1)) && store.finds(sampleBody(4)) && store.finds(sampleBody(5)))
        #expect(!store.finds(sampleBody(2)) && !store.finds(sampleBody(3)))
        store.admit(sampleBody(6), keep: 2, now: 2000)
        #expect(!store.finds(sampleBody(1)), "its time is over")
    }

    @Test func `a named version outlives its max age`() throws {
        let store = try DictionaryStore.open(":memory:")
        let version = store.admit(sampleBody(1), maxAge: 10, now: 1000)
        store.admit(sampleBody(2), url: "/other", maxAge: 10, now: 1000)
        #expect(store.demand.nameInLinks(version, until: 5000, now: 1000))
        store.upkeep.sweep(now: 4999)
        #expect(store.finds(sampleBody(1)) && !store.finds(sampleBody(2)))
        store.upkeep.sweep(now: 5000)
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `a named version outlives the pressure for room on disk`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, maxBytes: 2 << 20)
        let version = store.admit(sampleBody(0, count: 60_000), now: 1000)
        #expect(store.demand.nameInLinks(version, until: 9000, now: 1000))
        for seed in 1...100 {
            let chain = ChainKey(authority: "api.example", match: "/\(seed)")
            store.admit(sampleBody(seed, count: 60_000), chain: chain, now: 1000 + seed)
            store.upkeep.flush()
        }
        #expect(store.statistics.evictions[.size, default: 0] > 50)
        #expect(store.finds(sampleBody(0, count: 60_000)))
        #expect(folder.fileBytes <= 2 << 20)
    }

    @Test func `a chain with a named version outlives the bound of chains`() throws {
        let store = try DictionaryStore.open(":memory:", maxChains: 10)
        #expect(store.demand.nameInLinks(store.admit(sampleBody(0), now: 1), until: 9000, now: 1000))
        for seed in 1...30 {
            store.admit(
                sampleBody(seed), chain: ChainKey(authority: "api.example", match: "/\(seed)"),
                now: 1000 + seed)
        }
        store.upkeep.flush()
        #expect(store.finds(sampleBody(0)))
        #expect(store.statistics.chains <= 10)
    }

    @Test func `one version of a chain and variant is named at a time`() throws {
        let store = try DictionaryStore.open(":memory:")
        let first = store.admit(sampleBody(1))
        let second = store.admit(sampleBody(2))
        let other = store.admit(sampleBody(3), variant: "3:foo=1:a;")
        #expect(store.demand.nameInLinks(first, until: 2000, now: 1000))
        #expect(!store.demand.nameInLinks(second, until: 2000, now: 1000))
        #expect(
            store.demand.nameInLinks(other, until: 2000, now: 1000), "another variant has a name of its own")
        #expect(named(store, now: 1999) == sampleBody(1).digest)
        #expect(named(store, now: 2000) == nil)
        #expect(store.demand.nameInLinks(second, until: 3000, now: 2000))
    }

    @Test func `a named version is replaced only by who names it`() throws {
        let store = try DictionaryStore.open(":memory:")
        let versions = (1...3).map { store.admit(sampleBody($0)) }
        #expect(store.demand.nameInLinks(versions[0], until: 2000, now: 1000))
        #expect(store.demand.nameInLinks(versions[1], replacing: versions[0], until: 2000, now: 1000))
        #expect(!store.demand.nameInLinks(versions[2], replacing: versions[0], until: 2000, now: 1000))
        #expect(named(store, now: 1000) == sampleBody(2).digest)
        store.admit(sampleBody(4), keep: 1)
        #expect(store.finds(sampleBody(1)) && store.finds(sampleBody(2)), "the former keeps its time")
        store.admit(sampleBody(5), keep: 1, now: 2000)
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `a name can be given to the same version for longer, and not for less`() throws {
        let store = try DictionaryStore.open(":memory:")
        let version = store.admit(sampleBody(1))
        #expect(store.demand.nameInLinks(version, until: 2000, now: 1000))
        let bytes = store.pinnedBytes
        #expect(!store.demand.nameInLinks(version, replacing: version, until: 1999, now: 1000))
        #expect(store.demand.nameInLinks(version, replacing: version, until: 3000, now: 1500))
        #expect(store.pinnedBytes == bytes && named(store, now: 2999) == sampleBody(1).digest)
    }

    @Test func `a version that is gone, or has no time, gets no name`() throws {
        let store = try DictionaryStore.open(":memory:")
        let first = store.admit(sampleBody(1))
        store.admit(sampleBody(2), keep: 1)
        #expect(!store.demand.nameInLinks(first, until: 2000, now: 1000))
        #expect(!store.demand.nameInLinks(store.admit(sampleBody(3)), until: 1000, now: 1000))
    }

    @Test func `a name lasts a year at most`() throws {
        let store = try DictionaryStore.open(":memory:")
        #expect(store.demand.nameInLinks(store.admit(sampleBody(1)), until: .max, now: 1000))
        let end = 1000 + StoreDemand.pinSecondsMax
        #expect(named(store, now: end - 1) == sampleBody(1).digest && named(store, now: end) == nil)
    }

    @Test func `names take half of the store and no more, and make room for others when they end`() throws {
        let store = try DictionaryStore.open(":memory:", maxBytes: 1 << 20)
        func name(_ seed: Int, until: Int, now: Int) -> Bool {
            let chain = ChainKey(authority: "api.example", match: "/\(seed)")
            return store.demand.nameInLinks(
                store.admit(sampleBody(seed, count: 100_000), chain: chain, now: now), until: until, now: now)
        }
        let given = (0..<8).filter { name($0, until: 2000 + $0, now: 1000) }
        #expect(given == [0, 1, 2, 3, 4])
        #expect(store.pinnedBytes <= 1 << 19)
        #expect(!name(9, until: 9000, now: 1999))
        #expect(name(9, until: 9000, now: 2000))
        #expect(!name(10, until: 9000, now: 2000) && name(10, until: 9000, now: 2001), "the next one, too")
    }

    @Test func `names take half of the chains and no more`() throws {
        let store = try DictionaryStore.open(":memory:", maxChains: 6)
        let given = (0..<6).filter { seed in
            let chain = ChainKey(authority: "api.example", match: "/\(seed)")
            return store.demand.nameInLinks(
                store.admit(sampleBody(seed), chain: chain), until: 2000, now: 1000)
        }
        #expect(given == [0, 1, 2])
    }

    @Test func `a name survives a restart, and so does its loss`() throws {
        let folder = try StoreFolder()
        let first = try DictionaryStore.open(folder.database)
        let versions = (1...2).map { first.admit(sampleBody($0)) }
        first.upkeep.flush()
        #expect(first.demand.nameInLinks(versions[0], until: 2000, now: 1000))
        first.close()
        #expect(try folder.sqlite("SELECT pinned_until FROM version ORDER BY rank") == "2000\n0")
        let second = try DictionaryStore.open(folder.database)
        #expect(named(second, now: 1500) == sampleBody(1).digest)
        second.admit(sampleBody(3), keep: 1, now: 1500)
        #expect(second.finds(sampleBody(1)))
        let current = try #require(
            second.reader().newest(VersionKey(chain: feedChain, url: "/feed", variant: "")))
        let former = try #require(second.reader().named(chain: feedChain, variant: "", now: 1500))
        #expect(second.demand.nameInLinks(current, replacing: former, until: 3000, now: 1500))
        second.close()
        let third = try DictionaryStore.open(folder.database)
        #expect(named(third, now: 1500) == sampleBody(3).digest)
    }

    @Test func `a version that is named before it is written is written with its name`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        #expect(store.demand.nameInLinks(store.admit(sampleBody(1)), until: 2000, now: 1000))
        store.close()
        #expect(try folder.sqlite("SELECT pinned_until FROM version") == "2000")
    }

    @Test func `a body that returns keeps its name`() throws {
        let store = try DictionaryStore.open(":memory:")
        #expect(store.demand.nameInLinks(store.admit(sampleBody(1)), until: 2000, now: 1000))
        store.admit(sampleBody(2))
        store.admit(sampleBody(1), etag: "\"new\"")
        #expect(named(store, now: 1500) == sampleBody(1).digest)
    }

    @Test func `a smaller store lets go of names that it cannot have`() throws {
        let folder = try StoreFolder()
        let large = try DictionaryStore.open(folder.database)
        for seed in 0..<8 {
            let chain = ChainKey(authority: "api.example", match: "/\(seed)")
            let version = large.admit(sampleBody(seed, count: 100_000), chain: chain)
            #expect(large.demand.nameInLinks(version, until: 2000 + seed, now: 1000))
        }
        large.close()
        let small = try DictionaryStore.open(folder.database, maxBytes: 1 << 20)
        #expect(small.pinnedBytes <= 1 << 19)
        let kept = (0..<8).filter {
            named(small, chain: ChainKey(authority: "api.example", match: "/\($0)"), now: 1000) != nil
        }
        #expect(kept == [3, 4, 5, 6, 7], "those that end first have gone")
    }

    @Test func `a row that claims to be pinned for ever is not`() throws {
        let folder = try StoreFolder()
        let first = try DictionaryStore.open(folder.database)
        first.admit(sampleBody(1), now: 1000)
        first.close()
        try folder.sqlite("UPDATE version SET pinned_until = 9007199254740991")
        let store = try DictionaryStore.open(folder.database)
        #expect(named(store, now: 1000) == nil)
    }

    @Test func `a body is found under its own path while it is named, and no other of its chain`() throws {
        let store = try DictionaryStore.open(":memory:")
        let version = store.admit(sampleBody(1))
        store.admit(sampleBody(2))
        let paths = [1, 2, 3].map { DictionaryPath(chainName: feedChain.name, digest: sampleBody($0).digest) }
        func found(_ authority: String, now: Int) -> [Bool] {
            paths.map { store.reader().linked($0, authority: authority, now: now) != nil }
        }
        #expect(found("api.example", now: 1000) == [false, false, false], "nothing of the chain is named")
        #expect(store.demand.nameInLinks(version, until: 2000, now: 1000))
        #expect(found("api.example", now: 1999) == [true, false, false])
        #expect(found("other.example", now: 1999) == [false, false, false])
        #expect(found("api.example", now: 2000) == [false, false, false])
    }

    @Test func `a chain that has gone is found under no path`() throws {
        let store = try DictionaryStore.open(":memory:")
        let version = store.admit(sampleBody(1), maxAge: 10)
        #expect(store.demand.nameInLinks(version, until: 2000, now: 1000))
        store.upkeep.sweep(now: 2000)
        let path = DictionaryPath(chainName: feedChain.name, digest: version.digest)
        #expect(store.reader().linked(path, authority: "api.example", now: 1500) == nil)
    }
}
