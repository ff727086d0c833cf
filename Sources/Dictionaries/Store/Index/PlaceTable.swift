/// A hash table of places in a list that has the keys: a place takes four bytes of it, and a little air.
///
/// In many small parts that grow one at a time, by a quarter, so that no step moves more than a few thousand places. Who
/// chooses keys cannot choose where they fall, for the hash is mixed with a number of this process. A value; O(1) in
/// everything.
struct PlaceTable: Sendable {
    private struct Part: Sendable {
        /// Free slots have -1.
        var slots: [Int32] = []
        var count = 0
    }

    private static let partCount = 256
    private static let seed = UInt64.random(in: 0...UInt64.max)
    private static let multiplier = UInt64.random(in: 0...UInt64.max) | 1

    private var parts = [Part](repeating: Part(), count: partCount)

    /// What the slots take.
    var bytes: Int { parts.reduce(0) { $0 + $1.slots.capacity * MemoryLayout<Int32>.stride } }

    /// The first place with this hash that the closure takes.
    func first(_ hash: UInt64, where isIt: (Int32) -> Bool) -> Int32? {
        let (part, mixed) = Self.part(of: hash)
        let slots = parts[part].slots
        guard !slots.isEmpty else { return nil }
        var slot = Self.slot(mixed, of: slots.count)
        while slots[slot] >= 0 {
            if isIt(slots[slot]) { return slots[slot] }
            slot = slot + 1 < slots.count ? slot + 1 : 0
        }
        return nil
    }

    /// Makes room in an empty table, so that it need not grow as so many places are added.
    mutating func reserve(_ count: Int) {
        let expected = count / Self.partCount
        // Four times the deviation of a random spread beside it.
        let most = expected + 4 * Int(Double(expected).squareRoot()) + 4
        for part in parts.indices { resize(part, to: most * 8 / 7 + 1) { _ in 0 } }
    }

    /// Adds a place; `hash(of:)` says what was given for each of the others.
    mutating func insert(_ place: Int32, _ hash: UInt64, hash hashOf: (Int32) -> UInt64) {
        let (part, mixed) = Self.part(of: hash)
        if 8 * (parts[part].count + 1) > 7 * parts[part].slots.count { grow(part, hashOf) }
        Self.add(place, mixed, to: &parts[part].slots)
        parts[part].count += 1
    }

    /// Takes out a place that was given this hash; without effect where it is not there.
    mutating func remove(_ place: Int32, _ hash: UInt64, hash hashOf: (Int32) -> UInt64) {
        let (part, mixed) = Self.part(of: hash)
        guard let hole = Self.index(of: place, mixed, in: parts[part].slots) else { return }
        parts[part].count -= 1
        if parts[part].count == 0 {
            parts[part].slots = []
        } else {
            Self.close(hole, in: &parts[part].slots, hashOf)
        }
    }

    /// Puts a place where another one with this hash was.
    mutating func replace(_ place: Int32, by other: Int32, _ hash: UInt64) {
        let (part, mixed) = Self.part(of: hash)
        guard let slot = Self.index(of: place, mixed, in: parts[part].slots) else { return }
        parts[part].slots[slot] = other
    }

    // MARK: A part

    private static func part(of hash: UInt64) -> (Int, mixed: UInt64) {
        let spread = ((hash ^ seed) &* multiplier)
        let mixed = (spread ^ (spread >> 32)) &* multiplier
        return (Int(mixed >> 56), mixed << 8)
    }

    /// The first slot to look at: what is left of the hash, as a fraction of the slots.
    private static func slot(_ mixed: UInt64, of count: Int) -> Int {
        Int(mixed.multipliedFullWidth(by: UInt64(count)).high)
    }

    private static func index(of place: Int32, _ mixed: UInt64, in slots: [Int32]) -> Int? {
        guard !slots.isEmpty else { return nil }
        var slot = slot(mixed, of: slots.count)
        while slots[slot] >= 0 {
            if slots[slot] == place { return slot }
            slot = slot + 1 < slots.count ? slot + 1 : 0
        }
        return nil
    }

    private static func add(_ place: Int32, _ mixed: UInt64, to slots: inout [Int32]) {
        var slot = slot(mixed, of: slots.count)
        while slots[slot] >= 0 { slot = slot + 1 < slots.count ? slot + 1 : 0 }
        slots[slot] = place
    }

    private mutating func grow(_ part: Int, _ hashOf: (Int32) -> UInt64) {
        // At least one slot stays free, where every search ends.
        resize(part, to: parts[part].slots.count + max(parts[part].slots.count / 4, 4), hashOf)
    }

    private mutating func resize(_ part: Int, to count: Int, _ hashOf: (Int32) -> UInt64) {
        let former = parts[part].slots
        var slots = [Int32](repeating: -1, count: count)
        for place in former where place >= 0 {
            Self.add(place, Self.part(of: hashOf(place)).mixed, to: &slots)
        }
        parts[part].slots = slots
    }

    /// Moves up what was put behind a slot because that was taken (linear probing without tombstones).
    private static func close(_ start: Int, in slots: inout [Int32], _ hashOf: (Int32) -> UInt64) {
        let count = slots.count
        var (hole, slot) = (start, start)
        slots[hole] = -1
        while true {
            slot = slot + 1 < count ? slot + 1 : 0
            guard slots[slot] >= 0 else { return }
            let home = Self.slot(part(of: hashOf(slots[slot])).mixed, of: count)
            // It may move if its home is not between the hole and where it is.
            let distance = slot >= home ? slot - home : slot + count - home
            let gap = slot >= hole ? slot - hole : slot + count - hole
            guard distance >= gap else { continue }
            slots[hole] = slots[slot]
            slots[slot] = -1
            hole = slot
        }
    }
}
