internal import Dictionaries
internal import Dispatch
package import HTTP

/// A running proxy: its loops, its listeners and its store.
///
/// Safe from any thread but a loop.
package final class ProxyServer: Sendable {
    /// One loop and the name of its part of the proxy there.
    struct LoopPart: Sendable {
        let loop: EventLoop
        let token: Token
    }

    /// A place where clients connect.
    struct OpenListener: Sendable {
        /// By which the loops know their shares of it.
        let number: Int
        let configuration: Configuration.Listener
        let endpoint: Endpoint
    }

    /// A listener whose sockets no loop has yet.
    struct Opened: Sendable {
        let listener: OpenListener
        /// The sockets of each loop.
        let shares: [[ListeningSocket]]

        /// Nil without any socket.
        init?(
            _ number: Int, _ configuration: Configuration.Listener, _ sockets: [ListeningSocket],
            loopCount: Int
        ) {
            guard let endpoint = sockets.first?.endpoint else { return nil }
            listener = OpenListener(number: number, configuration: configuration, endpoint: endpoint)
            shares = sockets.shares(loopCount)
        }
    }

    /// What a reload changes.
    struct State: Sendable {
        var context: ProxyContext
        var listeners: [OpenListener]
        var nextNumber: Int
        var adminEndpoint: Endpoint?
    }

    let state: Guarded<State>
    let parts: [LoopPart]
    let status: AdminStatus
    /// Keeps the addresses of the upstreams up to date.
    let names: NameWatch
    /// The loop of the admin listener alone: it answers probes while another loop is stuck, and while all drain.
    private let adminLoop = EventLoop(label: "dictum.admin")
    /// The name of the admin listener's part there.
    private let adminToken = Guarded<Token?>(nil)
    private let drained = DispatchSemaphore(value: 0)

    /// Starts to accept, at sockets that the process was started with where these are among the listeners'; blocks for a
    /// moment.
    package init(
        context: ProxyContext, accessLog: AccessLogOutput?, inherited: InheritedSockets = .none
    ) throws(StartError) {
        let (opened, adminSocket) = try Self.open(context, inherited)
        try OwnUpstream.check(context.upstreams.servers, opened.values.map(\.listener.endpoint))
        parts = (0..<context.loopCount).map { index in
            Self.startPart(
                index, context, opened.mapValues { ($0.listener.configuration, $0.shares[index]) }, accessLog
            )
        }
        state = Guarded(
            State(
                context: context, listeners: opened.sorted { $0.key < $1.key }.map(\.value.listener),
                nextNumber: opened.count, adminEndpoint: adminSocket?.endpoint))
        status = AdminStatus(context: context, parts: parts, sink: accessLog?.sink)
        names = NameWatch(context) { [parts] in
            for part in parts {
                part.loop.execute { core in
                    core.handler(part.token, as: ProxyLoop.self)?.refreshUpstreams()
                }
            }
        }
        startAdmin(adminSocket)
    }

    /// What the proxy has now; a reload puts another in its place.
    package var context: ProxyContext { state.withLock { $0.context } }
    /// Where clients connect, with the ports the system chose where none was given.
    package var endpoints: [Endpoint] { state.withLock { $0.listeners.map(\.endpoint) } }
    /// The URLs that lead to the listeners.
    package var urls: [String] {
        state.withLock { state in
            state.listeners.map { listener in
                let url = listener.endpoint.urlText
                let isPlain = listener.configuration.tls == nil || !url.hasPrefix("http:")
                return isPlain ? url : "https" + url.dropFirst(4)
            }
        }
    }
    /// Where the admin listener is, if there is one.
    package var adminEndpoint: Endpoint? { state.withLock { $0.adminEndpoint } }

    // MARK: Starting

    /// The sockets of all listeners by their numbers, and that of the admin listener.
    private static func open(
        _ context: ProxyContext, _ inherited: InheritedSockets
    ) throws(StartError) -> ([Int: Opened], ListeningSocket?) {
        let listeners = context.configuration.listeners
        var wanted: [Endpoint] = []
        for listener in listeners { wanted.append(try endpoint(of: listener.address)) }
        let admin = context.configuration.admin?.address
        if let admin { wanted.append(try endpoint(of: admin)) }
        let (claimed, rest) = inherited.claimed(by: wanted)
        guard rest.isEmpty || inherited.mayBeLeftOver else { throw .unclaimedSockets(rest.map(\.text)) }
        var opened: [Int: Opened] = [:]
        for (number, listener) in listeners.enumerated() {
            var sockets = claimed[number]
            if sockets.isEmpty {
                sockets = try open(
                    listener.address, count: context.loopCount, isShared: listener.reusesPort,
                    isMultipath: listener.isMultipath)
            }
            context.reportMissingPaths(listener, sockets)
            opened[number] = Opened(number, listener, sockets, loopCount: context.loopCount)
        }
        guard let admin else { return (opened, nil) }
        if let socket = claimed.last?.first { return (opened, socket) }
        return (opened, try open(admin, count: 1).first)
    }

    /// The address of a listener; blocks where it is a name.
    private static func endpoint(of address: ListenAddress) throws(StartError) -> Endpoint {
        switch address {
        case .unix(let path): return .unix(path: path)
        case .tcp(let host, let port):
            guard let found = Endpoint.resolve(host: host, port: port).first else {
                throw .cannotListen(address.description, "the name has no address")
            }
            return found
        }
    }

    /// Listens at an address, with a socket for each of `count` loops; beside others if it is shared.
    static func open(
        _ address: ListenAddress, count: Int, isShared: Bool = false, isMultipath: Bool = false
    ) throws(StartError) -> [ListeningSocket] {
        let endpoint = try endpoint(of: address)
        do throws(SystemError) {
            return try ListeningSocket.open(
                endpoint, count: count, isReplacing: isShared, isMultipath: isMultipath)
        } catch {
            throw .cannotListen(address.description, error.text)
        }
    }

    private static func startPart(
        _ index: Int, _ context: ProxyContext, _ sockets: [Int: ProxyLoop.Opened],
        _ accessLog: AccessLogOutput?
    ) -> LoopPart {
        let loop = EventLoop(label: "dictum.loop.\(index)")
        let started = DispatchSemaphore(value: 0)
        let token = Guarded<Token?>(nil)
        loop.execute { core in
            let part = ProxyLoop(
                context: context, accessLog: accessLog, maintains: index == 0, core: core)
            let name = part.start(sockets, on: core)
            token.withLock { $0 = name }
            started.signal()
        }
        started.wait()
        return LoopPart(loop: loop, token: token.withLock { $0 } ?? Token.none)
    }

    private func startAdmin(_ socket: ListeningSocket?) {
        adminLoop.execute { [status, adminToken] core in
            let part = AdminLoop(status: status, core: core)
            part.listen(at: socket, core)
            let token = core.add(part)
            adminToken.withLock { $0 = token }
        }
    }

    /// Moves the admin listener to another socket, or closes it.
    func moveAdmin(to socket: ListeningSocket?) {
        adminLoop.execute { [adminToken] core in
            guard let token = adminToken.withLock({ $0 }) else { return }
            core.handler(token, as: AdminLoop.self)?.listen(at: socket, core)
        }
    }

    /// Has `body` called with the sockets of the admin listener.
    func askAdmin(_ asked: DispatchGroup, _ body: @escaping @Sendable ([ListeningSocket]) -> Void) {
        asked.enter()
        adminLoop.execute { [adminToken] core in
            let token = adminToken.withLock { $0 }
            body(token.flatMap { core.handler($0, as: AdminLoop.self) }?.sockets ?? [])
            asked.leave()
        }
    }

    // MARK: Ends

    /// Drains: accepts no more, lets requests under way end for so long, resets the rest, stores what is pending.
    ///
    /// The time is that of the configuration unless one is given; `stopAtOnce` ends it. With `isHandedOver` another
    /// process accepts at the same sockets, the admin listener's too. False where a loop is stuck: it is left behind, with
    /// what it has not stored.
    @discardableResult
    package func stop(drainMilliseconds: Int? = nil, isHandedOver: Bool = false) -> Bool {
        if isHandedOver { moveAdmin(to: nil) } else { status.startDraining() }
        names.stop()
        let time = drainMilliseconds ?? context.configuration.limits.drainTimeout
        let waiting = DispatchGroup()
        for part in parts {
            waiting.enter()
            part.loop.execute { core in
                guard let own = core.handler(part.token, as: ProxyLoop.self) else { return waiting.leave() }
                own.stop(core) { waiting.leave() }
            }
        }
        waiting.notify(queue: .global()) { [drained] in drained.signal() }
        // Once no loop accepts: the successor waits for the store, and what it admits meanwhile is in memory only.
        if isHandedOver { context.store.handOver() }
        _ = drained.wait(timeout: .now() + .milliseconds(time))
        for part in parts {
            part.loop.execute { core in core.handler(part.token, as: ProxyLoop.self)?.close() }
            part.loop.stop()
        }
        var areLoopsOver = true
        // Those behind a stuck one have had their time.
        for part in parts where !part.loop.join(milliseconds: areLoopsOver ? Self.stuckMilliseconds : 0) {
            areLoopsOver = false
        }
        adminLoop.stop()
        let isAdminOver = adminLoop.join(milliseconds: Self.stuckMilliseconds)
        return closeStore(isWaiting: areLoopsOver && isAdminOver)
    }

    /// A loop ends its turn within milliseconds; one that does not in this time never does.
    private static let stuckMilliseconds = 3_000

    /// Stores what is pending; a stuck loop may hold what that needs, so it is not waited for then.
    private func closeStore(isWaiting: Bool) -> Bool {
        guard !isWaiting else {
            context.store.close()
            return true
        }
        let closed = DispatchSemaphore(value: 0)
        let store = context.store
        DispatchQueue.global().async {
            store.close()
            closed.signal()
        }
        _ = closed.wait(timeout: .now() + .milliseconds(Self.stuckMilliseconds))
        return false
    }

    /// Has a `stop` that waits for requests under way wait no longer: they are reset.
    package func stopAtOnce() {
        drained.signal()
    }
}

extension ServerSettings {
    init(_ listener: Configuration.Listener, in context: ProxyContext) {
        self.init()
        let configuration = context.configuration
        tls = context.tls[listener.address]
        redirectPort = listener.redirectPort
        socket.keepAliveSeconds = listener.keepAlive / 1000
        socket.fastOpenQueue = listener.fastOpenQueue
        clientSubjectField = listener.tls?.clientSubjectField.flatMap { HeaderName($0) }
        strictTransportSecurity = listener.strictTransportSecurity
        if listener.proxyProtocol {
            acceptsProxyHeader = { [networks = configuration.trustedProxies] in networks.contains($0) }
        }
        let limits = configuration.limits
        self.limits = MessageLimits(headBytes: limits.requestHead)
        headTimeout = Int64(limits.headTimeout)
        keepAliveTimeout = Int64(limits.keepAliveTimeout)
        idleTimeout = Int64(configuration.upstream.idleTimeout)
        bodyRate = limits.bodyRate
        tunnelTimeout = Int64(limits.tunnelTimeout)
        connectionsMax = min(
            limits.connections, DescriptorLimit.clientsMax(descriptors: DescriptorLimit.current))
        guard let connections = limits.client.connections else { return }
        let (networks, prefix) = (configuration.trustedProxies, limits.client.ipv6Prefix)
        clientLimit = ClientConnectionLimit(countMax: connections, count: context.shared.clientConnections) {
            peer in
            guard case .ip(let address, _)? = peer, !networks.contains(peer) else { return nil }
            return address.clientBits(ipv6Prefix: prefix)
        }
    }
}
