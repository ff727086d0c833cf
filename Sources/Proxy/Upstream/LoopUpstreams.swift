internal import HTTP

/// The upstreams as one loop sees them: the balancer, the retry budget, and the connections.
///
/// Confined to its loop.
final class LoopUpstreams {
    /// An upstream address with this loop's connections to it.
    final class Way {
        /// The address and its health.
        let server: UpstreamServer
        /// The connections of this loop.
        let targetPool: TargetPool

        init(_ server: UpstreamServer, _ targetPool: TargetPool) {
            self.server = server
            self.targetPool = targetPool
        }
    }

    private var ways: [Way] = []
    private var method = Balancer.Method.roundRobin
    private var balancer = Balancer()
    /// The budget for retries.
    var budget = RetryBudget()

    /// The number of addresses.
    var count: Int { ways.count }

    /// True if the balancer counts requests in progress.
    var countsLoad: Bool { method == .leastConnections && ways.count > 1 }

    /// Adopts the upstreams of a configuration; connections to others are closed when they end.
    ///
    /// Does nothing if the directory already has the upstreams of a newer configuration.
    func adopt(_ context: ProxyContext, _ pool: ConnectionPool) {
        guard let servers = context.upstreams.servers(standingFor: context.configuration.upstream.urls) else {
            return
        }
        ways = servers.map { Way($0, pool.targetPool(for: $0.target)) }
        method = context.configuration.upstream.balance == .roundRobin ? .roundRobin : .leastConnections
        pool.keep(servers.lazy.map(\.target))
    }

    /// Returns the address for the next request, or nil if all have been tried.
    func choose(passing passed: [UpstreamServer] = [], now: Int64) -> Way? {
        if ways.count == 1 { return passed.isEmpty ? ways[0] : nil }
        // If another loop takes the trial first, choose again.
        for _ in 0...ways.count {
            let place = balancer.choose(
                ways.count, by: method,
                standing: { place in
                    let server = ways[place].server
                    guard passed.isEmpty || !passed.contains(where: { $0 === server }) else { return nil }
                    return server.standing(now: now)
                },
                active: { ways[$0].server.activeCount })
            guard let place else { return nil }
            let way = ways[place]
            guard way.server.standing(now: now) == .due, !way.server.beginTrial(now: now) else { return way }
        }
        return nil
    }
}
