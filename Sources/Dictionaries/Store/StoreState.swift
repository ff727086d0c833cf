/// The index and its pending writes: the state by which admissions and evictions are decided.
///
/// It performs no I/O and reads no clock; the store keeps it behind its lock. It is not a plain value: the
/// index is shared with all readers, and the orders of eviction must not be copied.
struct StoreState: Sendable {
    /// The result of an admission.
    struct Admitted {
        let version: Version
        /// True if the version waits to be written, with a pin on its body.
        let isNew: Bool
        let evicted: Evicted
    }

    /// The versions that were evicted.
    struct Evicted {
        var versions: [(version: Version, reason: StoreStatistics.Eviction)] = []
        /// The bodies that lose a pin, because their versions were evicted before they were written.
        var unpinned: [BodyName] = []
    }

    let limits: StoreLimits
    /// The index, which all readers share; only this type and its extensions change it.
    var index: DictionaryIndex
    var pending = PendingWrites()
    var pins = Pins()
    /// The memory for heads.
    let heads: HeadMemory
    /// A second before which no version expires.
    var earliestExpiry = Int.max
    var lastRank: Int64 = 0
    var chainsInProbation = 0
    /// The bytes on disk of versions in probation, estimated from above.
    var bytesInProbation = 0
    /// True if there were ever chains in probation, for which a share is then reserved.
    var hasProbation = false
    /// The order in which chains are evicted.
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

    /// Makes a body the newest version of its URL and variant; at most `policy.versions` of its chain stay.
    ///
    /// If `isOffered` is set, the response offers it to a client that came with `former`, or with no version.
    /// `clock` is the time in microseconds, which orders the versions of several processes on one store.
    mutating func admit(
        _ facts: VersionFacts, body: Body, chain key: ChainKey, policy: AdmissionPolicy, now: Int,
        clock: Int64 = 0, head: [UInt8]? = nil, isOffered: Bool = true, over former: Version? = nil
    ) -> Admitted {
        // Destructure at once: as long as an array of versions is held, a change copies it.
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

    /// Removes the surplus of a chain after a version was added.
    ///
    /// Clients hold a body whatever its URL was. So other URLs' versions of the same body go first, and a
    /// query that changes with every request does not displace the versions that clients hold.
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

    /// Returns a chain, its version with these facts, and the newest version of their URL and variant.
    private func present(_ facts: VersionFacts, in key: ChainKey) -> (Chain?, Version?, newest: Version?) {
        guard let chain = index.chain(key) else { return (nil, nil, nil) }
        return (
            chain, index.version(key, url: facts.url, variant: facts.variant, digest: facts.digest),
            index.newest(key, url: facts.url, variant: facts.variant)
        )
    }

    /// Makes a known body the newest version again, without a new row or a second copy.
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

    /// Returns the head for a known body.
    ///
    /// Under another entity tag the former head is void.
    private func head(of known: Version, facts: VersionFacts, _ head: [UInt8]?, now: Int) -> StoredHead? {
        guard known.had(etag: facts.etag), let kept = known.head else {
            return head.flatMap { StoredHead($0, memory: heads, now: now) }
        }
        if let head { _ = kept.replace(head, now: now) }
        return kept
    }

    /// Replaces the head of a version with a newer one.
    mutating func keep(_ head: [UInt8], of version: Version, now: Int) {
        guard let kept = version.head, kept.replace(head, now: now) else { return }
        // A version that left the index, or was replaced in it, must not overwrite the present row.
        if index.holds(version) { pending.renew(version) }
    }

    /// Returns the next rank: ranks follow the clock, so that two processes on one store interleave, and
    /// always grow.
    private mutating func nextRank(_ clock: Int64) -> Int64 {
        lastRank = max(lastRank &+ 1, clock)
        return lastRank
    }

    // MARK: Writing

    /// Takes the next batch to write, and adds the versions that share its bodies; see
    /// `PendingWrites.takeBatch`.
    mutating func takeBatch(bytesMax: Int) -> PendingWrites.Batch {
        var batch = pending.takeBatch(bytesMax: bytesMax)
        for place in batch.insertions.indices {
            batch.insertions[place].twins = index.twins(of: batch.insertions[place].version)
        }
        return batch
    }

    // MARK: Expiry

    /// Returns the index to search for expired versions; from now on `earliestExpiry` covers only new
    /// admissions.
    mutating func beginExpiry() -> DictionaryIndex {
        earliestExpiry = .max
        return index
    }

    /// Records the earliest expiry that the search found.
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
        // The former stays pinned: clients that still have its URL may fetch and use it.
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

    /// Releases the pins beyond some limits, those that end first before the others.
    mutating func limitPins(bytesMax: Int, countMax: Int) {
        let ids = Set(pins.beyond(bytesMax: bytesMax, countMax: countMax))
        guard !ids.isEmpty else { return }
        for id in ids { if let version = index.version(row: id) { unpin(version) } }
    }
}
