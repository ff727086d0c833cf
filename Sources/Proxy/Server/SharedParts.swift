internal import Dictionaries
internal import Dispatch
internal import HTTP

/// What a proxy keeps over a reload of its configuration: the store, the budgets and what is cached.
///
/// Safe from any thread.
final class SharedParts: Sendable {
    let store: DictionaryStore
    /// The addresses of the upstreams.
    let upstreams: UpstreamDirectory
    /// How many loops share all this.
    let loopCount: Int
    let compressionPool: CompressionPool
    /// Live encoders, and bodies that are held until they are whole.
    let compressionMemory: MemoryBudget
    /// Where deltas are made and kept.
    let deltas: Deltas
    /// The ids of bodies that were offered before they had come whole.
    let promisedIDs = PromisedIDs()
    /// Finds out what deltas save.
    let gain: GainSampler
    /// Which versions Links name.
    let linkDesk: LinkDesk
    let dictionarySwitch = DictionarySwitch()
    /// When an operator is told that requests come back.
    let loopReminder = Reminder()
    /// What Via says of this process.
    let via = Via()
    let connectionCount = ConnectionCount()
    /// What TLS sessions of clients are resumed with.
    let ticketKeys: TLSTicketKeys
    /// The connections of each client.
    let clientConnections = ClientConnectionCount()
    /// How often clients have asked of late.
    let clientRates = ClientRates()
    /// When the log was told last that no browser keeps what a route offers.
    let unkeptWarnings = RouteReminders()
    /// When the log was told last what keeps a route's responses from deltas.
    let hints = RouteReminders()
    let variants = VariantCounts()
    /// When the log was told last that no browser follows a route's Links.
    let linkWarnings = RouteReminders()
    let maintenance = DispatchQueue(label: "dictum.maintenance", qos: .utility)
    /// Is told what an operator should know; on any thread.
    let report: @Sendable (StoreEvent) -> Void

    init(
        store: DictionaryStore, loopCount: Int, upstreams: UpstreamDirectory,
        compressionPool: CompressionPool,
        compression: Configuration.Compression, report: @escaping @Sendable (StoreEvent) -> Void,
        ticketKeys: TLSTicketKeys, links: LinkTerms, deltaFault: Deltas.Fault?
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
            verify: compression.verify, fault: deltaFault)
        gain = GainSampler(memory: compressionMemory, report: report)
        linkDesk = LinkDesk(store: store, pool: compressionPool, terms: links)
    }
}
