internal import Dictionaries

/// The tables of the index: a record of every version, and objects for the versions in use.
///
/// A version that is looked up gets an object, which holds the truth while any reference to it exists. The
/// least recently used of the unreferenced objects become records again. There is one instance, behind the
/// lock of the index; it is never copied.
struct IndexTables: ~Copyable, Sendable {
    struct InUse: Sendable {
        let place: Int32
        var version: Version
        /// True since its last look-up; cleared by the hand of the clock.
        var isRecent = true
    }

    /// A chain, and the facts about its versions that are not in their records.
    struct ChainRecord: Sendable {
        var chain: Chain?
        var count: Int32 = 0
        /// The bytes of its versions on disk, estimated from above.
        var storedBytes = 0
        /// The versions that Links name, or named, the oldest first.
        var pinned: [Version] = []
        /// The versions that have a head, by the hashes of their URLs, the oldest first.
        var withHeads: [UInt64: [Version]] = [:]
        /// A ring of the latest versions; some may be removed.
        var recent = InlineArray<8, Int32>(repeating: -1)
        var recentEnd: UInt8 = 0
    }

    /// The number of versions of one URL and variant that a look-up by entity tag examines.
    static let taggedMax = 64
    /// The number of siblings that are returned; one that is on disk is likely among them.
    static let siblingsMax = 8

    let inUseMax: Int
    var records = BlockList<VersionRecord>()
    var freePlaces: [Int32] = []
    var inUse: [InUse] = []
    var hand = 0
    var rare: [Int32: RareState] = [:]
    var chains = BlockList<ChainRecord>()
    var freeChains: [Int32] = []
    var traits = SharedTraits()

    var chainPlaces = PlaceTable()
    var rows = PlaceTable()
    /// The newest version of each URL and variant, by the hash of these and of the chain.
    var resources = PlaceTable()
    var digests = DigestTables()
    var promises = PromiseTable()

    var versionCount = 0
    var chainCount = 0
    var privateChainCount = 0
    var nameBytes = 0

    init(inUseMax: Int) { self.inUseMax = inUseMax }

    /// The bytes of the tables and of the order of eviction in memory.
    ///
    /// The factors were measured as resident memory of processes that opened a million versions, in chains of
    /// ten and in chains of one.
    var memoryBytes: Int {
        versionCount * Self.versionBytes + chainCount * Self.chainBytes + inUse.count * Self.objectBytes
            + nameBytes + promises.bytes
    }

    private static let versionBytes = 187
    private static let chainBytes = 290
    private static let objectBytes = 384

    /// Makes room in empty tables for so many versions.
    mutating func reserve(_ count: Int) {
        rows.reserve(count)
        digests[isApart: false].reserve(count)
        resources.reserve(count)
    }

    // MARK: Objects

    /// Returns the object for the version at a place and keeps it in use.
    mutating func version(at place: Int32) -> Version {
        let used = Int(records[Int(place)].inUse)
        if used >= 0 {
            inUse[used].isRecent = true
            return inUse[used].version
        }
        let version = object(at: place)
        use(version, at: place)
        return version
    }

    /// Makes an object from a record; it stands for the version only once it is in use.
    func object(at place: Int32) -> Version {
        let record = records[Int(place)]
        guard let chain = chains[Int(record.chain)].chain else {
            preconditionFailure("a version has a chain")
        }
        return record.object(rare[place] ?? RareState(), traits[record.traits], in: chain, at: place)
    }

    mutating func use(_ version: Version, at place: Int32) {
        retireObjects()
        records[Int(place)].inUse = Int32(inUse.count)
        inUse.append(InUse(place: place, version: version))
        rare[place] = nil
    }

    /// Turns unreferenced objects that were not looked up recently into records: two steps of a clock
    /// algorithm.
    mutating func retireObjects() {
        for _ in 0..<2 where inUse.count > inUseMax {
            hand = hand + 1 < inUse.count ? hand + 1 : 0
            guard !inUse[hand].isRecent else {
                inUse[hand].isRecent = false
                continue
            }
            // This is exact: a reference that only this list holds can be copied only under the lock.
            guard isKnownUniquelyReferenced(&inUse[hand].version) else { continue }
            let (place, version) = (inUse[hand].place, inUse[hand].version)
            records[Int(place)].state = version.counters.state
            keepRare(of: version, at: place)
            forgetObject(at: hand)
        }
    }

    /// Keeps the rare state of a version without an object, if it has any.
    mutating func keepRare(of version: Version, at place: Int32) {
        let state = version.counters.rare
        rare[place] = state == RareState() ? nil : state
    }

    mutating func forgetObject(at used: Int) {
        records[Int(inUse[used].place)].inUse = -1
        guard let last = inUse.popLast(), used < inUse.count else { return }
        inUse[used] = last
        records[Int(last.place)].inUse = Int32(used)
    }

    // MARK: Records

    /// Returns the place of exactly this version; nil once it is removed or replaced.
    func place(of version: Version) -> Int32? {
        let place = version.place
        guard records.indices.contains(Int(place)) else { return nil }
        let record = records[Int(place)]
        return record.chain >= 0 && record.id == version.id && record.rank == version.rank ? place : nil
    }

    var placeCount: Int { records.count }

    func isTaken(_ place: Int32) -> Bool { records[Int(place)].chain >= 0 }

    /// Returns `Version.expiry` of the version at a place; one without an object has no pin (see `mustStay`).
    func expiry(at place: Int32) -> Int {
        let record = records[Int(place)]
        if record.inUse >= 0 { return inUse[Int(record.inUse)].version.expiry }
        return Int(record.state.lastWanted) + traits[record.traits].maxAge
    }

    func state(at place: Int32) -> VersionState {
        let record = records[Int(place)]
        return record.inUse >= 0 ? inUse[Int(record.inUse)].version.counters.state : record.state
    }

    func key(at place: Int32) -> ChainKey? { chains[Int(records[Int(place)].chain)].chain?.key }

    /// Returns the object of a version; changes to one that is made for the moment are not kept.
    func look(at place: Int32) -> Version {
        let used = Int(records[Int(place)].inUse)
        return used >= 0 ? inUse[used].version : object(at: place)
    }

    /// Records whether a present route would make the version at a place.
    mutating func setCurrent(_ isCurrent: Bool, at place: Int32) {
        let used = Int(records[Int(place)].inUse)
        if used >= 0 { return inUse[used].version.setCurrent(isCurrent) }
        if isCurrent {
            records[Int(place)].state.flags.insert(.isCurrent)
        } else {
            records[Int(place)].state.flags.remove(.isCurrent)
        }
    }

    // MARK: Hashes

    static func hash(_ key: ChainKey) -> UInt64 { UInt64(truncatingIfNeeded: key.hashValue) }

    static func hash(_ name: UInt64, _ chain: Int32) -> UInt64 {
        name &+ UInt64(UInt32(bitPattern: chain)) &* 0x9E37_79B9_7F4A_7C15
    }
}
