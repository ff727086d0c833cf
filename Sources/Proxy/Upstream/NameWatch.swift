internal import Dictionaries
internal import Dispatch
internal import HTTP
internal import Primitives
internal import Storage
internal import Synchronization

/// Resolves the names of all upstreams at intervals.
///
/// Safe from any thread.
final class NameWatches: Sendable {
    private let watches = Guarded<[String: NameWatch]>([:])
    private let onChange: @Sendable () -> Void

    /// - Parameter onChange: called on a queue after addresses have changed.
    init(_ groups: UpstreamGroups, onChange: @escaping @Sendable () -> Void) {
        self.onChange = onChange
        adopt(groups)
    }

    /// Adopts the upstreams of a configuration; names of upstreams that are gone are not resolved any more.
    func adopt(_ groups: UpstreamGroups) {
        watches.withLock { watches in
            let former = watches
            watches = [:]
            for group in groups.all {
                let watch = former[group.name]
                watch?.adopt(group)
                watches[group.name] = watch ?? NameWatch(group, onChange: onChange)
            }
            for (name, watch) in former where watches[name] == nil { watch.stop() }
        }
    }

    /// Stops resolving; rounds in progress may still end.
    func stop() { watches.withLock { $0.values.forEach { $0.stop() } } }
}

/// Resolves the names of an upstream at intervals, on its own queue, because that blocks.
///
/// Safe from any thread.
final class NameWatch: Sendable {
    private let queue = DispatchQueue(label: "dictum.resolver", qos: .utility)
    private let group: Guarded<UpstreamGroup>
    /// The names without an address in the last round.
    private let failing = Guarded<Set<String>>([])
    /// The current series of rounds; older series end by themselves.
    private let series = Atomic<Int>(0)
    private let onChange: @Sendable () -> Void

    /// - Parameter onChange: called on the queue after addresses have changed.
    init(_ group: UpstreamGroup, onChange: @escaping @Sendable () -> Void) {
        self.group = Guarded(group)
        self.onChange = onChange
        begin(group)
    }

    /// Adopts the names and the interval of another configuration.
    func adopt(_ group: UpstreamGroup) {
        self.group.withLock { $0 = group }
        begin(group)
    }

    /// Stops resolving; a round in progress may still end.
    func stop() { series.wrappingAdd(1, ordering: .relaxed) }

    private func begin(_ group: UpstreamGroup) {
        let own = series.wrappingAdd(1, ordering: .relaxed).newValue
        let settings = group.settings
        if settings.urls.contains(where: \.hasName) { waitForRound(of: own, settings.resolveInterval) }
    }

    private func waitForRound(of own: Int, _ interval: Int) {
        // A weak reference, so that a waiting round keeps no replaced object alive.
        queue.asyncAfter(deadline: .now() + .milliseconds(interval)) { [weak self] in
            guard let self, series.load(ordering: .relaxed) == own else { return }
            refresh(group.withLock { $0 })
            waitForRound(of: own, interval)
        }
    }

    private func refresh(_ group: UpstreamGroup) {
        guard let refreshed = group.directory.refresh() else { return }
        let former = failing.withLock { exchange(&$0, with: Set(refreshed.failed)) }
        for host in refreshed.failed where !former.contains(host) {
            group.report(
                .warning(
                    "the upstream's name \(host) has no address at present; keeping its former ones"))
        }
        for server in refreshed.added { group.report(.info("upstream \(server.text) has come")) }
        for server in refreshed.removed { group.report(.info("upstream \(server.text) has gone")) }
        if !refreshed.added.isEmpty || !refreshed.removed.isEmpty { onChange() }
    }
}

extension UpstreamURL {
    fileprivate var hasName: Bool {
        if case .tcp(let host, _) = place { IPAddress(host) == nil } else { false }
    }
}
