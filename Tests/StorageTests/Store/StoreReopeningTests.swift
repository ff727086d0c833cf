import Dispatch
import Foundation
import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// A database that is opened again: the pending writes are applied to its rows.
@Suite struct StoreReopeningTests {
    private let folder: StoreFolder
    private let store: DictionaryStore

    init() throws {
        folder = try StoreFolder()
        store = try .open(folder.database)
    }

    /// Loses the connection before the changes of `change` are written, and opens the database again.
    private func reopen(after change: () throws -> Void) rethrows {
        store.upkeep.flush()
        try store.writeQueue.sync {
            try change()
            store.writer.failed(.unavailable("as the test says", connectionLost: true))
        }
        #expect(store.writer.openDatabase == nil)
        #expect(store.upkeep.flush())
    }

    private func version(_ seed: Int) throws -> Version {
        try #require(store.reader().version(chain: feedChain, digest: sampleBody(seed).digest))
    }

    @Test func `all that is known of a version is read again, and nothing of its neighbour`() throws {
        let scripts = ChainKey(
            authority: "api.example", match: "/feed", matchDest: ["script", "style"])
        let chains = [feedChain, scripts]
        func body(_ place: Int) -> Body { sampleBody(place, count: 900 + place) }
        for (place, chain) in chains.enumerated() {
            try store.admission.admit(
                VersionCandidate(
                    body(place), key: VersionKey(chain: chain, url: "/feed", variant: "v\(place)"),
                    policy: AdmissionPolicy(maxAge: 1_100 + place), etag: "e\(place)",
                    contentType: "text/c\(place)", isUpstreamMatch: place == 1, head: [UInt8(place)]),
                now: 1_000 + place)
        }
        #expect(store.upkeep.flush())
        store.close()
        let reopened = try DictionaryStore.open(folder.database)
        for (place, chain) in chains.enumerated() {
            let version = try #require(
                reopened.reader().version(chain: chain, digest: body(place).digest), "\(place)")
            #expect(version.variant == "v\(place)" && version.etag == "e\(place)")
            #expect(version.contentType == "text/c\(place)" && version.head?.bytes == [UInt8(place)])
            #expect(version.bytes == 900 + place && version.maxAge == 1_100 + place)
            #expect(version.admittedAt == 1_000 + place && version.isUpstreamMatch == (place == 1))
        }
    }

    @Test func `on disk the newest version of a URL and variant has the only head of these in its chain`()
        throws
    {
        let other = ChainKey(authority: "api.example", match: "/other")
        let keys = [
            VersionKey(chain: feedChain, url: "/feed", variant: ""),
            VersionKey(chain: feedChain, url: "/feed", variant: "de"),
            VersionKey(chain: feedChain, url: "/feed?2", variant: ""),
            VersionKey(chain: other, url: "/feed", variant: ""),
        ]
        for (place, key) in (keys + keys.prefix(1)).enumerated() {
            try store.admission.admit(
                VersionCandidate(
                    sampleBody(place + 1), key: key, policy: AdmissionPolicy(), head: [UInt8(place + 1)]),
                now: 1_000 + place)
            #expect(store.upkeep.flush())
        }
        #expect(
            try folder.sqlite("SELECT hex(head) FROM version WHERE head IS NOT NULL ORDER BY 1")
                == "02\n03\n04\n05")
    }

    @Test func `a version that was named meanwhile stays named`() throws {
        let version = store.admit(sampleBody(1), keep: 1, maxAge: 10, now: 1000)
        reopen { #expect(store.demand.nameInLinks(version, until: 5000, now: 1000)) }
        #expect(store.reader().named(chain: feedChain, variant: "", now: 4999)?.digest == version.digest)
        #expect(store.pinnedBytes > 0)
        store.admit(sampleBody(2), keep: 1, maxAge: 10, now: 4000)
        store.upkeep.sweep(now: 4999)
        #expect(store.finds(sampleBody(1)))
        store.upkeep.sweep(now: 5000)
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `a version that lost its name meanwhile is not named again, and keeps its time`() throws {
        let versions = (1...2).map { store.admit(sampleBody($0)) }
        #expect(store.demand.nameInLinks(versions[0], until: 5000, now: 1000))
        reopen {
            #expect(store.demand.nameInLinks(versions[1], replacing: versions[0], until: 6000, now: 1000))
        }
        #expect(try version(1).pinnedUntil == 5000 && version(2).pinnedUntil == 6000)
        #expect(try folder.sqlite("SELECT pinned_until FROM version ORDER BY rank") == "5000\n6000")
        #expect(
            store.reader().named(chain: feedChain, variant: "", now: 1000)?.digest == sampleBody(2).digest)
    }

    @Test func `a version that was wanted meanwhile is not evicted as if it had not been`() throws {
        let version = store.admit(sampleBody(1), maxAge: 1000, now: 1000)
        reopen { store.demand.touch(version, now: 1900) }
        store.upkeep.sweep(now: 2800)
        #expect(store.finds(sampleBody(1)))
        store.upkeep.sweep(now: 2900)
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `a chain that left probation meanwhile is not in it again`() throws {
        let versions = (1...2).map { store.admit(sampleBody($0), isImplied: true) }
        #expect(store.statistics.chainsInProbation == 1)
        reopen { store.demand.advertised(versions[0], now: 1000) }
        #expect(store.statistics.chainsInProbation == 0)
        #expect(try folder.sqlite("SELECT established FROM chain") == "1")
    }

    @Test func `a chain stays established though the version that was asked for is gone`() throws {
        let versions = (1...2).map { store.admit(sampleBody($0), isImplied: true) }
        reopen {
            store.demand.advertised(versions[0], now: 1000)
            store.evict([versions[0]], reason: .damaged)
        }
        #expect(store.statistics.versions == 1 && store.statistics.chainsInProbation == 0)
        #expect(try folder.sqlite("SELECT established FROM chain") == "1")
    }

    @Test func `what another process did meanwhile counts beside what waits here`() throws {
        store.admit(sampleBody(1), etag: "old", maxAge: 1000, now: 1000)
        try reopen {
            store.admit(sampleBody(1), etag: "here", maxAge: 1000, now: 1500)
            // Another process has recorded a later return, and a pin.
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

/// Tests that the demand for a version (holders, proof, times) outlives the process.
@Suite struct StoreHoldersOnDiskTests {
    private let folder: StoreFolder
    private let store: DictionaryStore

    init() throws {
        folder = try StoreFolder()
        store = try .open(folder.database)
    }

    private func onDisk(_ version: Version) throws -> String {
        try folder.sqlite(
            "SELECT holders, is_proven, last_offered, last_advertised FROM version WHERE id = \(version.id)")
    }

    @Test func `holders and proof are read again as they were written`() throws {
        let first = store.admit(sampleBody(1), now: 1000)
        store.demand.advertised(first, now: 1500)
        let second = store.admit(sampleBody(2), over: first, now: 1501)
        #expect(first.holders == 0 && second.holders == 1 && second.hasReturned)
        #expect(store.upkeep.flush())
        #expect(try onDisk(first) == "0|1|1000|1500")
        #expect(try onDisk(second) == "1|1|1501|1501")
        store.close()
        let reopened = try DictionaryStore.open(folder.database)
        for version in [first, second] {
            let row = try #require(reopened.index.version(row: version.id))
            #expect(row.counters.state == version.counters.state)
        }
    }

    @Test func `what changes of holders on disk is written a minute after the first of it, and no earlier`()
        throws
    {
        let former = store.admit(sampleBody(1), now: 1000)
        let next = store.admit(sampleBody(2), now: 1000)
        #expect(store.upkeep.flush())
        // A demand one second later is no reason to write the row.
        store.demand.advertised(former, now: 1001)
        store.demand.offered(next, over: former, now: 1001)
        store.upkeep.sweep(now: 1060)
        store.writeQueue.sync { store.writer.drain() }
        #expect(try onDisk(former) == "1|0|1000|1000")
        // After the writes that were scheduled before, only the sweep wakes the writer.
        let scheduled = DispatchSemaphore(value: 0)
        store.writeQueue.asyncAfter(deadline: .now() + .milliseconds(500)) { scheduled.signal() }
        scheduled.wait()
        store.upkeep.sweep(now: 1061)
        try waitUntil("the rows are written") { try onDisk(former) == "0|1|1000|1001" }
        #expect(try onDisk(next) == "2|1|1001|1001")
    }

    @Test func `a body that returns keeps what is known of its holders, also on disk`() throws {
        let first = store.admit(sampleBody(1), now: 1000)
        store.demand.offered(first, over: nil, now: 1000)
        store.admit(sampleBody(2), now: 1001)
        #expect(store.upkeep.flush())
        let returned = store.admit(sampleBody(1), now: 1002)
        #expect(returned !== first && returned.holders == 3)
        #expect(store.upkeep.flush())
        #expect(try onDisk(first) == "3|0|1002|1002")
    }

    @Test func `counts that a failing disk has not taken are laid over its rows`() throws {
        let version = store.admit(sampleBody(1), now: 1000)
        #expect(store.upkeep.flush())
        store.demand.offered(version, over: nil, now: 1001)
        store.writeQueue.sync { store.writer.failed(.unavailable("as the test says", connectionLost: true)) }
        #expect(store.upkeep.flush())
        #expect(try onDisk(version) == "2|0|1001|1001")
        #expect(store.index.version(row: version.id)?.holders == 2)
    }

    @Test func `a row says no second that has not come`() throws {
        let version = store.admit(sampleBody(1), now: 1000)
        store.close()
        let now = Int(SystemClock.unixMicroseconds / 1_000_000)
        let future = now + 1_000_000
        try folder.sqlite(
            "UPDATE version SET admitted = \(future), last_wanted = \(future), last_offered = \(future), last_advertised = \(future)"
        )
        let reopened = try DictionaryStore.open(folder.database)
        let row = try #require(reopened.index.version(row: version.id))
        let end = Int(SystemClock.unixMicroseconds / 1_000_000)
        for second in [row.lastWanted, row.lastOffered, row.lastContact] {
            #expect((now...end).contains(second))
        }
        // The next demand corrects the row.
        reopened.demand.touch(row, now: end + 120)
        #expect(reopened.upkeep.flush())
        #expect(try folder.sqlite("SELECT last_wanted FROM version") == "\(end + 120)")
    }
}

/// A clock that was ahead and is set back.
@Suite struct StoreClockTests {
    private static let ahead = 2_000_000
    private static let now = 1_000_000

    private let folder: StoreFolder
    private let store: DictionaryStore

    init() throws {
        folder = try StoreFolder()
        store = try .open(folder.database)
    }

    @Test func `nothing looks wanted, offered or advertised in the future once the clock was set back`()
        throws
    {
        let version = store.admit(sampleBody(1), maxAge: 1000, now: Self.now)
        #expect(store.upkeep.flush())
        store.demand.advertised(version, now: Self.ahead)
        store.demand.offered(version, over: nil, now: Self.ahead)
        let next = store.admit(sampleBody(2), maxAge: 1000, over: version, now: Self.ahead)
        #expect(store.upkeep.flush())
        store.upkeep.sweep(now: Self.now + 10)
        for version in [version, next] {
            #expect(version.lastWanted <= Self.now + 10 && version.lastOffered <= Self.now + 10)
            #expect(version.lastContact <= Self.now + 10 && version.handedOnAt <= Self.now + 10)
            #expect(version.chain.wantedUntil <= Self.now + 10)
        }
        store.upkeep.sweep(now: Self.now + 1009)
        #expect(store.finds(sampleBody(1)) && store.finds(sampleBody(2)))
        store.upkeep.sweep(now: Self.now + 1010)
        #expect(!store.finds(sampleBody(1)) && !store.finds(sampleBody(2)))
    }

    @Test func `a return is not counted for the time that a clock was ahead`() throws {
        let version = store.admit(sampleBody(1), now: Self.ahead)
        store.upkeep.sweep(now: Self.now)
        store.demand.advertised(version, now: Self.now + 7)
        #expect(version.lastContact == Self.now + 7 && version.hasReturned)
    }

    @Test func `what came while the clock was ahead expires by the clock that was set back`() throws {
        store.admit(sampleBody(1), maxAge: 1000, now: Self.ahead)
        store.upkeep.sweep(now: Self.now)
        store.upkeep.sweep(now: Self.now + 999)
        #expect(store.finds(sampleBody(1)))
        store.upkeep.sweep(now: Self.now + 1000)
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `the disk forgets that second too`() throws {
        let version = store.admit(sampleBody(1), now: Self.now)
        #expect(store.upkeep.flush())
        let future = Int(SystemClock.unixMicroseconds / 1_000_000) + 1_000_000
        store.demand.touch(version, now: future)
        store.upkeep.sweep(now: future)
        #expect(store.upkeep.flush())
        #expect(try folder.sqlite("SELECT last_wanted FROM version") == "\(future)")
        store.upkeep.sweep(now: Self.now + 10)
        #expect(store.upkeep.flush())
        // A row never contains a later second than the clock that wrote it, so demand counts as of now at the
        // latest.
        let onDisk = try #require(Int(try folder.sqlite("SELECT last_wanted FROM version")))
        #expect(onDisk < future - 900_000)
    }

    @Test func `chains keep their order of eviction when the clock was set back`() throws {
        let state = Guarded(StoreState())
        let versions = state.withLock { state in
            (1...3).map { number in
                let key = ChainKey(authority: "api.example", match: "/\(number)")
                let facts = VersionFacts(
                    digest: sampleBody(number).digest, url: "/\(number)", bytes: 1, maxAge: 1000)
                return state.admit(
                    facts, body: sampleBody(number), chain: key, policy: AdmissionPolicy(),
                    now: number == 1 ? Self.ahead : Self.now + number
                ).version
            }
        }
        state.withLock { state in
            state.turnBack(versions, to: Self.now + 10)
            // Both are wanted after the clock was set back, so the one from the future is the oldest.
            _ = versions[1].want(at: Self.now + 20)
            _ = versions[2].want(at: Self.now + 30)
            let order = (1...3).map { _ in state.order.pop(.withoutReturn, now: Self.now + 40)?.key.match }
            #expect(order == ["/1", "/2", "/3"])
        }
    }
}
