/// Values by key in the order of their use, within a budget of bytes: the one used longest ago goes first.
///
/// Every operation is O(1) but for what it evicts.
struct RecencyMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot {
        let key: Key
        var value: Value
        let bytes: Int
        /// Neighbours in order of use, as places in `slots`.
        var older: Int?
        var newer: Int?
    }

    let bytesMax: Int
    /// What the values take by the word of those who put them here, with `overheadBytes` for each.
    private(set) var bytes = 0
    /// How many were evicted to make room.
    private(set) var evictions = 0

    private var places: [Key: Int] = [:]
    private var slots: [Slot?] = []
    private var freePlaces: [Int] = []
    private var oldest: Int?
    private var newest: Int?

    /// What an entry takes beside its value: its slot, its place in the table, and the room both keep to grow.
    static var overheadBytes: Int {
        2 * (MemoryLayout<Slot?>.stride + MemoryLayout<Key>.stride + MemoryLayout<Int>.stride)
    }

    var count: Int { places.count }

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// The value, which becomes the one used last.
    mutating func value(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        use(place)
        return slots[place]?.value
    }

    /// Whether there is a value; its place in the order stays.
    func contains(_ key: Key) -> Bool { places[key] != nil }

    /// Changes a value in place; its place in the order stays.
    mutating func update<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard let place = places[key], var slot = slots[place] else { return nil }
        defer { slots[place] = slot }
        return change(&slot.value)
    }

    /// Keeps a value of so many bytes as the one used last, in place of a former one.
    ///
    /// Returns what had to go, itself where it is larger than the whole budget, so that a caller can free that outside
    /// its lock.
    mutating func insert(_ value: Value, bytes: Int, for key: Key) -> [Value] {
        let size = bytes + Self.overheadBytes
        var gone = remove(key).map { [$0] } ?? []
        guard size <= bytesMax else { return gone + [value] }
        while self.bytes + size > bytesMax, let oldest, let slot = slots[oldest] {
            evictions += 1
            if let value = remove(slot.key) { gone.append(value) }
        }
        add(Slot(key: key, value: value, bytes: size))
        return gone
    }

    /// Takes a value out.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key), let slot = slots[place] else { return nil }
        unlink(place)
        slots[place] = nil
        freePlaces.append(place)
        bytes -= slot.bytes
        return slot.value
    }

    private mutating func add(_ slot: Slot) {
        let place: Int
        if let free = freePlaces.popLast() {
            place = free
            slots[place] = slot
        } else {
            place = slots.count
            slots.append(slot)
        }
        places[slot.key] = place
        bytes += slot.bytes
        link(place)
    }

    private mutating func use(_ place: Int) {
        guard newest != place else { return }
        unlink(place)
        link(place)
    }

    private mutating func link(_ place: Int) {
        slots[place]?.older = newest
        slots[place]?.newer = nil
        if let newest { slots[newest]?.newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        guard let slot = slots[place] else { return }
        if let older = slot.older { slots[older]?.newer = slot.newer } else { oldest = slot.newer }
        if let newer = slot.newer { slots[newer]?.older = slot.older } else { newest = slot.older }
    }
}
