internal import HTTP

/// Everything one event loop has of the proxy: its own `ReverseProxy` and its share of each listener.
final class ProxyLoop: Handler {
    let proxy: ReverseProxy
    private var listeners: [Listener]
    private var draining = 0

    init(proxy: ReverseProxy, listeners: [Listener]) {
        self.proxy = proxy
        self.listeners = listeners
    }

    func start(on core: EventLoop.Core) {
        for listener in listeners { listener.start(on: core) }
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
