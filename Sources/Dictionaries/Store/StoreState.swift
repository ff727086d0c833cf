/// The newest index and what of it is not on disk: everything that an admission or an eviction decides.
///
/// A value without I/O and clock; the store keeps it behind its lock.
struct StoreState: Sendable {
    /// What an admission changed.
    struct Admitted {
        let version: Version
        /// Whether the version waits to be written, with a pin on its body.
        let isNew: Bool
        let evicted: Int
        /// Bodies that lose a pin, as their versions went before they were written.
        let unpinned: [BodyName]
    }

    /// Changed only here and in the extensions of this type.
    var index = DictionaryIndex()
    var pending = PendingWrites()
    var pins = Pins()
    /// What the heads of the versions may take.
    let heads: HeadMemory
    /// No version expires before this second.
    var earliestExpiry = Int.max
    var lastRank: Int64 = 0
    /// The versions that were removed since they were last asked for.
    var removed: [Version] = []

    init(heads: HeadMemory) {
        self.heads = heads
    }

    // MARK: Admission

    /// Makes a body the newest version of its URL and variant and keeps at most `keep` versions in its chain.
    ///
    /// `clock` is the time in microseconds, which orders the versions of several processes on one store.
    mutating func admit(
        _ facts: VersionFacts, body: Body, chain key: ChainKey, keep: Int, now: Int, clock: Int64 = 0,
        head: [UInt8]? = nil
    ) -> Admitted {
        let home = index.chain(key) ?? Chain(key)
        home.versionsMax = max(keep, 1)
        let version: Version
        var isNew = false
        if let known = index.version(chain: key, url: facts.url, variant: facts.variant, digest: facts.digest)
        {
            version = returned(known, facts: facts, head: head, now: now, clock: clock)
        } else {
            index.newest(chain: key, url: facts.url, variant: facts.variant)?.head?.clear()
            version = Version(
                facts, id: .random(in: 1...Int64.max), rank: nextRank(clock), home: home, admittedAt: now,
                lastWanted: now, head: head.flatMap { StoredHead($0, memory: heads, now: now) })
            index.insert(version)
            pending.insert(version, body: body)
            isNew = true
        }
        earliestExpiry = min(earliestExpiry, version.expiry)
        let surplus = index.versions(of: key).dropLast(max(keep, 1)).filter { !$0.isPinned(at: now) }
        let (evicted, unpinned) = remove(surplus)
        return Admitted(version: version, isNew: isNew, evicted: evicted, unpinned: unpinned)
    }

    /// A body that is there already becomes the newest again: no new row, no second copy.
    private mutating func returned(
        _ known: Version, facts: VersionFacts, head: [UInt8]?, now: Int, clock: Int64
    ) -> Version {
        let newest = index.newest(chain: known.chain, url: known.url, variant: known.variant)
        if newest === known, known.facts == facts, known.canKeep(head) {
            if let head { keep(head, of: known, now: now) }
            if known.want(at: now) { pending.touch(known.id, lastWanted: now) }
            return known
        }
        if newest !== known { newest?.head?.clear() }
        let version = Version(
            facts, id: known.id, rank: nextRank(clock), home: known.home, admittedAt: known.admittedAt,
            lastWanted: max(known.lastWanted, now), pinnedUntil: known.pinnedUntil,
            head: self.head(of: known, facts: facts, head, now: now))
        _ = index.remove(known)
        index.insert(version)
        pending.renew(version)
        return version
    }

    /// The head of a body that returned: under another entity tag the former one says nothing.
    private func head(of known: Version, facts: VersionFacts, _ head: [UInt8]?, now: Int) -> StoredHead? {
        guard known.etag == facts.etag, let kept = known.head else {
            return head.flatMap { StoredHead($0, memory: heads, now: now) }
        }
        if let head { _ = kept.replace(head, now: now) }
        return kept
    }

    /// Puts a newer head in place of the one that a version has.
    mutating func keep(_ head: [UInt8], of version: Version, now: Int) {
        guard let kept = version.head, kept.replace(head, now: now) else { return }
        let current = index.version(
            chain: version.chain, url: version.url, variant: version.variant, digest: version.digest)
        // One that has left the index, or was replaced in it, must not be written over what is there now.
        if current === version { pending.renew(version) }
    }

    /// Ranks follow the clock, so that two processes on one store interleave, and always grow.
    private mutating func nextRank(_ clock: Int64) -> Int64 {
        lastRank = max(lastRank &+ 1, clock)
        return lastRank
    }

    // MARK: Eviction

    /// Removes versions; which of them were still there, and the bodies that lose a pin.
    mutating func remove(_ versions: some Sequence<Version>) -> (removed: Int, unpinned: [BodyName]) {
        var removed = 0
        var unpinned: [BodyName] = []
        for version in versions where index.remove(version) {
            removed += 1
            pins.remove(version.id)
            self.removed.append(version)
            if pending.remove(version) != nil { unpinned.append(version.bodyName) }
        }
        return (removed, unpinned)
    }

    /// The versions that were removed since this was last asked.
    mutating func takeRemoved() -> [Version] {
        let taken = removed
        removed = []
        return taken
    }

    /// The index to search for what has expired; from here on `earliestExpiry` heeds only what is admitted.
    mutating func beginExpiry() -> DictionaryIndex {
        earliestExpiry = .max
        return index
    }

    /// Notes the earliest expiry that the search found.
    mutating func endExpiry(earliest: Int) {
        earliestExpiry = min(earliestExpiry, earliest)
    }

    // MARK: Names

    /// Pins a version as the named one of its chain and variant; see `DictionaryStore.name`.
    mutating func name(
        _ version: Version, replacing former: Version?, until: Int, now: Int,
        limits: (bytes: Int, count: Int)
    ) -> Bool {
        guard until > now, version.chain.scope == .public,
            let known = index.version(
                chain: version.chain, url: version.url, variant: version.variant, digest: version.digest)
        else { return false }
        let named = index.named(chain: version.chain, variant: version.variant, now: now)
        if let named, named.id != former?.id || named.id == known.id { return false }
        pins.prune(now: now)
        let freed = named.map(Pins.cost) ?? 0
        guard pins.bytes - freed + Pins.cost(of: known) <= limits.bytes,
            pins.count - (named == nil ? 0 : 1) < limits.count
        else { return false }
        if let named { unpin(named) }
        pin(known, until: until)
        return true
    }

    private mutating func pin(_ version: Version, until: Int) {
        version.pin(until: until)
        pins.insert(version)
        pending.pin(version.id, until: until)
        index.addName(of: version)
        earliestExpiry = min(earliestExpiry, version.expiry)
    }

    private mutating func unpin(_ version: Version) {
        version.pin(until: 0)
        pins.remove(version.id)
        pending.pin(version.id, until: 0)
        earliestExpiry = min(earliestExpiry, version.expiry)
    }

    /// Lets go of the pins beyond some limits, those that end first before the others.
    mutating func limitPins(bytesMax: Int, countMax: Int) {
        let ids = Set(pins.beyond(bytesMax: bytesMax, countMax: countMax))
        guard !ids.isEmpty else { return }
        for version in index.allVersions() where ids.contains(version.id) { unpin(version) }
    }

    // MARK: Opening

    /// Takes over the rows of a database that was opened, under what waits to be written to it.
    ///
    /// Returns the bodies that lose a pin: their versions are in the database already.
    mutating func adopt(_ rows: [Version]) -> [BodyName] {
        let onDisk = rows.compactMap { row in
            pending.removals.contains(row.id) ? nil : pending.renewals[row.id] ?? row
        }
        var unpinned: [BodyName] = []
        rebuild(from: onDisk)
        guard !pending.insertions.isEmpty else { return unpinned }
        for version in pending.insertions.values.map(\.version) {
            let same = index.version(
                chain: version.chain, url: version.url, variant: version.variant, digest: version.digest)
            guard same != nil, pending.drop(version) else { continue }
            unpinned.append(version.bodyName)
        }
        rebuild(from: onDisk + pending.insertions.values.map(\.version))
        return unpinned
    }

    private mutating func rebuild(from versions: [Version]) {
        index = DictionaryIndex()
        pins = Pins()
        for version in versions.sorted(by: { ($0.rank, $0.id) < ($1.rank, $1.id) }) {
            if version.head != nil {
                index.newest(chain: version.chain, url: version.url, variant: version.variant)?.head?.clear()
            }
            index.insert(version)
            if version.pinnedUntil > 0 { pins.insert(version) }
            earliestExpiry = min(earliestExpiry, version.expiry)
            lastRank = max(lastRank, version.rank)
        }
    }

    /// Begins again with nothing on disk: only versions whose bodies are in memory stay, to be written anew.
    ///
    /// Returns how many versions went, and the bodies that gain a pin.
    mutating func restart(bodies: (BodyName) -> Body?) -> (lost: Int, pinned: [BodyName]) {
        let versions = index.allVersions().sorted { $0.rank < $1.rank }
        let former = pending
        index = DictionaryIndex()
        pending = PendingWrites()
        pins = Pins()
        var lost = 0
        var pinned: [BodyName] = []
        for version in versions {
            guard let body = former.insertions[version.id]?.body ?? bodies(version.bodyName) else {
                lost += 1
                continue
            }
            if former.insertions[version.id] == nil { pinned.append(version.bodyName) }
            index.insert(version)
            if version.pinnedUntil > 0 { pins.insert(version) }
            pending.insert(version, body: body)
        }
        return (lost, pinned)
    }
}
