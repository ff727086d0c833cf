import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

/// The lists of promised ids, of one version and of all nodes.
@Suite struct PromisedIDTests {
    private let keys: StoreKeys

    init() throws { keys = try PrivateStore.keys() }

    /// Makes an id that a client of a network was given.
    private func promise(_ number: Int, network: UInt16 = 1) throws -> PromisedIDs.Promise {
        let bytes = (0..<16).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) }
        return PromisedIDs.Promise(try #require(PromisedTag(bytes: bytes)), network: network)
    }

    @Test func `the tag of an id says nothing of it, and belongs to one body of one chain under one key`()
        throws
    {
        let id = try #require(keys.makeRandomID())
        let other = try #require(keys.makeRandomID())
        let (body, chain) = (sampleBody(1).digest, feedChain)
        let elsewhere = ChainKey(authority: "api.example", match: "/other")
        let tags = [
            keys.promisedTag(of: id, body, in: chain), keys.promisedTag(of: other, body, in: chain),
            keys.promisedTag(of: id, sampleBody(2).digest, in: chain),
            keys.promisedTag(of: id, body, in: elsewhere),
            try PrivateStore.keys(2).promisedTag(of: id, body, in: chain),
        ]
        #expect(Set(tags.map { $0?.bytes }).count == tags.count)
        #expect(!tags.contains(nil))
        #expect(tags[0]?.bytes != Base64.decodeURL(id))
        #expect(keys.promisedTag(of: id, body, in: chain) == tags[0], "after a restart, too")
        for wrong in ["", String(id.dropLast()), id + "A"] {
            #expect(keys.promisedTag(of: wrong, body, in: chain) == nil)
        }
    }

    @Test func `a version has so many ids, and then one goes for each that comes`() throws {
        let promises = try (0..<4_096).map { try promise($0, network: UInt16($0)) }
        var ids = PromisedIDs(promises)
        #expect(ids.count == 4_096)
        #expect(promises.allSatisfy { ids.contains($0.tag) })
        let (again, displaced) = (ids.insert(promises[5]), ids.insert(try promise(5000, network: 5000)))
        #expect(again == nil, "it is there already")
        #expect(displaced == promises[0].tag, "the oldest of all alike")
        #expect(ids.count == 4_096)
    }

    @Test func `a client that asks again and again displaces its own ids`() throws {
        let others = try (0..<50).map { try promise($0, network: UInt16(10 + $0)) }
        var ids = PromisedIDs(others)
        for number in 0..<20_000 { ids.insert(try promise(1000 + number)) }
        #expect(others.allSatisfy { ids.contains($0.tag) })
        #expect(ids.contains(try promise(20_999).tag))
        #expect(!ids.contains(try promise(1000).tag))
        #expect(ids.count == 50 + 128)
    }

    @Test func `what a row has is read again, and what is none of it is skipped`() throws {
        let ids = PromisedIDs(
            try (0..<PromisedIDs.countMax).map { try promise($0, network: UInt16(700 * ($0 % 90))) })
        #expect(PromisedIDs(bytes: ids.bytes) == ids)
        #expect(ids.bytes.count == PromisedIDs.countMax * PromisedIDs.encodedBytes)
        #expect(PromisedIDs(bytes: []).isEmpty)
        #expect(PromisedIDs(bytes: [1, 2, 3]).isEmpty)
        #expect(PromisedIDs(bytes: ids.bytes.dropLast()).count == ids.count - 1)
        #expect(PromisedIDs(bytes: ids.bytes + ids.bytes) == ids, "none twice")
        let many: [UInt8] = try (0..<10_000).flatMap { number -> [UInt8] in
            try [0, 1] + promise(number).tag.bytes
        }
        #expect(PromisedIDs(bytes: many).count == 128)
    }

    // MARK: The ids of all nodes

    @Test func `ids of other nodes are known within a bound, and those of one network displace each other`()
        throws
    {
        var promises = SharedPromises(countMax: 1000)
        let others = try (0..<50).map { try promise($0, network: UInt16(10 + $0)) }
        for promise in others { promises.insert(promise) }
        for number in 0..<950 { promises.insert(try promise(1000 + number)) }
        #expect(promises.count == 1000)
        #expect(promises.contains(try promise(1000).tag), "so many are known")
        for number in 950..<20_000 { promises.insert(try promise(1000 + number)) }
        #expect(promises.count == 1000)
        #expect(others.allSatisfy { promises.contains($0.tag) })
        #expect(!promises.contains(try promise(1000).tag))
        #expect(promises.contains(try promise(20_999).tag))
        promises.insert(others[0])
        #expect(promises.count == 1000, "it is known")
    }

    @Test func `an entry of the stream has ids within its bound, and the rest waits`() throws {
        var waiting = WaitingPromises()
        let promises = try (0..<300).map { try promise($0) }
        let isFirst = (waiting.add(promises), waiting.add([]))
        #expect(isFirst == (true, false), "then it is scheduled")
        var read: [PromisedIDs.Promise] = []
        while !waiting.isEmpty {
            let taken = waiting.take()
            let batch = SharedNews.batch(promises: taken)
            #expect(batch.count <= SharedNews.batchBytesMax)
            read += SharedNews.readPromises(batch)
        }
        #expect(read == promises)
        waiting.endSchedule()
        let many = try (0..<20_000).map { try promise($0) }
        let isScheduled = waiting.add(many)
        #expect(isScheduled)
        var left = 0
        while !waiting.isEmpty { left += waiting.take().count }
        #expect(left == 8192, "while the shared store is away, too")
    }

    @Test func `what could not be told waits before all later ones, and beyond the bound the oldest go`()
        throws
    {
        var waiting = WaitingPromises()
        let promises = try (0..<300).map { try promise($0) }
        _ = waiting.add(promises.prefix(200))
        let taken = waiting.take()
        _ = waiting.add(promises.dropFirst(200))
        waiting.putBack(taken)
        func takeAll() -> [PromisedIDs.Promise] {
            var all: [PromisedIDs.Promise] = []
            while !waiting.isEmpty { all += waiting.take() }
            return all
        }
        #expect(takeAll() == promises)
        let many = try (0..<8192).map { try promise(1000 + $0) }
        _ = waiting.add(many)
        waiting.putBack(promises)
        #expect(takeAll() == many)
    }
}
