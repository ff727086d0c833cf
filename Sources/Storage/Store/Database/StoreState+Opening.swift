internal import Dictionaries

/// The loading of a database's rows into the index, with the pending writes applied over them.
extension StoreState {
    /// Adds a version that was read to a state that is not in use yet.
    mutating func load(_ row: Version, isInUse: Bool = true) {
        // Rows come in the order of their ids, and a body that has returned is newer than its id.
        if let newest = index.newest(row.key) { (newest.isOlder(than: row) ? newest : row).head?.clear() }
        insert(row, isInUse: isInUse)
        earliestExpiry = min(earliestExpiry, row.expiry)
        lastRank = max(lastRank, row.rank)
    }

    /// Adopts the state that was read from a database, and applies the pending writes over it.
    ///
    /// Returns the bodies that lose a pin, because the database has their versions already.
    mutating func adopt(_ loaded: inout StoreState) -> [BodyName] {
        // Readers find the former versions until the loaded state is complete.
        let former = index
        index = loaded.index
        (chainsInProbation, bytesInProbation) = (loaded.chainsInProbation, loaded.bytesInProbation)
        hasProbation = hasProbation || loaded.hasProbation
        earliestExpiry = min(earliestExpiry, loaded.earliestExpiry)
        lastRank = max(lastRank, loaded.lastRank)
        swap(&order, &loaded.order)
        swap(&retention, &loaded.retention)
        swap(&privateOrder, &loaded.privateOrder)
        swap(&authorities, &loaded.authorities)
        swap(&pins, &loaded.pins)
        pending.releaseDemands()
        for id in pending.rowsThatChange {
            if let row = index.version(row: id) { applyPendingChanges(to: row, of: former) }
        }
        var unpinned: [BodyName] = []
        for own in pending.insertions.values.map(\.version).sorted(by: { $0.isOlder(than: $1) }) {
            let row = index.same(as: own)
            // The former index finds a version by its place, which it loses as soon as it has one here.
            let promises = former.promises(of: own)
            if own.chain.isEstablished { establish(row ?? own) }
            let version = inItsChain(own)
            if let row, pending.drop(own) {
                unpinned.append(own.bodyName)
                let merged = merge(version, with: row)
                if merged !== row { replace(row, by: merged) }
                promise(promises, of: merged)
            } else {
                pending.replace(version)
                load(version)
                keep(promises, of: version)
            }
        }
        former.exchange(with: index)
        index = former
        return unpinned
    }

    /// Applies the pending changes to a version that was read; `former` is the index in which they were made.
    private mutating func applyPendingChanges(to row: Version, of former: DictionaryIndex) {
        if let renewed = pending.changes[row.id]?.renewal, renewed.rank < row.rank {
            pending.dropRenewal(row.id)
        }
        // This also applies to a version that is removed, because it may establish a chain in which others
        // stay.
        if pending.established.contains(row.id) { establish(row) }
        guard !pending.removals.contains(row.id) else {
            take(row)
            return
        }
        guard let change = pending.changes[row.id] else { return }
        if let wanted = change.lastWanted { row.wasWanted(at: wanted) }
        if let until = change.pinnedUntil { until > 0 ? pin(row, until: until) : unpin(row) }
        if change.isProvenPublic { provePublic(row) }
        let own = former.version(row: row.id)
        if change.demand != nil, let own {
            row.takeHolders(of: own.counters.state)
            retention.renew(row, row.standing)
            privateOrder.renew(row)
            if row.hasReturned { noteReturn(row) }
        }
        if change.promises != nil, let own { keep(former.promises(of: own), of: row) }
        guard let renewed = change.renewal else { return }
        renewed.wasWanted(at: row.lastWanted)
        renewed.pin(until: row.pinnedUntil)
        let version = inItsChain(renewed)
        replace(row, by: version)
        pending.replace(version)
    }

    /// Returns the version with the chain object of the index: every chain has one object.
    private func inItsChain(_ own: Version) -> Version {
        guard let chain = index.chain(own.chainKey), chain !== own.chain else { return own }
        return Version(
            own.facts, id: own.id, rank: own.rank, chain: chain, own.counters.state, rare: own.counters.rare,
            head: own.head)
    }

    /// Starts with an empty database: versions stay and are written again if body and names are in memory or
    /// given.
    ///
    /// Returns the number of lost versions, and the bodies that gain a pin.
    mutating func restart(bodies: (BodyName) -> Body?, names: [Int64: (url: String, etag: String?)]) -> (
        lost: Int, pinned: [BodyName]
    ) {
        let versions = index.allVersions().sorted { $0.isOlder(than: $1) }
        let (former, formerIndex) = (pending, index)
        index = DictionaryIndex(inUseMax: index.inUseMax)
        order = ChainOrder()
        retention = Retention()
        privateOrder = PrivateOrder()
        (authorities, pins) = (Authorities(), Pins())
        (chainsInProbation, bytesInProbation) = (0, 0)
        pending = PendingWrites(borrowedBytesMax: limits.borrowedBytes)
        var lost = 0
        var pinned: [BodyName] = []
        for version in versions {
            guard
                let known = names[version.id].map({ version.with(url: $0.url, etag: $0.etag) })
                    ?? (version.hasOwnURL ? version : nil),
                let body = former.insertions[version.id]?.body ?? bodies(version.bodyName)
            else {
                lost += 1
                continue
            }
            if former.insertions[version.id] == nil { pinned.append(version.bodyName) }
            let promises = formerIndex.promises(of: version)
            insert(known)
            pending.insert(known, body: body)
            keep(promises, of: known)
        }
        formerIndex.exchange(with: index)
        index = formerIndex
        return (lost, pinned)
    }

    /// Merges a version in memory with the row of the same body; the number of the row stays.
    ///
    /// Two processes have admitted the body one after the other: a successor takes the store over.
    mutating func merge(_ own: Version, with row: Version) -> Version {
        pending.forget(own.id)
        if own.pinnedUntil > row.pinnedUntil { pin(row, until: own.pinnedUntil) }
        if own.isProvenPublic, !row.isProvenPublic {
            row.isProvenPublic = true
            pending.provePublic(row.id)
        }
        if own.lastWanted > row.lastWanted {
            row.wasWanted(at: own.lastWanted)
            pending.touch(row.id, lastWanted: own.lastWanted)
        }
        guard own.rank > row.rank else { return row }
        row.takeHolders(of: own.counters.state)
        row.setCurrent(own.isCurrent)
        var rare = row.counters.rare
        rare.network = own.network
        let later = Version(
            own.facts, id: row.id, rank: own.rank, chain: own.chain, row.counters.state, rare: rare,
            head: own.head ?? row.head)
        pending.renew(later)
        return later
    }
}
