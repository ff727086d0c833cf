/// The newest index and what of it is not on disk: everything that an admission or an eviction decides.
///
/// A value without I/O and clock; the store keeps it behind its lock.
struct StoreState: Sendable {
    /// What an admission changed.
    struct Admitted {
        let version: Version
        /// Whether the version waits to be written, with a pin on its body.
        let isNew: Bool
        let evicted: Evicted
    }

    /// Versions that went.
    struct Evicted {
        var versions: [(version: Version, reason: StoreStatistics.Eviction)] = []
        /// Bodies that lose a pin, as their versions went before they were written.
        var unpinned: [BodyName] = []
    }

    let limits: StoreLimits
    /// Changed only here and in the extensions of this type; shared with every copy and all readers.
    var index: DictionaryIndex
    var pending = PendingWrites()
    var pins = Pins()
    /// What the heads of the versions may take.
    let heads: HeadMemory
    /// No version expires before this second.
    var earliestExpiry = Int.max
    var lastRank: Int64 = 0
    var chainsInProbation = 0
    /// What the versions of chains in probation take on disk, at most.
    var bytesInProbation = 0
    /// Whether there have been chains in probation, which then keep their share.
    var hasProbation = false
    /// The order in which chains go, and that in which versions do.
    var order = EvictionOrder()
    var retention = Retention()
    var privateOrder = PrivateOrder()
    var authorities = Authorities()

    init(
        limits: StoreLimits = StoreLimits(), heads: HeadMemory = .none,
        inUseMax: Int = DictionaryIndex.inUseDefault
    ) {
        index = DictionaryIndex(inUseMax: inUseMax)
        self.limits = limits
        self.heads = heads
    }

    // MARK: Admission

    /// Makes a body the newest version of its URL and variant, offered to a client that came with another or with none;
    /// of its chain at most `policy.versions` stay.
    ///
    /// `clock` is the time in microseconds, which orders the versions of
    /// several processes on one store.
    mutating func admit(
        _ facts: VersionFacts, body: Body, chain key: ChainKey, policy: AdmissionPolicy, now: Int,
        clock: Int64 = 0, head: [UInt8]? = nil, isOffered: Bool = true, over former: Version? = nil
    ) -> Admitted {
        // Taken apart at once: as long as an array of versions is held, a change copies it.
        let (chain, known, newest) = present(facts, in: key)
        let home = chain ?? Chain(key, isEstablished: !policy.startsInProbation)
        if chain == nil, case .personal = key.scope, let former { home.inheritFreshDelta(of: former.home) }
        let version: Version
        var isNew = false
        if let known {
            version = returned(known, newest: newest, facts: facts, head: head, now: now, clock: clock)
        } else {
            newest?.head?.clear()
            let rank = nextRank(clock)
            version = Version(
                facts, id: Version.row(rank), rank: rank, home: home, admittedAt: now,
                lastWanted: now, head: head.flatMap { StoredHead($0, memory: heads, now: now) },
                demand: VersionDemand.none, network: policy.network)
            insert(version)
            pending.insert(version, body: body)
            isNew = true
        }
        if isOffered { offered(version, over: former, now: now) }
        if !home.isEstablished, home.countRequest() || !policy.startsInProbation { establish(version) }
        earliestExpiry = min(earliestExpiry, version.expiry)
        var evicted = Evicted()
        removeSurplus(beside: version, max: policy.versions, now: now, into: &evicted)
        keepBounded(now: now, into: &evicted)
        return Admitted(version: version, isNew: isNew, evicted: evicted)
    }

    /// Removes what a chain has too many of, once a version is in it.
    ///
    /// Clients hold a body whatever its URL was: other URLs' versions of the same body go first, so that a query that
    /// changes with every request does not push out what clients hold.
    private mutating func removeSurplus(
        beside newest: Version, max versionsMax: Int, now: Int, into evicted: inout Evicted
    ) {
        guard let chain = index.chain(newest.chain), retention.count(of: chain) > max(versionsMax, 1) else {
            return
        }
        let namedCount = index.named(newest.chain, now: now).count
        for _ in 0..<Self.overdueMax where retention.count(of: chain) - namedCount > max(versionsMax, 1) {
            let mayGo = { (version: Version) in version.id != newest.id && !version.isPinned(at: now) }
            let twins = index.versions(newest.chain, digest: newest.digest, limit: Self.twinsMax)
            guard
                let version = twins.first(where: mayGo)
                    ?? retention.first(of: chain, in: index, where: mayGo)
            else { return }
            remove(CollectionOfOne(version), reason: .versions, into: &evicted)
        }
    }

    private static let twinsMax = 16

    /// A chain, its version of these facts' body, and the newest of their URL and variant.
    private func present(_ facts: VersionFacts, in key: ChainKey) -> (Chain?, Version?, newest: Version?) {
        guard let chain = index.chain(key) else { return (nil, nil, nil) }
        return (
            chain, index.version(key, url: facts.url, variant: facts.variant, digest: facts.digest),
            index.newest(key, url: facts.url, variant: facts.variant)
        )
    }

    /// A body that is there already becomes the newest again: no new row, no second copy.
    private mutating func returned(
        _ known: Version, newest: Version?, facts: VersionFacts, head: [UInt8]?, now: Int, clock: Int64
    ) -> Version {
        if newest?.id == known.id, known.says(facts), known.canKeep(head) {
            if let head { keep(head, of: known, now: now) }
            if known.want(at: now) { pending.touch(known.id, lastWanted: now) }
            return known
        }
        if newest?.id != known.id { newest?.head?.clear() }
        let version = Version(
            facts, id: known.id, rank: nextRank(clock), home: known.home, admittedAt: known.admittedAt,
            lastWanted: max(known.lastWanted, now), pinnedUntil: known.pinnedUntil,
            head: self.head(of: known, facts: facts, head, now: now), demand: known.demand,
            network: known.network)
        version.sealedBytes = known.sealedBytes
        replace(known, by: version)
        pending.renew(version)
        return version
    }

    /// The head of a body that returned: under another entity tag the former one says nothing.
    private func head(of known: Version, facts: VersionFacts, _ head: [UInt8]?, now: Int) -> StoredHead? {
        guard known.had(etag: facts.etag), let kept = known.head else {
            return head.flatMap { StoredHead($0, memory: heads, now: now) }
        }
        if let head { _ = kept.replace(head, now: now) }
        return kept
    }

    /// Puts a newer head in place of the one that a version has.
    mutating func keep(_ head: [UInt8], of version: Version, now: Int) {
        guard let kept = version.head, kept.replace(head, now: now) else { return }
        // One that has left the index, or was replaced in it, must not be written over what is there now.
        if index.holds(version) { pending.renew(version) }
    }

    /// Ranks follow the clock, so that two processes on one store interleave, and always grow.
    private mutating func nextRank(_ clock: Int64) -> Int64 {
        lastRank = max(lastRank &+ 1, clock)
        return lastRank
    }

    // MARK: Writing

    /// Takes what to write next, with the versions whose bodies it shares; see `PendingWrites.takeBatch`.
    mutating func takeBatch(bytesMax: Int) -> PendingWrites.Batch {
        var batch = pending.takeBatch(bytesMax: bytesMax)
        for place in batch.insertions.indices {
            batch.insertions[place].twins = index.twins(of: batch.insertions[place].version)
        }
        return batch
    }

    // MARK: Expiry

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
            let known = index.same(as: version), until > known.pinnedUntil
        else { return false }
        let named = index.named(version.chain, variant: version.variant, now: now)
        if let named, named.id != former?.id { return false }
        pins.prune(now: now)
        let isPinned = pins.contains(known.id)
        guard pins.bytes + (isPinned ? 0 : Pins.cost(of: known)) <= limits.bytes,
            pins.count - (isPinned ? 1 : 0) < limits.count
        else { return false }
        // The former stays pinned: clients that have its URL still may fetch and use it.
        pin(known, until: until)
        return true
    }

    mutating func pin(_ version: Version, until: Int) {
        version.pin(until: until)
        pins.insert(version)
        pending.pin(version.id, until: until)
        index.addName(of: version)
        earliestExpiry = min(earliestExpiry, version.expiry)
    }

    mutating func unpin(_ version: Version) {
        version.pin(until: 0)
        pins.remove(version.id)
        pending.pin(version.id, until: 0)
        earliestExpiry = min(earliestExpiry, version.expiry)
        reorder(version)
    }

    /// Lets go of the pins beyond some limits, those that end first before the others.
    mutating func limitPins(bytesMax: Int, countMax: Int) {
        let ids = Set(pins.beyond(bytesMax: bytesMax, countMax: countMax))
        guard !ids.isEmpty else { return }
        for id in ids { if let version = index.version(row: id) { unpin(version) } }
    }
}
