import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Dictionaries

/// Two stores on one file, as two processes have it during a hand-over.
@Suite(.timeLimit(.minutes(10))) final class StoreSharingTests: StorePair {
    @Test func `what one admits the other finds and can read, without being asked to look`() async throws {
        first.admit(sampleBody(1))
        while !second.finds(sampleBody(1)) { try await Task.sleep(for: .milliseconds(10)) }
        let version = second.reader().version(chain: feedChain, digest: sampleBody(1).digest)
        #expect(await version.loaded(second))
    }

    @Test func `what one evicts is gone from the other, and counted as removed`() throws {
        first.admit(sampleBody(1), maxAge: 10, now: 1000)
        first.admit(sampleBody(2), maxAge: 1000, now: 1000)
        settle()
        #expect(second.finds(sampleBody(1)))
        first.sweep(now: 1010)
        settle()
        #expect(!second.finds(sampleBody(1)) && second.finds(sampleBody(2)))
        #expect(second.statistics.evictions == [.removed: 1])
        #expect(second.statistics.pendingWrites == 0)
    }

    @Test func `a body that both admit at once is one row and one version in both`() async throws {
        first.admit(sampleBody(1), now: 1000)
        second.admit(sampleBody(1), etag: "later", now: 1000)
        settle()
        #expect(try folder.sqlite("SELECT count(*), max(etag) FROM version") == "1|later")
        #expect(try folder.sqlite("SELECT count(*) FROM body") == "1")
        let ids = [first, second].map { $0.publisher.index.allVersions().map(\.id) }
        #expect(ids[0] == ids[1] && ids[0].count == 1)
        #expect(first.reader().newest(chain: feedChain, url: "/feed", variant: "")?.etag == "later")
        // Its row goes by the number that both know.
        first.sweep(now: 5000)
        settle()
        #expect(
            try folder.sqlite("SELECT (SELECT count(*) FROM version) + (SELECT count(*) FROM body)") == "0")
        #expect(!second.finds(sampleBody(1)))
    }

    @Test func `admissions of both stand in the order in which they came`() throws {
        for seed in 0..<10 { (seed.isMultiple(of: 2) ? first : second).admit(sampleBody(seed)) }
        settle()
        let expected = (0..<10).map { sampleBody($0).digest }
        #expect(digests(first) == expected)
        #expect(digests(second) == expected)
        let third = try DictionaryStore.open(folder.database)
        #expect(digests(third) == expected)
    }

    @Test func `a body that returns in one is the newest in the other`() {
        for seed in 0..<3 { first.admit(sampleBody(seed)) }
        settle()
        second.admit(sampleBody(0), etag: "again")
        settle()
        #expect(digests(first).last == sampleBody(0).digest)
        #expect(first.reader().newest(chain: feedChain, url: "/feed", variant: "")?.etag == "again")
        #expect(first.statistics.versions == 3)
    }

    @Test func `the versions of a chain are bounded over both`() throws {
        for seed in 0..<8 { (seed.isMultiple(of: 2) ? first : second).admit(sampleBody(seed), keep: 3) }
        settle()
        settle()
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "3")
        #expect(digests(first) == (5..<8).map { sampleBody($0).digest })
        #expect(digests(second) == digests(first))
    }

    @Test func `the number of chains is bounded over both`() throws {
        let folder = try StoreFolder()
        let stores = try [0, 1].map { _ in try DictionaryStore.open(folder.database, maxChains: 20) }
        for seed in 0..<60 {
            stores[seed % 2].admit(
                sampleBody(seed), chain: ChainKey(authority: "api.example", match: "/\(seed)"),
                now: 1000 + seed)
        }
        for _ in 0..<3 {
            for store in stores { store.flush() }
            for store in stores { store.lookNow() }
        }
        for store in stores { store.flush() }
        #expect(try #require(Int(folder.sqlite("SELECT count(*) FROM chain"))) <= 20)
        #expect(stores.allSatisfy { $0.statistics.chains <= 20 })
        #expect(
            stores[0].reader().contains(
                chain: .init(authority: "api.example", match: "/59"), digest: sampleBody(59).digest))
    }

    @Test func `what clients of one want does not age in the other`() throws {
        first.admit(sampleBody(1), maxAge: 100, now: 1000)
        settle()
        let version = try #require(second.reader().version(chain: feedChain, digest: sampleBody(1).digest))
        second.touch(version, now: 1090)
        settle()
        first.sweep(now: 1150)
        #expect(first.finds(sampleBody(1)))
        first.sweep(now: 1190)
        #expect(!first.finds(sampleBody(1)))
    }

    @Test func `what a Link of one names is pinned in the other, and named there too`() throws {
        first.admit(sampleBody(1), maxAge: 10, now: 1000)
        settle()
        let version = try #require(first.reader().version(chain: feedChain, digest: sampleBody(1).digest))
        #expect(first.name(version, until: 2000, now: 1000))
        settle()
        second.sweep(now: 1500)
        let named = second.reader().named(chain: feedChain, variant: "", now: 1500)
        #expect(named?.digest == sampleBody(1).digest)
        second.admit(sampleBody(2), now: 1500)
        let other = try #require(second.reader().version(chain: feedChain, digest: sampleBody(2).digest))
        #expect(!second.name(other, until: 3000, now: 1500), "one at a time over both")
        second.sweep(now: 2000)
        #expect(!second.finds(sampleBody(1)))
    }

    @Test func `the close of one does not hurt the other`() async throws {
        first.admit(sampleBody(1))
        second.admit(sampleBody(2))
        first.close()
        second.admit(sampleBody(3))
        #expect(second.flush())
        second.close()
        let reopened = try DictionaryStore.open(folder.database)
        for seed in 1...3 {
            let version = reopened.reader().version(chain: feedChain, digest: sampleBody(seed).digest)
            #expect(await version.loaded(reopened))
        }
        #expect(!folder.files.contains { $0.contains("damaged") })
    }

    @Test func `a file set aside by one is not written on by the other, and the new one's log stays`()
        async throws
    {
        let events = StoreEvents()
        let folder = try StoreFolder()
        let stores = try [0, 1].map { _ in try DictionaryStore.open(folder.database, log: events.log) }
        stores[0].admit(sampleBody(1))
        stores[0].flush()
        stores[1].lookNow()
        stores[1].admit(sampleBody(2))
        stores[1].flush()

        let first = stores[0]
        first.writeQueue.sync { first.failed(.damaged("as the test says")) }
        first.admit(sampleBody(3))
        #expect(first.flush())
        // The other closes the file that was set aside: SQLite would remove the log of the new one, by its name.
        stores[1].lookNow()
        #expect(stores[1].flush())
        #expect(folder.files.contains("dictum.sqlite-wal"))
        first.admit(sampleBody(4))
        first.flush()
        stores[1].lookNow()
        #expect([2, 3, 4].allSatisfy { stores[1].finds(sampleBody($0)) })
        for store in stores { store.close() }
        let reopened = try DictionaryStore.open(folder.database)
        #expect(reopened.statistics.versions == 4)
        #expect(try folder.sqlite("PRAGMA integrity_check") == "ok")
        #expect(
            folder.files.filter { $0.contains("damaged") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
                .count == 1)
    }

    @Test func `a file that is removed is made anew with what is in memory`() throws {
        let events = StoreEvents()
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, log: events.log)
        store.admit(sampleBody(1))
        store.flush()
        for file in folder.files { try FileManager.default.removeItem(atPath: folder.path + "/" + file) }
        store.lookNow()
        #expect(store.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "1")
        #expect(events.errors.count == 1)
    }

    @Test func `many processes that make one store at once agree`() throws {
        for _ in 0..<3 {
            let folder = try StoreFolder()
            let events = StoreEvents()
            let stores = Guarded<[DictionaryStore]>([])
            let path = folder.database
            DispatchQueue.concurrentPerform(iterations: 4) { seed in
                guard let store = try? DictionaryStore.open(path, log: events.log) else { return }
                store.admit(sampleBody(seed))
                // On a busy machine the others may hold the lock for longer than a write waits: it is tried again.
                var attempts = 1
                while attempts < 20, !store.flush(timeoutSeconds: 30) { attempts += 1 }
                stores.withLock { $0.append(store) }
            }
            #expect(events.errors.allSatisfy { $0.contains("another process holds its lock") })
            #expect(try folder.sqlite("SELECT count(*) FROM version") == "4")
            for store in stores.withLock({ $0 }) {
                store.lookNow()
                #expect(store.statistics.versions == 4)
            }
        }
    }

    @Test func `the files never pass their bound, also where both write at once`() throws {
        let folder = try StoreFolder()
        let limit = 4 << 20
        let stores = try [0, 1].map { _ in try DictionaryStore.open(folder.database, maxBytes: limit) }
        var largest = 0
        for round in 0..<24 {
            for seed in 0..<6 {
                stores[seed % 2].admit(
                    sampleBody(round * 10 + seed, count: 60_000),
                    chain: ChainKey(authority: "api.example", match: "/\(round)/\(seed)"), now: 1000 + round)
            }
            // Each has made room for its own when the other writes.
            DispatchQueue.concurrentPerform(iterations: 2) { stores[$0].flush() }
            largest = max(largest, folder.bytesOnDisk)
        }
        #expect(largest <= limit)
        #expect(largest > limit / 2)
        #expect(stores.allSatisfy { $0.statistics.writeErrors == 0 })
    }

    @Test func `after both have admitted, wanted and evicted at once, both and the file hold the same`()
        throws
    {
        let folder = try StoreFolder()
        let stores = try [0, 1].map { _ in try DictionaryStore.open(folder.database, maxChains: 30) }
        DispatchQueue.concurrentPerform(iterations: 2) { place in
            var random = SplitMix(seed: UInt64(place))
            for step in 0..<300 {
                let chain = ChainKey(authority: "api.example", match: "/\(Int(random.next() % 40))")
                stores[place].admit(
                    sampleBody(Int(random.next() % 200), count: 300), chain: chain, keep: 4, maxAge: 500,
                    now: 1000 + step)
                if step.isMultiple(of: 50) { stores[place].sweep(now: 1000 + step) }
                if step.isMultiple(of: 20) { stores[place].flush() }
                if step.isMultiple(of: 30) { stores[place].lookNow() }
            }
        }
        for _ in 0..<4 {
            for store in stores { store.flush() }
            for store in stores { store.lookNow() }
        }
        func content(_ store: DictionaryStore) -> [String] {
            store.publisher.index.allVersions().map { "\($0.id)|\($0.rank)" }.sorted()
        }
        let rows = try folder.sqlite("SELECT id, rank FROM version").split(separator: "\n").map(String.init)
        #expect(content(stores[0]) == rows.sorted())
        #expect(content(stores[1]) == rows.sorted())
        #expect(stores.allSatisfy { $0.publisher.index.allChains().allSatisfy { $0.all.count <= 4 } })
        #expect(stores.allSatisfy { $0.statistics.chains <= 30 })
        #expect(
            try folder.sqlite("SELECT count(*) FROM body WHERE id NOT IN (SELECT body FROM version)") == "0")
    }
}
