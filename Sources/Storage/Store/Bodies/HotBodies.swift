internal import Dictionaries
internal import Primitives

/// The bodies in memory, in one budget with the index and the copies being admitted; the least recently used
/// goes first.
///
/// A pinned body is not on disk yet and stays until it is unpinned or given up. A value behind the store's
/// lock. Every operation is O(1), apart from the bodies that it frees.
struct HotBodies: Sendable {
    private struct Entry {
        let name: BodyName
        let body: Body
        var pins: Int
    }

    private let budget: Int
    /// The budget that the index leaves: at least a quarter, or nothing could be admitted.
    private(set) var bytesMax: Int
    /// The bytes of the bodies, with an allowance for each, so that very small ones are bounded too.
    private(set) var bytes = 0
    private(set) var pinnedBytes = 0
    private(set) var reservedBytes = 0
    /// The packed bodies.
    ///
    /// They get up to half of the memory: each is a whole body for a fraction of its bytes.
    private var packs = PackedBodies()
    var packedBytes: Int { packs.bytes }

    private var places: [BodyName: Int] = [:]
    private var entries = RecencyList<Entry>()

    private static let overheadBytes = 256

    var count: Int { places.count }

    init(bytesMax: Int) {
        (budget, self.bytesMax) = (bytesMax, bytesMax)
    }

    /// Subtracts the bytes of the index from the budget.
    mutating func makeRoom(forIndex bytes: Int) {
        bytesMax = max(budget - bytes, budget / 4)
        shrink()
    }

    // MARK: Bodies

    /// Returns the body and makes it the most recently used.
    mutating func body(_ name: BodyName) -> Body? {
        guard let place = places[name] else { return nil }
        entries.use(place)
        return entries[place]?.body
    }

    /// Returns the packed form of a body and makes it the most recently used.
    mutating func packed(_ name: BodyName) -> PackedBody? { packs.packed(name) }

    /// Returns the base with a row, if a packed body here has it.
    func base(_ row: Int64) -> PackingBase? { packs.base(row) }

    mutating func keep(_ packed: PackedBody, as name: BodyName) {
        packs.keep(packed, as: name)
        shrink()
    }

    mutating func removePacked(_ name: BodyName) { packs.remove(name) }

    /// Keeps a body that is on disk, if there is room beside the pinned and reserved bytes.
    mutating func keep(_ body: Body, as name: BodyName) {
        guard self.body(name) == nil, pinnedBytes + reservedBytes + size(of: body) <= bytesMax else { return }
        add(body, as: name)
        shrink()
    }

    /// Keeps a body until it is unpinned as often as it was pinned.
    ///
    /// Returns it, or the body that is there already.
    @discardableResult
    mutating func pin(_ body: Body, as name: BodyName) -> Body {
        let place = places[name] ?? add(body, as: name)
        entries.use(place)
        pin(at: place)
        shrink()
        return entries[place]?.body ?? body
    }

    mutating func pin(_ name: BodyName) {
        if let place = places[name] { pin(at: place) }
    }

    private mutating func pin(at place: Int) {
        guard let entry = entries[place] else { return }
        if entry.pins == 0 { pinnedBytes += size(of: entry.body) }
        _ = entries.update(place) { $0.pins += 1 }
    }

    mutating func unpin(_ name: BodyName) {
        guard let place = places[name], let entry = entries[place], entry.pins > 0 else { return }
        _ = entries.update(place) { $0.pins -= 1 }
        if entry.pins == 1 { pinnedBytes -= size(of: entry.body) }
        shrink()
    }

    /// Makes a body the first to go, once it is not pinned.
    mutating func yield(_ name: BodyName) {
        packs.remove(name)
        if let place = places[name] { entries.yield(place) }
    }

    /// Forgets a body, pinned or not.
    mutating func remove(_ name: BodyName) {
        guard let place = places.removeValue(forKey: name), let entry = entries.remove(place) else { return }
        bytes -= size(of: entry.body)
        if entry.pins > 0 { pinnedBytes -= size(of: entry.body) }
    }

    /// Returns the least recently used pinned bodies that must be given up for the others to fit into
    /// `limit`.
    func pinnedBeyond(_ limit: Int) -> [BodyName] {
        var excess = pinnedBytes - limit
        var names: [BodyName] = []
        var place = entries.oldest
        while excess > 0, let here = place, let entry = entries[here] {
            if entry.pins > 0 {
                names.append(entry.name)
                excess -= size(of: entry.body)
            }
            place = entries.newer(than: here)
        }
        return names
    }

    // MARK: Reservations

    /// Reserves bytes for a copy being admitted; returns false, without a change, if there are not enough.
    ///
    /// Copies of chains in probation leave half of the memory to the others. `own` are the bytes of the client's other
    /// copies: it may have one, and more within its fair share.
    mutating func reserve(_ bytes: Int, having own: Int = 0, isInProbation: Bool = false) -> Bool {
        let limit = isInProbation ? bytesMax / 2 : bytesMax
        let free = limit - pinnedBytes - reservedBytes
        guard bytes <= free,
            own == 0 || FairShare.permits(bytes, having: own, free: free, part: FairShare.part)
        else { return false }
        reservedBytes += bytes
        shrink()
        return true
    }

    /// Gives reserved bytes back.
    mutating func release(_ bytes: Int) {
        reservedBytes -= bytes
    }

    // MARK: The budget

    /// Returns the bytes of a body in memory: an array that grew while the body came has a greater capacity
    /// than its length.
    private func size(of body: Body) -> Int {
        body.bytes.capacity + Self.overheadBytes
    }

    private mutating func shrink() {
        packs.shrink(to: max(0, min(bytesMax / 2, bytesMax - pinnedBytes - reservedBytes)))
        var place = entries.oldest
        while bytes + reservedBytes + packs.bytes > bytesMax, let here = place, let entry = entries[here] {
            place = entries.newer(than: here)
            if entry.pins == 0 { remove(entry.name) }
        }
    }

    @discardableResult
    private mutating func add(_ body: Body, as name: BodyName) -> Int {
        let place = entries.add(Entry(name: name, body: body, pins: 0))
        places[name] = place
        bytes += size(of: body)
        return place
    }
}

/// The packed bodies in memory with their bases; the least recently used goes first.
///
/// A value inside `HotBodies`. Every operation is O(1), apart from the memory that it frees.
struct PackedBodies: Sendable {
    private var entries = RecencyMap<BodyName, PackedBody>(bytesMax: .max)
    /// The bases by row, and the numbers of bodies packed over them.
    private var bases: [Int64: (base: PackingBase, count: Int)] = [:]
    private var baseBytes = 0

    private static let baseOverheadBytes = 400

    /// The bytes of frames and bases, with an allowance for each.
    var bytes: Int { entries.bytes + baseBytes }

    /// Returns the packed body and makes it the most recently used.
    mutating func packed(_ name: BodyName) -> PackedBody? { entries.value(name) }

    func base(_ row: Int64) -> PackingBase? { bases[row]?.base }

    /// Keeps a packed body, unless it is there already; all bodies over one base have the same bytes of it.
    mutating func keep(_ packed: PackedBody, as name: BodyName) {
        guard self.packed(name) == nil else { return }
        var packed = packed
        if let base = packed.base {
            if bases[base.row] == nil { baseBytes += base.body.count + Self.baseOverheadBytes }
            bases[base.row, default: (base, 0)].count += 1
            packed.base = bases[base.row]?.base
        }
        _ = entries.insert(packed, bytes: packed.frame.capacity, for: name)
    }

    /// Removes a packed body, and its base with the last body packed over it.
    mutating func remove(_ name: BodyName) {
        guard let base = entries.remove(name)?.base, let count = bases[base.row]?.count else { return }
        bases[base.row] = count > 1 ? (base, count - 1) : nil
        if count == 1 { baseBytes -= base.body.count + Self.baseOverheadBytes }
    }

    /// Removes the least recently used bodies until the rest fits.
    mutating func shrink(to bytesMax: Int) {
        while bytes > bytesMax, let oldest = entries.oldest { remove(oldest) }
    }
}

/// The name of a stored body: its digest within one scope.
///
/// Bodies of different scopes never share a name, in memory or on disk. In a private scope the digest is
/// replaced by its name under `StoreKeys`.
struct BodyName: Hashable, Sendable {
    let scope: ChainKey.Scope
    let digest: Digest
}
