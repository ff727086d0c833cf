import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct RecencyMapTests {
    private static let overhead = RecencyMap<String, Int>.overheadBytes

    /// Makes a map with room for `entries` entries of 100 bytes.
    private static func map(entries: Int, missing: Int = 0) -> RecencyMap<String, Int> {
        RecencyMap(bytesMax: entries * (100 + overhead) - missing)
    }

    @Test func `a budget of n holds n, and one byte less holds one entry less`() {
        for (missing, held) in [(0, 3), (1, 2)] {
            var map = Self.map(entries: 3, missing: missing)
            for number in 0..<3 { _ = map.insert(number, bytes: 100, for: "\(number)") }
            #expect(map.count == held)
            #expect(map.bytes == held * (100 + Self.overhead))
            #expect(map.evictions == 3 - held)
        }
    }

    @Test func `the entry used longest ago goes first, and is handed out to be freed`() {
        var map = Self.map(entries: 3)
        for number in 0..<3 { #expect(map.insert(number, bytes: 100, for: "\(number)") == []) }
        #expect(map.value("0") == 0)
        // Tests for presence and changes do not count as uses.
        #expect(map.contains("1"))
        #expect(map.update("1") { $0 += 10 } != nil)
        #expect(map.insert(3, bytes: 100, for: "3") == [11])
        #expect(map.insert(4, bytes: 100, for: "4") == [2])
        #expect(map.insert(5, bytes: 100, for: "5") == [0])
        #expect(
            ["0", "1", "2", "3", "4", "5"].map { map.contains($0) } == [
                false, false, false, true, true, true,
            ])
    }

    @Test func `one large entry displaces as many as it takes`() {
        var map = Self.map(entries: 4)
        for number in 0..<4 { _ = map.insert(number, bytes: 100, for: "\(number)") }
        #expect(map.insert(9, bytes: 300 + Self.overhead, for: "9") == [0, 1, 2])
        #expect(map.bytes <= map.bytesMax)
    }

    @Test func `an entry larger than the budget is not kept, and displaces only its former self`() {
        var map = Self.map(entries: 2)
        _ = map.insert(1, bytes: 100, for: "1")
        _ = map.insert(2, bytes: 100, for: "2")
        #expect(map.insert(3, bytes: 300 + Self.overhead, for: "2") == [2, 3])
        #expect(map.contains("1"))
        #expect(map.count == 1)
    }

    @Test func `an entry in place of another counts once`() {
        var map = Self.map(entries: 2)
        for number in 0..<5 { _ = map.insert(number, bytes: 100, for: "1") }
        #expect(map.bytes == 100 + Self.overhead)
        #expect(map.value("1") == 4)
        #expect(map.remove("1") == 4)
        #expect(map.remove("1") == nil)
        #expect(map.bytes == 0)
    }

    @Test func `any order of uses, changes and removals leaves the same as a plain list would`() {
        var random = SplitMix(seed: 1)
        var map = Self.map(entries: 8)
        var model: [String] = []
        for _ in 0..<20_000 {
            let key = "\(Int.random(in: 0..<16, using: &random))"
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                _ = map.remove(key)
                model.removeAll { $0 == key }
            case 1:
                if map.value(key) != nil {
                    model.removeAll { $0 == key }
                    model.append(key)
                }
            default:
                _ = map.insert(0, bytes: 100, for: key)
                model.removeAll { $0 == key }
                model.append(key)
                if model.count > 8 { model.removeFirst() }
            }
            #expect(map.count == model.count)
            #expect(model.allSatisfy { map.contains($0) })
        }
    }
}
