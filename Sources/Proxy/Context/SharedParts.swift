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
    /// What the upstreams of all configurations have in common.
    let upstreams: UpstreamGroups.Shared
    let coding: CodingResources
    let gain: GainSampler
    let linkRegistry: LinkRegistry
    let learned: LearnedDictionaries
    /// Measures what dictionaries would save on observed routes.
    let observer: Observer
    /// The memory that this node shares with others; nil for a node of its own.
    let sharedMemory: SharedMemory?
    /// The routes by which orders to forget are carried out.
    let currentRoutes = Guarded<CurrentRoutes?>(nil)
    let leavingUsers = Guarded(LeavingUsers())
    /// True while the admin switch turns all use, offers and Links off; a start and a reload turn them on.
    let dictionariesOff = Atomic<Bool>(false)
    /// Limits the error about request loops.
    let loopReminder = Reminder()
    /// The proxy's own entry of Via.
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
            deltas: deltas,
            report: report)
        IdleContexts.limit(to: budgets[.contexts])
        clientResources = ClientResources(memory: coding.memory)
        gain = GainSampler(worker: worker, memory: coding.memory, report: report)
        observer = Observer(store: store, coding: coding, configuration, bytesMax: budgets[.observe])
        linkRegistry = LinkRegistry(store: store, worker: worker, terms: links)
        learned = LearnedDictionaries(
            store: store, registry: linkRegistry, worker: worker, memory: coding.memory, report: report)
        let commonKeys = configuration.store.keyFile == nil ? nil : store.keys
        sharedMemory = redis.map { [currentRoutes] in
            SharedMemory(
                store: store, currentRoutes: currentRoutes, client: $0, commonKeys: commonKeys,
                bytesMax: budgets[.sharing] / 2, report: report)
        }
    }
}

extension SharedParts {
    func usedBytes(of budget: Budget) -> Int {
        switch budget {
        case .coding: coding.memory.takenBytes
        case .store: store.statistics.budgetBytes
        case .deltas: coding.deltas.statistics.cache.bytes
        case .prepared: coding.deltas.statistics.prepared.bytes
        case .sharing: sharedMemory?.waitingBytes ?? 0
        case .contexts: IdleContexts.bytes
        case .observe: observer.memory.takenBytes
        }
    }
}
