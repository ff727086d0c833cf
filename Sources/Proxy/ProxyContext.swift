package import Dictionaries
internal import Dispatch
package import HTTP

/// What all loops of one proxy share; safe from any thread.
package final class ProxyContext: Sendable {
    package let configuration: Configuration
    package let store: DictionaryStore
    /// How many loops share all this.
    package let loopCount: Int
    let routes: RouteTable
    /// The addresses of the upstream, in the order they are tried.
    let upstreams: [Endpoint]
    let upstreamAuthority: String
    let compressionPool: CompressionPool
    /// Finds out what the deltas of wide chains save.
    let savings: SavingsSampler
    /// Live encoders, and bodies that are held until they are whole.
    let compressionMemory: MemoryBudget
    /// Which versions Links name.
    let linkDesk: LinkDesk
    /// Is told what an operator should know; from any thread.
    let report: @Sendable (StoreEvent) -> Void
    private let maintenance = DispatchQueue(label: "dictum.maintenance", qos: .utility)
    /// Where deltas are made and kept.
    let deltas: Deltas

    /// - Parameter deltaFault: for tests of the verification, see `Deltas`; nothing in a configuration leads here.
    package init(
        configuration: Configuration, store: DictionaryStore, loopCount: Int, upstreams: [Endpoint],
        compressionPool: CompressionPool, report: @escaping @Sendable (StoreEvent) -> Void = { _ in },
        deltaFault: Deltas.Fault? = nil
    ) {
        self.configuration = configuration
        self.store = store
        self.loopCount = max(1, loopCount)
        self.upstreams = upstreams
        self.compressionPool = compressionPool
        savings = SavingsSampler(store: store, codings: configuration.compression.codings)
        routes = RouteTable(configuration)
        upstreamAuthority =
            configuration.upstream.urls.first.map {
                $0.host.contains(":") ? "[\($0.host)]:\($0.port)" : "\($0.host):\($0.port)"
            } ?? ""
        linkDesk = LinkDesk(store: store, pool: compressionPool)
        self.report = report
        let compression = configuration.compression
        compressionMemory = MemoryBudget(bytes: compression.memory)
        deltas = Deltas(
            preparedBytes: compression.preparedMemory, cacheBytes: compression.deltaMemory,
            verify: compression.verify, fault: deltaFault)
    }

    /// A delta did not decode to its body: says so, and turns dictionaries off for its route.
    ///
    /// From any thread.
    func reportInexact(_ key: DeltaKey?, _ coding: ContentCoding, dictionary: Digest, on route: Route) {
        // Of private chains not even a digest is for a log.
        let body = key.map { ", body \($0.body.hex)" } ?? ""
        let names = route.policy.scope == .public ? " (dictionary \(dictionary.hex)\(body))" : ""
        let name = route.index.map { configuration.routes[$0].text } ?? "none"
        let isFirst = route.distrust()
        report(
            .error(
                """
                a \(coding.token) delta of route \(name) did not decode to its body\(names) \
                and was not sent\(isFirst ? "; dictionaries are off for this route until a reload" : "")
                """))
    }

    /// What is to be done every second, beside the loops: versions whose time has come leave the store.
    func maintain() {
        maintenance.async { [store] in store.sweep(now: Clock.unixSeconds) }
    }
}
