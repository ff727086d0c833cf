/// A hash table of places in a list that has the keys: about seven bytes per place.
///
/// It consists of many small parts that grow one at a time, by a quarter, so that no step moves more than a few thousand
/// places. Clients that choose keys cannot choose their slots, because the hash is mixed with a random number of this
/// process. Every operation is O(1).
struct PlaceTable: Sendable {
    private static let partCount = 256
    private static let seed = UInt64.random(in: 0...UInt64.max)
    private static let multiplier = UInt64.random(in: 0...UInt64.max) | 1

    private var parts = [PlaceTablePart](repeating: PlaceTablePart(), count: partCount)

    var bytes: Int { parts.reduce(0) { $0 + $1.bytes } }

    /// Returns the first place with this hash that `isIt` accepts; it is hardly called for any other.
    func first(_ hash: UInt64, where isIt: (Int32) -> Bool) -> Int32? {
        let (part, tag) = Self.part(of: hash)
        return parts[part].slot(tag, where: isIt).map { parts[part].slots[$0] }
    }

    /// Makes room in an empty table for so many places.
    mutating func reserve(_ count: Int) {
        let expected = count / Self.partCount
        // Add four standard deviations of a random distribution.
        let most = expected + 4 * Int(Double(expected).squareRoot()) + 4
        for part in parts.indices { parts[part].resize(to: most * 8 / 7 + 1) }
    }

    /// Frees the room that the table does not need.
    mutating func trim() {
        for part in parts.indices { parts[part].trim() }
    }

    mutating func insert(_ place: Int32, _ hash: UInt64) {
        let (part, tag) = Self.part(of: hash)
        parts[part].insert(place, tag)
    }

    /// Removes a place with this hash; has no effect if it is not there.
    mutating func remove(_ place: Int32, _ hash: UInt64) {
        let (part, tag) = Self.part(of: hash)
        if let slot = parts[part].slot(tag, where: { $0 == place }) { parts[part].clear(slot) }
    }

    /// Replaces a place by another one with the same hash.
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

/// A part of the table: linear probing without tombstones.
private struct PlaceTablePart: Sendable {
    /// The places; -1 in a free slot.
    var slots: [Int32] = []
    /// Sixteen bits of each hash, which give the first slot, so that hardly any key is fetched to compare or move places.
    private var tags: [UInt16] = []
    private var count = 0

    var bytes: Int {
        slots.capacity * MemoryLayout<Int32>.stride + tags.capacity * MemoryLayout<UInt16>.stride
    }

    func slot(_ tag: UInt16, where isIt: (Int32) -> Bool) -> Int? {
        guard !slots.isEmpty else { return nil }
        var slot = firstSlot(of: tag)
        while slots[slot] >= 0 {
            if tags[slot] == tag, isIt(slots[slot]) { return slot }
            slot = next(slot)
        }
        return nil
    }

    mutating func insert(_ place: Int32, _ tag: UInt16) {
        // At least one slot stays free, so that every search ends.
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

    /// Empties a slot, and moves up the places that it displaced.
    mutating func clear(_ start: Int) {
        count -= 1
        guard count > 0 else { return self = PlaceTablePart() }
        var (hole, slot) = (start, start)
        slots[hole] = -1
        while true {
            slot = next(slot)
            guard slots[slot] >= 0 else { return }
            let first = firstSlot(of: tags[slot])
            // It may move unless its first slot lies between the gap and its own slot.
            let distance = slot >= first ? slot - first : slot + slots.count - first
            let gap = slot >= hole ? slot - hole : slot + slots.count - hole
            guard distance >= gap else { continue }
            (slots[hole], tags[hole]) = (slots[slot], tags[slot])
            slots[slot] = -1
            hole = slot
        }
    }

    private mutating func add(_ place: Int32, _ tag: UInt16) {
        var slot = firstSlot(of: tag)
        while slots[slot] >= 0 { slot = next(slot) }
        (slots[slot], tags[slot]) = (place, tag)
    }

    private func firstSlot(of tag: UInt16) -> Int { (Int(tag) * slots.count) >> 16 }

    private func next(_ slot: Int) -> Int { slot + 1 < slots.count ? slot + 1 : 0 }
}
