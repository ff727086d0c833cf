internal import Dictionaries
internal import Dispatch
internal import HTTP

/// The parts of a proxy that outlive reloads: the store, the budgets and the caches.
///
/// Safe from any thread.
final class SharedParts: Sendable {
    let store: DictionaryStore
    let upstreams: UpstreamDirectory
    /// The number of loops.
    let loopCount: Int
    let compressionPool: CompressionPool
    /// The budget for live encoders and held bodies.
    let compressionMemory: MemoryBudget
    let deltas: Deltas
    /// The ids of bodies that were offered before they were complete.
    let promisedIDs = PromisedIDs()
    let gain: GainSampler
    let linkDesk: LinkDesk
    let dictionarySwitch = DictionarySwitch()
    /// Limits the error about request loops.
    let loopReminder = Reminder()
    /// The proxy's own entry of Via.
    let via = Via()
    let connectionCount = ConnectionCount()
    /// The keys that resume TLS sessions of clients.
    let ticketKeys: TLSTicketKeys
    /// The number of connections per client.
    let clientConnections = ClientConnectionCount()
    /// The recent request rates of clients.
    let clientRates = ClientRates()
    /// Limits the warnings about offers that no browser keeps.
    let unkeptWarnings = RouteReminders()
    /// Limits the hints at obstacles to deltas.
    let hints = RouteReminders()
    let variants = VariantCounts()
    /// Limits the warnings about Links that no browser follows.
    let linkWarnings = RouteReminders()
    let maintenance = DispatchQueue(label: "dictum.maintenance", qos: .utility)
    /// Logs a message for the operator; safe from any thread.
    let report: @Sendable (StoreEvent) -> Void

    init(
        store: DictionaryStore, loopCount: Int, upstreams: UpstreamDirectory,
        compressionPool: CompressionPool,
        compression: Configuration.Compression, report: @escaping @Sendable (StoreEvent) -> Void,
        ticketKeys: TLSTicketKeys, links: LinkTerms
    ) {
        self.ticketKeys = ticketKeys
        self.store = store
        self.upstreams = upstreams
        self.loopCount = max(1, loopCount)
        self.compressionPool = compressionPool
        self.compressionMemory = MemoryBudget(bytes: compression.memory)
        self.report = report
        deltas = Deltas(
            preparedBytes: compression.preparedMemory, cacheBytes: compression.deltaMemory,
            verify: compression.verify)
        gain = GainSampler(memory: compressionMemory, report: report)
        linkDesk = LinkDesk(store: store, pool: compressionPool, terms: links)
    }
}
