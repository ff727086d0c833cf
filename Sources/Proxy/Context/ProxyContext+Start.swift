internal import Glibc
internal import Redis
package import Storage

extension ProxyContext {
    /// Opens the store and resolves the names of the upstreams; blocks.
    ///
    /// Tests replace `resolver` and `links`.
    /// - Parameter write: called with messages for the operator, from any thread.
    package static func open(
        _ configuration: Configuration, log write: @escaping @Sendable (OperatorEvent) -> Void,
        loopCount: Int, resolver: NameResolver = .system, links: LinkTerms = .init()
    ) throws(StartError) -> ProxyContext {
        let events = RecentEvents()
        let log: @Sendable (OperatorEvent) -> Void = { event in
            events.note(event)
            write(event.plain)
        }
        let common = UpstreamGroups.Shared(resolver: resolver, loopCount: max(1, loopCount))
        let upstreams = try UpstreamGroups(configuration, common, report: log)
        let settings = configuration.store
        var storeConfiguration = StoreConfiguration(path: settings.path, maxBytes: settings.maxSize, log: log)
        storeConfiguration.maxChains = settings.maxChains
        let budgets = Budgets(configuration.memory)
        storeConfiguration.memoryBytes = budgets[.store]
        // A higher rate would replace a small store twice a second, before clients can use it.
        storeConfiguration.writeBytesPerSecond = min(settings.writeRate, 2 * settings.maxSize)
        storeConfiguration.isCurrent = RouteTable(configuration).makes
        if let bytes = settings.privateMaxSize {
            storeConfiguration.privateBytesMax = min(bytes, settings.maxSize)
        }
        let store: DictionaryStore
        do throws(StoreError) {
            // First, so that no key is made beside the file of another program.
            try StoreFile.check(path: settings.path)
            storeConfiguration.privateRows = try privateRows(configuration, log: log)
            store = try DictionaryStore(configuration: storeConfiguration)
        } catch {
            throw .store(error.description)
        }
        let shared = SharedParts(
            configuration, budgets: budgets, store: store,
            redis: settings.shared.map { redis in
                RedisClient(settings: redis, backgroundBytesMax: budgets[.sharing] / 2) { log($0.event) }
            }, upstreams: common, report: log, events: events, links: links)
        let context = try ProxyContext(configuration, upstreams, shared, after: nil)
        upstreams.adopt()
        return context
    }

    /// Reads or creates the store's key if a route needs dictionaries.
    private static func privateRows(
        _ configuration: Configuration, log: @escaping @Sendable (OperatorEvent) -> Void
    ) throws(StoreError) -> StoreConfiguration.PrivateRows {
        guard configuration.needsKeys else { return .removed }
        // Operators of private routes know about the key; for others it is an internal file.
        let tell = { (text: String) in if configuration.hasPrivateRoutes { log(.warning(text)) } }
        let store = configuration.store
        guard let file = store.keyFileInUse else { return .used(try StoreKeyFile.temporaryKeys()) }
        let keys: StoreKeys
        do throws(StoreError) {
            keys = try StoreKeyFile.keys(at: file, tell: tell) { log(.warning($0)) }
        } catch {
            // Personal dictionaries alone can do without, and the store runs in memory, as for any disk that fails. A file that
            // may be there is an error as it is for `dictum check`: other keys would remove what was sealed with it.
            guard !configuration.hasPrivateRoutes, StoreKeyFile.isMissing(file) else { throw error }
            log(.warning("\(error); without it personal dictionaries last until the next start"))
            return .used(try StoreKeyFile.temporaryKeys())
        }
        if StoreKeyFile.lies(file, beside: store.path) {
            tell(
                "the key file \(file) lies beside the store, so whoever copies the folder can read both: "
                    + "name another place in store.key_file")
        }
        return .used(keys)
    }
}

extension RedisReport {
    private static let connection = "the connections to the shared store"

    var event: OperatorEvent {
        switch self {
        case .info(let text): .about(Self.connection, .info(text))
        case .warning(let text): .warning(text)
        case .unavailable(let text): .about(Self.connection, .warning(text))
        }
    }
}
