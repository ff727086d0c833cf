import Dispatch
import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

/// Ids that were given out before their body was complete, in the rows of their versions.
@Suite(.timeLimit(.minutes(40))) struct StorePromiseTests {
    private let unlisted = ChainKey(authority: "api.example", scope: .unlisted, match: "/feed")

    /// Returns true if an id proves a body of a chain.
    private func proves(_ id: String, _ body: Body, in chain: ChainKey, _ store: PrivateStore) throws -> Bool
    {
        let tag = try #require(store.keys.promisedTag(of: id, body.digest, in: chain))
        return store.store.reader().isPromised(tag, of: body.digest, in: chain)
    }

    /// Gives a personal body to a client of a network under a random id, and returns the id.
    private func give(_ body: Body, network: Int, now: Int, _ store: PrivateStore) throws -> String {
        try store.give(body, network: network, now: now)
        return try promise(body, in: store.personal(body), network: network, store)
    }

    private func promise(_ body: Body, in chain: ChainKey, network: Int, _ store: PrivateStore) throws
        -> String
    {
        let id = try #require(store.keys.makeRandomID())
        store.store.admission.promise(id, of: body.digest, in: chain, network: UInt16(network))
        return id
    }

    @Test func `twelve thousand ids of one address leave fifty users theirs`() throws {
        // The budget holds a thousand versions of 1 KB.
        let store = try PrivateStore(":memory:", privateBytesMax: 1000 * 2200)
        let users = try (0..<50).map { number in
            (body: sampleBody(number), id: try give(sampleBody(number), network: number, now: 1000, store))
        }
        let shared = sampleBody(100_000)
        store.store.admit(shared, chain: unlisted)
        let first = try promise(shared, in: unlisted, network: 60, store)
        for number in 0..<12_000 {
            _ = try give(sampleBody(1000 + number), network: 500, now: 2000 + number, store)
            _ = try promise(shared, in: unlisted, network: 500, store)
            if number % 500 == 0 { #expect(store.store.upkeep.flush()) }
        }
        #expect(store.store.upkeep.flush())
        for user in users {
            #expect(try proves(user.id, user.body, in: store.personal(user.body), store))
            #expect(try store.held(user.body) != nil)
        }
        #expect(try proves(first, shared, in: unlisted, store))
        store.store.close()
    }

    @Test(arguments: [false, true])
    func `an id proves its body after a restart, also if it came when the version was on disk`(isLate: Bool)
        throws
    {
        let folder = try StoreFolder()
        var ids: [(id: String, body: Body, chain: ChainKey)] = []
        let before = try PrivateStore(folder.database)
        for (number, chain) in [
            unlisted, try before.personal(sampleBody(1)), try before.chain("ann"),
        ].enumerated() {
            let body = sampleBody(number)
            before.store.admit(body, chain: chain)
            if isLate { #expect(before.store.upkeep.flush()) }
            for network in 0..<3 {
                ids.append((try promise(body, in: chain, network: network, before), body, chain))
            }
        }
        before.store.close()
        for table in ["version", "private_version"] {
            let lengths = try folder.sqlite("SELECT DISTINCT length(promises) FROM \(table)")
            #expect(lengths == "\(3 * PromisedIDs.encodedBytes)")
        }
        for _ in 0..<2 {
            let after = try PrivateStore(folder.database)
            for one in ids { #expect(try proves(one.id, one.body, in: one.chain, after)) }
            after.store.close()
        }
        let stranger = try PrivateStore(folder.database, key: 2)
        for one in ids { #expect(try !proves(one.id, one.body, in: one.chain, stranger)) }
        stranger.store.close()
    }

    @Test func `no file gives an id away`() throws {
        let folder = try StoreFolder()
        let store = try PrivateStore(folder.database)
        store.store.admit(sampleBody(1), chain: unlisted)
        let id = try promise(sampleBody(1), in: unlisted, network: 1, store)
        let raw = try #require(Base64.decodeURL(id))
        store.store.close()
        let hex = try folder.sqlite("SELECT hex(promises) FROM version")
        #expect(hex.count == 2 * PromisedIDs.encodedBytes)
        #expect(
            !hex.contains(
                raw.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined().uppercased()))
    }

    @Test func `ids of one version that a writer of the file gives to another one prove nothing`() throws {
        let folder = try StoreFolder()
        let before = try PrivateStore(folder.database)
        for number in 0..<2 { before.store.admit(sampleBody(number), chain: unlisted) }
        let id = try promise(sampleBody(0), in: unlisted, network: 1, before)
        before.store.close()
        try folder.sqlite("UPDATE version SET promises = (SELECT max(promises) FROM version)")
        let after = try PrivateStore(folder.database)
        #expect(try proves(id, sampleBody(0), in: unlisted, after))
        #expect(try !proves(id, sampleBody(1), in: unlisted, after))
        after.store.close()
    }

    @Test func `an id proves one body of one chain, and several prove the same`() throws {
        let store = try PrivateStore(":memory:")
        let other = ChainKey(authority: "api.example", scope: .unlisted, match: "/other")
        for chain in [unlisted, other] {
            for number in 0..<2 { store.store.admit(sampleBody(number), chain: chain) }
        }
        let ids = try (0..<2).map { try promise(sampleBody(0), in: unlisted, network: $0, store) }
        for id in ids {
            #expect(try proves(id, sampleBody(0), in: unlisted, store))
            #expect(try !proves(id, sampleBody(1), in: unlisted, store))
            #expect(try !proves(id, sampleBody(0), in: other, store))
        }
        #expect(try !proves(try #require(store.keys.makeRandomID()), sampleBody(0), in: unlisted, store))
        store.store.close()
    }

    // MARK: It goes with its version

    @Test func `an id goes with its version, and gives its bytes back`() throws {
        let folder = try StoreFolder()
        let store = try PrivateStore(folder.database)
        func sizes() -> [Int] {
            store.store.state.withLock { state in
                [
                    state.privateOrder.bytes, state.index.storedBytes(of: unlisted), state.index.memoryBytes,
                    state.authorities.bytesWithoutReturn, state.bytesInProbation,
                ]
            }
        }
        store.store.admit(
            sampleBody(9), chain: ChainKey(authority: "api.example", scope: .unlisted, match: "/a"))
        let personal = try store.personal(sampleBody(1))
        for round in 0..<3 {
            let empty = sizes()
            let versions = [
                store.store.admit(sampleBody(1), chain: personal),
                store.store.admit(sampleBody(2), chain: unlisted, isImplied: true),
            ]
            let without = sizes()
            let ids = try (0..<300).map { network in
                _ = try promise(sampleBody(2), in: unlisted, network: network, store)
                return try promise(sampleBody(1), in: personal, network: network, store)
            }
            let growth = 300 * PromisedIDs.bytesEach
            #expect(zip(sizes(), without).map(-) == [growth, growth, 2 * growth, growth, growth])
            if round == 1 { #expect(store.store.upkeep.flush()) }
            store.store.evict(versions, reason: .removed)
            #expect(sizes() == empty)
            for id in ids { #expect(try !proves(id, sampleBody(1), in: personal, store)) }
            #expect(store.store.upkeep.flush())
            #expect(try folder.sqlite("SELECT count(promises) FROM version") == "0")
        }
        store.store.close()
    }

    @Test func `a body that stays under another URL keeps the ids of the version that went`() throws {
        let folder = try StoreFolder()
        let store = try PrivateStore(folder.database)
        let versions = (0..<2).map { store.store.admit(sampleBody(1), chain: unlisted, url: "/feed?\($0)") }
        let ids = try (0..<2).map { try promise(sampleBody(1), in: unlisted, network: $0, store) }
        #expect(store.store.upkeep.flush())
        store.store.evict([versions[0]], reason: .versions)
        for id in ids { #expect(try proves(id, sampleBody(1), in: unlisted, store)) }
        store.store.close()
        let after = try PrivateStore(folder.database)
        for id in ids { #expect(try proves(id, sampleBody(1), in: unlisted, after)) }
        let last = after.store.index.versions(of: unlisted)
        #expect(last.count == 1)
        after.store.evict(last, reason: .versions)
        for id in ids { #expect(try !proves(id, sampleBody(1), in: unlisted, after)) }
        after.store.close()
    }

    @Test func `a version that returns keeps its ids`() throws {
        let folder = try StoreFolder()
        let store = try PrivateStore(folder.database)
        store.store.admit(sampleBody(1), chain: unlisted)
        let id = try promise(sampleBody(1), in: unlisted, network: 1, store)
        #expect(store.store.upkeep.flush())
        store.store.admit(sampleBody(2), chain: unlisted)
        store.store.admit(sampleBody(1), chain: unlisted, etag: "again")
        #expect(try proves(id, sampleBody(1), in: unlisted, store))
        store.store.close()
        let after = try PrivateStore(folder.database)
        #expect(try proves(id, sampleBody(1), in: unlisted, after))
        after.store.close()
    }

    @Test func `the successor of a hand-over keeps the ids of both processes`() throws {
        let folder = try StoreFolder()
        let before = try PrivateStore(folder.database)
        before.store.admit(sampleBody(1), chain: unlisted)
        #expect(before.store.upkeep.flush())
        let after = try PrivateStore(folder.database)
        var ids = [try promise(sampleBody(1), in: unlisted, network: 1, before)]
        ids.append(try promise(sampleBody(1), in: unlisted, network: 2, after))
        // Both give a body that neither had.
        for store in [before, after] {
            store.store.admit(sampleBody(2), chain: unlisted)
            ids.append(try promise(sampleBody(2), in: unlisted, network: 3, store))
        }
        before.store.handOver()
        after.store.lookNow()
        for (id, body) in zip(ids, [1, 1, 2, 2]) {
            #expect(try proves(id, sampleBody(body), in: unlisted, after))
        }
        before.store.close()
        after.store.close()
        let last = try PrivateStore(folder.database)
        for (id, body) in zip(ids, [1, 1, 2, 2]) {
            #expect(try proves(id, sampleBody(body), in: unlisted, last))
        }
        last.store.close()
    }

    @Test func `ids stay with the versions that begin a new file after damage`() throws {
        let folder = try StoreFolder()
        let store = try PrivateStore(folder.database)
        // One that goes before leaves its place to another.
        store.store.admit(sampleBody(2), chain: ChainKey(authority: "api.example", match: "/gone"))
        store.store.admit(sampleBody(1), chain: unlisted)
        let id = try promise(sampleBody(1), in: unlisted, network: 1, store)
        #expect(store.store.upkeep.flush())
        let purged = store.store.upkeep.purge([Purge(PurgeOrder(path: "/gone")) { _, _, _ in false }])
            .versions.count
        #expect(purged == 1)
        store.store.writeQueue.sync { store.store.writer.startAnew(because: "of the test") }
        #expect(try proves(id, sampleBody(1), in: unlisted, store))
        #expect(store.store.upkeep.flush())
        store.store.close()
        let after = try PrivateStore(folder.database)
        #expect(try proves(id, sampleBody(1), in: unlisted, after))
        after.store.close()
    }

    @Test(arguments: ["'text'", "X'0102'", "zeroblob(100000)", "17"])
    func `a damaged value in the column costs ids, and nothing else`(value: String) throws {
        let folder = try StoreFolder()
        let before = try PrivateStore(folder.database)
        before.store.admit(sampleBody(1), chain: unlisted)
        let id = try promise(sampleBody(1), in: unlisted, network: 1, before)
        before.store.close()
        // A STRICT column takes blobs alone; a damaged page may hold anything.
        try folder.sqlite("UPDATE version SET promises = CAST(\(value) AS BLOB)")
        let after = try PrivateStore(folder.database)
        #expect(after.store.reader().version(chain: unlisted, digest: sampleBody(1).digest) != nil)
        #expect(try !proves(id, sampleBody(1), in: unlisted, after))
        #expect(after.store.index.tables.withLock { $0.promises.count } <= PromisedIDs.countMax)
        after.store.close()
    }
}
