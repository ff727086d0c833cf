internal import HTTP

/// Everything one event loop has of the proxy: its own `ReverseProxy` and its share of each listener.
final class ProxyLoop: Handler {
    /// A listener as it is configured, and this loop's sockets of it: mostly one.
    typealias Opened = (configuration: Configuration.Listener, sockets: [ListeningSocket])

    let proxy: ReverseProxy
    /// By the number that the server gave each.
    private var listeners: [Int: Listener] = [:]
    /// Those that accept no more, and have requests under way.
    private var leaving: [Listener] = []
    /// Connections of listeners that are no more.
    private var formerConnections = 0
    /// The TLS handshakes of those.
    private var formerHandshakes = TLSHandshakeCounts()
    private let accessLog: AccessLogOutput?
    private var onDrained: (() -> Void)?
    /// Whether this loop sees to what is to be done every second.
    private let maintains: Bool
    /// Whether the upstreams are healthy, this loop finds out for all.
    private let health: HealthChecker?
    private var token: Token?

    init(context: ProxyContext, accessLog: AccessLogOutput?, maintains: Bool, core: EventLoop.Core) {
        self.accessLog = accessLog
        self.maintains = maintains
        proxy = ReverseProxy(context: context, log: accessLog?.log(for: context), core: core)
        health = maintains ? HealthChecker(core: core, report: context.report) : nil
    }

    /// Accepts from now on; returns the name of this part on its loop.
    func start(_ sockets: [Int: Opened], on core: EventLoop.Core) -> Token {
        open(sockets, core)
        let token = core.add(self)
        self.token = token
        health?.adopt(proxy.context)
        expired(core)
        return token
    }

    func expired(_ core: EventLoop.Core) {
        guard maintains, let token else { return }
        proxy.context.maintain()
        core.setDeadline(token, core.now + 1000)
    }

    // MARK: Listeners

    private func open(_ sockets: [Int: Opened], _ core: EventLoop.Core) {
        let context = proxy.context
        for (number, opened) in sockets {
            let listener = Listener(
                sockets: opened.sockets, application: proxy,
                settings: ServerSettings(opened.configuration, in: context),
                count: context.shared.connectionCount)
            listeners[number] = listener
            listener.start(on: core)
        }
    }

    /// Begins new requests with another configuration, accepts at the sockets that were added, and no more at the
    /// listeners that are not among `kept`.
    func adopt(
        _ context: ProxyContext, added: [Int: Opened], kept: [Int: Configuration.Listener],
        _ core: EventLoop.Core
    ) {
        proxy.adopt(context, log: accessLog?.log(for: context))
        health?.adopt(context)
        for (number, listener) in listeners {
            if let configuration = kept[number] {
                listener.adopt(ServerSettings(configuration, in: context))
            } else {
                listeners[number] = nil
                leave(listener, core)
            }
        }
        open(added, core)
    }

    /// Goes on with the addresses that the upstreams have now.
    func refreshUpstreams() {
        proxy.refreshUpstreams()
        health?.adopt(proxy.context)
    }

    private func leave(_ listener: Listener, _ core: EventLoop.Core) {
        leaving.append(listener)
        listener.stop(core) { [unowned self, unowned listener] in left(listener) }
    }

    private func left(_ listener: Listener) {
        formerConnections += listener.acceptedConnections
        formerHandshakes.add(listener.handshakeCounts)
        leaving.removeAll { $0 === listener }
        reportDrained()
    }

    private func reportDrained() {
        guard leaving.isEmpty, listeners.isEmpty, let onDrained else { return }
        self.onDrained = nil
        onDrained()
    }

    // MARK: Ends

    /// Accepts no more and calls `whenDrained` once the requests under way have been answered.
    func stop(_ core: EventLoop.Core, whenDrained: @escaping () -> Void) {
        let last = listeners.values
        listeners = [:]
        for listener in last { leave(listener, core) }
        onDrained = whenDrained
        reportDrained()
    }

    /// Resets what did not end in time, and writes out the log.
    func close() {
        for listener in leaving + listeners.values { listener.abortAll() }
        proxy.close()
        health?.close()
    }

    /// Where this loop accepts, by the numbers of the listeners.
    var sockets: [Int: [ListeningSocket]] { listeners.mapValues(\.sockets) }

    /// The counters of this loop, with its connections as they are now.
    var snapshot: MetricsSnapshot {
        var snapshot = proxy.metrics.snapshot
        snapshot.clientConnections.opened += formerConnections
        snapshot.handshakes.add(formerHandshakes)
        for listener in leaving + listeners.values {
            let active = listener.activeConnections
            snapshot.handshakes.add(listener.handshakeCounts)
            snapshot.clientConnections.add(
                ConnectionCounts(
                    active: active, idle: listener.openConnections - active,
                    opened: listener.acceptedConnections))
        }
        let pool = proxy.connections
        snapshot.upstreamConnections.add(
            ConnectionCounts(active: pool.activeCount, idle: pool.idleCount, opened: pool.openedCount))
        return snapshot
    }
}
