internal import HTTP

/// Everything one event loop has of the proxy: its own `ReverseProxy` and its share of each listener.
final class ProxyLoop: Handler {
    let proxy: ReverseProxy
    private var listeners: [Listener]
    private var draining = 0
    /// Whether this loop sees to what is to be done every second.
    private let maintains: Bool
    private var token: Token?

    init(proxy: ReverseProxy, listeners: [Listener], maintains: Bool) {
        self.proxy = proxy
        self.maintains = maintains
        self.listeners = listeners
    }

    /// Accepts from now on; returns the name of this part on its loop.
    func start(on core: EventLoop.Core) -> Token {
        for listener in listeners { listener.start(on: core) }
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

    /// The counters of this loop, with its connections as they are now.
    var snapshot: MetricsSnapshot {
        var snapshot = proxy.metrics.snapshot
        for listener in listeners {
            let active = listener.activeConnections
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

    /// Accepts no more and calls `whenDrained` once the requests under way have been answered.
    func stop(_ core: EventLoop.Core, whenDrained: @escaping () -> Void) {
        draining = listeners.count
        guard draining > 0 else { return whenDrained() }
        for listener in listeners {
            listener.stop(core) { [unowned self] in
                draining -= 1
                if draining == 0 { whenDrained() }
            }
        }
    }

    /// Resets what did not end in time, and writes out the log.
    func close() {
        for listener in listeners { listener.abortAll() }
        proxy.close()
    }
}
