import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// What orders to forget include, whatever the clocks say and whichever process writes.
@Suite struct StorePurgeTests {
    private func purge(_ order: PurgeOrder, rankMax: Int64 = .max) -> Purge {
        Purge(order, rankMax: rankMax) { _, _, _ in false }
    }

    private func chain(of tag: IdentityTag) -> ChainKey {
        ChainKey(authority: "api.example", scope: .private(tag), match: "/account")
    }

    @Test(arguments: [
        ("/\u{E9}", "/%C3%A9"), ("/a b\u{7F}", "/a%20b%7F"), ("/%C3%A9/%c3%A9%25c3%", "/%C3%A9/%C3%A9%25c3%"),
        ("/a\"{b}~", "/a\"{b}~"),
    ])
    func `a path is read as browsers and curl send it`(written: String, path: String) throws {
        var order = PurgeOrder()
        try order.add(.path, written)
        #expect(order == PurgeOrder(path: path))
    }

    @Test(arguments: ["/%C3%A9/a", "/%c3%a9/a"], ["/%C3%A9/a", "/%c3%a9/a", "/%C3%A9/*", "/%c3%a9/*"])
    func `a path is found in either case of its digits`(written: String, match: String) throws {
        var order = PurgeOrder()
        try order.add(.path, written)
        let chain = ChainKey(authority: "api.example", match: match)
        #expect(purge(order).includes(chain, url: nil, rank: 1))
        let other = ChainKey(authority: "api.example", match: "/other")
        #expect(purge(order).includes(other, url: match, rank: 1) == match.hasSuffix("a"))
    }

    @Test func `log-outs that are carried out together take of each user what came before its own`() throws {
        let users = try [1, 2].map { try #require(IdentityTag(bytes: [UInt8](repeating: $0, count: 32))) }
        var purges = PurgeList()
        for (user, time) in zip(users, [100, 200] as [Int64]) {
            purges.add(purge(PurgeOrder(owners: [user]), rankMax: time))
        }
        func includes(_ user: Int, _ rank: Int64) -> Bool {
            purges.include(chain(of: users[user]), url: nil, rank: rank)
        }
        #expect(purges.all.count == 1)
        #expect(includes(0, 100) && !includes(0, 101))
        #expect(includes(1, 200) && !includes(1, 201))
        purges.add(purge(PurgeOrder(owners: [users[0]]), rankMax: 300))
        #expect(includes(0, 300) && !includes(1, 201))
        #expect(!purges.include(ChainKey(authority: "api.example", match: "/account"), url: nil, rank: 1))
    }

    @Test func `an order that comes again and again displaces no other, and none brings back what went`() {
        var purges = PurgeList(countMax: 2)
        purges.add(purge(PurgeOrder(path: "/a"), rankMax: 100))
        for time in 101...110 { purges.add(purge(PurgeOrder(path: "/feed"), rankMax: Int64(time))) }
        #expect(purges.all.count == 2)
        let other = ChainKey(authority: "api.example", match: "/a")
        #expect(purges.forbid(other, url: "/a", rank: 100) && !purges.forbid(other, url: "/a", rank: 101))
        #expect(purges.forbid(feedChain, url: "/feed", rank: 110))
        #expect(!purges.forbid(feedChain, url: "/feed", rank: 111))
        // A third one has no room, and the oldest may have been for anything.
        purges.add(purge(PurgeOrder(path: "/a"), rankMax: 120))
        purges.add(purge(PurgeOrder(host: "api.other"), rankMax: 50))
        let third = ChainKey(authority: "api.example", match: "/b")
        #expect(purges.forbid(third, url: "/b", rank: 110) && !purges.forbid(third, url: "/b", rank: 111))
        #expect(purges.forbid(other, url: "/a", rank: 120))
    }

    @Test func `log-outs take one place though orders for paths come between`() throws {
        var purges = PurgeList(countMax: 4)
        for time in 1...100 as ClosedRange<Int64> {
            let user = try #require(IdentityTag(bytes: [UInt8](repeating: UInt8(time), count: 32)))
            purges.add(purge(PurgeOrder(owners: [user]), rankMax: time))
            purges.add(purge(PurgeOrder(path: "/feed"), rankMax: time))
        }
        #expect(purges.all.count == 2 && purges.forgottenRank == .min)
        for time in [1, 100] as [Int64] {
            let user = try #require(IdentityTag(bytes: [UInt8](repeating: UInt8(time), count: 32)))
            #expect(purges.include(chain(of: user), url: nil, rank: time))
            #expect(!purges.include(chain(of: user), url: nil, rank: time + 1))
        }
    }

    @Test func `an order covers another one if it includes all that that one does`() throws {
        let users = try [1, 2].map { try #require(IdentityTag(bytes: [UInt8](repeating: $0, count: 32))) }
        var purges = PurgeList()
        purges.add(purge(PurgeOrder(path: "/feed"), rankMax: 100))
        purges.add(purge(PurgeOrder(owners: [users[0]]), rankMax: 100))
        for (order, rank, isCovered) in [
            (PurgeOrder(path: "/feed"), 100, true), (PurgeOrder(path: "/feed"), 101, false),
            (PurgeOrder(path: "/other"), 100, false), (PurgeOrder(host: "a", path: "/feed"), 100, false),
            (PurgeOrder(owners: [users[0]]), 100, true), (PurgeOrder(owners: [users[0]]), 101, false),
            (PurgeOrder(owners: [users[1]]), 1, false), (PurgeOrder(owners: Set(users)), 1, false),
            (PurgeOrder(path: "/feed", owners: [users[0]]), 1, false),
        ] as [(PurgeOrder, Int64, Bool)] {
            #expect(purges.covers(purge(order, rankMax: rank)) == isCovered, "\(order)")
        }
    }

    @Test(arguments: [false, true])
    func `a dictionary that was learned after an order from before the start has nothing of what it names`(
        isFormer: Bool
    ) throws {
        let store = try DictionaryStore.open(":memory:")
        let many = ChainKey(authority: "api.example", match: "/items/*")
        let given = SystemClock.unixMicroseconds - 1_000_000
        store.admit(sampleBody(1), chain: many, url: VersionKey.learnedURL(of: many))
        let order = Purge(PurgeOrder(path: "/items/5"), rankMax: given, isFormer: isFormer) { _, _, _ in false
        }
        #expect(store.upkeep.purge([order]).versions.count == (isFormer ? 0 : 1))
    }

    @Test func `a purge that the disk does not take says so`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        store.admit(sampleBody(1))
        #expect(store.upkeep.flush())
        try folder.sqlite(
            "CREATE TRIGGER broken BEFORE DELETE ON version BEGIN SELECT RAISE(ABORT, 'full'); END")
        let failed = store.upkeep.purge([purge(PurgeOrder(path: "/feed"))])
        #expect(failed.versions.count == 1 && !failed.areErased)
        try folder.sqlite("DROP TRIGGER broken")
        store.admit(sampleBody(2))
        #expect(store.upkeep.purge([purge(PurgeOrder(path: "/feed"))]).areErased)
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "0")
        store.close()
    }

    @Test func `the row of a body that came back between an order and its end stays`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        let version = store.admit(sampleBody(1))
        #expect(store.upkeep.flush())
        // The order had chosen the version, and the body came again.
        #expect(store.writer.onQueue(within: 10) { $0.erase([version]) })
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "1")
        store.close()
    }

    @Test func `an order reaches what came by a clock that was ahead`() throws {
        let store = try DictionaryStore.open(":memory:")
        let facts = VersionFacts(
            digest: sampleBody(1).digest, url: "/feed", bytes: 1000,
            maxAge: 86_400)
        let now = SystemClock.unixMicroseconds
        let ahead = SharedRecord(
            chain: feedChain, facts: facts, rank: now + 86_400_000_000, body: sampleBody(1))
        _ = try store.sharing.adopt(ahead, now: 1000)
        let removed = store.upkeep.purge([purge(PurgeOrder(path: "/feed"), rankMax: now + 1_000_000)])
            .versions.count
        #expect(removed == 1)
    }

    @Test func `once the clock was set back, an order refuses nothing that comes after it`() throws {
        var purges = PurgeList(countMax: 1)
        for path in ["/a", "/feed"] { purges.add(purge(PurgeOrder(path: path), rankMax: 5_000)) }
        purges.turnBack(to: 1_000)
        #expect(purges.forgottenRank == 1_000)
        #expect(purges.include(feedChain, url: "/feed", rank: 1_000))
        #expect(!purges.include(feedChain, url: "/feed", rank: 1_001))
        let user = try #require(IdentityTag(bytes: [UInt8](repeating: 1, count: 32)))
        let many = ChainKey(authority: "api.example", match: "/items/*")
        var others = PurgeList()
        others.add(purge(PurgeOrder(owners: [user]), rankMax: 5_000))
        others.add(purge(PurgeOrder(path: "/items/5"), rankMax: 5_000))
        others.turnBack(to: 1_000)
        #expect(others.include(chain(of: user), url: nil, rank: 1_000))
        #expect(!others.include(chain(of: user), url: nil, rank: 1_001))
        #expect(others.include(many, url: VersionKey.learnedURL(of: many), rank: 1_000))
        #expect(!others.include(many, url: VersionKey.learnedURL(of: many), rank: 1_001))
    }

    @Test func `a sweep after the clock was set back lets in what comes after an order`() throws {
        let store = try DictionaryStore.open(":memory:")
        let now = SystemClock.unixSeconds
        store.upkeep.sweep(now: now)
        _ = store.upkeep.purge([purge(PurgeOrder(path: "/feed"), rankMax: SystemClock.unixMicroseconds)])
        let key = VersionKey(chain: feedChain, url: "/feed", variant: "")
        let candidate = VersionCandidate(
            sampleBody(1), key: key, policy: AdmissionPolicy(versions: 16, maxAge: 1000), etag: nil,
            contentType: nil)
        let begunAt = Int64(now - 3_600) * 1_000_000
        #expect(throws: AdmissionRefusal.self) {
            try store.admission.admit(candidate, begunAt: begunAt + 1, now: now - 3_600)
        }
        store.upkeep.sweep(now: now - 3_600)
        #expect(throws: AdmissionRefusal.self) {
            try store.admission.admit(candidate, begunAt: begunAt, now: now - 3_600)
        }
        try store.admission.admit(candidate, begunAt: begunAt + 1, now: now - 3_600)
        #expect(store.finds(sampleBody(1)))
    }

    @Test(arguments: [false, true])
    func `an order to a process that waits for the store reaches what the other one writes`(isLate: Bool)
        throws
    {
        let folder = try StoreFolder()
        let writer = try DictionaryStore.open(folder.database)
        if !isLate {
            writer.admit(sampleBody(1))
            #expect(writer.upkeep.flush())
        }
        let waiting = try DictionaryStore.open(folder.database)
        if isLate {
            writer.admit(sampleBody(1))
            #expect(writer.upkeep.flush())
        }
        #expect(waiting.upkeep.purge([purge(PurgeOrder(path: "/feed"))]).versions.count == (isLate ? 0 : 1))
        if !isLate {
            writer.lookNow()
            #expect(!writer.finds(sampleBody(1)), "the writer was asked to remove it")
        }
        writer.close()
        try waitUntil("it writes") {
            waiting.lookNow()
            return waiting.upkeep.flush()
        }
        #expect(!waiting.finds(sampleBody(1)))
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "0")
        waiting.close()
    }

    @Test(arguments: [false, true])
    func `a process that cannot ask the writer leaves its file alone, and asks again`(isHandedOver: Bool)
        throws
    {
        let folder = try StoreFolder()
        let events = StoreEvents()
        func open() throws -> DictionaryStore {
            try DictionaryStore.open(folder.database, retrySeconds: 0.05, log: events.log)
        }
        let first = try open()
        first.admit(sampleBody(1))
        #expect(first.upkeep.flush())
        let stores = [first, try open()]
        if isHandedOver { stores[0].handOver() }
        let (other, writer) = isHandedOver ? (stores[0], stores[1]) : (stores[1], stores[0])
        try waitUntil("both have the version, and one of them writes") {
            for store in stores { store.lookNow() }
            return writer.upkeep.flush() && other.finds(sampleBody(1))
        }
        // SQLite says the same of it as of a table that is missing: the file is no store any more.
        try folder.sqlite("CREATE TRIGGER broken BEFORE INSERT ON removal BEGIN DELETE FROM nowhere; END")
        #expect(other.upkeep.purge([purge(PurgeOrder(path: "/feed"))]).versions.count == 1)
        #expect(events.errors.count { $0.contains("could not be asked") } == 1)
        #expect(!folder.files.contains { $0.contains("damaged") })
        #expect(writer.finds(sampleBody(1)) && writer.upkeep.flush())
        try folder.sqlite("DROP TRIGGER broken")
        // A connection of SQLite knows such a trigger until another statement has run there.
        try other.writer.openDatabase?.giveBack(pages: 1)
        try waitUntil("the writer has removed it") {
            writer.lookNow()
            return !writer.finds(sampleBody(1))
        }
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "0")
        for store in stores { store.close() }
    }

    @Test func `an order to a process that has handed the store over reaches its successor`() throws {
        let folder = try StoreFolder()
        let before = try DictionaryStore.open(folder.database)
        before.admit(sampleBody(1))
        let after = try DictionaryStore.open(folder.database)
        before.handOver()
        try waitUntil("the successor writes") {
            after.lookNow()
            return after.upkeep.flush()
        }
        #expect(after.finds(sampleBody(1)))
        #expect(before.upkeep.purge([purge(PurgeOrder(path: "/feed"))]).versions.count == 1)
        after.lookNow()
        #expect(!after.finds(sampleBody(1)))
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "0")
        before.close()
        after.close()
    }

    @Test
    func `an order that other nodes read is the one that was given, and what is not understood is none`()
        throws
    {
        let user = try #require(IdentityTag(bytes: [UInt8](repeating: 7, count: 32)))
        for order in [
            PurgeOrder(host: "a.test"), PurgeOrder(host: "a.test", path: "/b", route: "r"),
            PurgeOrder(host: "a.test", owners: []), PurgeOrder(route: "r", owners: [user]),
        ] {
            #expect(PurgeOrder(sharedBytes: order.sharedBytes) == order)
            #expect(PurgeOrder(sharedBytes: order.sharedBytes + [99, 0]) == nil, "a condition of the future")
            #expect(PurgeOrder(sharedBytes: Array(order.sharedBytes.dropLast())) != order)
        }
        #expect(PurgeOrder(sharedBytes: []) == nil)
        let long = PurgeOrder(path: "/" + String(repeating: "a", count: 4_096))
        #expect(PurgeOrder(sharedBytes: long.sharedBytes) == nil)
        let longest = PurgeOrder(path: "/" + String(repeating: "a", count: 4_095))
        #expect(PurgeOrder(sharedBytes: longest.sharedBytes) == longest)
    }

    @Test func `an order has the bytes that other releases read`() throws {
        let user = try #require(IdentityTag(bytes: [UInt8](repeating: 7, count: 32)))
        var bytes: [UInt8] = [1, 1, 0x61, 2, 2, 0x2f, 0x62, 3, 1, 0x72, 5, 0, 4, 32]
        bytes += user.bytes
        #expect(PurgeOrder(host: "a", path: "/b", route: "r", owners: [user]).sharedBytes == bytes)
    }

    @Test(arguments: [
        ("api.example", true), ("api.example:8443", true), ("api.example.evil", false), ("api.exampl", false),
        ("www.api.example", false),
    ])
    func `an order for a host is for all of its ports, and for no host that begins alike`(
        authority: String, isIncluded: Bool
    ) {
        let chain = ChainKey(authority: authority, match: "/feed")
        #expect(
            purge(PurgeOrder(host: "api.example")).includes(chain, url: "/feed", rank: 1) == isIncluded)
    }

    @Test(arguments: [(-1, 0), (0, 0), (1_500, 1_500)] as [(Int64, Int64)])
    func `an order has an age of 0 or more`(written: Int64, read: Int64) {
        #expect(PurgeOrder.age(of: [PurgeOrder.field(ofAge: written)]) == read)
        #expect(PurgeOrder.age(of: []) == 0)
    }
}
