/// Values by key in the order of their use, within a budget of bytes; the least recently used one is evicted first.
///
/// Every operation is O(1), apart from the evictions.
struct RecencyMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let key: Key
        var value: Value
        let bytes: Int
    }

    let bytesMax: Int
    /// The bytes of all values, as stated at their insertion, with `overheadBytes` for each.
    private(set) var bytes = 0
    private(set) var evictions = 0

    private var places: [Key: Int] = [:]
    private var entries = RecencyList<Entry>()

    /// The bytes per entry beyond its value: the entry, its place in the table, and the spare capacity of both.
    static var overheadBytes: Int {
        RecencyList<Entry>.overheadBytes
            + 2 * (MemoryLayout<Entry>.stride + MemoryLayout<Key>.stride + MemoryLayout<Int>.stride)
    }

    var count: Int { places.count }
    var keys: some Collection<Key> { places.keys }
    /// The key of the least recently used value.
    var oldest: Key? { entries.oldest.flatMap { entries[$0]?.key } }

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// Returns the value and makes it the most recently used.
    mutating func value(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        entries.use(place)
        return entries[place]?.value
    }

    /// Returns the value; the order does not change.
    func peek(_ key: Key) -> Value? { places[key].flatMap { entries[$0]?.value } }

    /// Returns true if there is a value; the order does not change.
    func contains(_ key: Key) -> Bool { places[key] != nil }

    /// Changes a value in place; the order does not change.
    mutating func update<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        places[key].flatMap { entries.update($0) { change(&$0.value) } }
    }

    /// Inserts a value of so many bytes as the most recently used, in place of a former one.
    ///
    /// Returns the values that had to go, or the new one if it exceeds the whole budget, so that a caller can free
    /// them outside its lock.
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

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key), let entry = entries.remove(place) else {
            return nil
        }
        bytes -= entry.bytes
        return entry.value
    }
}
