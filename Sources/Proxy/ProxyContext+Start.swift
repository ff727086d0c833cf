package import Dictionaries
internal import HTTP

extension ProxyContext {
    /// Opens the store and resolves the upstream.
    ///
    /// Blocks; `log` gets what the store has to say, from any thread.
    package static func open(
        _ configuration: Configuration, log: @escaping @Sendable (StoreEvent) -> Void, loopCount: Int
    ) throws(StartError) -> ProxyContext {
        let upstreams = try upstreams(of: configuration)
        let settings = configuration.store
        let store: DictionaryStore
        do throws(StoreError) {
            store = try DictionaryStore(
                configuration: StoreConfiguration(
                    path: settings.path, maxBytes: settings.maxSize, maxChains: settings.maxChains,
                    memoryBytes: settings.memory,
                    isCurrent: CurrentRoutes(configuration).makes, log: log))
        } catch {
            throw .store(error.description)
        }
        return ProxyContext(
            configuration: configuration, store: store, loopCount: loopCount, upstreams: upstreams,
            compressionPool: CompressionPool(width: loopCount), report: log)
    }

    /// The addresses of the upstream; blocks.
    static func upstreams(of configuration: Configuration) throws(StartError) -> [Endpoint] {
        var upstreams: [Endpoint] = []
        for url in configuration.upstream.urls {
            let found = Endpoint.resolve(host: url.host, port: url.port)
            guard !found.isEmpty else { throw .unknownUpstream(url.host) }
            upstreams += found
        }
        return upstreams
    }
}
