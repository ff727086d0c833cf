internal import HTTP

/// The upstreams as one loop sees them: the balancer, the retry budget, and the connections.
///
/// Confined to its loop.
final class LoopUpstreams {
    private var members: [LoopUpstream] = []
    private var rule = Balancer.Rule.roundRobin
    private var balancer = Balancer()
    /// The budget for retries.
    var budget = RetryBudget()

    /// The number of addresses.
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
    /// The connections of this loop.
    let targetPool: TargetPool

    init(_ server: UpstreamServer, _ targetPool: TargetPool) {
        self.server = server
        self.targetPool = targetPool
    }
}

/// Chooses the address that the next request goes to.
///
/// Pure: it asks for the state of the addresses. O(n).
struct Balancer: Sendable {
    /// The rule that spreads requests.
    enum Rule: Sendable, Equatable {
        case roundRobin
        case leastConnections
    }

    private var next = 0

    /// Returns the position of the chosen address out of `count`, or nil if all are skipped.
    ///
    /// - Parameters:
    ///   - standing: returns the standing of the address at a position, or nil to skip it.
    ///   - active: returns the requests in progress at an address; called for `leastConnections` only.
    mutating func choose(
        _ count: Int, by rule: Rule, standing: (Int) -> EndpointHealth.Standing?, active: (Int) -> Int
    ) -> Int? {
        guard count > 0 else { return nil }
        var least: (place: Int, active: Int)?
        var leastBad: (place: Int, badness: Int64)?
        for step in 0..<count {
            let place = (next % count + step) % count
            switch standing(place) {
            case nil: continue
            // A trial request is a request like others and takes no detour.
            case .due: return take(place, count)
            case .up:
                guard rule == .leastConnections else { return take(place, count) }
                let active = active(place)
                if active < least?.active ?? .max { least = (place, active) }
            case .out(let badness):
                if leastBad.map({ badness < $0.badness }) ?? true { leastBad = (place, badness) }
            }
        }
        guard let place = least?.place ?? leastBad?.place else { return nil }
        return take(place, count)
    }

    private mutating func take(_ place: Int, _ count: Int) -> Int {
        next = (place + 1) % count
        return place
    }
}
