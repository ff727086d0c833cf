internal import Synchronization

/// A chain as the versions in it share it: its name, with the pattern compiled once, and whether it is in demand.
final class Chain: DemandQueueElement {
    /// So many requests establish a chain, the first included.
    static let requestsToEstablish = 3

    let key: ChainKey
    let pattern: URLPattern?
    private let versions = Atomic<Int>(.max)
    private let established: Atomic<Bool>
    private let requests = Atomic<Int>(0)
    private let queued = Atomic<Int>(0)

    /// Compiles the chain's `match`, which takes time: never call this while holding a lock.
    convenience init(_ key: ChainKey, isEstablished: Bool = true) {
        self.init(key, pattern: Self.pattern(of: key), isEstablished: isEstablished)
    }

    init(_ key: ChainKey, pattern: URLPattern?, isEstablished: Bool) {
        self.key = key
        self.pattern = pattern
        established = Atomic(isEstablished)
    }

    /// The compiled `match`; nil for an invalid one (a store edited by hand), whose chain covers nothing.
    static func pattern(of key: ChainKey) -> URLPattern? { try? URLPattern(key.match) }

    /// How many versions the last admission here kept; no bound before the first.
    var versionsMax: Int {
        get { versions.load(ordering: .relaxed) }
        set { versions.store(newValue, ordering: .relaxed) }
    }

    var queuePlace: Int {
        get { queued.load(ordering: .relaxed) }
        set { queued.store(newValue, ordering: .relaxed) }
    }

    /// Whether a dictionary of this chain may be used for the URL (RFC 9842 section 2.2.2), as far as the budget goes.
    func covers(path: String, query: String?, within budget: inout MatchBudget) -> Bool {
        pattern?.matches(path: path, query: query, within: &budget) ?? false
    }

    /// Whether somebody has asked for it again, or its route is written: it is no longer in probation.
    var isEstablished: Bool { established.load(ordering: .relaxed) }

    /// Ends the probation; only under the lock of the store's state, which counts the chains.
    func establish() { established.store(true, ordering: .relaxed) }

    /// Counts a request that was answered; whether there have been enough.
    func countRequest() -> Bool {
        requests.wrappingAdd(1, ordering: .relaxed).newValue >= Self.requestsToEstablish
    }
}
