package import Dictionaries
internal import HTTP

extension ProxyContext {
    /// Opens the store and resolves the upstream.
    ///
    /// Blocks; `log` gets what the store has to say, from any thread.
    package static func open(
        _ configuration: Configuration, log: @escaping @Sendable (StoreEvent) -> Void, loopCount: Int
    ) throws(StartError) -> ProxyContext {
        var upstreams: [Endpoint] = []
        for url in configuration.upstream.urls {
            let found = Endpoint.resolve(host: url.host, port: url.port)
            guard !found.isEmpty else { throw .unknownUpstream(url.host) }
            upstreams += found
        }
        let settings = configuration.store
        let privateRows = try privateRows(configuration, log: log)
        let store: DictionaryStore
        do throws(StoreError) {
            store = try DictionaryStore(
                configuration: StoreConfiguration(
                    path: settings.path, maxBytes: settings.maxSize, maxChains: settings.maxChains,
                    memoryBytes: settings.memory, privateRows: privateRows,
                    privateBytesMax: settings.privateMaxSize, isCurrent: CurrentRoutes(configuration).makes,
                    log: log))
        } catch {
            throw .store(error.description)
        }
        return ProxyContext(
            configuration: configuration, store: store, loopCount: loopCount, upstreams: upstreams,
            compressionPool: CompressionPool(width: loopCount), report: log)
    }

    /// Reads or makes the key of private routes, where there are any.
    private static func privateRows(
        _ configuration: Configuration, log: @escaping @Sendable (StoreEvent) -> Void
    ) throws(StartError) -> StoreConfiguration.PrivateRows {
        guard configuration.routes.contains(where: { $0.dictionary?.scope == .private }) else {
            return .removed
        }
        let store = configuration.store
        do throws(StoreError) {
            guard let file = store.keyFileInUse else { return .used(try StoreKeyFile.temporaryKeys()) }
            let keys = try StoreKeyFile.keys(at: file) { log(.warning($0)) }
            if StoreKeyFile.folder(of: file) == StoreKeyFile.folder(of: store.path) {
                log(
                    .warning(
                        "the key file \(file) lies beside the store, so whoever copies the folder can read both: "
                            + "name another place in store.key_file"))
            }
            return .used(keys)
        } catch {
            throw .store(error.description)
        }
    }
}
