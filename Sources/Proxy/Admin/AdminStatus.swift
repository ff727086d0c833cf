internal import Dictionaries
internal import Dispatch
internal import HTTP
internal import Synchronization

/// What the admin listener tells of a running proxy.
///
/// From any thread but a loop.
final class AdminStatus: Sendable {
    private let context: ProxyContext
    private let parts: [ProxyServer.LoopPart]
    private let sink: LogSink?
    private let process = ProcessStatistics(version: DictumVersion.text)
    private let draining = Atomic<Bool>(false)

    init(context: ProxyContext, parts: [ProxyServer.LoopPart], sink: LogSink?) {
        self.context = context
        self.parts = parts
        self.sink = sink
    }

    /// Whether new requests are welcome.
    var isReady: Bool { !draining.load(ordering: .relaxed) }

    func startDraining() {
        draining.store(true, ordering: .relaxed)
    }

    /// Every metric now: the loops' counters summed, and what the store, the log and the system say.
    ///
    /// Blocks.
    func samples() -> [MetricSample] {
        let routes = context.configuration.routes
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
        // A loop that does not answer is left out: numbers of the others are better than none.
        _ = asked.wait(timeout: .now() + .seconds(2))
        var samples = sum.withLock { $0 }.samples(routes: routes.map(\.text))
        samples += context.store.statistics.samples
        samples += context.deltas.statistics.samples
        samples += sink?.samples ?? []
        samples += process.samples()
        return samples
    }
}

/// The version of this build.
package enum DictumVersion {
    package static let text = "0.1.0"
}
