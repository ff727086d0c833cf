internal import HTTP

/// The proxy on one event loop: a `ReverseProxy` and the loop's share of each listener.
final class ProxyLoop: Handler {
    /// The sockets of this loop, usually one for each listener.
    typealias Sockets = [ConfiguredAddress: [ListeningSocket]]

    let proxy: ReverseProxy
    private var listeners: [ConfiguredAddress: Listener] = [:]
    /// Listeners that no longer accept but have requests in progress.
    private var leaving: [Listener] = []
    private let accessLog: AccessLogOutput?
    private var onDrained: (() -> Void)?
    /// True if this loop does the periodic work of the whole proxy.
    private let maintains: Bool
    private var token: Token?

    init(context: ProxyContext, accessLog: AccessLogOutput?, maintains: Bool, core: EventLoop.Core) {
        self.accessLog = accessLog
        self.maintains = maintains
        proxy = ReverseProxy(
            context: context, log: accessLog?.log(for: context.configuration, routes: context.routeNames),
            checksHealth: maintains, core: core)
    }

    /// Starts to accept; returns its registration on the loop.
    func start(_ sockets: Sockets, on core: EventLoop.Core) -> Token {
        open(sockets, core)
        let token = core.add(self)
        self.token = token
        expired(core)
        return token
    }

    func expired(_ core: EventLoop.Core) {
        guard maintains, let token else { return }
        proxy.context.maintain()
        core.setDeadline(token, core.now + 1000)
    }

    // MARK: Listeners

    private func open(_ sockets: Sockets, _ core: EventLoop.Core) {
        for (address, sockets) in sockets {
            guard let settings = settings(of: address) else { continue }
            let listener = Listener(
                sockets: sockets, application: proxy, settings: settings,
                count: proxy.context.shared.connectionCount)
            listeners[address] = listener
            listener.start(on: core)
        }
    }

    /// Returns the settings of the listener at an address; nil if the configuration has none there.
    private func settings(of address: ConfiguredAddress) -> ServerSettings? {
        let context = proxy.context
        return context.configuration.listeners.first { $0.address == address }
            .map { ServerSettings($0, in: context) }
    }

    /// Adopts another configuration for new requests, opens the listeners `added`, and closes those that it does not have.
    func adopt(_ context: ProxyContext, added: Sockets, _ core: EventLoop.Core) {
        proxy.adopt(context, log: accessLog?.log(for: context.configuration, routes: context.routeNames))
        for (address, listener) in listeners {
            if let settings = settings(of: address) {
                listener.adopt(settings)
            } else {
                listeners[address] = nil
                leave(listener, core)
            }
        }
        open(added, core)
    }

    private func leave(_ listener: Listener, _ core: EventLoop.Core) {
        leaving.append(listener)
        listener.stop(core) { [unowned self, unowned listener] in
            leaving.removeAll { $0 === listener }
            reportDrained()
        }
    }

    private func reportDrained() {
        guard leaving.isEmpty, listeners.isEmpty else { return }
        onDrained.take()?()
    }

    // MARK: Ends

    /// Stops accepting, and calls `whenDrained` after the last request in progress.
    func stop(_ core: EventLoop.Core, whenDrained: @escaping () -> Void) {
        let last = listeners.values
        listeners = [:]
        for listener in last { leave(listener, core) }
        onDrained = whenDrained
        reportDrained()
    }

    /// Resets all remaining connections and flushes the log.
    func close() {
        for listener in leaving + listeners.values { listener.abortAll() }
        proxy.close()
    }

    var sockets: Sockets { listeners.mapValues(\.sockets) }

    /// The counters of this loop, with the current numbers of connections.
    var counters: LoopCounters {
        var counters = proxy.metrics.counters
        for listener in leaving + listeners.values {
            let active = listener.activeConnections
            counters.add(.client, active: active, idle: listener.openConnections - active)
        }
        let upstream = proxy.upstreams.connectionCounts
        counters.add(.upstream, active: upstream.active, idle: upstream.idle)
        counters.connectionsOpened.add(upstream.opened, at: ConnectionSide.upstream.index)
        return counters
    }
}

extension ServerSettings {
    init(_ listener: Configuration.Listener, in context: ProxyContext) {
        self.init()
        let configuration = context.configuration
        protocols = listener.protocols
        tls = context.tls[listener.address]
        redirectPort = listener.redirectPort
        probeSeconds = listener.keepAlive / 1000
        clientSubjectField = listener.tls?.clientSubjectField.flatMap { HeaderName($0) }
        strictTransportSecurity = listener.strictTransportSecurity
        alternativeServices = listener.alternativeServices
        if listener.proxyProtocol {
            acceptsProxyHeader = { [networks = configuration.trustedProxies] in networks.contains($0) }
        }
        let limits = configuration.limits
        self.limits = MessageLimits(headBytes: limits.requestHead)
        headTimeout = Int64(limits.headTimeout)
        keepAliveTimeout = Int64(limits.keepAliveTimeout)
        requestsMax = Int32(clamping: limits.keepAliveRequests)
        // A listener serves all routes, so that no upstream's own time ends too early.
        idleTimeout = Int64(configuration.allUpstreams.map(\.idleTimeout).max() ?? 0)
        bodyRate = limits.bodyRate
        tunnelTimeout = Int64(limits.tunnelTimeout)
        connectionsMax = min(
            limits.connections, DescriptorLimit.clientsMax(descriptors: DescriptorLimit.current))
        let (networks, prefix) = (configuration.trustedProxies, limits.client.ipv6Prefix)
        clientLimit = ClientConnectionLimit(
            countMax: limits.client.connections ?? .max, count: context.shared.clientConnections
        ) { peer in
            guard case .ip(let address, _)? = peer, !networks.contains(peer) else { return nil }
            return address.clientBits(ipv6Prefix: prefix)
        }
    }
}
