internal import Dictionaries
internal import Dispatch
internal import HTTP
internal import Primitives
package import Storage
internal import Synchronization

/// The state that all loops share under one configuration; safe from any thread.
///
/// A reload creates another context with the same `shared` parts. A request keeps the context that it began with.
package final class ProxyContext: Sendable {
    package let configuration: Configuration
    /// The number of reloads before this context.
    let generation: Int
    /// The parts that outlive a reload.
    let shared: SharedParts
    let routes: RouteTable
    /// The matches that label counters and log lines, including those of former configurations.
    let routeNames: RouteNames
    let upstreams: UpstreamGroups
    /// The fields that carry the subject of a client's certificate, which clients may not send themselves.
    let clientSubjectFields: [HeaderName]
    let tls: TLSServers
    /// The hosts whose responses may use dictionaries.
    let authorities: AuthorityNames
    /// True if not all hosts may; asked first, since a look into the names copies them.
    let limitsAuthorities: Bool
    /// The field that carries request identifiers, if configured.
    let requestIDName: HeaderName?
    let rateLimit: RateLimit?
    /// The totals of the experiment, if there is one; a reload with the same settings continues it.
    let experiment: ExperimentTotals?
    let addsServerTiming: Bool

    /// Creates the context of a start or, after a former one, of a reload; its upstreams are adopted later.
    init(
        _ configuration: Configuration, _ upstreams: UpstreamGroups, _ shared: SharedParts,
        after former: ProxyContext?
    ) throws(StartError) {
        self.upstreams = upstreams
        tls = try TLSServers(configuration.listeners, ticketKeys: shared.ticketKeys)
        self.shared = shared
        generation = former.map { $0.generation + 1 } ?? 0
        clientSubjectFields =
            configuration.listeners.compactMap { $0.tls?.clientSubjectField }.compactMap { HeaderName($0) }
        self.configuration = configuration
        authorities = AuthorityNames(configuration.authorities)
        limitsAuthorities = !configuration.authorities.isEmpty
        requestIDName = configuration.requestID.flatMap(HeaderName.init)
        let known = former?.experiment
        experiment = configuration.experiment.map { settings in
            known.flatMap { $0.settings == settings ? $0 : nil } ?? ExperimentTotals(settings)
        }
        addsServerTiming = configuration.serverTiming != nil || configuration.experiment != nil
        rateLimit = RateLimit(configuration.limits.client)
        routeNames = RouteNames(configuration, after: former?.routeNames)
        routes = RouteTable(configuration, names: routeNames, upstreams: upstreams)
    }

    package var store: DictionaryStore { shared.store }
    var loopCount: Int { shared.upstreams.loopCount }
    var areDictionariesOff: Bool { shared.dictionariesOff.load(ordering: .relaxed) }
    var report: @Sendable (OperatorEvent) -> Void { shared.report }
    var linkRegistry: LinkRegistry { shared.linkRegistry }
    var learned: LearnedDictionaries { shared.learned }
    var coding: CodingResources { shared.coding }
    var compressionPool: CompressionPool { coding.pool }
    var compressionMemory: MemoryBudget { coding.memory }
    var deltas: Deltas { coding.deltas }
    var gain: GainSampler { shared.gain }
    var observer: Observer { shared.observer }
    var sharedStore: SharedStore? { shared.sharedStore }

    /// Removes expired versions, refreshes certificates and has dictionaries learned; called every second.
    func maintain() {
        shared.maintenance.async { [store, tls, report, learned, learningTerms] in
            store.upkeep.sweep(now: SystemClock.unixSeconds)
            tls.refresh(report)
            learned.keepUp(learningTerms, now: SystemClock.unixSeconds)
        }
    }

    var learningTerms: LearnedDictionaries.Terms {
        .init(
            routes: routes, isOn: configuration.dictionariesOn && !areDictionariesOff,
            levels: configuration.compression.levels, verify: configuration.compression.verify)
    }

    func peer(of connection: ConnectionFacts) -> ClientPeer {
        ClientPeer.of(
            connection, trusting: configuration.trustedProxies,
            ipv6Prefix: configuration.limits.client.ipv6Prefix, generation: generation)
    }

    /// Reports that an upstream leads back to this proxy; at most once a minute.
    func reportLoop(now: Int64) {
        guard shared.loopReminder.take(now: now) else { return }
        report(
            .error(
                """
                a request came back to this proxy (508): an upstream's URL leads to one of its own addresses. This \
                message comes at most once a minute
                """))
    }

    /// Reports a listener that wanted Multipath TCP and did not get it.
    func reportMissingPaths(_ listener: Configuration.Listener, _ sockets: [ListeningSocket]) {
        guard listener.isMultipath, sockets.contains(where: { !$0.isMultipath }) else { return }
        report(
            .warning(
                "\(listener.address): mptcp: the kernel has no Multipath TCP, or net.mptcp.enabled is 0; this is TCP"
            ))
    }
}

/// The TLS servers of the listeners of one configuration.
final class TLSServers: Sendable {
    private let servers: [ConfiguredAddress: TLSServer]

    /// Reads the certificate files of every TLS listener.
    init(_ listeners: [Configuration.Listener], ticketKeys: TLSTicketKeys) throws(StartError) {
        var servers: [ConfiguredAddress: TLSServer] = [:]
        for listener in listeners {
            guard let tls = listener.tls else { continue }
            do throws(TLSError) {
                servers[listener.address] = try TLSServer(
                    tls.settings(listener.protocols), ticketKeys: ticketKeys)
            } catch {
                throw .tls(listener.address.description, error.text)
            }
        }
        self.servers = servers
    }

    /// Returns the TLS server of the listener at an address, or nil for plain text.
    subscript(address: ConfiguredAddress) -> TLSServer? { servers[address] }

    /// The end of the certificates' validity in seconds since 1970, by listener; of several certificates, the first end.
    var ends: [(listener: String, seconds: Int)] {
        servers.map { ($0.key.description, $0.value.current.endSeconds) }.sorted { $0.listener < $1.listener }
    }

    /// Reloads certificates that have changed on disk; blocks.
    func refresh(_ report: (OperatorEvent) -> Void) {
        for (address, server) in servers {
            func tell(_ event: OperatorEvent) { report(.about("\(address): tls", event)) }
            for news in server.refresh() {
                switch news {
                case .read:
                    tell(.info("\(address): the certificates have changed, and new connections get them"))
                case .refused(let error):
                    tell(.error("\(address): tls: \(error.text); keeping the current certificate"))
                case .complaint(let error): tell(.warning("\(address): tls: \(error.text)"))
                }
            }
        }
    }
}
