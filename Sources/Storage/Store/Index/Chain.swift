internal import Dictionaries
internal import Synchronization

/// A chain as its versions share it: its key, its compiled pattern, and its demand.
final class Chain: Sendable {
    /// The number of requests that establish a chain, including the first.
    static let requestsToEstablish = 3

    let key: ChainKey
    // These are small, because there may be as many chains as versions.
    private let rank = Atomic<Int64>(0)
    private let unkept = Atomic<UInt64>(0)
    private let compiled = AtomicLazyReference<Box<URLPattern?>>()
    private let first = AtomicLazyReference<Box<String>>()
    private let queued = Atomic<Int32>(0)
    private let retained = Atomic<Int32>(-1)
    private let indexed = Atomic<Int32>(-1)
    private let wanted = Atomic<UInt32>(0)
    private let pinned = Atomic<UInt32>(0)
    private let freshDelta = Atomic<UInt32>(0)
    private let kept = Atomic<UInt32>(.max)
    private let requests = Atomic<UInt16>(0)
    private let established: Atomic<Bool>
    private let returned = Atomic<Bool>(false)
    private let freshDeltaInherited = Atomic<Bool>(false)
    private let hasURL = Atomic<Bool>(false)

    init(_ key: ChainKey, isEstablished: Bool = true) {
        self.key = key
        established = Atomic(isEstablished)
    }

    /// The compiled `match`; nil if it is invalid, or if the chain is found by its key alone.
    ///
    /// An invalid match comes from a store that was edited by hand; its chain covers nothing. The first
    /// access compiles it, which takes time: never do that while holding a lock.
    private var pattern: URLPattern? {
        if case .personal = key.scope { return nil }
        let pattern = compiled.load() ?? compiled.storeIfNil(Box(try? URLPattern(key.match)))
        return pattern.value
    }

    /// The place in a `DemandQueue`; it is in one at a time, whose owner alone changes it.
    var queuePlace: Int {
        get { Int(queued.load(ordering: .relaxed)) }
        set { queued.store(Int32(clamping: newValue), ordering: .relaxed) }
    }

    /// The place in `Retention`.
    var retentionPlace: Int {
        get { Int(retained.load(ordering: .relaxed)) }
        set { retained.store(Int32(clamping: newValue), ordering: .relaxed) }
    }

    var indexPlace: Int {
        get { Int(indexed.load(ordering: .relaxed)) }
        set { indexed.store(Int32(clamping: newValue), ordering: .relaxed) }
    }

    /// The later of the last demand and the end of the last pin, in seconds since 1970.
    var wantedUntil: Int { max(Int(wanted.load(ordering: .relaxed)), pinnedUntil) }
    /// The end of the last pin of its versions.
    var pinnedUntil: Int { Int(pinned.load(ordering: .relaxed)) }
    var firstRank: Int64 { rank.load(ordering: .relaxed) }

    func want(at second: Int) { wanted.max(Version.seconds(second), ordering: .relaxed) }

    /// Forgets a time in the future.
    func turnBack(to now: Int) { wanted.min(Version.seconds(now), ordering: .relaxed) }

    /// Sets the end of the last pin; only under the lock of the store's state.
    func pin(until second: Int) { pinned.store(Version.seconds(second), ordering: .relaxed) }

    /// Records the rank of its first version; only under the lock of the store's state.
    func begin(rank first: Int64) { rank.store(first, ordering: .relaxed) }

    /// The number of versions that its route keeps, since this process has admitted one; before that, no number.
    var versionsMax: Int {
        get {
            let count = kept.load(ordering: .relaxed)
            return count == .max ? .max : Int(count)
        }
        set { kept.store(UInt32(clamping: newValue), ordering: .relaxed) }
    }

    /// The first URL of its versions; nil if it equals `match`.
    var url: String? { first.load()?.value }

    /// Records the URL of a version, if it is the first.
    func keepURL(_ url: String) {
        if hasURL.load(ordering: .relaxed) || url.isEmpty || url == key.match { return }
        _ = first.storeIfNil(Box(url))
        hasURL.store(true, ordering: .relaxed)
    }

    // MARK: Bodies

    /// Records a body that did not become a version, and returns true if it was also the last one.
    ///
    /// Then several clients get the same body.
    func recordUnkept(_ digest: Digest) -> Bool {
        unkept.exchange(digest.part, ordering: .relaxed) == digest.part
    }

    // MARK: Deltas

    /// An estimate of the size of a delta over a fresh version; nil before the first delta.
    var freshDeltaBytes: Int? { freshDelta.ifKnown }

    /// Updates the estimate with the size of the first delta over a version.
    ///
    /// The estimate follows the smallest sizes: it falls fast and rises slowly. Of two concurrent updates one
    /// may be lost.
    func recordFreshDelta(bytes: Int) {
        let bytes = max(bytes, 1)
        let known = Int(freshDelta.load(ordering: .relaxed))
        let next =
            known == 0
            ? bytes : bytes < known ? known - (known - bytes + 1) / 2 : min(bytes, known + known / 64 + 1)
        freshDelta.store(UInt32(clamping: next), ordering: .relaxed)
    }

    /// True if the estimate was inherited from the chain of the dictionary that the body was coded over.
    var isFreshDeltaInherited: Bool { freshDeltaInherited.load(ordering: .relaxed) }

    /// Inherits the estimate of the chain that the client came from; each personal body has a chain of its
    /// own.
    func inheritFreshDelta(of former: Chain) {
        freshDelta.store(former.freshDelta.load(ordering: .relaxed), ordering: .relaxed)
        freshDeltaInherited.store(true, ordering: .relaxed)
    }

    /// True if a dictionary of this chain may be used for the URL (RFC 9842 section 2.2.2), as far as the
    /// budget goes.
    func covers(_ url: PathAndQuery, within budget: inout MatchBudget) -> Bool {
        pattern?.matches(path: url.path, query: url.query, within: &budget) ?? false
    }

    /// True once the chain is out of probation: it was requested again, or its route is in the configuration.
    var isEstablished: Bool { established.load(ordering: .relaxed) }

    /// Ends the probation; only under the lock of the store's state, which counts the chains.
    func establish() { established.store(true, ordering: .relaxed) }

    /// True once a client has come back to it.
    var hasReturned: Bool { returned.load(ordering: .relaxed) }

    /// Records that a client has come back to it; only under the lock of the store's state, which orders the
    /// chains.
    func noteReturn() { returned.store(true, ordering: .relaxed) }

    /// Counts a request and returns true once there have been enough.
    func countRequest() -> Bool {
        // Only chains in probation count, so the sum cannot overflow.
        Int(requests.wrappingAdd(1, ordering: .relaxed).newValue) >= Self.requestsToEstablish
    }
}

/// A value that is made late, in the form in which an atomic reference takes it.
private final class Box<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
