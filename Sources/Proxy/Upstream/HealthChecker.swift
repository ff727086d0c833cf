internal import Dictionaries
internal import HTTP

/// Checks the health of every upstream address at intervals, on behalf of all loops.
///
/// Confined to one loop.
final class HealthChecker: Handler {
    private let core: EventLoop.Core
    private let pool: ConnectionPool
    private let report: @Sendable (StoreEvent) -> Void
    private var token = Token.none
    private var settings: Configuration.Upstream.Health?
    private var servers: [UpstreamServer] = []
    private var probes: [ObjectIdentifier: HealthProbe] = [:]

    init(core: EventLoop.Core, report: @escaping @Sendable (StoreEvent) -> Void) {
        self.core = core
        self.report = report
        pool = ConnectionPool(settings: ClientSettings(), core: core)
        token = core.add(self)
    }

    /// Adopts other settings and upstreams; unchanged addresses keep their health.
    ///
    /// Does nothing if the directory already has the upstreams of a newer configuration.
    func adopt(_ context: ProxyContext) {
        guard let current = context.upstreams.servers(standingFor: context.configuration.upstream.urls) else {
            return
        }
        let former = servers
        servers = current
        for (name, probe) in probes where !servers.contains(where: { ObjectIdentifier($0) == name }) {
            probe.cancel()
            probes[name] = nil
        }
        let isChanged = settings != context.configuration.upstream.health
        settings = context.configuration.upstream.health
        guard let settings else { return stop() }
        var connections = ClientSettings()
        connections.tls = context.upstreamTLS
        connections.keepAliveMax = 0
        connections.connectTimeout = Int64(settings.timeout)
        connections.responseTimeout = Int64(settings.timeout)
        pool.adopt(connections)
        pool.keep(servers.map(\.target))
        if isChanged { return expired(core) }
        for server in servers where !former.contains(where: { $0 === server }) { check(server, settings) }
    }

    /// Stops checking and forgets all checks.
    private func stop() {
        core.setDeadline(token, nil)
        close()
        for server in servers { server.forgetChecks() }
    }

    /// Cancels the probes in progress.
    func close() {
        for probe in probes.values { probe.cancel() }
        probes = [:]
    }

    func expired(_ core: EventLoop.Core) {
        guard let settings else { return }
        for server in servers { check(server, settings) }
        core.setDeadline(token, core.now + Int64(settings.interval))
    }

    private func check(_ server: UpstreamServer, _ settings: Configuration.Upstream.Health) {
        let name = ObjectIdentifier(server)
        // A probe may outlast the interval; then no second one starts.
        guard probes[name] == nil, let target = try? RequestTarget(settings.path) else { return }
        let probe = HealthProbe(settings, core: core) { [unowned self] isGood in
            probes[name] = nil
            guard servers.contains(where: { $0 === server }), let change = server.checked(isGood: isGood)
            else { return }
            report(.change(change, of: server, isOnlyOne: servers.count == 1))
        }
        probes[name] = probe
        probe.start(target, in: pool.targetPool(for: server.target), of: pool)
    }
}
