/// The choice of versions to evict when room is short, and the counts that it is based on.
extension StoreState {
    /// The upper bound of evictions per call, so that the lock is held briefly.
    private static let evictionsMax = 64

    /// Moves a chain to its place after a version of it was pinned or unpinned.
    mutating func reorder(_ version: Version) {
        index.noteName(of: version)
        if let chain = index.chain(version.chain) { setPlace(of: chain) }
    }

    /// Ends the probation of a version's chain; linear in the versions of the chain.
    mutating func establish(_ version: Version) {
        guard let chain = index.chain(version.chain), !chain.isEstablished else { return }
        chain.establish()
        chainsInProbation -= 1
        bytesInProbation -= index.storedBytes(of: version.chain)
        setPlace(of: chain)
        pending.establish(version.id)
    }

    /// Records that a client has come back with a version, or with its predecessor.
    ///
    /// The other chains of the authority leave the unproven class when they come to its front.
    mutating func prove(_ version: Version) {
        version.isProven = true
        guard !version.home.isProven else { return }
        version.home.prove()
        authorities.prove(version.chain.authority)
        // A chain read from disk and one of the same name in memory may be two objects.
        guard let chain = index.chain(version.chain) else { return }
        chain.prove()
        setPlace(of: chain)
    }

    /// Moves a chain to its place in the order of eviction; private chains have none there.
    mutating func setPlace(of chain: Chain) {
        guard !chain.key.scope.isPrivate else { return }
        order.insert(chain, place(of: chain))
    }

    private func place(of chain: Chain) -> EvictionOrder.Class {
        if !chain.isEstablished { return .inProbation }
        guard authorities.isProven(chain.key.authority) else { return .unproven }
        return chain.isProven ? .established : .newcomer
    }

    // MARK: The index and the order of eviction

    /// Adds a version to the index and to all counts and orders.
    mutating func insert(_ version: Version, isInUse: Bool = true) {
        if version.pinnedUntil > 0 { pins.insert(version) }
        let left = index.insert(version, isInUse: isInUse)
        let isInProbation = !left.chain.isEstablished
        if isInProbation { bytesInProbation += version.storedBytes }
        if left.count == 1 {
            if isInProbation {
                chainsInProbation += 1
                hasProbation = true
            }
            left.chain.begin(with: version)
        }
        count(version, chains: left.count == 1 ? 1 : 0, sign: 1)
        let isNewlyProven = version.isProven && !left.chain.isProven
        if version.isProven {
            version.home.prove()
            left.chain.prove()
            authorities.prove(version.chain.authority)
        }
        // Private chains have a budget in bytes and take no place of others.
        if version.chain.scope.isPrivate { privateOrder.insert(version) }
        if left.count == 1 || isNewlyProven { setPlace(of: left.chain) }
        left.chain.want(at: version.lastWanted)
        retention.insert(version, version.standing, of: left.chain)
        if isInProbation, version.home.isEstablished { establish(version) }
    }

    /// Replaces a version by another with the same body; every reader finds one of them at any time.
    mutating func replace(_ former: Version, by version: Version) {
        guard index.holds(former) else { return insert(version) }
        retention.remove(former)
        privateOrder.remove(former)
        guard let left = index.replace(former, by: version) else { return }
        if version.pinnedUntil > 0 { pins.insert(version) }
        if former.id != version.id { pins.remove(former.id) }
        if !left.chain.isEstablished { bytesInProbation += version.storedBytes - former.storedBytes }
        count(former, chains: 0, sign: -1)
        count(version, chains: 0, sign: 1)
        if version.isProven { prove(version) }
        if version.chain.scope.isPrivate { privateOrder.insert(version) }
        left.chain.want(at: version.lastWanted)
        retention.insert(version, version.standing, of: left.chain)
        if version.home.isEstablished { establish(version) }
    }

    /// Removes a version from the index and from all counts and orders; returns false if it is not there.
    @discardableResult
    mutating func take(_ version: Version) -> Bool {
        guard let left = index.remove(version) else { return false }
        // Check the pins first: hardly any version is pinned, and a look-up by row misses the CPU's caches.
        if pins.contains(version.id), index.version(row: version.id) == nil { pins.remove(version.id) }
        retention.remove(version)
        privateOrder.remove(version)
        if left.count == 0 { order.remove(left.chain) }
        count(version, chains: left.count == 0 ? -1 : 0, sign: -1)
        if !left.chain.isEstablished {
            bytesInProbation -= version.storedBytes
            if left.count == 0 { chainsInProbation -= 1 }
        }
        return true
    }

    /// Counts a version for its authority if it takes the place of others.
    private mutating func count(_ version: Version, chains: Int, sign: Int) {
        let bytes = version.chain.scope.isPrivate ? 0 : sign * version.storedBytes
        authorities.count(
            version.chain.authority, chains: chains, bytes: bytes, isPrivate: version.chain.scope.isPrivate)
    }

    // MARK: Eviction

    /// Evicts private versions beyond their own budget; returns true if there are more.
    mutating func keepPrivateBounded(bytesMax: Int, into evicted: inout Evicted) -> Bool {
        // Each choice examines every network.
        for _ in 0..<Self.evictionsMax / 8 {
            guard privateOrder.bytes > bytesMax, let version = privateOrder.first(in: index) else {
                return false
            }
            remove(CollectionOfOne(version), reason: .private, into: &evicted)
        }
        return privateOrder.bytes > bytesMax
    }

    /// Removes those of the versions that are still there.
    mutating func remove(
        _ versions: some Sequence<Version>, reason: StoreStatistics.Eviction, into evicted: inout Evicted
    ) {
        for version in versions where take(version) {
            evicted.versions.append((version, reason))
            if pending.remove(version) != nil { evicted.unpinned.append(version.bodyName) }
        }
    }

    /// Evicts until the limits of the index are kept, or a bounded number of times.
    ///
    /// Versions that Links name stay.
    mutating func keepBounded(now: Int, into evicted: inout Evicted) {
        // At least one, or no chain could ever begin.
        let inProbation = max(limits.chainsInProbation, 1)
        let established = limits.chains - (hasProbation ? limits.chainsInProbation : 0)
        for _ in 0..<Self.evictionsMax {
            if chainsInProbation > inProbation, let chain = order.pop(.inProbation, now: now) {
                remove(chain, reason: .probation, into: &evicted)
            } else if bytesInProbation > limits.bytesInProbation, let version = firstInProbation(now: now) {
                remove(CollectionOfOne(version), reason: .probation, into: &evicted)
            } else if authorities.hasProven, authorities.unprovenChains > limits.unprovenChains,
                let chain = popUnproven(now: now)
            {
                remove(chain, reason: .authority, into: &evicted)
            } else if authorities.unprovenBytes > limits.unprovenBytes, let version = firstUnproven(now: now)
            {
                remove(CollectionOfOne(version), reason: .authority, into: &evicted)
            } else if chainsThatCount - chainsInProbation > established,
                let chain = popUnproven(now: now) ?? order.pop(.newcomer, now: now)
                    ?? order.pop(.established, now: now)
            {
                remove(chain, reason: .chains, into: &evicted)
            } else if chainsThatCount > limits.chains, let chain = order.pop(.inProbation, now: now) {
                remove(chain, reason: .chains, into: &evicted)
            } else {
                return
            }
        }
    }

    /// The number of chains that the limit applies to.
    private var chainsThatCount: Int { index.chainCount - index.privateChainCount }

    private mutating func remove(
        _ chain: Chain, reason: StoreStatistics.Eviction, into evicted: inout Evicted
    ) {
        remove(retention.versions(of: chain, in: index), reason: reason, into: &evicted)
    }

    /// Returns the first version to go of the first chain in probation.
    private mutating func firstInProbation(
        now: Int, except isKept: (Version) -> Bool = { _ in false }
    ) -> Version? {
        guard let chain = order.pop(.inProbation, now: now) else { return nil }
        order.insert(chain, .inProbation)
        return retention.first(of: chain, in: index) { !$0.isPinned(at: now) && !isKept($0) }
    }

    /// Takes the first chain of the unproven authorities.
    ///
    /// Chains whose authority was proven since then move to their new place.
    private mutating func popUnproven(now: Int) -> Chain? {
        for _ in 0..<Self.evictionsMax {
            guard let chain = order.pop(.unproven, now: now) else { return nil }
            if !authorities.isProven(chain.key.authority) { return chain }
            setPlace(of: chain)
        }
        return nil
    }

    /// Returns the first version to go of the first unproven chain, if another authority is proven.
    private mutating func firstUnproven(
        now: Int, except isKept: (Version) -> Bool = { _ in false }
    ) -> Version? {
        guard authorities.hasProven, let chain = popUnproven(now: now) else { return nil }
        order.insert(chain, .unproven)
        return retention.first(of: chain, in: index) { !$0.isPinned(at: now) && !isKept($0) }
    }

    /// Evicts the versions on disk that go first, until they have so many bytes; rows in `kept` stay.
    ///
    /// One call evicts a bounded number. If they have fewer bytes than requested, there may be more.
    mutating func evictLeastWanted(bytes: Int, now: Int, except kept: Set<Int64>) -> Evicted {
        var evicted = Evicted()
        remove(leastWanted(bytes: bytes, now: now, except: kept), reason: .size, into: &evicted)
        return evicted
    }

    private mutating func leastWanted(bytes: Int, now: Int, except kept: Set<Int64>) -> [Version] {
        let waiting = pending.insertions
        return popLeastWanted(bytes: bytes, now: now) { kept.contains($0.id) || waiting[$0.id] != nil }
    }

    /// Takes the versions that go first, until they have so many bytes; versions that `isKept` accepts stay.
    ///
    /// They remain in the index until they are removed from it. One call takes a bounded number. If they have
    /// fewer bytes than requested, there may be more.
    mutating func popLeastWanted(bytes: Int, now: Int, except isKept: (Version) -> Bool) -> [Version] {
        var victims: [Version] = []
        var found = 0
        while found < bytes, victims.count < Self.evictionsMax {
            let version =
                firstInProbation(now: now, except: isKept) ?? firstUnproven(now: now, except: isKept)
                ?? retention.first(in: index) { !$0.isPinned(at: now) && !isKept($0) }
            guard let version else { break }
            retention.remove(version)
            victims.append(version)
            found += version.storedBytes
        }
        return victims
    }
}
