internal import HTTP
internal import Storage

/// Checks the health of every address of an upstream at intervals.
final class HealthChecker: Handler {
    private let core: EventLoop.Core
    private let pool: ConnectionPool
    private let report: @Sendable (OperatorEvent) -> Void
    private var token = Token.none
    private var settings: Configuration.Upstream.Health?
    private var servers: [UpstreamServer] = []
    private var probes: [ObjectIdentifier: HealthProbe] = [:]

    init(core: EventLoop.Core, report: @escaping @Sendable (OperatorEvent) -> Void) {
        self.core = core
        self.report = report
        pool = ConnectionPool(settings: ClientSettings(), core: core)
        token = core.add(self)
    }

    /// Adopts other settings and upstreams; unchanged addresses keep their health.
    ///
    /// Does nothing if the directory already has the upstreams of a newer configuration.
    func adopt(_ group: UpstreamGroup) {
        guard let current = group.servers else { return }
        let former = servers
        servers = current
        for (name, probe) in probes where !servers.contains(where: { ObjectIdentifier($0) == name }) {
            probe.cancel()
            probes[name] = nil
        }
        let isChanged = settings != group.settings.health
        settings = group.settings.health
        guard let settings else { return stop() }
        var connections = ClientSettings()
        connections.tls = group.tls
        connections.keepAliveMax = 0
        connections.connectTimeout = Int64(settings.timeout)
        connections.responseTimeout = Int64(settings.timeout)
        pool.adopt(connections)
        pool.keep(servers.map(\.target))
        if isChanged { return expired(core) }
        for server in servers where !former.contains(where: { $0 === server }) { check(server, settings) }
    }

    private func stop() {
        core.setDeadline(token, nil)
        close()
        for server in servers { server.change { $0.forgetChecks() } }
    }

    func close() {
        for probe in probes.values { probe.cancel() }
        probes = [:]
    }

    /// Ends all checks for good.
    func end() {
        close()
        core.remove(token)
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
            guard let isGood, servers.contains(where: { $0 === server }),
                let change = server.change({ $0.checked(isGood: isGood) })
            else { return }
            report(.change(change, of: server, isOnlyOne: servers.count == 1))
        }
        probes[name] = probe
        probe.start(target, in: pool.targetPool(for: server.target), of: pool)
    }
}

/// One health check of one upstream address.
final class HealthProbe: ResponseHandler, Handler {
    private let settings: Configuration.Upstream.Health
    private let core: EventLoop.Core
    private var token = Token.none
    private var connection: ClientConnection?
    /// Nil if this machine is at fault.
    private var isGood: Bool? = false
    private var bodyBytes = 0
    private var onEnd: ((Bool?) -> Void)?

    /// The largest response body that is read.
    private static let bodyBytesMax = 64 * 1024

    /// - Parameter onEnd: called once, unless the probe is cancelled; with nil, nothing has become known of the upstream.
    init(_ settings: Configuration.Upstream.Health, core: EventLoop.Core, onEnd: @escaping (Bool?) -> Void) {
        self.settings = settings
        self.core = core
        self.onEnd = onEnd
    }

    func start(_ target: RequestTarget, in targetPool: TargetPool, of pool: ConnectionPool) {
        token = core.add(self)
        // The deadline covers the whole probe: an upstream that sends its head slowly is unhealthy.
        core.setDeadline(token, core.now + Int64(settings.timeout))
        var headers = Headers()
        headers.append(.host, targetPool.target.authority)
        headers.append(.userAgent, "dictum-health")
        headers.append(.connection, "close")
        do throws(SystemError) {
            let connection = try pool.connection(from: targetPool, fresh: true)
            self.connection = connection
            let head = RequestHead(method: .get, target: target, headers: headers)
            connection.begin(head, framing: .none, handler: self)
        } catch {
            failed(.connectFailed(error))
        }
    }

    /// Cancels the probe without calling `onEnd`.
    func cancel() {
        onEnd = nil
        end()
    }

    /// Ends the probe; a head that came in time counts.
    func expired(_ core: EventLoop.Core) { end() }

    private func end() {
        core.remove(token)
        connection.take()?.abort()
        onEnd.take()?(isGood)
    }

    // MARK: Events of the connection

    func receivedInterim(_ head: ResponseHead) {}

    func receivedHead(_ head: consuming ResponseHead, framing: BodyFraming) {
        isGood = settings.status.contains(Int(head.status.rawValue))
    }

    func receivedBody(_ bytes: Span<UInt8>) {
        bodyBytes += bytes.count
        if bodyBytes > Self.bodyBytesMax { end() }
    }

    func responseEnded(trailers: consuming Headers) {
        connection = nil
        end()
    }

    func failed(_ error: UpstreamError) {
        connection = nil
        if case .connectFailed(let lack) = error, lack.isOurs { isGood = nil }
        end()
    }
}
