/// A hash table of places in a list that has the keys: a place takes six bytes of it, and a little air.
///
/// In many small parts that grow one at a time, by a quarter, so that no step moves more than a few thousand places. Who
/// chooses keys cannot choose where they fall, for the hash is mixed with a number of this process. A value; O(1) in
/// everything.
struct PlaceTable: Sendable {
    private static let partCount = 256
    private static let seed = UInt64.random(in: 0...UInt64.max)
    private static let multiplier = UInt64.random(in: 0...UInt64.max) | 1

    private var parts = [Part](repeating: Part(), count: partCount)

    /// What the slots take.
    var bytes: Int { parts.reduce(0) { $0 + $1.bytes } }

    /// The first place with this hash that the closure takes; hardly any other is shown to it.
    func first(_ hash: UInt64, where isIt: (Int32) -> Bool) -> Int32? {
        let (part, tag) = Self.part(of: hash)
        return parts[part].slot(tag, where: isIt).map { parts[part].slots[$0] }
    }

    /// Makes room in an empty table, so that it need not grow as so many places are added.
    mutating func reserve(_ count: Int) {
        let expected = count / Self.partCount
        // Four times the deviation of a random spread beside it.
        let most = expected + 4 * Int(Double(expected).squareRoot()) + 4
        for part in parts.indices { parts[part].resize(to: most * 8 / 7 + 1) }
    }

    /// Gives room back that a table does not need.
    mutating func trim() {
        for part in parts.indices { parts[part].trim() }
    }

    /// Adds a place.
    mutating func insert(_ place: Int32, _ hash: UInt64) {
        let (part, tag) = Self.part(of: hash)
        parts[part].insert(place, tag)
    }

    /// Takes out a place that was given this hash; without effect where it is not there.
    mutating func remove(_ place: Int32, _ hash: UInt64) {
        let (part, tag) = Self.part(of: hash)
        if let slot = parts[part].slot(tag, where: { $0 == place }) { parts[part].clear(slot) }
    }

    /// Puts a place where another one with this hash was.
    mutating func replace(_ place: Int32, by other: Int32, _ hash: UInt64) {
        let (part, tag) = Self.part(of: hash)
        if let slot = parts[part].slot(tag, where: { $0 == place }) { parts[part].slots[slot] = other }
    }

    private static func part(of hash: UInt64) -> (Int, tag: UInt16) {
        let spread = ((hash ^ seed) &* multiplier)
        let mixed = (spread ^ (spread >> 32)) &* multiplier
        return (Int(mixed >> 56), UInt16(truncatingIfNeeded: mixed >> 40))
    }
}

/// Linear probing without tombstones.
private struct Part: Sendable {
    /// Free slots have -1.
    var slots: [Int32] = []
    /// The part of the hash that tells where a place belongs, so that the key need not be fetched to be told apart, or
    /// moved.
    private var tags: [UInt16] = []
    private var count = 0

    var bytes: Int {
        slots.capacity * MemoryLayout<Int32>.stride + tags.capacity * MemoryLayout<UInt16>.stride
    }

    func slot(_ tag: UInt16, where isIt: (Int32) -> Bool) -> Int? {
        guard !slots.isEmpty else { return nil }
        var slot = home(of: tag)
        while slots[slot] >= 0 {
            if tags[slot] == tag, isIt(slots[slot]) { return slot }
            slot = next(slot)
        }
        return nil
    }

    mutating func insert(_ place: Int32, _ tag: UInt16) {
        // At least one slot stays free, where every search ends.
        if 8 * (count + 1) > 7 * slots.count { resize(to: slots.count + max(slots.count / 4, 4)) }
        add(place, tag)
        count += 1
    }

    mutating func resize(to size: Int) {
        let (places, placeTags) = (slots, tags)
        slots = [Int32](repeating: -1, count: size)
        tags = [UInt16](repeating: 0, count: size)
        for (place, tag) in zip(places, placeTags) where place >= 0 { add(place, tag) }
    }

    mutating func trim() {
        let size = count == 0 ? 0 : count * 8 / 7 + 2
        if size < slots.count { resize(to: size) }
    }

    /// Empties a slot, and moves up what was put behind it because it was taken.
    mutating func clear(_ start: Int) {
        count -= 1
        guard count > 0 else { return self = Part() }
        var (hole, slot) = (start, start)
        slots[hole] = -1
        while true {
            slot = next(slot)
            guard slots[slot] >= 0 else { return }
            let home = home(of: tags[slot])
            // It may move if its home is not between the hole and where it is.
            let distance = slot >= home ? slot - home : slot + slots.count - home
            let gap = slot >= hole ? slot - hole : slot + slots.count - hole
            guard distance >= gap else { continue }
            (slots[hole], tags[hole]) = (slots[slot], tags[slot])
            slots[slot] = -1
            hole = slot
        }
    }

    private mutating func add(_ place: Int32, _ tag: UInt16) {
        var slot = home(of: tag)
        while slots[slot] >= 0 { slot = next(slot) }
        (slots[slot], tags[slot]) = (place, tag)
    }

    private func home(of tag: UInt16) -> Int { (Int(tag) * slots.count) >> 16 }

    private func next(_ slot: Int) -> Int { slot + 1 < slots.count ? slot + 1 : 0 }
}
