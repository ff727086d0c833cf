internal import Dictionaries
internal import Dispatch
package import HTTP
internal import Synchronization

/// A running proxy: its loops, its listeners and its store.
///
/// Safe from any thread but a loop.
package final class ProxyServer: Sendable {
    /// One loop and the name of its part of the proxy there.
    struct LoopPart: Sendable {
        let loop: EventLoop
        let token: Token
    }

    package let context: ProxyContext
    /// Where clients connect, with the ports the system chose where none was given.
    package let endpoints: [Endpoint]
    /// Where the admin listener is, if there is one.
    package let adminEndpoint: Endpoint?
    private let parts: [LoopPart]
    private let status: AdminStatus

    /// Starts to accept; blocks for a moment.
    package init(context: ProxyContext, accessLog: AccessLogOutput?) throws(StartError) {
        self.context = context
        let configuration = context.configuration
        let count = context.loopCount
        var sockets: [[ListeningSocket]] = []
        for listener in configuration.listeners {
            sockets.append(try Self.open(listener.address, count: count))
        }
        let adminSocket = try configuration.admin?.address.flatMap { address throws(StartError) in
            try Self.open(address, count: 1).first
        }
        adminEndpoint = adminSocket?.endpoint
        endpoints = sockets.compactMap { $0.first?.endpoint }
        let connectionCount = ConnectionCount()
        parts = (0..<count).map { index in
            let own = sockets.map { $0[index] }
            return Self.startPart(index, context, own, connectionCount, accessLog)
        }
        status = AdminStatus(context: context, parts: parts, sink: accessLog?.sink)
        if let adminSocket { startAdmin(adminSocket) }
    }

    private static func open(_ address: ListenAddress, count: Int) throws(StartError) -> [ListeningSocket] {
        let endpoint: Endpoint
        switch address {
        case .unix(let path): endpoint = .unix(path: path)
        case .tcp(let host, let port):
            guard let found = Endpoint.resolve(host: host, port: port).first else {
                throw .cannotListen(address.description, "the name has no address")
            }
            endpoint = found
        }
        do throws(SystemError) {
            return try ListeningSocket.open(endpoint, count: count)
        } catch {
            throw .cannotListen(address.description, error.text)
        }
    }

    private static func startPart(
        _ index: Int, _ context: ProxyContext, _ sockets: [ListeningSocket], _ count: ConnectionCount,
        _ output: AccessLogOutput?
    ) -> LoopPart {
        let loop = EventLoop(label: "dictum.loop.\(index)")
        let started = DispatchSemaphore(value: 0)
        let token = Guarded<Token?>(nil)
        loop.execute { core in
            let log = output.map { output in
                AccessLog(
                    format: AccessLogFormat(isJSON: output.isJSON, configuration: context.configuration),
                    share: context.configuration.log.accessShare, sink: output.sink)
            }
            let proxy = ReverseProxy(context: context, log: log, core: core)
            let part = ProxyLoop(
                proxy: proxy,
                listeners: zip(sockets, context.configuration.listeners).map { socket, listener in
                    Listener(
                        socket: socket, application: proxy,
                        settings: ServerSettings(listener, in: context.configuration), count: count)
                },
                maintains: index == 0)
            let name = part.start(on: core)
            token.withLock { $0 = name }
            started.signal()
        }
        started.wait()
        return LoopPart(loop: loop, token: token.withLock { $0 } ?? Token.none)
    }

    /// The admin listener lives on the first loop, for as long as that runs: probes are answered while it drains.
    private func startAdmin(_ socket: ListeningSocket) {
        var settings = ServerSettings()
        settings.connectionsMax = 64
        parts.first?.loop.execute { [status, settings] core in
            let listener = Listener(
                socket: socket, application: AdminApplication(status: status, core: core), settings: settings,
                count: ConnectionCount())
            listener.start(on: core)
        }
    }

    /// Drains: accepts no more, lets requests under way end for so long, resets the rest, stores what is pending.
    package func stop(drainMilliseconds: Int) {
        status.startDraining()
        let drained = DispatchGroup()
        for part in parts {
            drained.enter()
            part.loop.execute { core in
                guard let own = core.handler(part.token, as: ProxyLoop.self) else { return drained.leave() }
                own.stop(core) { drained.leave() }
            }
        }
        _ = drained.wait(timeout: .now() + .milliseconds(drainMilliseconds))
        for part in parts {
            part.loop.execute { core in core.handler(part.token, as: ProxyLoop.self)?.close() }
            part.loop.stop()
        }
        for part in parts { part.loop.join() }
        context.store.close()
    }
}

/// Where the access log goes, and in which form.
package struct AccessLogOutput: Sendable {
    package let sink: LogSink
    package let isJSON: Bool

    package init(sink: LogSink, isJSON: Bool) {
        self.sink = sink
        self.isJSON = isJSON
    }
}

/// Why the proxy could not start.
package enum StartError: Error, Equatable, CustomStringConvertible {
    /// An address is taken, not ours, or none.
    case cannotListen(String, String)
    /// The upstream's name has no address.
    case unknownUpstream(String)
    /// The store refuses to be opened.
    case store(String)

    package var description: String {
        switch self {
        case .cannotListen(let address, let why):
            "cannot listen on \(address): \(why); choose another address in `listeners`, or stop who uses it"
        case .unknownUpstream(let host):
            "the upstream's name \(host) has no address; check `upstream.urls` and the name service"
        case .store(let why):
            why
        }
    }
}

extension ServerSettings {
    init(_ listener: Configuration.Listener, in configuration: Configuration) {
        self.init()
        if listener.proxyProtocol {
            acceptsProxyHeader = { [networks = configuration.trustedProxies] in networks.contains($0) }
        }
        let limits = configuration.limits
        self.limits = MessageLimits(headBytes: limits.requestHead)
        headTimeout = Int64(limits.headTimeout)
        keepAliveTimeout = Int64(limits.keepAliveTimeout)
        idleTimeout = Int64(configuration.upstream.idleTimeout)
        tunnelTimeout = Int64(limits.tunnelTimeout)
        connectionsMax = limits.connections
    }
}
