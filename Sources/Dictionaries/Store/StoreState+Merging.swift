/// Changes that other processes made to the store, put under what waits here to be written.
extension StoreState {
    /// What a number of changes did.
    struct Merged {
        /// Versions that left, as another process removed them or their chain had too many.
        var evicted = Evicted()
        /// Bodies that lose a pin.
        var unpinned: [BodyName] = []
        /// Bodies that gain a pin.
        var pinned: [BodyName] = []
    }

    /// Takes changes over.
    ///
    /// `body` gives the bodies that are in memory.
    mutating func merge(
        _ changes: some Sequence<StoreChanges.Change>, now: Int, body: (BodyName) -> Body?
    ) -> Merged {
        var merged = Merged()
        for change in changes {
            if let row = change.version {
                put(row, now: now, &merged)
            } else {
                take(change.id, body: body, &merged)
            }
        }
        return merged
    }

    /// A row that another process removed.
    private mutating func take(_ id: Int64, body: (BodyName) -> Body?, _ merged: inout Merged) {
        // One that is yet to be written is none that could have been removed.
        guard let version = index.version(row: id), pending.insertions[id] == nil else {
            return pending.forget(id)
        }
        let isNeeded = pending.needs(id)
        pending.forget(id)
        if isNeeded, let body = body(version.bodyName) {
            // Its body came again, or a Link named it, while the other did not know: it is written anew.
            pending.insert(version, body: body)
            merged.pinned.append(version.bodyName)
            return
        }
        guard take(version) else { return }
        merged.evicted.versions.append((version, .removed))
    }

    /// A row that is there, made or changed by whichever process.
    private mutating func put(_ row: Version, now: Int, _ merged: inout Merged) {
        guard !pending.removals.contains(row.id), pending.insertions[row.id] == nil else { return }
        pending.lay(over: row)
        lastRank = max(lastRank, row.rank)
        earliestExpiry = min(earliestExpiry, row.expiry)
        if let known = index.version(row: row.id) {
            renew(known, from: row)
        } else if let same = index.same(as: row) {
            if pending.drop(same) { merged.unpinned.append(same.bodyName) }
            replace(same, by: unite(same, with: row))
        } else {
            insert(row)
            keepBounded(row, now: now, &merged)
        }
    }

    /// A row that is in the index already, perhaps as it was before or as it is to become.
    private mutating func renew(_ known: Version, from row: Version) {
        known.wasWanted(at: row.lastWanted)
        if known.pinnedUntil != row.pinnedUntil {
            known.pin(until: row.pinnedUntil)
            index.addName(of: known)
            pins.insert(known)
            reorder(known)
        }
        guard row.rank >= known.rank, row.rank != known.rank || row.facts != known.facts else { return }
        pending.dropRenewal(row.id)
        row.wasWanted(at: known.lastWanted)
        replace(known, by: row)
    }

    /// The row of a body that both processes admitted, with what is newer here: its number is the one that stays.
    mutating func unite(_ own: Version, with row: Version) -> Version {
        pending.forget(own.id)
        if own.home.isEstablished {
            row.home.establish()
            pending.establish(row.id)
        }
        if own.pinnedUntil > row.pinnedUntil {
            row.pin(until: own.pinnedUntil)
            pending.pin(row.id, until: own.pinnedUntil)
        }
        if own.lastWanted > row.lastWanted {
            row.wasWanted(at: own.lastWanted)
            pending.touch(row.id, lastWanted: own.lastWanted)
        }
        guard own.rank > row.rank else { return row }
        let later = Version(
            own.facts, id: row.id, rank: own.rank, home: own.home, admittedAt: row.admittedAt,
            lastWanted: row.lastWanted, pinnedUntil: row.pinnedUntil, head: own.head ?? row.head)
        later.setCurrent(own.isCurrent)
        pending.renew(later)
        return later
    }

    /// Two processes that admit at once make a chain longer than either would: the oldest go.
    private mutating func keepBounded(_ row: Version, now: Int, _ merged: inout Merged) {
        guard let versions = index[row.chain], versions.all.count > versions.chain.versionsMax else { return }
        let beyond = versions.all.dropLast(versions.chain.versionsMax).filter { !$0.isPinned(at: now) }
        remove(beyond, reason: .versions, into: &merged.evicted)
    }
}
