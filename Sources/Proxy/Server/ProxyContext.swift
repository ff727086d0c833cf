package import Dictionaries
internal import Dispatch
internal import HTTP
internal import Primitives

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
    /// The upstream's Host for requests that name none.
    let upstreamAuthority: String
    /// The TLS settings for upstreams, or nil if none uses TLS.
    let upstreamTLS: TLSClientContext?
    /// The fields that carry the subject of a client's certificate, which clients may not send themselves.
    let clientSubjectFields: [HeaderName]
    let tls: TLSServers
    /// The hosts whose responses may use dictionaries.
    let authorities: AuthorityNames
    /// The field that carries request identifiers, if configured.
    let requestIDName: HeaderName?
    /// The rate limit per client, if configured.
    let rateLimit: RateLimit?

    /// `links` is for tests.
    init(
        configuration: Configuration, store: DictionaryStore, loopCount: Int, upstreams: UpstreamDirectory,
        compressionPool: CompressionPool, report: @escaping @Sendable (StoreEvent) -> Void = { _ in },
        links: LinkTerms = .init()
    ) throws(StartError) {
        let ticketKeys = TLSTicketKeys()
        upstreamTLS = try Self.upstreamTLS(configuration, report)
        tls = try TLSServers(configuration.listeners, ticketKeys: ticketKeys)
        shared = SharedParts(
            store: store, loopCount: loopCount, upstreams: upstreams, compressionPool: compressionPool,
            compression: configuration.compression, report: report, ticketKeys: ticketKeys,
            links: links)
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

    /// Creates the context of a reload.
    init(_ configuration: Configuration, after former: ProxyContext) throws(StartError) {
        // Requests in progress may retry at the former upstreams.
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
    var upstreams: UpstreamDirectory { shared.upstreams }
    /// The number of loops.
    package var loopCount: Int { shared.loopCount }
    package var dictionarySwitch: DictionarySwitch { shared.dictionarySwitch }
    /// Logs a message for the operator; safe from any thread.
    var report: @Sendable (StoreEvent) -> Void { shared.report }
    var linkDesk: LinkDesk { shared.linkDesk }
    var compressionPool: CompressionPool { shared.compressionPool }
    var compressionMemory: MemoryBudget { shared.compressionMemory }
    var deltas: Deltas { shared.deltas }
    var gain: GainSampler { shared.gain }
    var promisedIDs: PromisedIDs { shared.promisedIDs }

    /// Removes expired versions and refreshes certificates; called every second.
    func maintain() {
        shared.maintenance.async { [store, tls, report] in
            store.sweep(now: SystemClock.unixSeconds)
            tls.refresh(report)
        }
    }

    /// Reports a delta that does not decode to its body, and turns dictionaries off for its route.
    ///
    /// Safe from any thread.
    func reportInexact(
        _ key: DeltaKey?, _ coding: ContentCoding, dictionary: Digest, in scope: DeltaScope, on route: Route
    ) {
        // Digests of personal bodies are not logged.
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

    /// Reports that an upstream leads back to this proxy; at most once a minute.
    func reportLoop(now: Int64) {
        guard shared.loopReminder.take(now: now) else { return }
        report(
            .error(
                """
                a request came back to this proxy (508): one of upstream.urls leads to one of its own addresses. This \
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
