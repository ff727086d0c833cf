internal import Dictionaries
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy
@testable import Redis
@testable import Storage

private let enabled = RedisServer.program != nil

/// What somebody who writes to the shared store without the nodes' key can change of holder counts, and what not.
@Suite(.timeLimit(.minutes(40)), .enabled(if: enabled, "\(RedisServer.absence)"))
struct SharedWriterTests {
    /// Returns the fields of an entry that tells of holders.
    private func fields(
        _ version: Storage.Version, _ change: Int32, _ shared: SharedStore, node: UInt8 = 9
    ) throws -> [SignedEntry.Field] {
        let name = try #require(version.sharedName(shared.commonKeys))
        let demand = SharedDemand(name: name, change: change, contact: 0)
        let sender = [UInt8](repeating: node, count: 8) + Array((shared.commonKeys?.sharedTag ?? "").utf8)
        return [(SharedDemand.Entry.node, sender)] + SharedDemand.fields(of: [demand])
    }

    /// Has a node read an entry, as the server hands it over; each comes a millisecond after the last.
    private func heed(_ fields: [SignedEntry.Field], _ shared: SharedStore, _ place: inout Int64) {
        place += 1
        let id = RedisStreamID(milliseconds: UInt64(place), sequence: 0)
        shared.heed(.entries(stream: SharedStore.demandPlace, [RedisStreamEntry(id: id, fields: fields)]))
    }

    private func held(_ fleet: TestFleet, _ node: Int) throws -> (Storage.Version, SharedStore) {
        let shared = try #require(fleet.shared(fleet.nodes[node]))
        return (try #require(shared.store.sharing.versionsToShare(max: 1).first), shared)
    }

    @Test(arguments: ["Cache-Control: public, max-age=60", "Cache-Control: max-age=60"])
    func `a writer without the key takes no holders away, and adds none`(fields kind: String) throws {
        let fleet = try TestFleet(1, fields: kind)
        try fleet.fetch(0, version: 0)
        let (version, shared) = try held(fleet, 0)
        let keys = try #require(shared.commonKeys)
        let now = SystemClock.unixMilliseconds
        var place = now
        #expect(version.holders == 1)
        let stranger = try #require(StoreKeys(key: [UInt8](repeating: 5, count: StoreKeys.byteCount)))
        for change in [-1, -100, 100, .min, .max] as [Int32] {
            let entry = try fields(version, change, shared)
            heed(entry, shared, &place)
            heed(SignedEntry.sign(entry, at: place, stranger), shared, &place)
            // A signed entry with another change, or of another node.
            let other = try SignedEntry.sign(fields(version, 1, shared), at: place, keys)
            heed([entry[0]] + [entry[1]] + other.suffix(2), shared, &place)
            heed(try [fields(version, 1, shared, node: 8)[0]] + other.dropFirst(), shared, &place)
            heed(other.dropLast(), shared, &place)
            heed(other + [(Array("x".utf8), [1])], shared, &place)
            #expect(version.holders == 1)
        }
    }

    @Test func `what a node with the key tells counts once, whoever appends it again`() throws {
        let fleet = try TestFleet(1)
        try fleet.fetch(0, version: 0)
        let (version, shared) = try held(fleet, 0)
        let keys = try #require(shared.commonKeys)
        var place = SystemClock.unixMilliseconds
        let entry = try SignedEntry.sign(fields(version, 2, shared), at: place, keys)
        for _ in 0..<5 { heed(entry, shared, &place) }
        #expect(version.holders == 3)
        let next = try SignedEntry.sign(fields(version, -1, shared), at: place, keys)
        for _ in 0..<5 { heed(next, shared, &place) }
        heed(entry, shared, &place)
        #expect(version.holders == 2)
        let another = try SignedEntry.sign(fields(version, 1, shared, node: 7), at: place - 1000, keys)
        heed(another, shared, &place)
        #expect(version.holders == 3, "of another node")
        // A node that has not read the first one, since the stream has lost it.
        let old = try SignedEntry.sign(fields(version, -3, shared, node: 6), at: place - 61_000, keys)
        heed(old, shared, &place)
        #expect(version.holders == 3)
    }

    @Test func `nodes with one key hear of each other's holders`() throws {
        let fleet = try TestFleet(2)
        for node in 0..<2 { try fleet.fetch(node, version: 0) }
        try fleet.untilKnown(1)
        let (version, _) = try held(fleet, 0)
        fleet.shared(fleet.nodes[1])?.tick()
        try waitUntil("both holders count") { version.holders == 2 }
    }

    @Test func `without a key whoever writes there can change holders, and no body`() throws {
        // The price of a fleet without store.key_file, which FLEET.md names.
        let fleet = try TestFleet(1, hasCommonKey: false)
        try fleet.fetch(0, version: 0)
        let (version, shared) = try held(fleet, 0)
        var place = SystemClock.unixMilliseconds
        heed(try fields(version, -1, shared), shared, &place)
        #expect(version.holders == 0)
        let answer = try fleet.fetch(0, version: 1, over: 0, from: 0)
        #expect(answer.coding == "dcz" || answer.coding == "dcb")
        #expect(try answer.carriesDecoded(TestFleet.body(1), over: TestFleet.body(0)))
    }
}
