/// The packed bodies in memory with their bases; the least recently used goes first.
///
/// A value inside `HotBodies`. Every operation is O(1), apart from the memory that it frees.
struct PackedBodies: Sendable {
    private struct Entry {
        let name: BodyName
        let packed: PackedBody
    }

    /// The bytes of frames and bases, with an allowance for each entry.
    private(set) var bytes = 0

    private var places: [BodyName: Int] = [:]
    private var entries = RecencyList<Entry>()
    /// The number of packed bodies per base.
    private var leaners: [Int64: Int] = [:]

    private static let overheadBytes = 400

    var count: Int { places.count }

    /// Returns the packed body and makes it the most recently used.
    mutating func packed(_ name: BodyName) -> PackedBody? {
        guard let place = places[name] else { return nil }
        entries.use(place)
        return entries[place]?.packed
    }

    /// Keeps a packed body, unless it is there already.
    mutating func keep(_ packed: PackedBody, as name: BodyName) {
        guard self.packed(name) == nil else { return }
        places[name] = entries.add(Entry(name: name, packed: packed))
        bytes += size(of: packed)
        guard let base = packed.base else { return }
        leaners[base.row, default: 0] += 1
        if leaners[base.row] == 1 { bytes += base.body.count + Self.overheadBytes }
    }

    /// Removes a packed body, and its base with the last body packed over it.
    mutating func remove(_ name: BodyName) {
        guard let place = places.removeValue(forKey: name), let packed = entries.remove(place)?.packed else {
            return
        }
        bytes -= size(of: packed)
        guard let base = packed.base, let count = leaners[base.row] else { return }
        leaners[base.row] = count > 1 ? count - 1 : nil
        if count == 1 { bytes -= base.body.count + Self.overheadBytes }
    }

    /// Removes the least recently used bodies until the rest fits.
    mutating func shrink(to bytesMax: Int) {
        while bytes > bytesMax, let oldest = entries.oldest, let entry = entries[oldest] {
            remove(entry.name)
        }
    }

    private func size(of packed: PackedBody) -> Int { packed.frame.capacity + Self.overheadBytes }
}
