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
