import Foundation
import Testing

@testable import Dictionaries

/// What one of two processes on a file is about to write is written, whatever the other has done to the row meanwhile.
@Suite(.timeLimit(.minutes(10))) final class StoreMergingTests: StorePair {
    private func version(_ seed: Int, in store: DictionaryStore) throws -> Version {
        try #require(store.reader().version(chain: feedChain, digest: sampleBody(seed).digest))
    }

    /// Lets the first change something, and hear of what the second has done before it is written.
    private func whileWaiting(_ own: () throws -> Void, other: () throws -> Void) throws {
        try first.writeQueue.sync {
            try own()
            try other()
            #expect(second.flush())
            first.follow()
        }
        settle()
    }

    private var row: String {
        get throws { try folder.sqlite("SELECT etag, last_wanted, pinned_until FROM version") }
    }

    @Test func `a name is written though the body has returned in the other`() throws {
        let named = first.admit(sampleBody(1), etag: "old", now: 1000)
        settle()
        try whileWaiting {
            #expect(first.name(named, until: 4000, now: 1000))
        } other: {
            second.admit(sampleBody(1), etag: "new", now: 1100)
        }
        #expect(try row == "new|1100|4000")
        for store in [first, second] {
            #expect(store.reader().named(chain: feedChain, variant: "", now: 3999)?.etag == "new")
        }
    }

    @Test func `a name that is given up stays so though the body has returned in the other`() throws {
        let versions = (1...2).map { first.admit(sampleBody($0), now: 1000) }
        #expect(first.name(versions[0], until: 4000, now: 1000))
        settle()
        try whileWaiting {
            #expect(first.name(versions[1], replacing: versions[0], until: 5000, now: 1000))
        } other: {
            second.admit(sampleBody(1), etag: "new", now: 1100)
        }
        #expect(try folder.sqlite("SELECT pinned_until FROM version ORDER BY rank") == "5000\n0")
        #expect(try version(1, in: first).pinnedUntil == 0 && version(1, in: second).pinnedUntil == 0)
    }

    @Test func `when it was wanted is written though the body has returned in the other`() throws {
        let wanted = first.admit(sampleBody(1), now: 1000)
        settle()
        try whileWaiting {
            first.touch(wanted, now: 2000)
        } other: {
            second.admit(sampleBody(1), etag: "new", now: 1100)
        }
        #expect(try row == "new|2000|0")
    }

    @Test func `when a body returned is written though it has returned in the other after that`() throws {
        first.admit(sampleBody(1), now: 1000)
        settle()
        try whileWaiting {
            first.admit(sampleBody(1), etag: "here", now: 2000)
        } other: {
            second.admit(sampleBody(1), etag: "there", now: 1100)
        }
        #expect(try row == "there|2000|0")
    }

    @Test(arguments: [true, false])
    func `a body that both admit at once keeps the name that one gave it`(isLater: Bool) throws {
        try whileWaiting {
            if !isLater { try name(1000) }
        } other: {
            second.admit(sampleBody(1), etag: "there", now: 1100)
            if isLater { try name(1200) }
        }
        func name(_ now: Int) throws {
            #expect(first.name(first.admit(sampleBody(1), etag: "here", now: now), until: 4000, now: now))
        }
        #expect(try row == (isLater ? "here|1200|4000" : "there|1100|4000"))
        for store in [first, second] { #expect(try version(1, in: store).pinnedUntil == 4000) }
    }

    @Test func `a chain that both make at once is established if one has established it`() throws {
        try whileWaiting {
            let own = first.admit(sampleBody(1), isImplied: true)
            first.touch(own, by: .advertised, now: 1000)
        } other: {
            second.admit(sampleBody(1), isImplied: true)
        }
        #expect(try folder.sqlite("SELECT established FROM chain") == "1")
    }

    @Test func `a version that is named here while the other removes it is written anew`() async throws {
        let named = first.admit(sampleBody(1), now: 1000)
        settle()
        try whileWaiting {
            #expect(first.name(named, until: 4000, now: 1000))
        } other: {
            second.evict([try version(1, in: second)], reason: .size)
        }
        #expect(try folder.sqlite("SELECT pinned_until FROM version") == "4000")
        let found = second.reader().version(chain: feedChain, digest: sampleBody(1).digest)
        #expect(await found.loaded(second))
    }

    @Test func `what is to be written also counts where the changes of the other are read to make room`()
        throws
    {
        let folder = try StoreFolder()
        let stores = try [0, 1].map { _ in try DictionaryStore.open(folder.database, maxBytes: 1 << 20) }
        let chains = (0..<3).map { ChainKey(authority: "api.example", match: "/\($0)") }
        for number in 0..<3 { stores[0].admit(sampleBody(number), chain: chains[number], now: 1000) }
        var seed = 3
        while stores[0].statistics.evictions.isEmpty {
            stores[0].admit(sampleBody(seed, count: 30_000), keep: 1000, now: 900)
            stores[0].flush()
            seed += 1
        }
        settleAll(stores)
        func version(_ number: Int, in store: DictionaryStore) throws -> Version {
            try #require(store.reader().version(chain: chains[number], digest: sampleBody(number).digest))
        }
        let before = stores[0].statistics.evictions[.size, default: 0]
        // The first is to be named, the others are to go; in one transaction, for which there is no room.
        try stores[0].writeQueue.sync {
            #expect(try stores[0].name(version(0, in: stores[0]), until: 4000, now: 1000))
            for number in 1..<3 { try stores[0].evict([version(number, in: stores[0])], reason: .damaged) }
            stores[0].admit(sampleBody(seed, count: 250_000), keep: 1000, now: 1000)
            for number in 0..<3 { try stores[1].touch(version(number, in: stores[1]), now: 2000) }
            #expect(stores[1].flush())
            stores[0].drain(isForced: true)
        }
        #expect(stores[0].statistics.evictions[.size, default: 0] > before)
        #expect(try version(0, in: stores[0]).pinnedUntil == 4000)
        for number in 1..<3 {
            #expect(!stores[0].reader().contains(chain: chains[number], digest: sampleBody(number).digest))
        }
        #expect(try Int(folder.sqlite("SELECT count(*) FROM version")) == stores[0].statistics.versions)
    }
}
