internal import HTTP

/// One loop's view of the upstreams: whose turn it is, and how many tries are left.
///
/// Confined to its loop.
final class LoopUpstreams {
    /// One address of an upstream, and the connections that this loop keeps to it.
    final class Way {
        /// The address, and how it fares.
        let server: UpstreamServer
        /// This loop's connections to it.
        let lane: UpstreamLane

        init(_ server: UpstreamServer, _ lane: UpstreamLane) {
            self.server = server
            self.lane = lane
        }
    }

    private var ways: [Way] = []
    private var method = Balancer.Method.roundRobin
    private var balancer = Balancer()
    /// Tries beyond the first.
    var budget = RetryBudget()

    /// How many there are.
    var count: Int { ways.count }

    /// Whether somebody balances by the requests under way.
    var countsLoad: Bool { method == .leastConnections && ways.count > 1 }

    /// Goes on with those of the context; connections to others are let end, and kept no longer.
    ///
    /// Does nothing where another context is on its way that has others.
    func adopt(_ context: ProxyContext, _ pool: ConnectionPool) {
        guard let servers = context.upstreams.servers(standingFor: context.configuration.upstream.urls) else {
            return
        }
        ways = servers.map { Way($0, pool.lane(to: $0.target)) }
        method = context.configuration.upstream.balance == .roundRobin ? .roundRobin : .leastConnections
        pool.keep(servers.lazy.map(\.target))
    }

    /// The way that the next request takes; nil where all have been `passed`.
    func choose(passing passed: [UpstreamServer] = [], now: Int64) -> Way? {
        if ways.count == 1 { return passed.isEmpty ? ways[0] : nil }
        // Another loop may take a trial first: then it is the next one's turn.
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
