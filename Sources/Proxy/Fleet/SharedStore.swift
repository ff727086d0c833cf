internal import Dictionaries
internal import Dispatch
internal import HTTP
internal import Primitives
internal import Redis
internal import Storage

/// The store that several nodes share over one Redis or Valkey: each announces its versions, and gets the bodies of
/// others when a client names them.
///
/// The local store stays the first level: nothing here is on the way of a request whose dictionary is known. Everything
/// is named by its content, so nodes need no locks, no leader and no order. Safe from any thread.
final class SharedStore: Sendable {
    /// The parts that requests and announcements change.
    struct State: Sendable {
        var index = SharedIndex()
        var questions = SharedQuestions()
        var promises = SharedPromises()
        /// The requests that wait for versions.
        var flights = Flights<SharedName, Completion>(worksMax: 256, waitersMax: 256)
        /// The versions that are on their way though no request waits any more, so that nobody asks for them again: at most as
        /// many as the client's queue has commands.
        var late: Set<SharedName> = []
        /// The rows of this node's sealed versions, whose names do not say where they are: for as many as a
        /// node knows announcements of, at least.
        ///
        /// A version that is forgotten counts as one that this node does not have: it is not written again for others, and
        /// what they tell of its holders does not reach it.
        var sealedRows = FadingTable<SharedName, Int64>(countMax: 1 << 18)
        /// True while the announcements in the shared store have been read to their end.
        var hasCaughtUp = false
        /// True while every announcement is known.
        var isComplete: Bool { hasCaughtUp && !index.isIncomplete }

        /// Returns why the shared store is not to be asked for a version; nil, and counts the question, if it is.
        fileprivate mutating func refusal(
            of name: SharedName, for client: UInt128, now: UInt64
        ) -> SharedLookUp? {
            if late.contains(name) { return .late }
            guard flights.hasRoom else { return .limited }
            return questions.judge(
                name, client: client, isAnnounced: index.contains(name), isComplete: isComplete, now: now)
        }
    }

    /// Called with the version, on a queue of the shared store or on a loop; nil if it could not be had in time.
    typealias Completion = @Sendable (Storage.Version?) -> Void

    let store: DictionaryStore
    let client: RedisClient
    let names: SharedKeys
    /// The key that all nodes have in common; without one only public versions are shared.
    let commonKeys: StoreKeys?
    let state = Guarded(State())
    let counters = Guarded(SharedStoreStatistics())
    let report: @Sendable (OperatorEvent) -> Void
    /// Large replies that requests wait for are unpacked and verified here, small ones on the loop of their request.
    let replies = DispatchQueue(label: "dictum.shared.replies", qos: .userInitiated)
    /// The orders of other nodes are carried out here, since they wait for the disk.
    let purging = DispatchQueue(label: "dictum.shared.purging", qos: .utility)
    /// This queue reads bodies and names from the disk before they are written to the shared store.
    let reading = DispatchQueue(label: "dictum.shared.read", qos: .utility)
    /// Everything else happens here.
    let work = DispatchQueue(label: "dictum.shared.work", qos: .utility)
    /// The name of this node, which changes at each start.
    let node: [UInt8]
    /// The time of the start, in milliseconds since 1970.
    let startedAt = SystemClock.unixMilliseconds
    /// The versions that wait to be written to the shared store.
    let publications: Guarded<Publications>
    let waitingPromises = Guarded(WaitingPromises())
    let following = Guarded(Following())
    let superseded = Guarded(Superseded())
    let currentRoutes: Guarded<RouteTable?>
    let purges = Guarded((former: PurgeList(countMax: 1024), waiting: PurgeList(countMax: .max)))
    let waitingOrders = Guarded(WaitingOrders())
    /// The keys to be removed from the shared store, in batches, which it has not confirmed.
    let waitingDeletions = Guarded<[[[UInt8]]]>([])
    let corruptReminder = Reminder()

    /// The time for which the shared store keeps a version that no node renews.
    static let lifeSeconds = 7 * 86_400
    /// The same for a version of a chain in probation.
    static let probationSeconds = 3600

    /// - Parameter bytesMax: The bound on the bodies that wait to be written.
    init(
        store: DictionaryStore, currentRoutes: Guarded<RouteTable?>, client: RedisClient,
        commonKeys: StoreKeys?, bytesMax: Int, report: @escaping @Sendable (OperatorEvent) -> Void
    ) {
        self.currentRoutes = currentRoutes
        self.store = store
        self.client = client
        self.commonKeys = commonKeys
        self.report = report
        publications = Guarded(Publications(bytesMax: bytesMax))
        names = SharedKeys(prefix: client.settings.keyPrefix, keys: commonKeys)
        node = (0..<8).map { _ in .random(in: 0...255) }
    }

    // MARK: Questions of requests

    /// Returns the name of a public version that other nodes may have, if it is worth a question.
    ///
    /// If announcements are missing, or too many chains have the body to examine all of them, it returns the name of the
    /// version of `ownChain`.
    func find(
        _ digest: Digest, authority: String, url: PathAndQuery, ownChain: @autoclosure () -> ChainKey?
    ) -> SharedName? {
        let (candidates, isComplete) = state.withLock { state in
            (state.index.candidates(digest, authority: authority), state.isComplete)
        }
        if let found = candidates.first(covering: url) { return found }
        guard !isComplete || candidates.isCut, let chain = ownChain() else {
            counters.withLock { $0.count(.unannounced) }
            return nil
        }
        return SharedName(publicChain: chain, digest: digest)
    }

    /// Returns the name of a version of a chain that needs a proof, which the client has given; nil without a common key.
    func name(of digest: Digest, in chain: ChainKey) -> SharedName? {
        SharedName(chain: chain, digest: chain.scope.name(of: digest, commonKeys), keys: commonKeys)
    }

    /// Returns true if another node has made a body a version of a chain for several clients.
    func hasVersion(_ digest: Digest, in chain: ChainKey) -> Bool {
        switch chain.scope {
        case .public: state.withLock { $0.index.contains(digest, in: chain) }
        case .unlisted:
            name(of: digest, in: chain).map { name in state.withLock { $0.index.contains(name) } } ?? false
        // Nobody finds these but by an id or an identity.
        case .private, .personal: false
        }
    }

    /// Asks for a version, and calls `completion` once; returns false, without a call, if it is not asked.
    ///
    /// A version in several parts takes a second command, whose deadline adds to that of the first.
    func ask(
        _ name: SharedName, for client: UInt128, on core: EventLoop.Core, _ completion: @escaping Completion
    ) -> Bool {
        guard self.client.isAvailable, let key = names.key(of: name) else {
            counters.withLock { $0.count(.unavailable) }
            return false
        }
        let now = UInt64(SystemClock.monotonicNanoseconds)
        let (turn, refusal): (Flights<SharedName, Completion>.Turn, SharedLookUp) = state.withLock { state in
            if !state.flights.isUnderWay(name), let refusal = state.refusal(of: name, for: client, now: now) {
                return (.refused, refusal)
            }
            // The second counts only if the first is a refusal.
            return (state.flights.join(name, completion), .limited)
        }
        switch turn {
        case .waits: break
        case .refused: counters.withLock { $0.count(refusal) }
        case .first: get(name, key: key, .request, on: core)
        }
        return turn != .refused
    }

    /// Ends a question.
    func finish(_ name: SharedName, _ version: Storage.Version?) {
        let requests = state.withLock { $0.flights.land(name) }
        for completion in requests { completion(version) }
    }
}

/// The counts of a shared store since the start of this node.
struct SharedStoreStatistics: Sendable {
    private(set) var lookUps: [SharedLookUp: Int] = [:]
    var fetches: [SharedLookUp: Int] = [:]
    /// The versions that were written, and those that other nodes had written already.
    var published = 0
    var alreadyThere = 0
    var publishFailures = 0
    /// The gauge of known versions, which a scrape sets.
    var known = 0

    mutating func count(_ result: SharedLookUp) { lookUps[result, default: 0] += 1 }
}

extension SharedStoreStatistics: MetricSource {
    static var readings: [MetricReading<SharedStoreStatistics>] {
        [
            .each(
                "dictum_shared_store_lookups_total", by: "result",
                "Dictionaries unknown to this node that requests named, by what the shared store said."
            ) { statistics in SharedLookUp.allCases.map { ($0.rawValue, statistics.lookUps[$0] ?? 0) } },
            .each(
                "dictum_shared_store_fetches_total", by: "result",
                "Versions of other nodes that were fetched in advance, by result."
            ) { statistics in SharedLookUp.allCases.map { ($0.rawValue, statistics.fetches[$0] ?? 0) } },
            .each(
                "dictum_shared_store_publications_total", by: "result",
                "Versions that this node wrote to the shared store, found there, or could not write."
            ) {
                [("written", $0.published), ("known", $0.alreadyThere), ("failed", $0.publishFailures)]
            },
            .one(
                "dictum_shared_store_known_versions", kind: .gauge,
                "Versions of all nodes that this node knows of."
            ) { $0.known },
        ]
    }
}

extension SharedStore {
    /// The bytes on their way to the shared store.
    var waitingBytes: Int { publications.withLock { $0.bytes } + client.waitingBytes }

    var statistics: SharedStoreStatistics {
        var statistics = counters.withLock { $0 }
        statistics.known = state.withLock { $0.index.count }
        statistics.publishFailures += publications.withLock { $0.dropped }
        return statistics
    }
}
