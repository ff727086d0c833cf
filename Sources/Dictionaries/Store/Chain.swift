internal import Synchronization

/// A chain as the versions in it share it: its name, with the pattern compiled once, and whether it is in demand.
final class Chain: DemandQueueElement {
    /// So many requests establish a chain, the first included.
    static let requestsToEstablish = 3

    let key: ChainKey
    let pattern: URLPattern?
    private let versions = Atomic<Int>(.max)
    private let established: Atomic<Bool>
    private let proven = Atomic<Bool>(false)
    private let requests = Atomic<Int>(0)
    private let queued = Atomic<Int>(0)
    private let retained = Atomic<Int>(-1)
    private let wanted = Atomic<Int>(0)
    private let pinned = Atomic<Int>(0)
    private let rank = Atomic<Int64>(0)
    private let freshDelta = Atomic<Int>(0)
    private let freshDeltaInherited = Atomic<Bool>(false)
    private let unkept = Atomic<UInt64>(0)

    /// Compiles the chain's `match`, which takes time: never call this while holding a lock.
    convenience init(_ key: ChainKey, isEstablished: Bool = true) {
        self.init(key, pattern: Self.pattern(of: key), isEstablished: isEstablished)
    }

    init(_ key: ChainKey, pattern: URLPattern?, isEstablished: Bool) {
        self.key = key
        self.pattern = pattern
        established = Atomic(isEstablished)
    }

    /// The compiled `match`; nil for an invalid one (a store edited by hand), whose chain covers nothing, and for a chain
    /// that is found by its name alone.
    static func pattern(of key: ChainKey) -> URLPattern? {
        if case .personal = key.scope { return nil }
        return try? URLPattern(key.match)
    }

    /// How many versions the last admission here kept; no bound before the first.
    var versionsMax: Int {
        get { versions.load(ordering: .relaxed) }
        set { versions.store(newValue, ordering: .relaxed) }
    }

    var queuePlace: Int {
        get { queued.load(ordering: .relaxed) }
        set { queued.store(newValue, ordering: .relaxed) }
    }

    /// The place in `Retention`; see there.
    var retentionPlace: Int {
        get { retained.load(ordering: .relaxed) }
        set { retained.store(newValue, ordering: .relaxed) }
    }

    /// When a version of it was last wanted, or a Link that names one ends, in seconds since 1970.
    var wantedUntil: Int { max(wanted.load(ordering: .relaxed), pinnedUntil) }
    /// Until when a version of it is named in Links.
    var pinnedUntil: Int { pinned.load(ordering: .relaxed) }
    /// The rank of its first version.
    var firstRank: Int64 { rank.load(ordering: .relaxed) }

    /// Notes that a version of it was wanted.
    func want(at second: Int) { wanted.max(second, ordering: .relaxed) }

    /// Forgets a second that has not come.
    func turnBack(to now: Int) { wanted.min(now, ordering: .relaxed) }

    /// Notes until when a version of it is named; only under the lock of the store's state.
    func pin(until second: Int) { pinned.store(second, ordering: .relaxed) }

    /// Notes its first version; only under the lock of the store's state.
    func begin(with version: Version) { rank.store(version.rank, ordering: .relaxed) }

    // MARK: Bodies

    /// Whether this is the body that was seen last without becoming a version: several clients get it, then.
    func isSeenAgain(_ digest: Digest) -> Bool {
        unkept.exchange(digest.part, ordering: .relaxed) == digest.part
    }

    // MARK: Deltas

    /// About the size of a delta over a version that is hardly older than the body; nil before the first delta.
    var freshDeltaBytes: Int? {
        let bytes = freshDelta.load(ordering: .relaxed)
        return bytes > 0 ? bytes : nil
    }

    /// Notes the size of the first delta over a version of the chain.
    ///
    /// The estimate follows the smallest few: it falls fast and rises slowly. Two that are noted at once may lose one.
    func noteFreshDelta(bytes: Int) {
        let bytes = max(bytes, 1)
        let known = freshDelta.load(ordering: .relaxed)
        let next =
            known == 0
            ? bytes : bytes < known ? known - (known - bytes + 1) / 2 : min(bytes, known + known / 64 + 1)
        freshDelta.store(next, ordering: .relaxed)
    }

    /// Whether the estimate comes from the chain of the dictionary that the body was coded over.
    var isFreshDeltaInherited: Bool { freshDeltaInherited.load(ordering: .relaxed) }

    /// Takes the estimate over of the chain whose client this one goes on with: each personal body has a chain of its own.
    func inheritFreshDelta(of former: Chain) {
        freshDelta.store(former.freshDelta.load(ordering: .relaxed), ordering: .relaxed)
        freshDeltaInherited.store(true, ordering: .relaxed)
    }

    /// Whether a dictionary of this chain may be used for the URL (RFC 9842 section 2.2.2), as far as the budget goes.
    func covers(path: String, query: String?, within budget: inout MatchBudget) -> Bool {
        pattern?.matches(path: path, query: query, within: &budget) ?? false
    }

    /// Whether somebody has asked for it again, or its route is written: it is no longer in probation.
    var isEstablished: Bool { established.load(ordering: .relaxed) }

    /// Ends the probation; only under the lock of the store's state, which counts the chains.
    func establish() { established.store(true, ordering: .relaxed) }

    /// Whether a client has come back to it.
    var isProven: Bool { proven.load(ordering: .relaxed) }

    /// Notes that a client has come back to it; only under the lock of the store's state, which orders the chains.
    func prove() { proven.store(true, ordering: .relaxed) }

    /// Counts a request that was answered; whether there have been enough.
    func countRequest() -> Bool {
        requests.wrappingAdd(1, ordering: .relaxed).newValue >= Self.requestsToEstablish
    }
}
