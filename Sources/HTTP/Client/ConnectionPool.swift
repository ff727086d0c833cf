internal import CLinux
internal import Glibc

/// The connections of one loop to its upstreams: those under way and those kept alive for the next request.
///
/// Confined to its loop.
package final class ConnectionPool {
    private let core: EventLoop.Core
    private var settings: ClientSettings
    private var lanes: [UpstreamTarget: UpstreamLane] = [:]
    private var sessions = TLSSessions()
    /// Counts the settings that connections have been made with.
    private(set) var generation = 0
    /// Idle connections, of all upstreams.
    package var idleCount: Int { idle }
    /// Connections with an exchange under way, of all upstreams.
    package var activeCount: Int { active }
    // Not to be seen from outside, see `EventLoop.Core.clock`.
    private var idle = 0
    private var active = 0
    private var recentPeak = RecentPeak()

    /// Connections made since the start.
    package private(set) var openedCount = 0

    package init(settings: ClientSettings, core: EventLoop.Core) {
        self.settings = settings
        self.core = core
    }

    /// The lane to a target; always the same one until `keep` drops it.
    package func lane(to target: UpstreamTarget) -> UpstreamLane {
        if let lane = lanes[target] { return lane }
        let lane = UpstreamLane(target)
        lanes[target] = lane
        return lane
    }

    /// A connection of a lane: one that was kept, the latest first, unless `fresh`; else a new one that is being
    /// made.
    ///
    /// A failure to make one comes to the exchange's handler.
    package func connection(in lane: UpstreamLane, fresh: Bool = false) throws(SystemError)
        -> ClientConnection
    {
        if !fresh, let kept = lane.idle.popLast() {
            idle -= 1
            noteActive()
            return kept
        }
        let transport = try transport(to: lane.target)
        noteActive()
        openedCount += 1
        return ClientConnection(lane: lane, transport: transport, settings: settings, pool: self, core: core)
    }

    /// A connection to an address that stands for nothing else.
    package func connection(to endpoint: Endpoint, fresh: Bool = false) throws(SystemError)
        -> ClientConnection
    {
        let target = UpstreamTarget(scheme: .http, authority: endpoint.text, endpoint: endpoint)
        return try connection(in: lane(to: target), fresh: fresh)
    }

    private func noteActive() {
        active += 1
        recentPeak.note(active, now: core.now)
    }

    /// How many connections may be idle now: the setting, or as many as the load of the last seconds may need again.
    ///
    /// Without the second part, a load of more connections than the setting would close and reopen them all the time.
    private var idleMax: Int {
        let settled = settings.keepAliveMax
        // The connection that asks is still counted as active.
        return settled == 0 ? 0 : max(settled, recentPeak.value(now: core.now) - active + 1)
    }

    private func transport(to target: UpstreamTarget) throws(SystemError) -> any Transport {
        let descriptor = try Self.connect(to: target.endpoint)
        guard target.scheme == .https else { return PlainTransport(descriptor) }
        // Never in clear for want of it.
        guard let context = settings.tls else { throw SystemError(code: EPROTONOSUPPORT) }
        let place = TLSSessions.Place(host: target.host, endpoint: target.endpoint)
        guard let transport = TLSTransport(descriptor, to: place, by: context, sessions) else {
            throw SystemError(code: ENOMEM)
        }
        return transport
    }

    private static func connect(to endpoint: Endpoint) throws(SystemError) -> Descriptor {
        let raw: Int32
        switch endpoint {
        case .ip(let address, let port):
            var target = address.endpoint(port: port)
            // Safe: `target` is local and outlives the call.
            raw = unsafe CLinux_connect(&target)
        case .unix(let path):
            // Safe: the text is terminated, and copied before the call ends.
            raw = unsafe CLinux_connect_unix(path)
        }
        guard raw >= 0 else { throw .last }
        return Descriptor(owning: raw)
    }

    /// Makes new connections with other settings.
    ///
    /// What is idle closes, since it has the former settings; what is under way goes on with them to its end.
    package func adopt(_ settings: ClientSettings) {
        self.settings = settings
        generation += 1
        // They were begun under the former authorities, and so were those of which the last word is still to come.
        sessions = TLSSessions()
        closeIdle()
    }

    /// Keeps connections to these targets only.
    ///
    /// What is idle of others closes; what is under way ends first.
    package func keep(_ targets: some Sequence<UpstreamTarget>) {
        let kept = Set(targets)
        for (target, lane) in lanes where !kept.contains(target) {
            lanes[target] = nil
            lane.isKept = false
            for connection in lane.idle { connection.close() }
        }
    }

    /// Takes a connection back after a whole exchange.
    func release(_ connection: ClientConnection) {
        let lane = connection.lane
        guard connection.generation == generation, lane.isKept, idle < idleMax else {
            return connection.close()
        }
        active -= 1
        lane.idle.append(connection)
        idle += 1
    }

    func closed(_ connection: ClientConnection) {
        if let index = connection.lane.idle.lastIndex(where: { $0 === connection }) {
            connection.lane.idle.remove(at: index)
            idle -= 1
        } else {
            active -= 1
        }
    }

    /// Closes what is idle.
    package func closeIdle() {
        for lane in lanes.values {
            for connection in lane.idle { connection.close() }
        }
    }
}
