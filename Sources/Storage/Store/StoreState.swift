internal import Dictionaries

/// The index and its pending writes: the state by which admissions and evictions are decided.
///
/// It performs no I/O and reads no clock; the store keeps it behind its lock. It cannot be copied: all readers share its
/// index, and versions and chains store their places in its orders of eviction.
struct StoreState: ~Copyable, Sendable {
    struct Admitted {
        let version: Version
        /// True if the version waits to be written, with a pin on its body.
        let isNew: Bool
        let evicted: Evicted
    }

    struct Evicted {
        var versions: [(version: Version, reason: StoreStatistics.Eviction)] = []
        /// The bodies that lose a pin, because their versions were evicted before they were written.
        var unpinned: [BodyName] = []
    }

    let limits: StoreLimits
    /// The index, which all readers share; only this type and its extensions change it.
    var index: DictionaryIndex
    var pending: PendingWrites
    var pins = Pins()
    let heads: HeadMemory
    /// A second before which no version expires.
    var earliestExpiry = Int.max
    var lastRank: Int64 = 0
    var chainsInProbation = 0
    /// The bytes on disk of versions in probation, estimated from above.
    var bytesInProbation = 0
    /// True if there were ever chains in probation, for which a share is then reserved.
    var hasProbation = false
    var order = ChainOrder()
    var retention = Retention()
    var privateOrder = PrivateOrder()
    var authorities = Authorities()
    /// The latest purges, up to their time.
    var purges = PurgeList()
    /// The changes of holder counts for other nodes; nil if there are none.
    var demandLog: DemandLog?

    init(
        limits: StoreLimits = StoreLimits(), heads: HeadMemory = .none,
        inUseMax: Int = DictionaryIndex.inUseDefault
    ) {
        index = DictionaryIndex(inUseMax: inUseMax)
        self.limits = limits
        self.heads = heads
        pending = PendingWrites(borrowedBytesMax: limits.borrowedBytes)
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
        let (existing, known, newest) = present(facts, in: key)
        let chain = existing ?? Chain(key, isEstablished: !policy.startsInProbation)
        if existing == nil, case .personal = key.scope, let former {
            chain.inheritFreshDelta(of: former.chain)
        }
        let version: Version
        var isNew = false
        if let known {
            version = returned(known, newest: newest, facts: facts, head: head, now: now, clock: clock)
        } else {
            newest?.head?.clear()
            let rank = nextRank(clock)
            version = Version(
                facts, id: Version.row(rank), rank: rank, chain: chain, VersionState(admittedAt: now),
                rare: RareState(network: policy.network),
                head: head.flatMap { StoredHead($0, memory: heads, now: now) })
            insert(version)
            pending.insert(version, body: body)
            isNew = true
        }
        if isOffered { offered(version, over: former, now: now) }
        if !chain.isEstablished, chain.countRequest() || !policy.startsInProbation { establish(version) }
        earliestExpiry = min(earliestExpiry, version.expiry)
        chain.versionsMax = policy.versions
        var evicted = Evicted()
        evictSurplus(beside: version, max: policy.versions, now: now, into: &evicted)
        evictBeyondLimits(now: now, into: &evicted)
        return Admitted(version: version, isNew: isNew, evicted: evicted)
    }

    /// Adds a version that another node admitted at the time that its rank says; as many of its chain stay as this node's
    /// route keeps.
    ///
    /// It is borrowed: in memory only, until a second request wants it. Returns the version of the same body and chain if
    /// there is one.
    mutating func adopt(
        _ facts: VersionFacts, body: Body, chain key: ChainKey, rank: Int64, holders: Int, now: Int
    ) -> Admitted {
        if let known = index.version(key, digest: facts.digest) {
            return Admitted(version: known, isNew: false, evicted: Evicted())
        }
        let chain = index.chain(key) ?? Chain(key)
        var state = VersionState(admittedAt: now)
        state.admittedAt = UInt32(clamping: rank / 1_000_000)
        state.lastOffered = state.lastWanted
        state.hold(UInt32(clamping: holders), hasReturned: true)
        // Another node chooses the rank, and may choose one for many, which has few rows.
        var row = Version.row(rank)
        while index.version(row: row) != nil { row = .random(in: 1 ... .max) }
        let version = Version(facts, id: row, rank: rank, chain: chain, state)
        insert(version)
        let gone = pending.borrow(version, body: body)
        if !chain.isEstablished { establish(version) }
        earliestExpiry = min(earliestExpiry, version.expiry)
        var evicted = Evicted()
        remove(gone.compactMap { index.version(row: $0) }, reason: .unused, into: &evicted)
        evictSurplus(beside: version, max: chain.versionsMax, now: now, into: &evicted)
        evictBeyondLimits(now: now, into: &evicted)
        return Admitted(version: version, isNew: true, evicted: evicted)
    }

    /// Returns a chain, its version with these facts, and the newest version of their URL and variant.
    private func present(_ facts: VersionFacts, in key: ChainKey) -> (Chain?, Version?, newest: Version?) {
        guard let chain = index.chain(key) else { return (nil, nil, nil) }
        return (
            chain, index.version(facts.key(in: key), digest: facts.digest), index.newest(facts.key(in: key))
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
        known.wasWanted(at: now)
        let version = Version(
            facts, id: known.id, rank: nextRank(clock), chain: known.chain, known.counters.state,
            rare: known.counters.rare, head: self.head(of: known, facts: facts, head, now: now))
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

    /// Takes the next batch to write, and adds what the index knows: the versions that share its bodies, the
    /// holder counts and the promised ids; see `PendingWrites.takeBatch`.
    mutating func takeBatch(bytesMax: Int) -> PendingWrites.Batch {
        var batch = pending.takeBatch(bytesMax: bytesMax)
        for place in batch.insertions.indices {
            batch.insertions[place].siblings = index.siblings(of: batch.insertions[place].version)
            batch.insertions[place].promises = index.promises(of: batch.insertions[place].version)
        }
        for (id, change) in batch.changes where change.demand != nil || change.promises != nil {
            let version = index.version(row: id)
            if change.demand != nil { batch.changes[id]?.demand = version?.counters.state }
            if change.promises != nil { batch.changes[id]?.promises = version.map { index.promises(of: $0) } }
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

    mutating func endExpiry(earliest: Int) {
        earliestExpiry = min(earliestExpiry, earliest)
    }

    // MARK: Proofs

    mutating func provePublic(_ version: Version) {
        guard version.chainKey.scope == .public, let known = index.same(as: version), !known.isProvenPublic
        else { return }
        known.isProvenPublic = true
        pending.provePublic(known.id)
    }

    // MARK: Names

    /// Pins a version as the named one of its chain and variant; see `StoreDemand.nameInLinks`.
    mutating func nameInLinks(
        _ version: Version, replacing former: Version?, until: Int, now: Int
    ) -> Bool {
        guard until > now, version.chainKey.scope == .public,
            let known = index.same(as: version), until > known.pinnedUntil
        else { return false }
        let named = index.named(version.chainKey, variant: version.variant, now: now)
        if let named, named.id != former?.id { return false }
        pins.prune(now: now)
        let isPinned = pins.contains(known.id)
        guard pins.bytes + (isPinned ? 0 : Pins.cost(of: known)) <= limits.pins.bytes,
            pins.count - (isPinned ? 1 : 0) < limits.pins.count
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

    /// Releases the pins beyond their limits, those that end first before the others.
    mutating func limitPins() {
        let ids = Set(pins.beyond(limits.pins))
        guard !ids.isEmpty else { return }
        for id in ids { if let version = index.version(row: id) { unpin(version) } }
    }
}

/// The limits of an index, as shares of the store's settings.
struct StoreLimits: Sendable {
    let chains: Int
    /// The share of chains in probation: a fifth.
    let chainsInProbation: Int
    /// The share of chains and bytes for authorities without a returned client: a twentieth.
    let chainsWithoutReturn: Int
    let bytesWithoutReturn: Int
    /// The share of bytes for versions of chains in probation: a fifth.
    let bytesInProbation: Int
    /// The share of memory for versions of other nodes that are not on disk: an eighth.
    let borrowedBytes: Int
    /// The share of versions that Links name: half of chains and bytes, so that new versions always have room.
    let pins: Pins.Limits

    /// Divides the settings; by default there are no limits.
    init(chains: Int = .max, bytes: Int = .max, memory: Int = .max) {
        borrowedBytes = memory / 8
        pins = Pins.Limits(bytes: bytes / 2, count: max(1, chains / 2))
        self.chains = max(chains, 1)
        chainsInProbation = chains / 5
        chainsWithoutReturn = max(1, chains / 20)
        bytesWithoutReturn = bytes / 20
        bytesInProbation = bytes / 5
    }
}
