internal import Dispatch
internal import HTTP
internal import Primitives
internal import Storage
internal import Synchronization

/// Resolves the names of all upstreams at intervals.
final class NameWatches: Sendable {
    /// Resolving blocks, so a slow name must not delay the others.
    private let queue = DispatchQueue(label: "dictum.resolver", qos: .utility, attributes: .concurrent)
    /// The current series of rounds; older series end by themselves.
    private let series = Atomic<Int>(0)
    /// The names without an address in the last round, by upstream.
    private let failing = Guarded<[String: Set<String>]>([:])
    private let onChange: @Sendable () -> Void

    /// - Parameter onChange: called on a queue after addresses have changed.
    init(_ groups: UpstreamGroups, onChange: @escaping @Sendable () -> Void) {
        self.onChange = onChange
        adopt(groups)
    }

    /// Adopts the upstreams of a configuration; names of upstreams that are gone are not resolved any more.
    func adopt(_ groups: UpstreamGroups) {
        let own = series.wrappingAdd(1, ordering: .relaxed).newValue
        failing.withLock { failing in failing = failing.filter { groups[$0.key] != nil } }
        for group in groups.all where group.settings.urls.contains(where: \.hasName) {
            waitForRound(of: group, own)
        }
    }

    /// Stops resolving; rounds in progress may still end.
    func stop() { series.wrappingAdd(1, ordering: .relaxed) }

    private func waitForRound(of group: UpstreamGroup, _ own: Int) {
        let interval = DispatchTimeInterval.milliseconds(group.settings.resolveInterval)
        // Weak references, so that a waiting round keeps no replaced object alive.
        queue.asyncAfter(deadline: .now() + interval) { [weak self, weak group] in
            guard let self, let group, series.load(ordering: .relaxed) == own else { return }
            refresh(group)
            waitForRound(of: group, own)
        }
    }

    private func refresh(_ group: UpstreamGroup) {
        guard let refreshed = group.directory.refresh() else { return }
        let former = failing.withLock { exchange(&$0[group.name, default: []], with: Set(refreshed.failed)) }
        for host in refreshed.failed where !former.contains(host) {
            group.report(
                .warning("the upstream's name \(host) has no address at present; keeping its former ones"))
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
