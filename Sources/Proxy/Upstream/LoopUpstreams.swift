internal import HTTP

/// The upstreams as one loop sees them: the balancer, the retry budget, and the connections.
///
/// Confined to its loop.
final class LoopUpstreams {
    private var members: [LoopUpstream] = []
    private var rule = Balancer.Rule.roundRobin
    private var balancer = Balancer()
    var budget = RetryBudget()

    var count: Int { members.count }

    /// True if the balancer counts requests in progress.
    var countsLoad: Bool { rule == .leastConnections && members.count > 1 }

    /// Adopts the upstreams of a configuration; connections to others are closed when they end.
    ///
    /// Does nothing if the directory already has the upstreams of a newer configuration.
    func adopt(_ group: UpstreamGroup, _ pool: ConnectionPool) {
        guard let servers = group.servers else { return }
        members = servers.map { LoopUpstream($0, pool.targetPool(for: $0.target)) }
        rule = group.settings.balance == .roundRobin ? .roundRobin : .leastConnections
        pool.keep(servers.lazy.map(\.target))
    }

    /// Returns the address for the next request, or nil if all have been tried.
    func choose(excluding tried: [UpstreamServer] = [], now: Int64) -> LoopUpstream? {
        if members.count == 1 { return tried.isEmpty ? members[0] : nil }
        // If another loop takes the trial first, choose again.
        for _ in 0...members.count {
            let place = balancer.choose(
                members.count, by: rule,
                standing: { place in
                    let server = members[place].server
                    guard tried.isEmpty || !tried.contains(where: { $0 === server }) else { return nil }
                    return server.standing(now: now)
                },
                active: { members[$0].server.activeCount })
            guard let place else { return nil }
            let member = members[place]
            guard member.server.standing(now: now) == .due, !member.server.beginTrial(now: now) else {
                return member
            }
        }
        return nil
    }
}

/// An upstream address with this loop's connections to it.
final class LoopUpstream {
    /// The address and its health.
    let server: UpstreamServer
    let targetPool: TargetPool

    init(_ server: UpstreamServer, _ targetPool: TargetPool) {
        self.server = server
        self.targetPool = targetPool
    }
}
