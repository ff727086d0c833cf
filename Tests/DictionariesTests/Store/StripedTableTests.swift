import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Dictionaries

@Suite struct StripedTableTests {
    @Test func `after any changes it holds what a dictionary holds`() {
        let table = StripedTable<Int, Int>()
        var expected: [Int: Int] = [:]
        var random = SplitMix(seed: 1)
        for step in 0..<10_000 {
            let key = Int(random.next() % 500)
            let value = random.next() % 3 == 0 ? nil : step
            let former = table.change(key) { present in
                defer { present = value }
                return present
            }
            #expect(former == expected[key])
            expected[key] = value
        }
        #expect((0..<500).allSatisfy { table[$0] == expected[$0] })
        var seen: [Int: Int] = [:]
        table.forEach { seen[$0] = $1 }
        #expect(seen == expected)
    }

    @Test func `who goes through it may change it`() {
        let table = StripedTable<Int, Int>()
        for key in 0..<1000 { table.change(key) { $0 = key } }
        var seen: Set<Int> = []
        table.forEach { key, _ in
            guard key < 1000 else { return }
            seen.insert(key)
            table.change(key) { $0 = nil }
            table.change(key + 10_000) { $0 = key }
        }
        #expect(seen == Set(0..<1000))
        #expect((0..<1000).allSatisfy { table[$0] == nil && table[$0 + 10_000] == $0 })
    }

    @Test func `readers see whole values while a writer changes them`() {
        let table = StripedTable<Int, [Int]>()
        for key in 0..<100 { table.change(key) { $0 = [0, 0] } }
        let isOver = Atomic(false)
        let torn = Atomic(0)
        let group = DispatchGroup()
        for _ in 0..<2 {
            DispatchQueue.global().async(group: group) {
                while !isOver.load(ordering: .relaxed) {
                    for key in 0..<100 {
                        guard let pair = table[key], pair.count == 2, pair[0] == pair[1] else {
                            torn.add(1, ordering: .relaxed)
                            continue
                        }
                    }
                }
            }
        }
        for step in 1...200 {
            for key in 0..<100 {
                table.change(key) {
                    $0?[0] = step
                    $0?[1] = step
                }
            }
        }
        isOver.store(true, ordering: .relaxed)
        group.wait()
        #expect(torn.load(ordering: .relaxed) == 0)
        #expect((0..<100).allSatisfy { table[$0] == [200, 200] })
    }
}
