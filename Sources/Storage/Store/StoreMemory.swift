internal import Dictionaries
internal import Primitives
internal import Synchronization

/// The part of a store that needs no disk: the index, the bodies in memory, and all decisions about them.
///
/// Safe from any thread. The façade, the writer and the loader share it.
final class StoreMemory: Sendable {
    let configuration: StoreConfiguration
    let reports: StoreReports
    let counters = Guarded(StoreStatistics())
    /// The index, which all readers share.
    let index: DictionaryIndex
    /// The state is locked before `hot` if both are needed.
    let state: Guarded<StoreState>
    let hot: Guarded<HotBodies>
    let heads: HeadMemory
    let budget: AdmissionBudget
    /// True once a hand-over has begun: no new body is admitted.
    let isLeaving = Atomic<Bool>(false)
    /// The receiver of new versions, if the store is shared with other nodes.
    let listener = AtomicLazyReference<StoreListener>()
    private let currency: Guarded<CurrencyRule>
    private let latestSecond = Atomic<Int>(0)

    private static let headShare = 16
    /// Evictions work in groups of this size, so that an admission on an event loop never waits long for the lock.
    static let groupCount = 64

    init(_ configuration: StoreConfiguration) {
        self.configuration = configuration
        reports = StoreReports(log: configuration.log)
        currency = Guarded(CurrencyRule(isCurrent: configuration.isCurrent))
        hot = Guarded(HotBodies(bytesMax: configuration.memoryBytes))
        // A small store is written in small batches, and room is made for each.
        budget = AdmissionBudget(
            hot: hot, bytesPerSecond: configuration.writeBytesPerSecond,
            burstBytes: configuration.maxBytes / 4, counters: counters)
        heads = HeadMemory(bytesMax: configuration.memoryBytes / Self.headShare)
        let limits = StoreLimits(
            chains: configuration.maxChains, bytes: configuration.maxBytes, memory: configuration.memoryBytes)
        let empty = StoreState(limits: limits, heads: heads, inUseMax: configuration.versionsInUseMax)
        index = empty.index
        state = Guarded(empty)
    }

    // MARK: Time

    /// The latest second that the store was told, for decisions that are made without a clock.
    var now: Int { latestSecond.load(ordering: .relaxed) }

    func advance(to now: Int) { latestSecond.max(now, ordering: .relaxed) }

    /// Moves the latest second back, after the clock was ahead.
    func turnBack(to now: Int) { latestSecond.store(now, ordering: .relaxed) }

    // MARK: Bodies

    /// The size above which a body is unpacked on the loader's queue, and not by its caller.
    private static let unpackedAtOnceMax = 1 << 20

    func hotBody(of version: Version) -> Body? {
        let name = version.bodyName
        let (whole, packed) = hot.withLock { hot in
            let whole = hot.body(name)
            return (whole, whole == nil ? hot.packed(name) : nil)
        }
        if let whole { return whole }
        guard let packed, packed.count <= Self.unpackedAtOnceMax else { return nil }
        return unpack(packed, as: name)
    }

    /// Unpacks a body that is in memory, and keeps it whole as long as there is room.
    func unpack(_ packed: PackedBody, as name: BodyName) -> Body? {
        guard let body = try? packed.unpacked() else {
            // The frame in memory is damaged; the one on disk may not be.
            hot.withLock { $0.removePacked(name) }
            return nil
        }
        hot.withLock { $0.keep(body, as: name) }
        return body
    }

    /// Takes pins back from bodies.
    func unpin(_ names: [BodyName]) {
        guard !names.isEmpty else { return }
        hot.withLock { hot in
            for name in names { hot.unpin(name) }
        }
    }

    // MARK: Eviction

    /// Removes versions from the index, for every reader at once, and queues their removal from disk.
    ///
    /// Returns the number of versions that were still there.
    func evict(_ versions: [Version], reason: StoreStatistics.Eviction) -> Int {
        versions.pieces(of: Self.groupCount).reduce(0) { count, group in
            count + evict { $0.remove(group, reason: reason, into: &$1) }
        }
    }

    /// Lets the state evict versions, counts them and makes their bodies the first to leave memory.
    ///
    /// Returns the number of evicted versions.
    @discardableResult
    func evict(_ change: (inout StoreState, inout StoreState.Evicted) -> Void) -> Int {
        let evicted = state.withLock { state in
            var evicted = StoreState.Evicted()
            change(&state, &evicted)
            return evicted
        }
        release(evicted)
        return evicted.versions.count
    }

    /// Counts evicted versions and makes their bodies the first to leave memory.
    func release(_ evicted: StoreState.Evicted) {
        guard !evicted.versions.isEmpty else { return }
        hot.withLock { hot in
            // First of all, as unpinning frees bodies from that end of the order.
            for (version, _) in evicted.versions { hot.yield(version.bodyName) }
            for name in evicted.unpinned { hot.unpin(name) }
        }
        counters.withLock { counters in
            for (_, reason) in evicted.versions { counters.evictions[reason, default: 0] += 1 }
        }
    }

    /// Evicts until an index that was read from disk is within its limits; admissions keep it there.
    func evictBeyondLimits() {
        while evict({ $0.evictBeyondLimits(now: now, into: &$1) }) > 0 {}
    }

    /// Evicts private versions beyond their own budget, some at a time.
    func evictPrivateBeyondBudget() {
        let bytesMax = configuration.privateBytesMax
        var isMore = true
        while isMore { evict { isMore = $0.evictPrivate(beyond: bytesMax, into: &$1) } }
    }

    /// Bounds the bodies that wait for a failing disk to half of the memory.
    func evictUnwrittenBeyondMemory() {
        let names = Set(hot.withLock { $0.pinnedBeyond($0.bytesMax / 2) })
        guard !names.isEmpty else { return }
        let waiting = state.withLock { $0.pending.insertions.values.map(\.version) }
        _ = evict(waiting.filter { names.contains($0.bodyName) }, reason: .memory)
    }

    // MARK: Currency

    /// Uses only versions that are current by this rule from now on; see `StoreUpkeep.restrict`.
    func setCurrency(_ isCurrent: @escaping @Sendable (Version) -> Bool) {
        currency.withLock { $0 = CurrencyRule(isCurrent: isCurrent, number: $0.number + 1) }
    }

    /// Publishes a version of a body, which `make` makes under the lock of the state; nil, and no pin stays, if it makes none.
    func publish(
        _ body: Body, as name: BodyName, from slot: AdmissionSlot?,
        _ make: (inout StoreState, Body) -> StoreState.Admitted?
    ) -> StoreState.Admitted? {
        // Pinned before the version is published, so that every reader of the version finds the body.
        let reserved = slot?.takeMemory() ?? 0
        let kept = hot.withLock { hot in
            hot.release(reserved)
            return hot.pin(body, as: name)
        }
        guard let admitted = state.withLock({ make(&$0, kept) }) else {
            hot.withLock { hot in
                hot.yield(name)
                hot.unpin(name)
            }
            return nil
        }
        judge(admitted.version)
        if !admitted.isNew { unpin([name]) }
        release(admitted.evicted)
        return admitted
    }

    var currencyRule: CurrencyRule { currency.withLock { $0 } }

    /// Applies the present rule to every version, unless it is the rule with this number.
    ///
    /// If the rule changes meanwhile, the new one is applied too. URLs that are on disk only are read from `database`.
    func judgeAll(unless number: Int? = nil, urlsFrom database: StoreDatabase?) {
        judge(unless: number) { index, rule in
            let unsure = index.judge(rule.isCurrent)
            if !unsure.isEmpty { judge(unsure, in: index, by: rule, urlsFrom: database) }
        }
    }

    /// Applies the present rule to a version in the index.
    func judge(_ version: Version) {
        judge { index, rule in index.judge(version, rule.isCurrent) }
    }

    private func judge(unless number: Int? = nil, _ apply: (DictionaryIndex, CurrencyRule) -> Void) {
        var judged = number
        while case let rule = currencyRule, rule.number != judged {
            apply(index, rule)
            judged = rule.number
        }
    }

    /// Applies a rule to versions whose URLs are on disk only.
    ///
    /// Versions whose URL cannot be read are not used.
    private func judge(
        _ unsure: Set<Int64>, in index: DictionaryIndex, by rule: CurrencyRule,
        urlsFrom database: StoreDatabase?
    ) {
        var left = unsure
        try? database?.forEachURL { row, url in
            if left.remove(row) != nil { index.judge(row: row, url: url, rule.isCurrent) }
        }
        for row in left {
            // A version written after the rows were read knows its URL.
            if let version = index.version(row: row) {
                index.judge(version) { $0.hasOwnURL && rule.isCurrent($0) }
            }
        }
    }

    func reportUnused() {
        let (count, all) = index.unusedCount()
        guard count > 0 else { return }
        reports.log(
            .info(
                "\(count) of \(all) versions in \(configuration.path) belong to no present route: they are "
                    + "not used, and are removed when their max_age ends or space is needed"))
    }
}

/// The rule that says which versions are current under the present routes.
///
/// It is not the bare closure: a generic value that is handed out `inout` wraps a closure again each time. After
/// 10,000 admissions, the next would go through 20,000 calls.
struct CurrencyRule: Sendable {
    let isCurrent: @Sendable (Version) -> Bool
    /// The number of the rule; each new rule gets the next one.
    var number = 0
}
