internal import HTTP

/// One upstream as a loop sees it: the balancer, the retry budget, the connections, and on one loop the health checks.
final class LoopUpstream {
    /// The connections, which have the settings of this upstream.
    let connections: ConnectionPool
    private var members: [LoopAddress] = []
    private var rule = Configuration.Upstream.Balance.roundRobin
    private var balancer = Balancer()
    /// Checks the addresses on behalf of all loops; nil on the others.
    private let checker: HealthChecker?
    var budget = RetryBudget()
    let metricsRow: Int

    init(_ group: UpstreamGroup, _ metrics: LoopMetrics, core: EventLoop.Core, checksHealth: Bool) {
        let row = metrics.counters.row(ofUpstream: group.name)
        metricsRow = row
        checker = checksHealth ? HealthChecker(core: core, report: group.report) : nil
        connections = ConnectionPool(settings: ClientSettings(), core: core) { nanoseconds in
            metrics.counters.upstreamConnectTime.add(microseconds: Int(nanoseconds / 1_000), row: row)
        }
    }

    var count: Int { members.count }

    /// The system has some 28,000 ports for connections to one address.
    private static let requestsPerAddress = 20_000

    var portsMax: Int { Self.requestsPerAddress * members.count }

    /// True if the balancer counts requests in progress.
    var countsLoad: Bool { rule == .leastConnections && members.count > 1 }

    /// Adopts the settings and addresses of a configuration; connections to others are closed when they end.
    func adopt(_ group: UpstreamGroup) {
        connections.adopt(group.connections)
        refresh(group)
    }

    /// Adopts the current addresses, unless the directory already has those of a newer configuration.
    func refresh(_ group: UpstreamGroup) {
        guard let servers = group.servers else { return }
        members = servers.map { LoopAddress($0, connections.targetPool(for: $0.target)) }
        rule = group.settings.balance
        connections.keep(servers.lazy.map(\.target))
        checker?.adopt(group)
    }

    /// Closes each connection as soon as it is idle; requests in progress go on.
    func leave() {
        connections.keep([])
        checker?.end()
    }

    /// Closes idle connections, and cancels the checks in progress.
    func close() {
        connections.closeIdle()
        checker?.close()
    }

    /// Returns the address for the next request, or nil if all have been tried.
    func choose(excluding tried: [UpstreamServer] = [], now: Int64) -> LoopAddress? {
        if members.count == 1 { return tried.isEmpty ? members[0] : nil }
        // If another loop takes the trial first, choose again.
        for _ in 0...members.count {
            let index = balancer.choose(
                members.count, by: rule,
                standing: { index in
                    let server = members[index].server
                    guard tried.isEmpty || !tried.contains(where: { $0 === server }) else { return nil }
                    return server.standing(now: now)
                },
                active: { members[$0].server.activeCount })
            guard let index else { return nil }
            let member = members[index]
            guard member.server.standing(now: now) == .due, !member.server.beginTrial(now: now) else {
                return member
            }
        }
        return nil
    }
}

/// An address of an upstream with this loop's connections to it.
final class LoopAddress {
    let server: UpstreamServer
    let targetPool: TargetPool

    init(_ server: UpstreamServer, _ targetPool: TargetPool) {
        self.server = server
        self.targetPool = targetPool
    }
}

/// The upstreams of a loop, in the order of the current configuration.
final class LoopUpstreams {
    private let checksHealth: Bool
    private var names: [String] = []
    private var upstreams: [LoopUpstream] = []
    /// Upstreams that reloads have removed, as long as requests may use them.
    private var leaving: [LoopUpstream] = []
    private var formerOpened = 0

    /// Makes the upstreams of a loop; one loop checks their health for all.
    init(checksHealth: Bool) { self.checksHealth = checksHealth }

    subscript(group: UpstreamGroup) -> LoopUpstream { upstreams[group.place] }

    /// Adopts the upstreams of a configuration; those whose name is gone end with their last request.
    func adopt(_ groups: UpstreamGroups, _ metrics: LoopMetrics, core: EventLoop.Core) {
        var former = Dictionary(zip(names, upstreams)) { first, _ in first }
        names = groups.all.map(\.name)
        upstreams = groups.all.map { group in
            former.removeValue(forKey: group.name)
                ?? LoopUpstream(group, metrics, core: core, checksHealth: checksHealth)
        }
        for upstream in former.values {
            upstream.leave()
            leaving.append(upstream)
        }
        former = [:]
        for group in groups.all { self[group].adopt(group) }
        forgetUnused()
    }

    func refresh(_ groups: UpstreamGroups) {
        for group in groups.all { self[group].refresh(group) }
    }

    /// Forgets removed upstreams that no request and no connection refers to.
    private func forgetUnused() {
        for place in leaving.indices.reversed() {
            let pool = leaving[place].connections
            guard isKnownUniquelyReferenced(&leaving[place]), pool.activeCount == 0, pool.idleCount == 0
            else { continue }
            formerOpened += pool.openedCount
            leaving.remove(at: place)
        }
    }

    func close() {
        for upstream in upstreams + leaving { upstream.close() }
    }

    /// The numbers of connections in use, of idle ones, and of those opened since the start.
    var connectionCounts: (active: Int, idle: Int, opened: Int) {
        var counts = (active: 0, idle: 0, opened: formerOpened)
        for upstream in upstreams + leaving {
            counts.active += upstream.connections.activeCount
            counts.idle += upstream.connections.idleCount
            counts.opened += upstream.connections.openedCount
        }
        return counts
    }
}
