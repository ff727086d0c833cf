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
}
