/// The choice of versions to evict when room is short, and the counts that it is based on.
extension StoreState {
    /// The upper bound of evictions per call, so that the lock is held briefly.
    private static let evictionsMax = 64
    /// The upper bound of versions with the newest body that are examined for a chain's surplus.
    private static let siblingsMax = 16

    /// Moves a chain to its place after a version of it was pinned or unpinned.
    mutating func reorder(_ version: Version) {
        index.recordPin(of: version)
        if let chain = index.chain(version.chainKey) { reclassify(chain) }
    }

    /// Ends the probation of a version's chain; linear in the versions of the chain.
    mutating func establish(_ version: Version) {
        guard let chain = index.chain(version.chainKey), !chain.isEstablished else { return }
        chain.establish()
        chainsInProbation -= 1
        bytesInProbation -= index.storedBytes(of: version.chainKey)
        reclassify(chain)
        pending.establish(version.id)
    }

    /// Records that a client has come back with a version, or with its predecessor.
    ///
    /// The other chains of the authority leave the class without a return when they come to its front.
    mutating func noteReturn(_ version: Version) {
        version.hasReturned = true
        guard !version.chain.hasReturned else { return }
        version.chain.noteReturn()
        authorities.noteReturn(version.chainKey.authority)
        // A chain read from disk and one of the same name in memory may be two objects.
        guard let chain = index.chain(version.chainKey) else { return }
        chain.noteReturn()
        reclassify(chain)
    }

    /// Moves a chain to its place in the order of eviction; private chains have none there.
    mutating func reclassify(_ chain: Chain) {
        guard !chain.key.scope.isSealed else { return }
        order.insert(chain, evictionClass(of: chain))
    }

    private func evictionClass(of chain: Chain) -> ChainOrder.Class {
        if !chain.isEstablished { return .inProbation }
        guard authorities.hasReturned(chain.key.authority) else { return .withoutReturn }
        return chain.hasReturned ? .returned : .newcomer
    }

    // MARK: The index and the order of eviction

    /// Adds a version to the index and to all counts and orders.
    mutating func insert(_ version: Version, isInUse: Bool = true) {
        if version.pinnedUntil > 0 { pins.insert(version) }
        let status = index.insert(version, isInUse: isInUse)
        let isInProbation = !status.chain.isEstablished
        if isInProbation { bytesInProbation += version.storedBytes }
        if status.count == 1 {
            if isInProbation {
                chainsInProbation += 1
                hasProbation = true
            }
            status.chain.begin(rank: version.rank)
        }
        count(version, chains: status.count == 1 ? 1 : 0, bytes: version.storedBytes)
        let isFirstReturn = version.hasReturned && !status.chain.hasReturned
        if version.hasReturned {
            version.chain.noteReturn()
            status.chain.noteReturn()
            authorities.noteReturn(version.chainKey.authority)
        }
        // Private chains have a budget in bytes and take no place of others.
        if version.chainKey.scope.isSealed { privateOrder.insert(version) }
        if status.count == 1 || isFirstReturn { reclassify(status.chain) }
        status.chain.want(at: version.lastWanted)
        retention.insert(version, version.standing, of: status.chain)
        if isInProbation, version.chain.isEstablished { establish(version) }
        if !version.rowPromises.isEmpty { keep(version.rowPromises, of: version) }
    }

    /// Replaces a version by another with the same body; every reader finds one of them at any time.
    mutating func replace(_ former: Version, by version: Version) {
        guard index.holds(former) else { return insert(version) }
        retention.remove(former)
        privateOrder.remove(former)
        guard let status = index.replace(former, by: version) else { return }
        if version.pinnedUntil > 0 { pins.insert(version) }
        if former.id != version.id { pins.remove(former.id) }
        if !status.chain.isEstablished { bytesInProbation += version.storedBytes - former.storedBytes }
        count(former, chains: 0, bytes: -former.storedBytes)
        count(version, chains: 0, bytes: version.storedBytes)
        if version.hasReturned { noteReturn(version) }
        if version.chainKey.scope.isSealed {
            privateOrder.insert(version)
            privateOrder.grow(version, bytes: index.promises(of: version).count * PromisedIDs.bytesEach)
        }
        status.chain.want(at: version.lastWanted)
        retention.insert(version, version.standing, of: status.chain)
        if version.chain.isEstablished { establish(version) }
    }

    /// Removes a version from the index and from all counts and orders; returns false if it is not there.
    @discardableResult
    mutating func take(_ version: Version) -> Bool {
        guard let status = index.remove(version) else { return false }
        let bytes = version.storedBytes + status.promises.count * PromisedIDs.bytesEach
        // Check the pins first: hardly any version is pinned, and a look-up by row misses the CPU's caches.
        if pins.contains(version.id), index.version(row: version.id) == nil { pins.remove(version.id) }
        retention.remove(version)
        privateOrder.remove(version)
        if status.count == 0 { order.remove(status.chain) }
        count(version, chains: status.count == 0 ? -1 : 0, bytes: -bytes)
        if !status.chain.isEstablished {
            bytesInProbation -= bytes
            if status.count == 0 { chainsInProbation -= 1 }
        }
        handOver(status.promises, of: version)
        return true
    }

    /// Counts bytes of a version for its authority if it takes the place of others.
    mutating func count(_ version: Version, chains: Int, bytes: Int) {
        let isSealed = version.chainKey.scope.isSealed
        authorities.count(
            version.chainKey.authority, chains: chains, bytes: isSealed ? 0 : bytes, isSealed: isSealed)
    }

    // MARK: The rule of eviction

    /// A lack of room that evictions make up for.
    enum Shortage {
        /// The chain of this version, its newest, has too many versions.
        case versions(beside: Version)
        /// The versions of chains in probation exceed their share.
        case probation
        /// The versions of authorities without a returned client exceed their share.
        case authority
        /// The store exceeds its size on disk.
        case size
        /// Private versions exceed their budget.
        case `private`
    }

    /// Returns the version that goes first when room is short; the table "What goes when" in Rules has what else goes.
    ///
    /// Versions that a Link names, which are public, and those that `isKept` accepts, stay. Of the others goes
    /// 1. for `.versions`: another version of the newest body, then the first of the chain by standing. Clients hold a
    ///    body whatever its URL was, so a query that changes with every request does not displace what they hold.
    /// 2. for `.probation` and `.authority`: the first by standing of the chain of this class that was wanted least lately.
    /// 3. for `.size`: as for `.probation`, then as for `.authority`, then the first of the store by standing.
    /// 4. for `.private`: the first of `PrivateOrder`, also one that `isKept` accepts.
    ///
    /// By standing, newcomers go first, then unheld, spent and held versions. Within a standing, the version goes first
    /// that was neither offered nor advertised for the longest time (see `Retention`).
    mutating func firstToGo(
        for shortage: Shortage, now: Int, except isKept: (Version) -> Bool = { _ in false }
    ) -> Version? {
        func mayGo(_ version: Version) -> Bool { !version.isPinned(at: now) && !isKept(version) }
        switch shortage {
        case .versions(let newest):
            guard let chain = index.chain(newest.chainKey) else { return nil }
            func isOther(_ version: Version) -> Bool { version.id != newest.id && mayGo(version) }
            let siblings = index.versions(newest.chainKey, digest: newest.digest, limit: Self.siblingsMax)
            return siblings.first(where: isOther) ?? retention.first(of: chain, in: index, where: isOther)
        case .probation:
            guard let chain = order.pop(.inProbation, now: now) else { return nil }
            order.insert(chain, .inProbation)
            return retention.first(of: chain, in: index, where: mayGo)
        case .authority:
            guard authorities.hasReturns, let chain = popWithoutReturn(now: now) else { return nil }
            order.insert(chain, .withoutReturn)
            return retention.first(of: chain, in: index, where: mayGo)
        case .size:
            return firstToGo(for: .probation, now: now, except: isKept)
                ?? firstToGo(for: .authority, now: now, except: isKept)
                ?? retention.first(in: index, where: mayGo)
        case .private:
            return privateOrder.first(in: index)
        }
    }

    /// Takes the first chain of the authorities without a returned client.
    ///
    /// Chains whose authority has seen a return since then move to their new place.
    private mutating func popWithoutReturn(now: Int) -> Chain? {
        for _ in 0..<Self.evictionsMax {
            guard let chain = order.pop(.withoutReturn, now: now) else { return nil }
            if !authorities.hasReturned(chain.key.authority) { return chain }
            reclassify(chain)
        }
        return nil
    }

    // MARK: Eviction

    /// Removes those of the versions that are still there.
    mutating func remove(
        _ versions: some Sequence<Version>, reason: StoreStatistics.Eviction, into evicted: inout Evicted
    ) {
        for version in versions where take(version) {
            evicted.versions.append((version, reason))
            if pending.remove(version) != nil { evicted.unpinned.append(version.bodyName) }
        }
    }

    private mutating func remove(
        _ chain: Chain, reason: StoreStatistics.Eviction, into evicted: inout Evicted
    ) {
        remove(retention.versions(of: chain, in: index), reason: reason, into: &evicted)
    }

    /// Evicts the surplus of a chain after a version was added.
    ///
    /// Versions that a Link names do not count.
    mutating func evictSurplus(
        beside newest: Version, max versionsMax: Int, now: Int, into evicted: inout Evicted
    ) {
        guard let chain = index.chain(newest.chainKey), retention.count(of: chain) > max(versionsMax, 1)
        else { return }
        let namedCount = index.named(newest.chainKey, now: now).count
        for _ in 0..<Self.evictionsMax where retention.count(of: chain) - namedCount > max(versionsMax, 1) {
            guard let version = firstToGo(for: .versions(beside: newest), now: now) else { return }
            remove(CollectionOfOne(version), reason: .versions, into: &evicted)
        }
    }

    /// Evicts private versions beyond their own budget; returns true if there are more.
    mutating func evictPrivate(beyond bytesMax: Int, into evicted: inout Evicted) -> Bool {
        // Each choice examines every network.
        for _ in 0..<Self.evictionsMax / 8 {
            guard privateOrder.bytes > bytesMax, let version = firstToGo(for: .private, now: 0) else {
                return false
            }
            remove(CollectionOfOne(version), reason: .private, into: &evicted)
        }
        return privateOrder.bytes > bytesMax
    }

    /// Evicts until the limits of the index are kept, or a bounded number of times.
    ///
    /// Whole chains go where there are too many. Those in probation, and those of authorities without a returned client, go while they exceed
    /// their shares. Of the others, those of authorities without a returned client go, then those to which no client has come back, then any;
    /// in each class the one that was wanted least lately. Chains with a version that a Link names stay.
    mutating func evictBeyondLimits(now: Int, into evicted: inout Evicted) {
        // At least one, or no chain could ever begin.
        let inProbation = max(limits.chainsInProbation, 1)
        let established = limits.chains - (hasProbation ? limits.chainsInProbation : 0)
        for _ in 0..<Self.evictionsMax {
            if chainsInProbation > inProbation, let chain = order.pop(.inProbation, now: now) {
                remove(chain, reason: .probation, into: &evicted)
            } else if bytesInProbation > limits.bytesInProbation,
                let version = firstToGo(for: .probation, now: now)
            {
                remove(CollectionOfOne(version), reason: .probation, into: &evicted)
            } else if authorities.hasReturns, authorities.chainsWithoutReturn > limits.chainsWithoutReturn,
                let chain = popWithoutReturn(now: now)
            {
                remove(chain, reason: .authority, into: &evicted)
            } else if authorities.bytesWithoutReturn > limits.bytesWithoutReturn,
                let version = firstToGo(for: .authority, now: now)
            {
                remove(CollectionOfOne(version), reason: .authority, into: &evicted)
            } else if chainsThatCount - chainsInProbation > established,
                let chain = popWithoutReturn(now: now) ?? order.pop(.newcomer, now: now)
                    ?? order.pop(.returned, now: now)
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

    /// Evicts the versions on disk that go first, until they have so many bytes; rows in `kept` stay.
    ///
    /// One call evicts a bounded number. If they have fewer bytes than requested, there may be more.
    mutating func evictLeastWanted(bytes: Int, now: Int, except kept: Set<Int64>) -> Evicted {
        let waiting = pending.insertions
        let victims = popLeastWanted(bytes: bytes, now: now) { kept.contains($0.id) || waiting[$0.id] != nil }
        var evicted = Evicted()
        remove(victims, reason: .size, into: &evicted)
        return evicted
    }

    /// Takes the versions that go first, until they have so many bytes; versions that `isKept` accepts stay.
    ///
    /// They remain in the index until they are removed from it. One call takes a bounded number. If they have fewer
    /// bytes than requested, there may be more.
    mutating func popLeastWanted(bytes: Int, now: Int, except isKept: (Version) -> Bool) -> [Version] {
        var victims: [Version] = []
        var found = 0
        while found < bytes, victims.count < Self.evictionsMax,
            let version = firstToGo(for: .size, now: now, except: isKept)
        {
            retention.remove(version)
            victims.append(version)
            found += version.storedBytes
        }
        return victims
    }
}
