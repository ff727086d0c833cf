package import Dictionaries
internal import Dispatch
internal import HTTP

/// What all loops of one proxy share under one configuration; safe from any thread.
///
/// A reload makes another one, with the same `shared` parts. A request keeps the one that it began with.
package final class ProxyContext: Sendable {
    package let configuration: Configuration
    /// How many reloads there were before.
    let generation: Int
    /// What outlives a reload.
    let shared: SharedParts
    let routes: RouteTable
    /// The matches under which requests are counted and logged, those of former configurations included.
    let routeNames: RouteNames
    /// What an upstream is called where a client names nobody.
    let upstreamAuthority: String
    /// What the upstream is spoken to by TLS with; nil where it is not.
    let upstreamTLS: TLSClientContext?
    /// The fields that say whose certificate a client has shown, which no client may send itself.
    let clientSubjectFields: [HeaderName]
    /// The TLS of the listeners.
    let tls: TLSServers
    /// The hosts that have dictionaries.
    let authorities: AuthorityNames
    /// The field that identifies a request, if one does.
    let requestIDName: HeaderName?
    /// How much each client may ask for, if that is limited.
    let rateLimit: RateLimit?

    /// `links` and `deltaFault` (see `Deltas`) are for tests; nothing in a configuration leads here.
    init(
        configuration: Configuration, store: DictionaryStore, loopCount: Int, upstreams: UpstreamDirectory,
        compressionPool: CompressionPool, report: @escaping @Sendable (StoreEvent) -> Void = { _ in },
        links: LinkTerms = .init(), deltaFault: Deltas.Fault? = nil
    ) throws(StartError) {
        let ticketKeys = TLSTicketKeys()
        upstreamTLS = try Self.upstreamTLS(configuration, report)
        tls = try TLSServers(configuration.listeners, ticketKeys: ticketKeys)
        shared = SharedParts(
            store: store, loopCount: loopCount, upstreams: upstreams, compressionPool: compressionPool,
            compression: configuration.compression, report: report, ticketKeys: ticketKeys,
            links: links, deltaFault: deltaFault)
        generation = 0
        clientSubjectFields = Self.clientSubjectFields(configuration)
        self.configuration = configuration
        upstreamAuthority = configuration.upstream.urls.first?.authority ?? ""
        authorities = AuthorityNames(configuration.authorities)
        requestIDName = configuration.requestID.flatMap(HeaderName.init)
        rateLimit = RateLimit(configuration.limits.client)
        routeNames = RouteNames(configuration)
        routes = RouteTable(configuration, names: routeNames)
    }

    /// The same proxy under another configuration.
    init(_ configuration: Configuration, after former: ProxyContext) throws(StartError) {
        // Requests under way may try the former upstreams again.
        upstreamTLS = try Self.upstreamTLS(configuration, former.shared.report) ?? former.upstreamTLS
        tls = try TLSServers(configuration.listeners, ticketKeys: former.shared.ticketKeys)
        shared = former.shared
        generation = former.generation + 1
        clientSubjectFields = Self.clientSubjectFields(configuration)
        self.configuration = configuration
        upstreamAuthority = configuration.upstream.urls.first?.authority ?? ""
        authorities = AuthorityNames(configuration.authorities)
        requestIDName = configuration.requestID.flatMap(HeaderName.init)
        rateLimit = RateLimit(configuration.limits.client)
        routeNames = RouteNames(configuration, after: former.routeNames)
        routes = RouteTable(configuration, names: routeNames)
    }

    package var store: DictionaryStore { shared.store }
    /// The addresses of the upstreams.
    var upstreams: UpstreamDirectory { shared.upstreams }
    /// How many loops share all this.
    package var loopCount: Int { shared.loopCount }
    /// The switch that the admin listener turns.
    package var dictionarySwitch: DictionarySwitch { shared.dictionarySwitch }
    /// Is told what an operator should know; from any thread.
    var report: @Sendable (StoreEvent) -> Void { shared.report }
    /// Which versions Links name.
    var linkDesk: LinkDesk { shared.linkDesk }
    var compressionPool: CompressionPool { shared.compressionPool }
    var compressionMemory: MemoryBudget { shared.compressionMemory }
    /// Where deltas are made and kept.
    var deltas: Deltas { shared.deltas }
    /// Finds out what deltas save.
    var gain: GainSampler { shared.gain }
    /// The ids of bodies that were offered before they had come whole.
    var promisedIDs: PromisedIDs { shared.promisedIDs }

    /// What is to be done every second, beside the loops: versions whose time has come leave the store.
    func maintain() {
        shared.maintenance.async { [store, tls, report] in
            store.sweep(now: Clock.unixSeconds)
            tls.refresh(report)
        }
    }

    /// A delta did not decode to its body: says so, and turns dictionaries off for its route.
    ///
    /// From any thread.
    func reportInexact(
        _ key: DeltaKey?, _ coding: ContentCoding, dictionary: Digest, in scope: DeltaScope, on route: Route
    ) {
        // Of what needs an id not even a digest is for a log.
        let body = key.map { ", body \($0.body.hex)" } ?? ""
        let names = scope == .public ? " (dictionary \(dictionary.hex)\(body))" : ""
        let isFirst = route.distrust()
        report(
            .error(
                """
                a \(coding.token) delta of route \(route.text) did not decode to its body\(names) \
                and was not sent\(isFirst ? "; dictionaries are off for this route until a reload" : "")
                """))
    }

    /// Says that an upstream leads back here; at most once a minute.
    func reportLoop(now: Int64) {
        guard shared.loopReminder.take(now: now) else { return }
        report(
            .error(
                """
                a request came back to this proxy (508): one of upstream.urls leads to one of its own addresses. This \
                message comes at most once a minute
                """))
    }

    /// Says where Multipath TCP is wanted and not to be had.
    func reportMissingPaths(_ listener: Configuration.Listener, _ sockets: [ListeningSocket]) {
        guard listener.isMultipath, sockets.contains(where: { !$0.isMultipath }) else { return }
        report(
            .warning(
                "\(listener.address): mptcp: the kernel has no Multipath TCP, or net.mptcp.enabled is 0; this is TCP"
            ))
    }

    private static func clientSubjectFields(_ configuration: Configuration) -> [HeaderName] {
        configuration.listeners.compactMap { $0.tls?.clientSubjectField }.compactMap { HeaderName($0) }
    }

    private static func upstreamTLS(
        _ configuration: Configuration, _ report: (StoreEvent) -> Void
    ) throws(StartError) -> TLSClientContext? {
        let upstream = configuration.upstream
        guard upstream.urls.contains(where: { $0.scheme == .https }) else { return nil }
        if !upstream.tls.verifies {
            report(.warning("upstream.tls.verify is off: anybody on the way to the upstream can be it"))
        }
        do throws(TLSError) {
            return try TLSClientContext(upstream.tls)
        } catch {
            throw .upstreamTLS(error.text)
        }
    }
}
