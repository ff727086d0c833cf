internal import Dictionaries
internal import Dispatch
internal import HTTP
internal import Primitives
internal import Synchronization

/// Resolves the names of the upstreams at intervals, on its own queue, because that blocks.
///
/// Safe from any thread.
final class NameWatch: Sendable {
    private let queue = DispatchQueue(label: "dictum.resolver", qos: .utility)
    private let context: Guarded<ProxyContext>
    /// The names without an address in the last round.
    private let failing = Guarded<Set<String>>([])
    /// The current series of rounds; older series end by themselves.
    private let series = Atomic<Int>(0)
    private let onChange: @Sendable () -> Void

    /// - Parameter onChange: called on the queue after addresses have changed.
    init(_ context: ProxyContext, onChange: @escaping @Sendable () -> Void) {
        self.context = Guarded(context)
        self.onChange = onChange
        begin(context)
    }

    /// Adopts the names and the interval of another configuration.
    func adopt(_ context: ProxyContext) {
        self.context.withLock { $0 = context }
        begin(context)
    }

    /// Stops resolving; a round in progress may still end.
    func stop() { series.wrappingAdd(1, ordering: .relaxed) }

    private func begin(_ context: ProxyContext) {
        let own = series.wrappingAdd(1, ordering: .relaxed).newValue
        let upstream = context.configuration.upstream
        if upstream.urls.contains(where: \.hasName) { waitForRound(of: own, upstream.resolveInterval) }
    }

    private func waitForRound(of own: Int, _ interval: Int) {
        // A weak reference, so that a waiting round keeps no replaced object alive.
        queue.asyncAfter(deadline: .now() + .milliseconds(interval)) { [weak self] in
            guard let self, series.load(ordering: .relaxed) == own else { return }
            refresh(context.withLock { $0 })
            waitForRound(of: own, interval)
        }
    }

    private func refresh(_ context: ProxyContext) {
        guard let refreshed = context.upstreams.refresh() else { return }
        let former = failing.withLock { failing in
            defer { failing = Set(refreshed.failed) }
            return failing
        }
        for host in refreshed.failed where !former.contains(host) {
            context.report(
                .warning(
                    "the upstream's name \(host) has no address just now: those that it had stay in use"))
        }
        for server in refreshed.added { context.report(.info("upstream \(server.text) has come")) }
        for server in refreshed.removed { context.report(.info("upstream \(server.text) has gone")) }
        if !refreshed.added.isEmpty || !refreshed.removed.isEmpty { onChange() }
    }
}

extension UpstreamURL {
    /// True if the URL has a name that needs resolving.
    fileprivate var hasName: Bool {
        if case .host(let host, _) = place { IPAddress(host) == nil } else { false }
    }
}
