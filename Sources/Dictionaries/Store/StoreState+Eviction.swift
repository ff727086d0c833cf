/// What goes when there is not room for all, and the counts that tell.
extension StoreState {
    /// How many chains, or versions in probation, go at a time: the lock is never held for long.
    private static let evictionsMax = 64

    /// Ends the probation of a version's chain, if it is still in one; linear in the versions of the chain.
    mutating func establish(_ version: Version) {
        guard let versions = index[version.chain], !versions.chain.isEstablished else { return }
        versions.chain.establish()
        for version in versions.all { version.home.establish() }
        chainsInProbation -= 1
        bytesInProbation -= versions.all.reduce(0) { $0 + $1.storedBytes }
        for past in versions.all.dropLast() { order.insert(past, .past) }
        if let newest = versions.newest { order.insert(newest, .newest) }
        order.insert(versions)
        pending.establish(version.id)
    }

    // MARK: The index and the order of eviction

    /// Adds a version, and counts it.
    mutating func insert(_ version: Version) {
        if version.pinnedUntil > 0 { pins.insert(version) }
        let versions = index.insert(version)
        let isInProbation = !versions.chain.isEstablished
        if isInProbation { bytesInProbation += version.storedBytes }
        if versions.all.count == 1 {
            if isInProbation {
                chainsInProbation += 1
                hasProbation = true
            }
            order.insert(versions)
        }
        // A chain read from disk and one of the same name in memory may be two objects.
        if !isInProbation {
            version.home.establish()
        } else if version.home.isEstablished {
            establish(version)
        }
        note(version, in: versions)
    }

    /// Puts a version that came into its chain into the order; where it is the newest now, the one before it as well.
    private mutating func note(_ version: Version, in versions: ChainVersions) {
        guard version.home.isEstablished else { return order.insert(version, .probation) }
        guard versions.newest === version else { return order.insert(version, .past) }
        order.insert(version, .newest)
        if let former = versions.all.dropLast().last { order.insert(former, .past) }
    }

    /// Puts a version in the place of another with the same body; every reader finds one of them at any time.
    mutating func replace(_ former: Version, by version: Version) {
        insert(version)
        take(former)
    }

    /// Takes a version out of the index and all that counts it; false if it is not there.
    @discardableResult
    mutating func take(_ version: Version) -> Bool {
        guard let left = index.remove(version) else { return false }
        // Hardly any is pinned, and the table of all rows is in no cache.
        if pins.contains(version.id), index.version(row: version.id) == nil { pins.remove(version.id) }
        order.remove(version)
        if left.all.isEmpty { order.remove(left.chain) }
        if !left.chain.isEstablished {
            bytesInProbation -= version.storedBytes
            if left.all.isEmpty { chainsInProbation -= 1 }
        } else if let newest = left.newest, newest.isOlder(than: version) {
            order.insert(newest, .newest)
            // It may have been the one that was wanted last, or is named: the chain goes earlier without it.
            order.insert(left)
        }
        return true
    }

    // MARK: Eviction

    /// Removes versions, as far as they are still there.
    mutating func remove(
        _ versions: some Sequence<Version>, reason: StoreStatistics.Eviction, into evicted: inout Evicted
    ) {
        for version in versions where take(version) {
            evicted.versions.append((version, reason))
            if pending.remove(version) != nil { evicted.unpinned.append(version.bodyName) }
        }
    }

    /// Keeps to the limits of the index; if very much is beyond them, only some of it goes at a time.
    ///
    /// What Links name stays.
    mutating func keepBounded(now: Int, into evicted: inout Evicted) {
        // At least one, or nothing could ever begin.
        let inProbation = max(limits.chainsInProbation, 1)
        let established = limits.chains - (hasProbation ? limits.chainsInProbation : 0)
        for _ in 0..<Self.evictionsMax {
            if chainsInProbation > inProbation, let chain = order.popChainInProbation(in: index, now: now) {
                remove(chain, reason: .probation, into: &evicted)
            } else if bytesInProbation > limits.bytesInProbation,
                let version = order.popVersion(.probation, now: now)
            {
                remove(CollectionOfOne(version), reason: .probation, into: &evicted)
            } else if chainsThatCount - chainsInProbation > established,
                let chain = order.popEstablishedChain(in: index, now: now)
            {
                remove(chain, reason: .chains, into: &evicted)
            } else if chainsThatCount > limits.chains,
                let chain = order.popChainInProbation(in: index, now: now)
            {
                remove(chain, reason: .chains, into: &evicted)
            } else {
                return
            }
        }
    }

    /// The chains within the limit; what private ones have too many of is theirs to lose.
    private var chainsThatCount: Int {
        index.chainCount - max(0, index.privateChainCount - limits.privateChains)
    }

    private mutating func remove(
        _ chain: Chain, reason: StoreStatistics.Eviction, into evicted: inout Evicted
    ) {
        remove(index.versions(of: chain.key), reason: reason, into: &evicted)
    }

    /// Evicts versions on disk that go first, until they have so many bytes; those whose rows are in `kept` stay.
    ///
    /// Some of them at a time: fewer bytes than were asked for mean only that there may be more.
    mutating func evictLeastWanted(bytes: Int, now: Int, except kept: Set<Int64>) -> Evicted {
        var evicted = Evicted()
        remove(leastWanted(bytes: bytes, now: now, except: kept), reason: .size, into: &evicted)
        return evicted
    }

    private mutating func leastWanted(bytes: Int, now: Int, except kept: Set<Int64>) -> [Version] {
        let waiting = pending.insertions
        return popLeastWanted(bytes: bytes, now: now) { kept.contains($0.id) || waiting[$0.id] != nil }
    }

    /// Takes the versions that go first, until they have so many bytes; those in `kept` stay.
    ///
    /// Some of them at a time: fewer bytes than were asked for mean only that there may be more.
    mutating func popLeastWanted(bytes: Int, now: Int, except kept: (Version) -> Bool) -> [Version] {
        var victims: [Version] = []
        var passedOver: [(Version, EvictionClass)] = []
        var found = 0
        for evictionClass in EvictionClass.allCases {
            while found < bytes, victims.count < Self.evictionsMax,
                let version = order.popVersion(evictionClass, now: now)
            {
                if kept(version) {
                    passedOver.append((version, evictionClass))
                } else {
                    victims.append(version)
                    found += version.storedBytes
                }
            }
        }
        for (version, evictionClass) in passedOver { order.insert(version, evictionClass) }
        return victims
    }
}
