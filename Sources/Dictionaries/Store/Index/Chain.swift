internal import Synchronization

/// A chain as the versions in it share it: its name, with the pattern compiled once, and whether it is in demand.
final class Chain: DemandQueueElement {
    /// So many requests establish a chain, the first included.
    static let requestsToEstablish = 3

    let key: ChainKey
    // Small ones: there may be as many chains as versions.
    private let rank = Atomic<Int64>(0)
    private let unkept = Atomic<UInt64>(0)
    private let compiled = AtomicLazyReference<Pattern>()
    private let first = AtomicLazyReference<Text>()
    private let queued = Atomic<Int32>(0)
    private let retained = Atomic<Int32>(-1)
    private let indexed = Atomic<Int32>(-1)
    private let wanted = Atomic<UInt32>(0)
    private let pinned = Atomic<UInt32>(0)
    private let freshDelta = Atomic<UInt32>(0)
    private let requests = Atomic<UInt16>(0)
    private let established: Atomic<Bool>
    private let proven = Atomic<Bool>(false)
    private let freshDeltaInherited = Atomic<Bool>(false)
    private let hasURL = Atomic<Bool>(false)

    init(_ key: ChainKey, isEstablished: Bool = true) {
        self.key = key
        established = Atomic(isEstablished)
    }

    /// The compiled `match`; nil for an invalid one (a store edited by hand), whose chain covers nothing, and for a chain
    /// that is found by its name alone.
    ///
    /// Compiled when it is asked for the first time, which takes time: never while holding a lock.
    private var pattern: URLPattern? {
        if case .personal = key.scope { return nil }
        let pattern = compiled.load() ?? compiled.storeIfNil(Pattern(try? URLPattern(key.match)))
        return pattern.pattern
    }

    private final class Pattern: Sendable {
        let pattern: URLPattern?
        init(_ pattern: URLPattern?) { self.pattern = pattern }
    }

    var queuePlace: Int {
        get { Int(queued.load(ordering: .relaxed)) }
        set { queued.store(Int32(clamping: newValue), ordering: .relaxed) }
    }

    /// The place in `Retention`; see there.
    var retentionPlace: Int {
        get { Int(retained.load(ordering: .relaxed)) }
        set { retained.store(Int32(clamping: newValue), ordering: .relaxed) }
    }

    /// The place in the index that it was given last.
    var indexPlace: Int {
        get { Int(indexed.load(ordering: .relaxed)) }
        set { indexed.store(Int32(clamping: newValue), ordering: .relaxed) }
    }

    /// When a version of it was last wanted, or a Link that names one ends, in seconds since 1970.
    var wantedUntil: Int { max(Int(wanted.load(ordering: .relaxed)), pinnedUntil) }
    /// Until when a version of it is named in Links.
    var pinnedUntil: Int { Int(pinned.load(ordering: .relaxed)) }
    /// The rank of its first version.
    var firstRank: Int64 { rank.load(ordering: .relaxed) }

    /// Notes that a version of it was wanted.
    func want(at second: Int) { wanted.max(Version.seconds(second), ordering: .relaxed) }

    /// Forgets a second that has not come.
    func turnBack(to now: Int) { wanted.min(Version.seconds(now), ordering: .relaxed) }

    /// Notes until when a version of it is named; only under the lock of the store's state.
    func pin(until second: Int) { pinned.store(Version.seconds(second), ordering: .relaxed) }

    /// Notes its first version; only under the lock of the store's state.
    func begin(with version: Version) { rank.store(version.rank, ordering: .relaxed) }

    /// The first URL of its versions, unless `match` is one and says the same.
    var url: String? { first.load()?.text }

    /// Notes the URL of a version.
    func noteURL(_ url: String) {
        if hasURL.load(ordering: .relaxed) || url.isEmpty || url == key.match { return }
        _ = first.storeIfNil(Text(url))
        hasURL.store(true, ordering: .relaxed)
    }

    private final class Text: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    // MARK: Bodies

    /// Whether this is the body that was seen last without becoming a version: several clients get it, then.
    func isSeenAgain(_ digest: Digest) -> Bool {
        unkept.exchange(digest.part, ordering: .relaxed) == digest.part
    }

    // MARK: Deltas

    /// About the size of a delta over a version that is hardly older than the body; nil before the first delta.
    var freshDeltaBytes: Int? {
        let bytes = Int(freshDelta.load(ordering: .relaxed))
        return bytes > 0 ? bytes : nil
    }

    /// Notes the size of the first delta over a version of the chain.
    ///
    /// The estimate follows the smallest few: it falls fast and rises slowly. Two that are noted at once may lose one.
    func noteFreshDelta(bytes: Int) {
        let bytes = max(bytes, 1)
        let known = Int(freshDelta.load(ordering: .relaxed))
        let next =
            known == 0
            ? bytes : bytes < known ? known - (known - bytes + 1) / 2 : min(bytes, known + known / 64 + 1)
        freshDelta.store(UInt32(clamping: next), ordering: .relaxed)
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
        // Not counted on for ever: only until it is established.
        Int(requests.wrappingAdd(1, ordering: .relaxed).newValue) >= Self.requestsToEstablish
    }
}
