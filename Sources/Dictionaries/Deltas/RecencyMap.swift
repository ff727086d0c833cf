/// Values by key in the order of their use, within a budget of bytes: the one used longest ago goes first.
///
/// Every operation is O(1) but for what it evicts.
struct RecencyMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let key: Key
        var value: Value
        let bytes: Int
    }

    let bytesMax: Int
    /// What the values take by the word of those who put them here, with `overheadBytes` for each.
    private(set) var bytes = 0
    /// How many were evicted to make room.
    private(set) var evictions = 0

    private var places: [Key: Int] = [:]
    private var entries = RecencyList<Entry>()

    /// What an entry takes beside its value: itself, its place in the table, and the room both keep to grow.
    static var overheadBytes: Int {
        RecencyList<Entry>.overheadBytes
            + 2 * (MemoryLayout<Entry>.stride + MemoryLayout<Key>.stride + MemoryLayout<Int>.stride)
    }

    var count: Int { places.count }

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// The value, which becomes the one used last.
    mutating func value(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        entries.use(place)
        return entries[place]?.value
    }

    /// Whether there is a value; its place in the order stays.
    func contains(_ key: Key) -> Bool { places[key] != nil }

    /// Changes a value in place; its place in the order stays.
    mutating func update<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        places[key].flatMap { entries.update($0) { change(&$0.value) } }
    }

    /// Keeps a value of so many bytes as the one used last, in place of a former one.
    ///
    /// Returns what had to go, itself where it is larger than the whole budget, so that a caller can free that outside
    /// its lock.
    mutating func insert(_ value: Value, bytes: Int, for key: Key) -> [Value] {
        let size = bytes + Self.overheadBytes
        var gone = remove(key).map { [$0] } ?? []
        guard size <= bytesMax else { return gone + [value] }
        while self.bytes + size > bytesMax, let oldest = entries.oldest, let entry = entries[oldest] {
            evictions += 1
            if let value = remove(entry.key) { gone.append(value) }
        }
        places[key] = entries.add(Entry(key: key, value: value, bytes: size))
        self.bytes += size
        return gone
    }

    /// Takes a value out.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key), let entry = entries.remove(place) else {
            return nil
        }
        bytes -= entry.bytes
        return entry.value
    }
}
