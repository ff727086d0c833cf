/// The changes: every table and list that a version is in follows each of them.
extension IndexTables {
    /// Adds a version and returns the state of its chain.
    ///
    /// A version that is not in use becomes a record at once if many others are in use; the given object is then void.
    mutating func insert(_ version: Version, isInUse: Bool = true) -> DictionaryIndex.ChainStatus {
        let chain = chainPlace(version.chain) ?? addChain(version.chain)
        let traits = traits.take(version.traits)
        let place = freePlaces.popLast() ?? Int32(records.count)
        let record = VersionRecord(version, chain: chain, traits: traits)
        if place == records.count { records.append(record) } else { records[Int(place)] = record }
        version.place = place
        if isInUse || inUse.count < inUseMax || version.mustStay {
            use(version, at: place)
        } else {
            keepRare(of: version, at: place)
        }
        rows.insert(place, UInt64(bitPattern: record.id))
        insertDigest(place, version.chainKey)
        link(place)
        addRecent(place)
        keepApart(version, chain)
        chains[Int(chain)].count += 1
        chains[Int(chain)].storedBytes += version.storedBytes
        count(version, 1, isOnly: chains[Int(chain)].count == 1)
        return status(of: chain)
    }

    /// Removes exactly this version; returns nil if it is not there any more.
    mutating func remove(_ version: Version) -> DictionaryIndex.ChainStatus? {
        guard let place = place(of: version) else { return nil }
        let promises = takePromises(of: version)
        let held = look(at: place)
        let record = records[Int(place)]
        let chain = record.chain
        rows.remove(place, UInt64(bitPattern: record.id))
        removeDigest(place, held.chainKey)
        unlink(place)
        forgetApart(held, chain)
        if record.inUse >= 0 { forgetObject(at: Int(record.inUse)) }
        rare[place] = nil
        chains[Int(chain)].count -= 1
        chains[Int(chain)].storedBytes -= held.storedBytes
        count(held, -1, isOnly: chains[Int(chain)].count == 0)
        var status = status(of: chain)
        status.promises = promises
        traits.give(record.traits)
        records[Int(place)].chain = -1
        freePlaces.append(place)
        if status.count == 0 { removeChain(chain, held.chainKey) }
        return status
    }

    /// Replaces a version by another of the same body, URL and variant, perhaps with another row.
    mutating func replace(_ former: Version, by version: Version) -> DictionaryIndex.ChainStatus? {
        guard let place = place(of: former) else { return nil }
        let held = look(at: place)
        var record = records[Int(place)]
        let chain = record.chain
        count(held, -1, isOnly: false)
        forgetApart(held, chain)
        if record.inUse >= 0 { forgetObject(at: Int(record.inUse)) }
        rare[place] = nil
        rows.remove(place, UInt64(bitPattern: record.id))
        if record.hasSiblings {
            let key = held.chainKey
            digests[isApart: key.scope.isApart].rename(
                place, record, to: version.id, authority: key.authority)
        }
        traits.give(record.traits)
        unlink(place)
        let hasSiblings = record.hasSiblings
        record = VersionRecord(version, chain: chain, traits: traits.take(version.traits))
        record.hasSiblings = hasSiblings
        records[Int(place)] = record
        rows.insert(place, UInt64(bitPattern: version.id))
        version.place = place
        use(version, at: place)
        link(place)
        addRecent(place)
        keepApart(version, chain)
        chains[Int(chain)].storedBytes += version.storedBytes - held.storedBytes
        count(version, 1, isOnly: false)
        return status(of: chain)
    }

    private func status(of place: Int32) -> DictionaryIndex.ChainStatus {
        guard let chain = chains[Int(place)].chain else {
            preconditionFailure("a chain stays with its versions")
        }
        return DictionaryIndex.ChainStatus(chain: chain, count: Int(chains[Int(place)].count))
    }

    private mutating func count(_ version: Version, _ number: Int, isOnly: Bool) {
        versionCount += number
        if isOnly {
            chainCount += number
            nameBytes += number * version.chainKey.nameBytes
        }
        if isOnly, version.chainKey.scope.isSealed { privateChainCount += number }
    }

    // MARK: Digests

    private mutating func insertDigest(_ place: Int32, _ key: ChainKey) {
        let (digest, isApart) = (records[Int(place)].digest, key.scope.isApart)
        guard let first = self.place(of: digest, isApart) else {
            return digests[isApart: isApart].insert(place, digest)
        }
        if !records[Int(first)].hasSiblings { group(first, isApart) }
        group(place, isApart)
    }

    private mutating func group(_ place: Int32, _ isApart: Bool) {
        records[Int(place)].hasSiblings = true
        guard let authority = key(at: place)?.authority else { return }
        let record = records[Int(place)]
        digests[isApart: isApart].group(place, record, authority: authority)
    }

    private mutating func removeDigest(_ place: Int32, _ key: ChainKey) {
        let (record, isApart) = (records[Int(place)], key.scope.isApart)
        let isFirst = self.place(of: record.digest, isApart) == place
        digests[isApart: isApart].remove(place, record, authority: key.authority, isFirst: isFirst)
    }

    // MARK: Versions of one URL and variant

    /// Inserts a version, by age, among those of its URL and variant; it is nearly always the last.
    private mutating func link(_ place: Int32) {
        let record = records[Int(place)]
        guard let newest = newest(record.chain, name: record.name) else {
            return resources.insert(place, Self.hash(record.name, record.chain))
        }
        guard isOlder(newest, than: place) else {
            var newer = newest
            // Rows may have any ranks. If very many come in the wrong order, some stay so.
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

    private mutating func addRecent(_ place: Int32) {
        let chain = Int(records[Int(place)].chain)
        let end = Int(chains[chain].recentEnd)
        chains[chain].recent[end] = place
        chains[chain].recentEnd = UInt8((end + 1) % chains[chain].recent.count)
    }

    // MARK: Named versions, and those with a head

    /// Lists the objects that must be found as such: those that Links name, and those with a head.
    private mutating func keepApart(_ version: Version, _ chain: Int32) {
        if version.pinnedUntil > 0 { chains[Int(chain)].pinned.insertByAge(version) }
        if version.head != nil {
            chains[Int(chain)].withHeads[version.hashes.url, default: []].insertByAge(version)
        }
    }

    private mutating func forgetApart(_ version: Version, _ chain: Int32) {
        chains[Int(chain)].pinned.removeAll { $0 === version }
        guard version.head != nil else { return }
        chains[Int(chain)].withHeads[version.hashes.url]?.removeAll { $0 === version }
        if chains[Int(chain)].withHeads[version.hashes.url]?.isEmpty == true {
            chains[Int(chain)].withHeads[version.hashes.url] = nil
        }
    }

    /// Records whether Links name a version, as its pin says; returns the end of the last pin in its chain.
    mutating func recordPin(of version: Version) -> Int? {
        guard let chain = chainPlace(version.chainKey) else { return nil }
        chains[Int(chain)].pinned.removeAll { $0 === version }
        if version.pinnedUntil > 0, let place = place(of: version) {
            // The referenced object is the one in use, or becomes it.
            chains[Int(chain)].pinned.insertByAge(self.version(at: place))
        }
        return chains[Int(chain)].pinned.reduce(0) { max($0, $1.pinnedUntil) }
    }

    // MARK: Chains

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
}

extension Version {
    /// True if it must be found as an object: a list of objects has it, or an order its place.
    fileprivate var mustStay: Bool { pinnedUntil > 0 || head != nil || chainKey.scope.isSealed }
}

extension [Version] {
    /// Inserts a version by its rank, nearly always at the end.
    fileprivate mutating func insertByAge(_ version: Version) {
        let place = lastIndex { $0.isOlder(than: version) }.map { $0 + 1 } ?? 0
        insert(version, at: place)
    }
}
