internal import CVersion
internal import Dictionaries
internal import Dispatch
internal import HTTP
internal import Primitives
internal import Synchronization

/// The state of a running proxy, as the admin listener reports it.
///
/// Safe from any thread except a loop of the proxy.
final class AdminStatus: Sendable {
    private let current: Guarded<ProxyContext>
    private let parts: [ProxyServer.LoopPart]
    private let sink: LogSink?
    private let process = ProcessStatistics(version: DictumVersion.text)
    private let draining = Atomic<Bool>(false)
    private let reloads = Atomic<Int>(0)
    private let refusedReloads = Atomic<Int>(0)

    init(context: ProxyContext, parts: [ProxyServer.LoopPart], sink: LogSink?) {
        current = Guarded(context)
        self.parts = parts
        self.sink = sink
    }

    /// The reason why the proxy wants no new requests, or nil.
    var unreadiness: String? {
        if draining.load(ordering: .relaxed) { return "draining" }
        // Only health checks count here. If failed requests counted, no request would arrive to find the upstream
        // recovered.
        let servers = context.upstreams.servers
        return servers.allSatisfy(\.isCheckedOut) ? "no upstream passes its health check" : nil
    }

    /// The loops of the proxy.
    var loops: [EventLoop] { parts.map(\.loop) }

    func startDraining() {
        draining.store(true, ordering: .relaxed)
    }

    // MARK: The configuration

    private var context: ProxyContext { current.withLock { $0 } }

    /// Reports another configuration from now on.
    func adopt(_ context: ProxyContext) {
        current.withLock { $0 = context }
    }

    /// Counts a reload that was done or refused.
    func countReload(isDone: Bool) {
        if isDone {
            reloads.wrappingAdd(1, ordering: .relaxed)
        } else {
            refusedReloads.wrappingAdd(1, ordering: .relaxed)
        }
    }

    /// The bearer token, if the configuration has one.
    var token: String? { context.configuration.admin?.token }

    // MARK: The switch

    /// True if the configuration enables dictionaries.
    var areDictionariesConfigured: Bool { context.configuration.dictionariesOn }

    /// True while dictionaries are used and offered.
    var areDictionariesOn: Bool { areDictionariesConfigured && !context.dictionarySwitch.isOff }

    /// Turns use, offers and Links off or on, until the next reload or start.
    func switchDictionaries(off isOff: Bool) {
        let context = context
        guard context.dictionarySwitch.turn(off: isOff) else { return }
        context.report(
            .warning(
                "dictionaries are switched \(isOff ? "off" : "on") (POST on the admin listener); a reload or a "
                    + "restart goes by the configuration again"))
    }

    // MARK: Metrics

    /// Returns every metric: the counters of all loops summed, and samples of the store, the log and the system.
    ///
    /// Blocks for at most two seconds.
    func samples() -> [MetricSample] {
        let context = context
        let routes = context.routeNames.texts
        let sum = Guarded(MetricsSnapshot(routes: routes.count))
        let asked = DispatchGroup()
        for part in parts {
            asked.enter()
            part.loop.execute { core in
                if let own = core.handler(part.token, as: ProxyLoop.self)?.snapshot {
                    sum.withLock { $0.add(own) }
                }
                asked.leave()
            }
        }
        // A stuck loop is left out: numbers of the other loops are better than none.
        _ = asked.wait(timeout: .now() + .seconds(2))
        var samples = sum.withLock { $0 }.samples(routes: routes)
        samples += upstreamSamples
        samples += context.store.statistics.samples
        samples += context.deltas.statistics.samples
        samples += context.gain.samples
        samples += operationSamples
        samples += sink?.samples ?? []
        samples += process.samples()
        return samples
    }

    private var upstreamSamples: [MetricSample] {
        context.upstreams.servers.map { server in
            MetricSample(
                MetricsTable.upstreamHealthy, [server.url, server.target.endpoint.text],
                server.isHealthy ? 1 : 0)
        }
    }

    private var operationSamples: [MetricSample] {
        [
            MetricSample(MetricsTable.dictionariesOn, [], areDictionariesOn ? 1 : 0),
            MetricSample(MetricsTable.compressionMemory, [], context.compressionMemory.takenBytes),
            MetricSample(MetricsTable.reloads, ["done"], reloads.load(ordering: .relaxed)),
            MetricSample(MetricsTable.reloads, ["refused"], refusedReloads.load(ordering: .relaxed)),
        ]
    }
}

/// The version of this build.
package enum DictumVersion {
    // Safe: a constant of the program.
    package static let text = unsafe String(cString: CVersion_text())
}
