internal import Dictionaries
internal import Dispatch
internal import HTTP
internal import Primitives
internal import Redis
internal import Storage
internal import Synchronization

/// The parts of a proxy that outlive reloads: the store, the budgets and the caches.
final class SharedParts: Sendable {
    /// The configuration of the start, by which these parts were made.
    let started: Configuration
    let store: DictionaryStore
    let budgets: Budgets
    /// The client of the store that several proxies share, if there is one.
    let redis: RedisClient?
    let upstreams: UpstreamGroups.Shared
    let coding: CodingResources
    let gain: GainSampler
    let linkRegistry: LinkRegistry
    let learned: LearnedDictionaries
    let observer: Observer
    /// The store that this node shares with others; nil for a node of its own.
    let sharedStore: SharedStore?
    /// The routes by which orders to forget are carried out.
    let currentRoutes = Guarded<RouteTable?>(nil)
    let leavingUsers = Guarded(LeavingUsers())
    /// True while the admin switch turns all use, offers and Links off; a start and a reload turn them on.
    let dictionariesOff = Atomic<Bool>(false)
    let loopReminder = Reminder()
    let via = Via()
    let connectionCount = ConnectionCount()
    let ticketKeys = TLSTicketKeys()
    let clientConnections = ClientConnectionCount()
    let clientRates = ClientRates()
    let clientResources: ClientResources
    let places: UpstreamPlaces
    let variants = VariantCounts()
    /// The entity tags that upstreams made weak themselves, by their resources.
    let weakTags = OriginNotes()
    /// The pages whose upstreams give them no Link.
    let linklessPages = OriginNotes()
    let maintenance = DispatchQueue(label: "dictum.maintenance", qos: .utility)
    /// The latest warnings and errors that `report` got.
    let events: RecentEvents
    /// Logs a message for the operator; safe from any thread.
    let report: @Sendable (OperatorEvent) -> Void

    init(
        _ configuration: Configuration, budgets: Budgets, store: DictionaryStore, redis: RedisClient?,
        upstreams: UpstreamGroups.Shared,
        report: @escaping @Sendable (OperatorEvent) -> Void, events: RecentEvents, links: LinkTerms
    ) {
        started = configuration
        self.store = store
        self.budgets = budgets
        self.redis = redis
        places = UpstreamPlaces(UpstreamPlaces.Limits(configuration))
        self.upstreams = upstreams
        self.report = report
        self.events = events
        let worker = BackgroundWorker()
        let deltas = Deltas(
            preparedBytes: budgets[.prepared], cacheBytes: budgets[.deltas],
            verify: configuration.compression.verify, worker: worker)
        coding = CodingResources(
            pool: CompressionPool(width: upstreams.loopCount), memory: MemoryBudget(bytes: budgets[.coding]),
            deltas: deltas, report: report)
        IdleContexts.limit(to: budgets[.contexts])
        clientResources = ClientResources(memory: coding.memory)
        gain = GainSampler(worker: worker, memory: coding.memory, report: report)
        observer = Observer(store: store, coding: coding, configuration, bytesMax: budgets[.observe])
        linkRegistry = LinkRegistry(store: store, worker: worker, terms: links)
        learned = LearnedDictionaries(
            store: store, registry: linkRegistry, worker: worker, memory: coding.memory, report: report)
        let commonKeys = configuration.store.keyFile == nil ? nil : store.keys
        sharedStore = redis.map { [currentRoutes] in
            SharedStore(
                store: store, currentRoutes: currentRoutes, client: $0, commonKeys: commonKeys,
                bytesMax: budgets[.sharing] / 2, report: report)
        }
    }

    func usedBytes(of budget: Budget) -> Int {
        switch budget {
        case .coding: coding.memory.takenBytes
        case .store: store.statistics.budgetBytes
        case .deltas: coding.deltas.statistics.cache.bytes
        case .prepared: coding.deltas.statistics.prepared.bytes
        case .sharing: sharedStore?.waitingBytes ?? 0
        case .contexts: IdleContexts.bytes
        case .observe: observer.memory.takenBytes
        }
    }
}

/// A bounded memory of facts about origins that a later request or 304 does not repeat, as hashes.
///
/// A newer note takes the place of an older one. Safe from any thread.
final class OriginNotes: Sendable {
    private static let slots = 1 << 16
    /// Made for the first note; most origins give no reason for any.
    private let hashes = Guarded<[Int]>([])
    private let isUsed = Atomic<Bool>(false)

    func contains(_ hash: Int) -> Bool {
        isUsed.load(ordering: .relaxed) && hashes.withLock { $0[hash & (Self.slots - 1)] == hash }
    }

    /// Notes a hash, or forgets it unless `isTrue`; while there is nothing to forget, none is made.
    func note(_ hash: @autoclosure () -> Int, _ isTrue: Bool) {
        guard isTrue || isUsed.load(ordering: .relaxed) else { return }
        let hash = hash()
        hashes.withLock { hashes in
            if hashes.isEmpty { hashes = [Int](repeating: 0, count: Self.slots) }
            let slot = hash & (Self.slots - 1)
            if isTrue { hashes[slot] = hash } else if hashes[slot] == hash { hashes[slot] = 0 }
        }
        isUsed.store(true, ordering: .relaxed)
    }
}

/// The member that this process adds to Via (RFC 9110 section 7.6.3), and by which it knows its requests when they return.
///
/// Its pseudonym is random, so that two instances of Dictum in a row are no loop. A class, because requests hold it.
final class Via: Sendable {
    let pseudonym: String
    /// By the raw value of the version in which a request came.
    private let lines: [Headers]

    init(pseudonym: String = "dictum-" + String(UInt32.random(in: .min ... .max) | 1 << 31, radix: 16)) {
        self.pseudonym = pseudonym
        lines = ["1.0", "1.1", "2.0"].map { version in
            var line = Headers()
            line.append(.via, "\(version) \(pseudonym)")
            return line
        }
    }

    func line(receivedBy version: HTTPVersion) -> Headers { lines[version.rawValue] }

    /// Returns true if a request has been forwarded by this process before.
    func isLoop(_ headers: borrowing Headers) -> Bool {
        guard headers.contains(.via) else { return false }
        return headers.values(.via).contains { value in
            value.split(separator: ",").contains { member in
                // `received-protocol RWS received-by [ RWS comment ]`
                member.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.map(String.init)
                    == pseudonym
            }
        }
    }
}
