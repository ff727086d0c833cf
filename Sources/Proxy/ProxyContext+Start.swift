package import Dictionaries
internal import HTTP

extension ProxyContext {
    /// Opens the store and resolves the upstream.
    ///
    /// Blocks; `log` gets what an operator should know, from any thread. `deltaFault` is for tests alone, see `Deltas`.
    package static func open(
        _ configuration: Configuration, churn: ChurnPolicy = ChurnPolicy(),
        log: @escaping @Sendable (StoreEvent) -> Void, loopCount: Int, deltaFault: Deltas.Fault? = nil
    ) throws(StartError) -> ProxyContext {
        var upstreams: [Endpoint] = []
        for url in configuration.upstream.urls {
            let found = Endpoint.resolve(host: url.host, port: url.port)
            guard !found.isEmpty else { throw .unknownUpstream(url.host) }
            upstreams += found
        }
        let settings = configuration.store
        var storeConfiguration = StoreConfiguration(
            path: settings.path, maxBytes: settings.maxSize, maxChains: settings.maxChains,
            memoryBytes: settings.memory, writeBytesPerSecond: settings.writeRate,
            isCurrent: CurrentRoutes(configuration).makes, log: log)
        storeConfiguration.churn = churn
        let store: DictionaryStore
        do throws(StoreError) {
            store = try DictionaryStore(configuration: storeConfiguration)
        } catch {
            throw .store(error.description)
        }
        return ProxyContext(
            configuration: configuration, store: store, loopCount: loopCount, upstreams: upstreams,
            compressionPool: CompressionPool(width: loopCount), report: log, deltaFault: deltaFault)
    }
}
