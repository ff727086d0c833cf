internal import Dictionaries
internal import Storage
internal import Testing

@testable import Proxy

/// Tests the bounded table in which a client cannot push out entries of other clients.
struct FairTableTests {
    private func add(_ key: Int, by client: UInt128, to table: inout FairTable<Int, Int>) {
        table.change(key, openedBy: client, fresh: 0) { $0 += 1 }
    }

    @Test func `a value is made once and changed from then on`() {
        var table = FairTable<Int, Int>(buckets: 4, slots: 4)
        for _ in 1...3 { add(7, by: 1, to: &table) }
        #expect(table[7] == 3 && table[8] == nil && table.all.count == 1)
        let changed = table.changeIfPresent(7) { $0 * 2 }
        let missing = table.changeIfPresent(8) { $0 }
        #expect(changed == 6 && missing == nil && table.all.count == 1)
    }

    @Test func `a flood from one client costs the entries of one bucket`() {
        var table = FairTable<Int, Int>(buckets: 64, slots: 16)
        for client in 0..<256 { add(client, by: UInt128(client), to: &table) }
        for key in 1_000..<101_000 { add(key, by: 1 << 90, to: &table) }
        let left = (0..<256).count { table[$0] != nil }
        #expect(left >= 256 - 40, "\(left)")
        #expect(table.all.count <= 64 * 16)
    }

    @Test func `the oldest of a bucket goes first`() {
        var table = FairTable<Int, Int>(buckets: 1, slots: 3)
        for key in 1...5 { add(key, by: 1, to: &table) }
        #expect((1...5).filter { table[$0] != nil } == [3, 4, 5])
        for key in 6...8 { add(key, by: 1, to: &table) }
        #expect((1...8).filter { table[$0] != nil } == [6, 7, 8])
    }
}

/// The count of distinct clients that a page's announcement and a name's worth depend on.
@Suite struct ClientSketchTests {
    @Test func `three clients count as three, whatever bits their addresses hash to`() {
        for number in 0..<4000 {
            var sketch = ClientSketch()
            for client in 0..<3 {
                sketch.insert(UInt128(3 * number + client))
                sketch.insert(UInt128(3 * number + client))
            }
            #expect(sketch.count == 3)
        }
    }

    @Test(arguments: [64, 256, 1_000]) func `many clients are estimated, beyond the number of bits`(
        number: Int
    ) {
        var sketch = ClientSketch()
        for client in 0..<number { sketch.insert(UInt128(client)) }
        // Six standard deviations.
        #expect((number * 5 / 8...number * 11 / 8).contains(sketch.count), "\(sketch.count)")
    }

    @Test func `the estimate is bounded`() {
        var sketch = ClientSketch()
        for client in 0..<100_000 { sketch.insert(UInt128(client)) }
        #expect(1_400...1_600 ~= sketch.count, "\(sketch.count)")
    }
}

struct RecentClientsTests {
    @Test func `each of 64 clients counts so many times, and the first makes place for another`() {
        var clients = RecentClients()
        let twice = (0..<3).map { _ in clients.count(0, atMost: 2) }
        #expect(twice == [true, true, false])
        let fresh = (1..<64).map { clients.count(UInt128($0), atMost: 1) }
        #expect(fresh.allSatisfy { $0 })
        let known = (0..<64).map { clients.count(UInt128($0), atMost: 1) }
        #expect(!known.contains(true))
        // The 65th takes the place of the first, and this one that of the second.
        let later = [64, 0, 64, 2, 1].map { clients.count($0, atMost: 1) }
        #expect(later == [true, true, false, false, true])
    }
}

struct ChainRecordsTests {
    private func chain(_ match: String) -> ChainKey { ChainKey(authority: "api.test", match: match) }

    @Test func `no number of paths pushes out the record of a built dictionary`() {
        var records = ChainRecords()
        let (built, path) = (chain("/built"), chain("/path"))
        records.changeBuilt(built, openedBy: 1) { $0.keptSeconds = 7 }
        records.change(path, openedBy: 1) { $0.keptSeconds = 5 }
        for key in [built, path, chain("/unknown")] {
            records.changeIfPresent(key.hashValue) { $0.keptSeconds += 1 }
        }
        #expect(records[built]?.keptSeconds == 8)
        #expect(records[path]?.keptSeconds == 6)
        #expect(records[chain("/unknown")] == nil)
        for number in 0..<20_000 { records.change(chain("/\(number)"), openedBy: UInt128(number)) { _ in } }
        #expect(records[built]?.keptSeconds == 8)
    }
}
