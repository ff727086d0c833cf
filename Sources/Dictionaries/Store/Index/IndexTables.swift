/// The tables of the index: records of all versions, and objects for those that are used.
///
/// A version that is looked up gets an object, which is the truth about it for as long as somebody holds it. Of those that
/// nobody holds the least recently used are laid down as records again. A value that is never copied; the index keeps it
/// behind its lock.
struct IndexTables: Sendable {
    private struct InUse: Sendable {
        let place: Int32
        var version: Version
        /// True since it was looked up; the hand of the clock clears it.
        var isRecent = true
    }

    /// A chain, and what of its versions is not in their records.
    struct ChainRecord: Sendable {
        var chain: Chain?
        var count: Int32 = 0
        /// What its versions take on disk, at most.
        var storedBytes = 0
        /// Those that Links name, or named, the oldest first.
        var pinned: [Version] = []
        /// By the hashes of their URLs those that have a head to ask the upstream about, the oldest first.
        var withHeads: [UInt64: [Version]] = [:]
        /// The last that came, as a ring; some may be gone.
        var recent = InlineArray<8, Int32>(repeating: -1)
        var recentEnd: UInt8 = 0
    }

    /// The versions with one digest where there are several.
    private struct Group: Sendable {
        var byAuthority: [String: [Int64: Int32]] = [:]
        /// By chain, in each by the hash of URL and variant.
        var byChain: [Int32: [UInt64: Int32]] = [:]
        /// The number of them.
        var count = 0
    }

    /// How many versions of one URL and variant a look-up by entity tag considers: an upstream confirms what it has.
    private static let taggedMax = 64
    /// How many twins are named: one that is on disk is likely to be among them.
    private static let twinsMax = 8

    /// So many objects are kept although nobody holds them.
    private let inUseMax: Int
    private var records = BlockList<VersionRecord>()
    private var freePlaces: [Int32] = []
    private var inUse: [InUse] = []
    private var hand = 0
    private var rest: [Int32: VersionRecord.Rest] = [:]
    private var chains = BlockList<ChainRecord>()
    private var freeChains: [Int32] = []
    private var traits = SharedTraits()

    private var chainPlaces = PlaceTable()
    private var rows = PlaceTable()
    /// By name and chain the newest version of each URL and variant.
    private var resources = PlaceTable()
    /// One version of each digest; those that need an id are looked for apart.
    private var digests = PlaceTable()
    private var digestsApart = PlaceTable()
    private var groups: [Digest: Group] = [:]
    private var groupsApart: [Digest: Group] = [:]

    private(set) var versionCount = 0
    private(set) var chainCount = 0
    private(set) var privateChainCount = 0
    private var nameBytes = 0

    init(inUseMax: Int) { self.inUseMax = inUseMax }

    /// What all this takes, with what the order of eviction has beside it.
    var memoryBytes: Int {
        versionCount * Self.versionBytes + chainCount * Self.chainBytes + inUse.count * Self.objectBytes
            + nameBytes
    }

    private static let versionBytes = 187
    private static let chainBytes = 290
    private static let objectBytes = 384

    /// The number of objects that stand for versions.
    var objectCount: Int { inUse.count }

    /// Makes room in empty tables for so many versions.
    mutating func reserve(_ count: Int) {
        rows.reserve(count)
        digests.reserve(count)
        resources.reserve(count)
    }

    /// Gives room back that was made for more resources than there are.
    mutating func trim() { resources.trim() }

    // MARK: Objects

    /// The object that stands for the version at a place.
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

    /// An object with what the record says; it stands for the version only once that uses it.
    private func object(at place: Int32) -> Version {
        let record = records[Int(place)]
        guard let chain = chains[Int(record.chain)].chain else {
            preconditionFailure("a version has a chain")
        }
        return Version(record, rest: rest[place], traits: traits[record.traits], chain: chain, place: place)
    }

    private mutating func use(_ version: Version, at place: Int32) {
        layDown()
        records[Int(place)].inUse = Int32(inUse.count)
        inUse.append(InUse(place: place, version: version))
        rest[place] = nil
    }

    /// Lays objects down that nobody holds and that were not looked up lately: two steps of the hand of a clock.
    private mutating func layDown() {
        for _ in 0..<2 where inUse.count > inUseMax {
            hand = hand + 1 < inUse.count ? hand + 1 : 0
            guard !inUse[hand].isRecent else {
                inUse[hand].isRecent = false
                continue
            }
            // Exact: a reference that only this list has can be copied by nobody but under the lock.
            guard isKnownUniquelyReferenced(&inUse[hand].version) else { continue }
            let (place, version) = (inUse[hand].place, inUse[hand].version)
            version.write(to: &records[Int(place)])
            rest[place] = version.rest
            forgetObject(at: hand)
        }
    }

    private mutating func forgetObject(at used: Int) {
        records[Int(inUse[used].place)].inUse = -1
        guard let last = inUse.popLast(), used < inUse.count else { return }
        inUse[used] = last
        records[Int(last.place)].inUse = Int32(used)
    }

    /// The record as it is now, whether or not an object stands for it.
    func record(at place: Int32) -> VersionRecord {
        var record = records[Int(place)]
        if record.inUse >= 0 { inUse[Int(record.inUse)].version.write(to: &record) }
        return record
    }

    /// The place of exactly this version; nil once it is gone, or another has replaced it.
    func place(of version: Version) -> Int32? {
        let place = version.place
        guard records.indices.contains(Int(place)) else { return nil }
        let record = records[Int(place)]
        return record.chain >= 0 && record.id == version.id && record.rank == version.rank ? place : nil
    }

    // MARK: Look-ups

    func chainPlace(_ key: ChainKey) -> Int32? {
        chainPlaces.first(Self.hash(key)) { chains[Int($0)].chain?.key == key }
    }

    /// The same without a search, where it is this object that the index has.
    private func chainPlace(_ chain: Chain) -> Int32? {
        let place = chain.indexPlace
        guard chains.indices.contains(place), chains[place].chain === chain else {
            return chainPlace(chain.key)
        }
        return Int32(place)
    }

    func chain(_ key: ChainKey) -> Chain? { chainPlace(key).flatMap { chains[Int($0)].chain } }

    /// What is known of the chain with this name.
    func record(of key: ChainKey) -> ChainRecord? { chainPlace(key).map { chains[Int($0)] } }

    func place(ofRow id: Int64) -> Int32? {
        rows.first(UInt64(bitPattern: id)) { records[Int($0)].id == id }
    }

    /// The newest version of a URL and variant.
    func newest(_ key: ChainKey, name: UInt64) -> Int32? {
        chainPlace(key).flatMap { newest($0, name: name) }
    }

    private func newest(_ chain: Int32, name: UInt64) -> Int32? {
        // The closure holds the records alone: a copy of all tables would retain each.
        resources.first(Self.hash(name, chain)) { [records] place in
            records[Int(place)].name == name && records[Int(place)].chain == chain
        }
    }

    private func isOne(_ place: Int32, _ name: UInt64, of chain: Int32) -> Bool {
        records[Int(place)].name == name && records[Int(place)].chain == chain
    }

    /// The newest version of a URL and variant that had this entity tag.
    func version(_ key: ChainKey, name: UInt64, tag: UInt64) -> Int32? {
        guard let chain = chainPlace(key) else { return nil }
        var next = newest(chain, name: name)
        for _ in 0..<Self.taggedMax {
            guard let place = next else { return nil }
            if records[Int(place)].tag == tag { return place }
            next = records[Int(place)].older >= 0 ? records[Int(place)].older : nil
        }
        return nil
    }

    /// The version of a body, a URL and a variant.
    func version(_ key: ChainKey, name: UInt64, digest: Digest) -> Int32? {
        guard let chain = chainPlace(key) else { return nil }
        let isApart = key.scope.isApart
        guard let place = place(of: digest, isApart) else { return nil }
        guard records[Int(place)].flags.contains(.hasTwins) else {
            return isOne(place, name, of: chain) ? place : nil
        }
        return group(of: digest, isApart)?.byChain[chain]?[name]
    }

    /// A version of a body in a chain, whatever its URL.
    func version(_ key: ChainKey, digest: Digest) -> Int32? {
        versions(key, digest: digest, limit: 1).first
    }

    /// Versions of a body in a chain.
    func versions(_ key: ChainKey, digest: Digest, limit: Int) -> [Int32] {
        guard let chain = chainPlace(key) else { return [] }
        let isApart = key.scope.isApart
        guard let place = place(of: digest, isApart) else { return [] }
        guard records[Int(place)].flags.contains(.hasTwins) else {
            return records[Int(place)].chain == chain ? [place] : []
        }
        return group(of: digest, isApart)?.byChain[chain].map { Array($0.values.prefix(limit)) } ?? []
    }

    /// Versions of a body in chains of an authority.
    func versions(digest: Digest, isApart: Bool, authority: String, limit: Int) -> [Int32] {
        guard let place = place(of: digest, isApart) else { return [] }
        guard records[Int(place)].flags.contains(.hasTwins) else {
            return key(at: place)?.authority == authority ? [place] : []
        }
        return group(of: digest, isApart)?.byAuthority[authority].map { Array($0.values.prefix(limit)) }
            ?? []
    }

    /// All versions of a body; linear in them.
    func versions(digest: Digest, isApart: Bool) -> [Int32] {
        guard let place = place(of: digest, isApart) else { return [] }
        guard records[Int(place)].flags.contains(.hasTwins) else { return [place] }
        return group(of: digest, isApart)?.byAuthority.values.flatMap(\.values) ?? []
    }

    /// The rows of other versions, some of them, that have the same body and are nobody's own.
    func twins(of version: Version) -> [Int64] {
        guard !version.chainKey.scope.isPrivate else { return [] }
        let isApart = version.chainKey.scope.isApart
        guard let first = place(of: version.digest, isApart) else { return [] }
        func isTwin(_ place: Int32) -> Bool {
            records[Int(place)].id != version.id && key(at: place)?.scope.isPrivate == false
        }
        var twins = isTwin(first) ? [records[Int(first)].id] : []
        if records[Int(first)].flags.contains(.hasTwins), let group = group(of: version.digest, isApart) {
            let others = group.byAuthority.values.lazy.flatMap(\.values).filter { $0 != first && isTwin($0) }
            twins += others.prefix(Self.twinsMax).map { records[Int($0)].id }
        }
        return twins
    }

    /// The last versions of a chain that came, the newest first.
    func recent(_ key: ChainKey) -> [Int32] {
        guard let place = chainPlace(key) else { return [] }
        let chain = chains[Int(place)]
        return (0..<chain.recent.count).compactMap { step in
            let version = chain.recent[
                (Int(chain.recentEnd) + chain.recent.count - 1 - step) % chain.recent.count]
            return version >= 0 && Int(version) < records.count && records[Int(version)].chain == place
                ? version : nil
        }
    }

    /// The number of places, some of them without a version.
    var placeCount: Int { records.count }

    /// Whether there is a version at a place.
    func isTaken(_ place: Int32) -> Bool { records[Int(place)].chain >= 0 }

    /// The second at which the version at a place is too old, unless a Link names it.
    func expiry(at place: Int32) -> Int {
        let record = records[Int(place)]
        if record.inUse >= 0 { return inUse[Int(record.inUse)].version.expiry }
        return Int(record.lastWanted) + traits[record.traits].maxAge
    }

    /// When the version at a place was last offered or advertised.
    func lastContact(at place: Int32) -> Int {
        let record = records[Int(place)]
        return record.inUse >= 0 ? inUse[Int(record.inUse)].version.lastContact : Int(record.lastContact)
    }

    func key(at place: Int32) -> ChainKey? { chains[Int(records[Int(place)].chain)].chain?.key }

    /// The object of a version, made for the moment where there is none: what it is told is not kept.
    func look(at place: Int32) -> Version {
        let used = Int(records[Int(place)].inUse)
        return used >= 0 ? inUse[used].version : object(at: place)
    }

    func isCurrent(at place: Int32) -> Bool {
        let record = records[Int(place)]
        return record.inUse >= 0
            ? inUse[Int(record.inUse)].version.isCurrent : record.flags.contains(.isCurrent)
    }

    /// The same with the URL that its row says.
    func look(at place: Int32, url: String) -> Version {
        let version = look(at: place)
        return version.hasOwnURL ? version : Version(copying: version, url: url)
    }

    /// Notes whether a route of today would make the version at a place.
    mutating func setCurrent(_ isCurrent: Bool, at place: Int32) {
        let used = Int(records[Int(place)].inUse)
        if used >= 0 { return inUse[used].version.setCurrent(isCurrent) }
        if isCurrent {
            records[Int(place)].flags.insert(.isCurrent)
        } else {
            records[Int(place)].flags.remove(.isCurrent)
        }
    }

    // MARK: Digests

    private func place(of digest: Digest, _ isApart: Bool) -> Int32? {
        let isOne = { [records] (place: Int32) in records[Int(place)].digest == digest }
        return isApart
            ? digestsApart.first(digest.part, where: isOne) : digests.first(digest.part, where: isOne)
    }

    private func group(of digest: Digest, _ isApart: Bool) -> Group? {
        isApart ? groupsApart[digest] : groups[digest]
    }

    private mutating func insertDigest(_ place: Int32, _ key: ChainKey) {
        let digest = records[Int(place)].digest
        let isApart = key.scope.isApart
        guard let first = self.place(of: digest, isApart) else {
            return isApart ? digestsApart.insert(place, digest.part) : digests.insert(place, digest.part)
        }
        if !records[Int(first)].flags.contains(.hasTwins) { group(first) }
        group(place)
    }

    /// Puts a version into the group of its digest.
    private mutating func group(_ place: Int32) {
        records[Int(place)].flags.insert(.hasTwins)
        let record = records[Int(place)]
        guard let key = key(at: place) else { return }
        func add(_ group: inout Group) {
            group.byAuthority[key.authority, default: [:]][record.id] = place
            group.byChain[record.chain, default: [:]][record.name] = place
            group.count += 1
        }
        if key.scope.isApart {
            add(&groupsApart[record.digest, default: Group()])
        } else {
            add(&groups[record.digest, default: Group()])
        }
    }

    private mutating func removeDigest(_ place: Int32, _ key: ChainKey) {
        let record = records[Int(place)]
        let isApart = key.scope.isApart
        let first = self.place(of: record.digest, isApart)
        var successor: Int32?
        if record.flags.contains(.hasTwins) {
            func take(_ group: inout Group) {
                group.byAuthority[key.authority]?[record.id] = nil
                if group.byAuthority[key.authority]?.isEmpty == true {
                    group.byAuthority[key.authority] = nil
                }
                if group.byChain[record.chain]?[record.name] == place {
                    group.byChain[record.chain]?[record.name] = nil
                }
                if group.byChain[record.chain]?.isEmpty == true { group.byChain[record.chain] = nil }
                group.count -= 1
                successor = group.byAuthority.values.first?.values.first
            }
            if isApart {
                take(&groupsApart[record.digest, default: Group()])
                if successor == nil { groupsApart[record.digest] = nil }
            } else {
                take(&groups[record.digest, default: Group()])
                if successor == nil { groups[record.digest] = nil }
            }
        }
        guard first == place else { return }
        if let successor {
            if isApart {
                digestsApart.replace(place, by: successor, record.digest.part)
            } else {
                digests.replace(place, by: successor, record.digest.part)
            }
        } else {
            if isApart {
                digestsApart.remove(place, record.digest.part)
            } else {
                digests.remove(place, record.digest.part)
            }
        }
    }

    // MARK: Changes

    /// Adds a version; returns its chain as it is then.
    ///
    /// One that is not in use is laid down at once where many others are in use, if it can be: the object that is given goes.
    mutating func insert(_ version: Version, isInUse: Bool = true) -> DictionaryIndex.Left {
        let chain = chainPlace(version.chain) ?? addChain(version.chain)
        let traits = traits.take(version.traits)
        let place = freePlaces.popLast() ?? Int32(records.count)
        let record = VersionRecord(version, chain: chain, traits: traits)
        if place == records.count { records.append(record) } else { records[Int(place)] = record }
        version.place = place
        if isInUse || inUse.count < inUseMax || version.mustStay {
            use(version, at: place)
        } else {
            rest[place] = version.rest
        }
        enter(place, version.chainKey)
        keepApart(version, chain)
        chains[Int(chain)].count += 1
        chains[Int(chain)].storedBytes += version.storedBytes
        count(version, 1, isOnly: chains[Int(chain)].count == 1)
        return left(chain)
    }

    /// Enters a record into the tables.
    private mutating func enter(_ place: Int32, _ key: ChainKey) {
        let record = records[Int(place)]
        rows.insert(place, UInt64(bitPattern: record.id))
        insertDigest(place, key)
        link(place)
        noteRecent(place)
    }

    /// Has a version found by its URL and variant: puts it in its place among the others of them, which is nearly always
    /// the last.
    private mutating func link(_ place: Int32) {
        let record = records[Int(place)]
        guard let newest = newest(record.chain, name: record.name) else {
            return resources.insert(place, Self.hash(record.name, record.chain))
        }
        guard isOlder(newest, than: place) else {
            var newer = newest
            // Rows may have any ranks: of very many that come in the wrong order some stay so.
            for _ in 0..<Self.taggedMax {
                let older = records[Int(newer)].older
                if older < 0 || isOlder(older, than: place) { break }
                newer = older
            }
            return join(records[Int(newer)].older, place, newer)
        }
        join(newest, place, -1)
        resources.replace(newest, by: place, Self.hash(record.name, record.chain))
    }

    private mutating func join(_ older: Int32, _ place: Int32, _ newer: Int32) {
        (records[Int(place)].older, records[Int(place)].newer) = (older, newer)
        if older >= 0 { records[Int(older)].newer = place }
        if newer >= 0 { records[Int(newer)].older = place }
    }

    private mutating func unlink(_ place: Int32) {
        let record = records[Int(place)]
        if record.older >= 0 { records[Int(record.older)].newer = record.newer }
        if record.newer >= 0 {
            records[Int(record.newer)].older = record.older
        } else if record.older >= 0 {
            resources.replace(place, by: record.older, Self.hash(record.name, record.chain))
        } else {
            resources.remove(place, Self.hash(record.name, record.chain))
        }
        (records[Int(place)].older, records[Int(place)].newer) = (-1, -1)
    }

    private func isOlder(_ one: Int32, than other: Int32) -> Bool {
        (records[Int(one)].rank, records[Int(one)].id) < (records[Int(other)].rank, records[Int(other)].id)
    }

    private mutating func noteRecent(_ place: Int32) {
        let chain = Int(records[Int(place)].chain)
        let end = Int(chains[chain].recentEnd)
        chains[chain].recent[end] = place
        chains[chain].recentEnd = UInt8((end + 1) % chains[chain].recent.count)
    }

    /// Keeps objects that must be found as such: those that Links name, and those with a head.
    private mutating func keepApart(_ version: Version, _ chain: Int32) {
        if version.pinnedUntil > 0 { chains[Int(chain)].pinned.insertByAge(version) }
        if version.head != nil {
            chains[Int(chain)].withHeads[version.urlHash, default: []].insertByAge(version)
        }
    }

    private mutating func forgetApart(_ version: Version, _ chain: Int32) {
        chains[Int(chain)].pinned.removeAll { $0 === version }
        guard version.head != nil else { return }
        chains[Int(chain)].withHeads[version.urlHash]?.removeAll { $0 === version }
        if chains[Int(chain)].withHeads[version.urlHash]?.isEmpty == true {
            chains[Int(chain)].withHeads[version.urlHash] = nil
        }
    }

    /// Notes that Links name a version, or no longer do, as its pin says; returns until when any is named.
    mutating func notePin(_ version: Version) -> Int? {
        guard let chain = chainPlace(version.chainKey) else { return nil }
        chains[Int(chain)].pinned.removeAll { $0 === version }
        if version.pinnedUntil > 0, let place = place(of: version) {
            // The object that somebody holds is the one in use, or becomes it.
            chains[Int(chain)].pinned.insertByAge(self.version(at: place))
        }
        return chains[Int(chain)].pinned.reduce(0) { max($0, $1.pinnedUntil) }
    }

    /// Removes exactly this version; nil if it is not, or no longer, there.
    mutating func remove(_ version: Version) -> DictionaryIndex.Left? {
        guard let place = place(of: version) else { return nil }
        let held = look(at: place)
        let record = records[Int(place)]
        let chain = record.chain
        rows.remove(place, UInt64(bitPattern: record.id))
        removeDigest(place, held.chainKey)
        unlink(place)
        forgetApart(held, chain)
        if record.inUse >= 0 { forgetObject(at: Int(record.inUse)) }
        rest[place] = nil
        chains[Int(chain)].count -= 1
        chains[Int(chain)].storedBytes -= held.storedBytes
        count(held, -1, isOnly: chains[Int(chain)].count == 0)
        let left = left(chain)
        traits.give(record.traits)
        records[Int(place)].chain = -1
        freePlaces.append(place)
        if left.count == 0 { removeChain(chain, held.chainKey) }
        return left
    }

    /// Puts a version in the place of another with the same body, URL and variant; its row may be another.
    mutating func replace(_ former: Version, by version: Version) -> DictionaryIndex.Left? {
        guard let place = place(of: former) else { return nil }
        let held = look(at: place)
        var record = records[Int(place)]
        let chain = record.chain
        count(held, -1, isOnly: false)
        forgetApart(held, chain)
        if record.inUse >= 0 { forgetObject(at: Int(record.inUse)) }
        rest[place] = nil
        rows.remove(place, UInt64(bitPattern: record.id))
        let authority = held.chainKey.authority
        if record.flags.contains(.hasTwins) {
            func rename(_ group: inout Group) {
                group.byAuthority[authority]?[record.id] = nil
                group.byAuthority[authority]?[version.id] = place
            }
            if held.chainKey.scope.isApart {
                rename(&groupsApart[record.digest, default: Group()])
            } else {
                rename(&groups[record.digest, default: Group()])
            }
        }
        traits.give(record.traits)
        unlink(place)
        let flags = record.flags
        record = VersionRecord(version, chain: chain, traits: traits.take(version.traits))
        if flags.contains(.hasTwins) { record.flags.insert(.hasTwins) }
        records[Int(place)] = record
        rows.insert(place, UInt64(bitPattern: version.id))
        version.place = place
        use(version, at: place)
        link(place)
        noteRecent(place)
        keepApart(version, chain)
        chains[Int(chain)].storedBytes += version.storedBytes - held.storedBytes
        count(version, 1, isOnly: false)
        return left(chain)
    }

    private func left(_ place: Int32) -> DictionaryIndex.Left {
        guard let chain = chains[Int(place)].chain else {
            preconditionFailure("a chain stays with its versions")
        }
        return DictionaryIndex.Left(chain: chain, count: Int(chains[Int(place)].count))
    }

    private mutating func addChain(_ chain: Chain) -> Int32 {
        let place = freeChains.popLast() ?? Int32(chains.count)
        if place == chains.count { chains.append(ChainRecord()) }
        chains[Int(place)].chain = chain
        chain.indexPlace = Int(place)
        chainPlaces.insert(place, Self.hash(chain.key))
        return place
    }

    private mutating func removeChain(_ place: Int32, _ key: ChainKey) {
        chainPlaces.remove(place, Self.hash(key))
        chains[Int(place)] = ChainRecord()
        freeChains.append(place)
    }

    private mutating func count(_ version: Version, _ number: Int, isOnly: Bool) {
        versionCount += number
        if isOnly {
            chainCount += number
            nameBytes += number * version.chainKey.nameBytes
        }
        if isOnly, version.chainKey.scope.isPrivate { privateChainCount += number }
    }

    // MARK: Hashes

    private static func hash(_ key: ChainKey) -> UInt64 { UInt64(truncatingIfNeeded: key.hashValue) }

    private static func hash(_ name: UInt64, _ chain: Int32) -> UInt64 {
        name &+ UInt64(UInt32(bitPattern: chain)) &* 0x9E37_79B9_7F4A_7C15
    }
}

/// Each combination of traits once, with the number of versions that have it.
struct SharedTraits: Sendable {
    private var places: [VersionTraits: Int32] = [:]
    private var all: [(traits: VersionTraits, count: Int)] = []
    private var free: [Int32] = []

    subscript(place: Int32) -> VersionTraits { all[Int(place)].traits }

    /// The place of traits, with one more version that has them.
    mutating func take(_ traits: VersionTraits) -> Int32 {
        if let place = places[traits] {
            all[Int(place)].count += 1
            return place
        }
        let place = free.popLast() ?? Int32(all.count)
        if place == all.count { all.append((traits, 1)) } else { all[Int(place)] = (traits, 1) }
        places[traits] = place
        return place
    }

    /// Forgets one version that has them.
    mutating func give(_ place: Int32) {
        all[Int(place)].count -= 1
        guard all[Int(place)].count == 0 else { return }
        places[all[Int(place)].traits] = nil
        free.append(place)
    }
}

extension Version {
    /// Whether it must be found as an object: others hold it, or know its place.
    fileprivate var mustStay: Bool { pinnedUntil > 0 || head != nil || chainKey.scope.isPrivate }
}

extension [Version] {
    /// Adds a version at the place that its rank gives it, which is nearly always the last.
    fileprivate mutating func insertByAge(_ version: Version) {
        let place = lastIndex { $0.isOlder(than: version) }.map { $0 + 1 } ?? 0
        insert(version, at: place)
    }
}

extension ChainKey.Scope {
    /// True where a digest leads to no version without an id beside it.
    var isApart: Bool {
        switch self {
        case .public, .private: false
        case .unlisted, .personal: true
        }
    }
}
