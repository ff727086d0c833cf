internal import CVersion
internal import HTTP
internal import Primitives
internal import Redis
internal import Storage
internal import Synchronization

/// The state of a running proxy, as the admin listener reports it; safe from any thread except a loop of the proxy.
final class AdminStatus: Sendable {
    private struct State: Sendable {
        var context: ProxyContext
        var isDraining = false
        var reloads = 0
        var refusedReloads = 0
        /// True from a reload that was refused until one that is done.
        var isRefused = false
    }

    private let state: Guarded<State>
    let loops: [EventLoop]
    /// Asks the loops for their counters; blocks for at most two seconds.
    let counters: @Sendable () -> LoopReading
    let history = AdminHistory()
    private let sink: LogSink?
    private let logThreshold: LogThreshold
    private let process = ProcessStatistics(version: DictumVersion.text)
    private let startNanoseconds = SystemClock.monotonicNanoseconds

    init(
        context: ProxyContext, loops: [EventLoop], sink: LogSink?, logThreshold: LogThreshold,
        counters: @escaping @Sendable () -> LoopReading
    ) {
        state = Guarded(State(context: context))
        self.loops = loops
        self.sink = sink
        self.logThreshold = logThreshold
        self.counters = counters
    }

    /// The reason why the proxy wants no new requests, or nil.
    var unreadiness: String? {
        if state.withLock({ $0.isDraining }) { return "draining" }
        // Only health checks count here. If failed requests counted, no request would arrive to find the upstream
        // recovered. As long as one upstream works, its routes want their requests.
        return context.upstreams.servers.allSatisfy(\.isCheckedOut)
            ? "no upstream passes its health check" : nil
    }

    func startDraining() {
        state.withLock { $0.isDraining = true }
    }

    // MARK: The configuration

    var context: ProxyContext { state.withLock { $0.context } }

    /// Reports another configuration from now on, and logs at its level.
    func adopt(_ context: ProxyContext) {
        state.withLock { $0.context = context }
        logThreshold.level = context.configuration.log.level
    }

    func countReload(isDone: Bool) {
        state.withLock { state in
            state.isRefused = !isDone
            if isDone { state.reloads += 1 } else { state.refusedReloads += 1 }
        }
    }

    var secondsSinceStart: Double {
        Double(SystemClock.monotonicNanoseconds - startNanoseconds) / 1e9
    }

    /// The minimum level of log messages; a reload and a start go by the configuration.
    var logLevel: LogLevel {
        get { logThreshold.level }
        set {
            let former = logThreshold.level
            guard newValue != former else { return }
            // The lower level of the two decides, so that the log that falls silent says so.
            if newValue.index < former.index { logThreshold.level = newValue }
            context.report(
                .warning(
                    "log.level is \(newValue.rawValue), was \(former.rawValue) (PUT on the admin listener); a reload "
                        + "or a restart goes by the configuration again"))
            logThreshold.level = newValue
        }
    }

    // MARK: The switch

    var areDictionariesConfigured: Bool { context.configuration.dictionariesOn }

    var areDictionariesOn: Bool { areDictionariesConfigured && !context.areDictionariesOff }

    /// Turns use, offers and Links off or on, until the next reload or start.
    func switchDictionaries(off isOff: Bool) {
        let context = context
        guard context.shared.dictionariesOff.exchange(isOff, ordering: .relaxed) != isOff else { return }
        context.report(
            .warning(
                "dictionaries are switched \(isOff ? "off" : "on") (POST on the admin listener); a reload or a "
                    + "restart goes by the configuration again"))
    }

    // MARK: Metrics

    /// The metrics of one moment, and the facts that go with them.
    struct Snapshot: Sendable {
        let context: ProxyContext
        let samples: [MetricSample]
        /// The slowest codings of requests without a route, then of each route.
        let slowest: [[SlowestCodings.Entry]]
        let silentLoops: Int
    }

    /// Asks all loops and reads the system's files; blocks.
    func snapshot() -> Snapshot {
        let context = context
        let routes = context.routeNames.texts
        let reading = counters()
        let counters = reading.counters
        let samples =
            MetricSample.summed(counters.flatMap { $0.samples(routes: routes) })
            + self.samples + context.store.statistics.samples
            + context.deltas.statistics.samples
            + context.gain.samples + context.learned.samples + (context.experiment?.samples ?? [])
            + (sink?.samples ?? [])
            + process.samples + sharedStoreSamples
        let now = SystemClock.unixSeconds
        let slowest = (-1..<routes.count).map { route in
            SlowestCodings.slowest(
                counters.flatMap { $0.slowest(ofRoute: route < 0 ? nil : route, now: now) })
        }
        return Snapshot(
            context: context, samples: samples, slowest: slowest, silentLoops: reading.silentLoops)
    }

    private var sharedStoreSamples: [MetricSample] {
        guard let counts = context.shared.redis?.counts else { return [] }
        return counts.samples + SharedStoreLatency.samples(counts.latency)
            + (context.sharedStore?.statistics.samples ?? [])
    }
}

/// The metrics of the process itself; its parts have counters of their own.
extension AdminStatus: MetricSource {
    static var readings: [MetricReading<AdminStatus>] {
        [
            .each(
                "dictum_upstream_healthy", kind: .gauge, by: ["upstream", "address", "name"],
                "1 while this address of an upstream gets requests; 0 while others are preferred."
            ) {
                $0.context.upstreams.servers.map {
                    ([$0.url, $0.target.endpoint.text, $0.name], $0.isHealthy ? 1 : 0)
                }
            },
            .one(
                "dictum_dictionaries_on", kind: .gauge,
                "1 while dictionaries are used and offered; 0 if the configuration or the switch turns them off."
            ) { $0.areDictionariesOn ? 1 : 0 },
            .one(
                "dictum_compression_memory_bytes", kind: .gauge,
                "Bytes of the budget memory.coding in use by encoders, decoders and held bodies."
            ) { $0.context.compressionMemory.takenBytes },
            .each(
                "dictum_upstream_requests", kind: .gauge, by: "state",
                "Requests that have a place at an upstream, those that wait for one, and the places that there are."
            ) {
                let places = $0.context.shared.places.counts
                return [("active", places.taken), ("waiting", places.waiting), ("max", places.max)]
            },
            .each(
                "dictum_certificate_end_time_seconds", kind: .gauge, by: "listener",
                "The end of the validity of a listener's certificates, in seconds since 1970; of several, the first."
            ) { $0.context.tls.ends.map { ($0.listener, $0.seconds) } },
            .each("dictum_reloads_total", by: "result", "Reloads of the configuration, by result.") {
                $0.state.withLock { [("done", $0.reloads), ("refused", $0.refusedReloads)] }
            },
            .one(
                "dictum_configuration_refused", kind: .gauge,
                "1 after a reload that was refused, until another is done."
            ) { $0.state.withLock { $0.isRefused } ? 1 : 0 },
        ]
    }
}

package enum DictumVersion {
    // Safe: a constant of the program.
    package static let text = unsafe String(cString: CVersion_text())
}
