internal import CLinux
internal import Glibc

/// The connections of one loop to its upstreams: those under way and those kept alive for the next request.
///
/// Confined to its loop.
package final class ConnectionPool {
    private let core: EventLoop.Core
    private var settings: ClientSettings
    /// Where connections are kept for; nil for anywhere.
    private var endpoints: Set<Endpoint>?
    private var idle: [Endpoint: [ClientConnection]] = [:]
    private let sessions = TLSSessions()
    /// Idle connections, of all upstreams.
    package private(set) var idleCount = 0
    /// Connections with an exchange under way, of all upstreams.
    package private(set) var activeCount = 0

    /// Connections made since the start.
    package private(set) var openedCount = 0

    package init(settings: ClientSettings, core: EventLoop.Core) {
        self.settings = settings
        self.core = core
    }

    /// A connection to `endpoint`: one that was kept, the latest first, unless `fresh`; else a new one that
    /// is being made.
    ///
    /// A failure to make one comes to the exchange's handler.
    package func connection(to endpoint: Endpoint, fresh: Bool = false) throws(SystemError)
        -> ClientConnection
    {
        if !fresh, let kept = idle[endpoint]?.popLast() {
            idleCount -= 1
            activeCount += 1
            return kept
        }
        let transport = try transport(to: endpoint)
        activeCount += 1
        openedCount += 1
        return ClientConnection(
            endpoint: endpoint, transport: transport, settings: settings, pool: self, core: core)
    }

    private func transport(to endpoint: Endpoint) throws(SystemError) -> any Transport {
        let descriptor = try Self.connect(to: endpoint)
        guard let tls = settings.tls else { return PlainTransport(descriptor) }
        let place = TLSSessions.Place(host: tls.host, endpoint: endpoint)
        guard let transport = TLSTransport(descriptor, to: place, by: tls.context, sessions) else {
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

    /// Makes new connections with other settings, and keeps idle ones to these endpoints only.
    ///
    /// What is idle closes, since it has the former settings; what is under way goes on with them.
    package func adopt(_ settings: ClientSettings, endpoints: [Endpoint]) {
        self.settings = settings
        self.endpoints = Set(endpoints)
        // They were begun under the former authorities.
        sessions.forgetAll()
        closeIdle()
    }

    /// Takes a connection back after a whole exchange.
    func release(_ connection: ClientConnection) {
        guard idleCount < settings.keepAliveMax, endpoints?.contains(connection.endpoint) != false else {
            return connection.close()
        }
        activeCount -= 1
        idle[connection.endpoint, default: []].append(connection)
        idleCount += 1
    }

    func closed(_ connection: ClientConnection) {
        if let index = idle[connection.endpoint]?.lastIndex(where: { $0 === connection }) {
            idle[connection.endpoint]?.remove(at: index)
            idleCount -= 1
        } else {
            activeCount -= 1
        }
    }

    /// Closes what is idle.
    package func closeIdle() {
        for connection in idle.values.joined() { connection.close() }
    }
}
