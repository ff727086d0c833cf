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
        _ version: Storage.Version, _ change: Int32, _ memory: SharedMemory, node: UInt8 = 9
    ) throws -> [SignedEntry.Field] {
        let name = try #require(version.sharedName(memory.commonKeys))
        let demand = SharedDemand(name: name, change: change, contact: 0)
        let sender = [UInt8](repeating: node, count: 8) + Array((memory.commonKeys?.sharedTag ?? "").utf8)
        return [(SharedDemand.Entry.node, sender)] + SharedDemand.fields(of: [demand])
    }

    /// Has a node read an entry, as the server hands it over; each comes a millisecond after the last.
    private func heed(_ fields: [SignedEntry.Field], _ memory: SharedMemory, _ place: inout Int64) {
        place += 1
        let id = RedisStreamID(milliseconds: UInt64(place), sequence: 0)
        memory.heed(.entries(stream: SharedMemory.demandPlace, [RedisStreamEntry(id: id, fields: fields)]))
    }

    private func held(_ fleet: TestFleet, _ node: Int) throws -> (Storage.Version, SharedMemory) {
        let memory = try #require(fleet.memory(fleet.nodes[node]))
        return (try #require(memory.store.sharing.versionsToShare(max: 1).first), memory)
    }

    @Test(arguments: ["Cache-Control: public, max-age=60", "Cache-Control: max-age=60"])
    func `a writer without the key takes no holders away, and adds none`(fields kind: String) throws {
        let fleet = try TestFleet(1, fields: kind)
        try fleet.fetch(0, version: 0)
        let (version, memory) = try held(fleet, 0)
        let keys = try #require(memory.commonKeys)
        let now = SystemClock.unixMilliseconds
        var place = now
        #expect(version.holders == 1)
        let stranger = try #require(StoreKeys(key: [UInt8](repeating: 5, count: StoreKeys.byteCount)))
        for change in [-1, -100, 100, .min, .max] as [Int32] {
            let entry = try fields(version, change, memory)
            heed(entry, memory, &place)
            heed(SignedEntry.sign(entry, at: place, stranger), memory, &place)
            // A signed entry with another change, or of another node.
            let other = try SignedEntry.sign(fields(version, 1, memory), at: place, keys)
            heed([entry[0]] + [entry[1]] + other.suffix(2), memory, &place)
            heed(try [fields(version, 1, memory, node: 8)[0]] + other.dropFirst(), memory, &place)
            heed(other.dropLast(), memory, &place)
            heed(other + [(Array("x".utf8), [1])], memory, &place)
            #expect(version.holders == 1)
        }
    }

    @Test func `what a node with the key tells counts once, whoever appends it again`() throws {
        let fleet = try TestFleet(1)
        try fleet.fetch(0, version: 0)
        let (version, memory) = try held(fleet, 0)
        let keys = try #require(memory.commonKeys)
        var place = SystemClock.unixMilliseconds
        let entry = try SignedEntry.sign(fields(version, 2, memory), at: place, keys)
        for _ in 0..<5 { heed(entry, memory, &place) }
        #expect(version.holders == 3)
        let next = try SignedEntry.sign(fields(version, -1, memory), at: place, keys)
        for _ in 0..<5 { heed(next, memory, &place) }
        heed(entry, memory, &place)
        #expect(version.holders == 2)
        let another = try SignedEntry.sign(fields(version, 1, memory, node: 7), at: place - 1000, keys)
        heed(another, memory, &place)
        #expect(version.holders == 3, "of another node")
        // A node that has not read the first one, since the stream has lost it.
        let old = try SignedEntry.sign(fields(version, -3, memory, node: 6), at: place - 61_000, keys)
        heed(old, memory, &place)
        #expect(version.holders == 3)
    }

    @Test func `nodes with one key hear of each other's holders`() throws {
        let fleet = try TestFleet(2)
        for node in 0..<2 { try fleet.fetch(node, version: 0) }
        try fleet.untilKnown(1)
        let (version, _) = try held(fleet, 0)
        fleet.memory(fleet.nodes[1])?.tick()
        try waitUntil("both holders count") { version.holders == 2 }
    }

    @Test func `without a key whoever writes there can change holders, and no body`() throws {
        // The price of a fleet without store.key_file, which FLEET.md names.
        let fleet = try TestFleet(1, hasCommonKey: false)
        try fleet.fetch(0, version: 0)
        let (version, memory) = try held(fleet, 0)
        var place = SystemClock.unixMilliseconds
        heed(try fields(version, -1, memory), memory, &place)
        #expect(version.holders == 0)
        let answer = try fleet.fetch(0, version: 1, over: 0, from: 0)
        #expect(answer.coding == "dcz" || answer.coding == "dcb")
        #expect(try answer.carriesDecoded(TestFleet.body(1), over: TestFleet.body(0)))
    }
}
