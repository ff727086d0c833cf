internal import Glibc

/// One loop's share of a listening address: accepts connections and keeps them.
package final class Listener: Handler {
    /// A connection's count among those of its client.
    private typealias CountedClient = (client: UInt128, count: ClientConnectionCount)

    /// The sockets; none once the listener stops, so that they are closed and new clients notice at once.
    ///
    /// A process that inherits more sockets than it has loops serves several on one loop, because each has its
    /// own queue.
    package private(set) var sockets: [ListeningSocket]
    private let application: any Application
    private var settings: ServerSettings
    private let count: ConnectionCount
    private var tokens: [Token] = []
    private var connections: [ObjectIdentifier: any AcceptedConnection] = [:]
    /// The connections beyond the limit, which count towards no other limit.
    private var refused: Set<ObjectIdentifier> = []
    /// The clients of connections that count towards their client's limit.
    private var clients: [ObjectIdentifier: CountedClient] = [:]
    /// The connections whose PROXY protocol header is still awaited.
    private var waiting: [ObjectIdentifier: ProxyHeaderReader] = [:]
    /// The connections whose TLS handshake is not complete.
    private var handshakes: [ObjectIdentifier: TLSHandshake] = [:]
    private var isStopping = false
    private var onDrained: (() -> Void)?

    package var openConnections: Int { connections.count + waiting.count + handshakes.count }
    /// The number of connections with a request in progress; O(n).
    package var activeConnections: Int { connections.values.count { $0.isExchanging } }

    package init(
        sockets: [ListeningSocket], application: any Application, settings: ServerSettings,
        count: ConnectionCount
    ) {
        self.sockets = sockets
        self.application = application
        self.settings = settings
        self.count = count
        for socket in sockets { socket.probePeers(afterSeconds: settings.probeSeconds) }
    }

    package func start(on core: EventLoop.Core) {
        tokens = sockets.map { socket in
            core.add(
                self, descriptor: socket.raw, events: socket.isShared ? Readiness.exclusive : Readiness.level)
        }
    }

    private func unwatch(_ core: EventLoop.Core) {
        for socket in sockets { core.unwatch(socket.raw) }
    }

    private func forgetTokens(_ core: EventLoop.Core) {
        for token in tokens { core.remove(token) }
        tokens = []
    }

    /// Uses other settings for connections that are accepted from now on.
    package func adopt(_ settings: ServerSettings) {
        self.settings = settings
        for socket in sockets { socket.probePeers(afterSeconds: settings.probeSeconds) }
    }

    package func ready(_ events: Readiness, _ core: EventLoop.Core) {
        // A TLS handshake takes as long as ten requests.
        let countMax = settings.tls == nil ? Self.acceptsMax : 1
        for socket in sockets { accept(at: socket, countMax: countMax, core) }
    }

    /// The number of connections that one event takes at a socket: open ones want their turn too, and other loops may take
    /// the rest.
    ///
    /// The requests of many that came at once would need as many connections of their own to the upstream.
    static let acceptsMax = 4

    private func accept(at socket: ListeningSocket, countMax: Int, _ core: EventLoop.Core) {
        for _ in 0..<countMax {
            var peer = SocketAddress()
            let raw = Socket.accept(from: socket.raw, &peer)
            guard raw >= 0 else {
                if errno == ECONNABORTED || errno == EINTR { continue }
                if errno != EAGAIN { pause(core) }
                return
            }
            admit(Descriptor(owning: raw), from: peer.endpoint, core)
        }
    }

    /// Stops accepting for a moment after a lack of descriptors or memory, instead of spinning.
    private func pause(_ core: EventLoop.Core) {
        unwatch(core)
        if let token = tokens.first { core.setDeadline(token, core.now + 100) }
    }

    package func expired(_ core: EventLoop.Core) {
        guard !isStopping else { return }
        forgetTokens(core)
        start(on: core)
    }

    private func admit(_ descriptor: consuming Descriptor, from endpoint: Endpoint?, _ core: EventLoop.Core) {
        application.count(.accepted)
        guard count.enter(limit: settings.connectionsMax) else {
            return refuse(descriptor, from: endpoint, .tooManyConnections, core)
        }
        if let accepts = settings.acceptsProxyHeader {
            guard accepts(endpoint) else { return refuseHeader(from: endpoint) }
            return awaitHeader(descriptor, from: endpoint, core)
        }
        serve(descriptor, from: endpoint, core)
    }

    /// Serves an admitted connection unless its client has too many others.
    private func serve(
        _ descriptor: consuming Descriptor, from peer: Endpoint?, isPeerTLS: Bool? = nil,
        _ core: EventLoop.Core
    ) {
        var counted: CountedClient?
        if let limit = settings.clientLimit, let client = limit.client(peer) {
            // This connection is counted already.
            let free = settings.connectionsMax - count.current + 1
            guard limit.count.enter(client, limit: limit.countMax, free: free) else {
                count.leave()
                return refuse(descriptor, from: peer, .tooManyConnectionsOfClient, core)
            }
            counted = (client, limit.count)
        }
        if let tls = settings.tls { return shakeHands(descriptor, tls, peer: peer, counted, core) }
        let transport = PlainTransport(descriptor)
        let facts = ConnectionFacts(peer: peer, isPeerTLS: isPeerTLS, settings, core)
        let connection: any AcceptedConnection =
            settings.protocols.contains(.http1)
            ? open(transport, facts, core) : openSession(transport, facts, core)
        begin(connection, counted)
    }

    private func begin(_ connection: any AcceptedConnection, _ counted: CountedClient?) {
        if let counted { clients[ObjectIdentifier(connection)] = counted }
        connection.start()
        if isStopping { connection.stop() }
    }

    /// Ends a connection that is not admitted: with a response if there is no TLS and not too many others get one.
    private func refuse(
        _ descriptor: consuming Descriptor, from peer: Endpoint?, _ refusal: Refusal, _ core: EventLoop.Core
    ) {
        // With TLS a response would need a handshake first, and is not worth it.
        guard settings.tls == nil, count.enterRefused() else {
            application.refuseWithoutResponse(refusal, from: peer)
            return finishStopping()
        }
        let facts = ConnectionFacts(peer: peer, settings, core)
        let connection = open(PlainTransport(descriptor), facts, core)
        refused.insert(ObjectIdentifier(connection))
        connection.start()
        connection.refuseConnection(refusal)
    }

    private func open(
        _ transport: any ConnectionTransport, _ facts: ConnectionFacts, _ core: EventLoop.Core
    ) -> ServerConnection {
        let connection = ServerConnection(
            transport: transport, facts: facts, application: application, settings: settings, core: core,
            onEnd: { [unowned self] connection, end in
                switch end {
                case .closed: closed(connection)
                case .preface(let transport, let bytes):
                    replace(connection, transport, firstBytes: bytes, core)
                }
            })
        connections[ObjectIdentifier(connection)] = connection
        return connection
    }

    private func openSession(
        _ transport: any ConnectionTransport, _ facts: ConnectionFacts, firstBytes: [UInt8] = [],
        _ core: EventLoop.Core
    ) -> HTTP2Session {
        let session = HTTP2Session(
            transport: transport, facts: facts, application: application, settings: settings, core: core,
            firstBytes: firstBytes, onClose: { [unowned self] in closed($0) })
        connections[ObjectIdentifier(session)] = session
        return session
    }

    /// Replaces a connection whose client has sent the preface of HTTP/2 (RFC 9113 section 3.3).
    private func replace(
        _ connection: ServerConnection, _ transport: any ConnectionTransport, firstBytes: [UInt8],
        _ core: EventLoop.Core
    ) {
        let name = ObjectIdentifier(connection)
        connections[name] = nil
        let session = openSession(transport, connection.facts, firstBytes: firstBytes, core)
        begin(session, clients.removeValue(forKey: name))
    }

    // MARK: The PROXY protocol

    private func awaitHeader(
        _ descriptor: consuming Descriptor, from peer: Endpoint?, _ core: EventLoop.Core
    ) {
        var name: ObjectIdentifier?
        let reader = ProxyHeaderReader(
            descriptor, core: core, deadline: core.now + settings.headTimeout
        ) { [unowned self] descriptor, header in
            if let name { waiting[name] = nil }
            guard let descriptor, let header else { return refuseHeader(from: peer) }
            serve(descriptor, from: header.client ?? peer, isPeerTLS: header.isClientTLS, core)
        }
        name = ObjectIdentifier(reader)
        waiting[ObjectIdentifier(reader)] = reader
    }

    /// Ends a connection without a valid PROXY header.
    private func refuseHeader(from peer: Endpoint?) {
        count.leave()
        if !isStopping { application.refuseWithoutResponse(.badProxyHeader, from: peer) }
        finishStopping()
    }

    // MARK: TLS

    private func shakeHands(
        _ descriptor: consuming Descriptor, _ tls: TLSServer, peer: Endpoint?, _ counted: CountedClient?,
        _ core: EventLoop.Core
    ) {
        guard let transport = TLSTransport(descriptor, serving: tls.current) else { return leave(counted) }
        let handshake = TLSHandshake(transport, core: core, deadline: core.now + settings.headTimeout)
        let name = ObjectIdentifier(handshake)
        handshakes[name] = handshake
        handshake.start { [unowned self] outcome in
            handshakes[name] = nil
            guard case .success(let tls) = outcome else {
                application.count(.handshake(HandshakeResult(outcome)))
                return leave(counted)
            }
            let facts = ConnectionFacts(peer: peer, tls: tls, settings, core)
            let connection: any AcceptedConnection =
                tls.isHTTP2 || !settings.protocols.contains(.http1)
                ? openSession(transport, facts, core) : open(transport, facts, core)
            if facts.isEarly {
                // The outcome of the handshake is not known yet.
                connection.reportHandshake { [unowned self] in
                    application.count(.handshake(HandshakeResult($0)))
                }
            } else {
                application.count(.handshake(HandshakeResult(outcome)))
            }
            begin(connection, counted)
        }
        if isStopping { handshake.hurry(core) }
    }

    private func leave(_ counted: CountedClient?) {
        count.leave()
        if let (client, count) = counted { count.leave(client) }
        finishStopping()
    }

    private func closed(_ connection: any AcceptedConnection) {
        connections[ObjectIdentifier(connection)] = nil
        if refused.remove(ObjectIdentifier(connection)) != nil {
            count.leaveRefused()
            return finishStopping()
        }
        leave(clients.removeValue(forKey: ObjectIdentifier(connection)))
    }

    /// Stops accepting, lets requests in progress end, and calls `whenDrained` once all connections are closed.
    ///
    /// An idle connection may send one more request for a moment, because its client may have sent it already.
    package func stop(_ core: EventLoop.Core, whenDrained: @escaping () -> Void) {
        guard !isStopping else { return }
        // Connections in the queue would be reset with the socket.
        for socket in sockets { accept(at: socket, countMax: Self.queueMax, core) }
        isStopping = true
        onDrained = whenDrained
        // Another process may hold the same sockets, so closing alone would not end their reports.
        unwatch(core)
        sockets = []
        forgetTokens(core)
        for reader in Array(waiting.values) { reader.hurry(core) }
        for handshake in Array(handshakes.values) { handshake.hurry(core) }
        for connection in Array(connections.values) { connection.stop() }
        finishStopping()
    }

    /// The maximum length of a socket's queue.
    private static let queueMax = 4096

    /// Resets all open connections: the time for draining is over.
    package func abortAll() {
        for reader in Array(waiting.values) { reader.cancel() }
        for handshake in Array(handshakes.values) { handshake.cancel() }
        for connection in Array(connections.values) { connection.lose(.stopped) }
    }

    private func finishStopping() {
        guard isStopping, connections.isEmpty, waiting.isEmpty, handshakes.isEmpty else { return }
        let drained = onDrained
        onDrained = nil
        drained?()
    }
}
