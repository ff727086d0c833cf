import Foundation
import Testing

@testable import Dictionaries

/// A database that is opened anew gets what waits to be written to it laid over its rows.
@Suite struct StoreReopeningTests {
    private let folder: StoreFolder
    private let store: DictionaryStore

    init() throws {
        folder = try StoreFolder()
        store = try .open(folder.database)
    }

    /// Loses the connection before what `change` makes wait is written, and opens the database again.
    private func reopen(after change: () throws -> Void) rethrows {
        store.flush()
        try store.writeQueue.sync {
            try change()
            store.failed(.unavailable("as the test says", connectionLost: true))
        }
        #expect(store.disk.withLock { $0.database } == nil)
        #expect(store.flush())
    }

    private func version(_ seed: Int) throws -> Version {
        try #require(store.reader().version(chain: feedChain, digest: sampleBody(seed).digest))
    }

    @Test func `a version that was named meanwhile stays named`() throws {
        let version = store.admit(sampleBody(1), keep: 1, maxAge: 10, now: 1000)
        reopen { #expect(store.name(version, until: 5000, now: 1000)) }
        #expect(store.reader().named(chain: feedChain, variant: "", now: 4999)?.digest == version.digest)
        #expect(store.pinnedBytes > 0)
        store.admit(sampleBody(2), keep: 1, maxAge: 10, now: 4000)
        store.sweep(now: 4999)
        #expect(store.finds(sampleBody(1)))
        store.sweep(now: 5000)
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `a version that lost its name meanwhile is not named again, and keeps its time`() throws {
        let versions = (1...2).map { store.admit(sampleBody($0)) }
        #expect(store.name(versions[0], until: 5000, now: 1000))
        reopen { #expect(store.name(versions[1], replacing: versions[0], until: 6000, now: 1000)) }
        #expect(try version(1).pinnedUntil == 5000 && version(2).pinnedUntil == 6000)
        #expect(try folder.sqlite("SELECT pinned_until FROM version ORDER BY rank") == "5000\n6000")
        #expect(
            store.reader().named(chain: feedChain, variant: "", now: 1000)?.digest == sampleBody(2).digest)
    }

    @Test func `a version that was wanted meanwhile is not evicted as if it had not been`() throws {
        let version = store.admit(sampleBody(1), maxAge: 1000, now: 1000)
        reopen { store.touch(version, now: 1900) }
        store.sweep(now: 2800)
        #expect(store.finds(sampleBody(1)))
        store.sweep(now: 2900)
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `a chain that left probation meanwhile is not in it again`() throws {
        let versions = (1...2).map { store.admit(sampleBody($0), isImplied: true) }
        #expect(store.statistics.chainsInProbation == 1)
        reopen { store.advertised(versions[0], now: 1000) }
        #expect(store.statistics.chainsInProbation == 0)
        #expect(try folder.sqlite("SELECT established FROM chain") == "1")
    }

    @Test func `a chain stays established though the version that was asked for is gone`() throws {
        let versions = (1...2).map { store.admit(sampleBody($0), isImplied: true) }
        reopen {
            store.advertised(versions[0], now: 1000)
            store.evict([versions[0]], reason: .damaged)
        }
        #expect(store.statistics.versions == 1 && store.statistics.chainsInProbation == 0)
        #expect(try folder.sqlite("SELECT established FROM chain") == "1")
    }

    @Test func `what another process did meanwhile counts beside what waits here`() throws {
        store.admit(sampleBody(1), etag: "old", maxAge: 1000, now: 1000)
        try reopen {
            store.admit(sampleBody(1), etag: "here", maxAge: 1000, now: 1500)
            // A later return, and a name, of which this process has not heard.
            try folder.sqlite(
                "UPDATE version SET rank = rank + 1000000000000, etag = 'there', pinned_until = 4000")
        }
        let version = try version(1)
        #expect(version.etag == "there" && version.lastWanted == 1500 && version.pinnedUntil == 4000)
        #expect(try folder.sqlite("SELECT etag, last_wanted, pinned_until FROM version") == "there|1500|4000")
    }

    @Test func `a body that returned meanwhile is named as another process says`() throws {
        store.admit(sampleBody(1), etag: "old", now: 1000)
        try reopen {
            store.admit(sampleBody(1), etag: "here", now: 1500)
            try folder.sqlite("UPDATE version SET last_wanted = 1700, pinned_until = 4000")
        }
        let version = try version(1)
        #expect(version.etag == "here" && version.lastWanted == 1700 && version.pinnedUntil == 4000)
        #expect(try folder.sqlite("SELECT etag, last_wanted, pinned_until FROM version") == "here|1700|4000")
    }
}
