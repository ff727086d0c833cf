import TestSupport
import Testing

@testable import Dictionaries

@Suite struct SharedTableTests {
    @Test func `a copy keeps what it had, whatever happens to the other`() {
        var table = SharedTable<String, Int>()
        for number in 0..<1000 { table[String(number)] = number }
        let copy = table
        for number in 0..<500 { table[String(number)] = nil }
        table["999"] = -1
        #expect(table.count == 500 && copy.count == 1000)
        #expect((0..<1000).allSatisfy { number in copy[String(number)] == number })
        #expect(table["3"] == nil && table["999"] == -1)
    }

    @Test func `keys with the same hash are told apart`() {
        var table = SharedTable<Int, String>(hash: { $0 % 2 })
        for number in 0..<10 { table[number] = "\(number)" }
        table[4] = "four"
        table[6] = nil
        table[11] = nil
        #expect(table.count == 9)
        #expect(table[4] == "four" && table[6] == nil && table[2] == "2" && table[5] == "5")
        var seen: [Int: String] = [:]
        table.forEach { seen[$0] = $1 }
        #expect(seen.count == 9 && seen[8] == "8")
        for number in 0..<10 { table[number] = nil }
        #expect(table.isEmpty && table[0] == nil)
    }

    /// Hashes of the process's own making, some that are the same, and those that part at the last bits only.
    private static let hashes: [@Sendable (Int) -> Int] = [
        { $0.hashValue }, { $0 % 7 }, { $0 << 56 }, { -($0 % 2) }, { ($0 % 3) << 62 },
    ]

    @Test(arguments: hashes.indices)
    func `after any changes it holds what a dictionary holds, and so does every earlier copy`(place: Int) {
        var table = SharedTable<Int, Int>(hash: Self.hashes[place])
        var expected: [Int: Int] = [:]
        var copies: [(SharedTable<Int, Int>, [Int: Int])] = []
        var random = SplitMix(seed: UInt64(place))
        for step in 0..<3000 {
            let key = Int(random.next() % 200)
            // Grows, shrinks to nothing, and grows again.
            let isRemoval = (step / 1000).isMultiple(of: 2) ? random.next() % 4 == 0 : random.next() % 16 != 0
            table[key] = isRemoval ? nil : step
            expected[key] = isRemoval ? nil : step
            if step.isMultiple(of: 500) { copies.append((table, expected)) }
        }
        for (table, expected) in copies + [(table, expected)] {
            #expect(table.count == expected.count)
            #expect((0..<200).allSatisfy { table[$0] == expected[$0] })
            var seen: [Int: Int] = [:]
            table.forEach { seen[$0] = $1 }
            #expect(seen == expected)
        }
        for key in 0..<200 { table[key] = nil }
        #expect(table.isEmpty)
    }
}
