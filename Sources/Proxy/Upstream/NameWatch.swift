internal import Dictionaries
internal import Dispatch
internal import HTTP
internal import Synchronization

/// Has the names of the upstreams resolved again at intervals, on a queue of its own, since that blocks.
///
/// Safe from any thread.
final class NameWatch: Sendable {
    private let queue = DispatchQueue(label: "dictum.resolver", qos: .utility)
    private let context: Guarded<ProxyContext>
    /// Names that had no address the last time.
    private let failing = Guarded<Set<String>>([])
    /// Which series of rounds counts; those of former configurations end by themselves.
    private let series = Atomic<Int>(0)
    private let onChange: @Sendable () -> Void

    /// `onChange` is called on the queue after addresses have come or gone.
    init(_ context: ProxyContext, onChange: @escaping @Sendable () -> Void) {
        self.context = Guarded(context)
        self.onChange = onChange
        begin(context)
    }

    /// Goes on with the names and the interval of another configuration.
    func adopt(_ context: ProxyContext) {
        self.context.withLock { $0 = context }
        begin(context)
    }

    /// Resolves no more; a round that is under way may still end.
    func stop() { series.wrappingAdd(1, ordering: .relaxed) }

    private func begin(_ context: ProxyContext) {
        let own = series.wrappingAdd(1, ordering: .relaxed).newValue
        let upstream = context.configuration.upstream
        if upstream.urls.contains(where: \.hasName) { waitForRound(of: own, upstream.resolveInterval) }
    }

    private func waitForRound(of own: Int, _ interval: Int) {
        // Holds nothing on to what a reload or the end has replaced.
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
    /// Whether it has a name that may get other addresses.
    fileprivate var hasName: Bool {
        if case .host(let host, _) = place { IPAddress(host) == nil } else { false }
    }
}
