import Primitives
import Testing

@Suite struct FadingTableTests {
    @Test func `a table that fades keeps the keys that are used`() {
        var table = FadingTable<Int, Int>(countMax: 100)
        for number in 0..<10_000 {
            table.set(number, for: number)
            let first = table.value(0)
            #expect(first == 0)
        }
        #expect(table.count <= 100)
        let (last, middle) = (table.value(9_999), table.value(5_000))
        #expect(last == 9_999)
        #expect(middle == nil)
    }

    @Test func `a change begins with the value that there is, also an old one, and keeps it`() {
        var table = FadingTable<Int, Int>(countMax: 4)
        for number in 0..<100 {
            let seen = table.update(-1, default: 0) { value in
                value += 1
                return value
            }
            #expect(seen == number + 1)
            let fresh = table.update(number, default: 7) { $0 }
            #expect(fresh == 7)
        }
        #expect(table.count <= 4)
    }

    @Test func `half of the keys are of the younger generation, and a key in both counts once`() {
        var table = FadingTable<Int, Int>(countMax: 4)
        for number in 1...3 { table.set(number, for: number) }
        #expect(table.count == 3)
        let first = table.value(1)
        #expect(first == 1 && table.count == 3)
        // The younger generation is full, and the older one goes.
        table.set(4, for: 4)
        let values = (1...4).map { table.value($0) }
        #expect(values == [1, nil, 3, 4])
    }
}
