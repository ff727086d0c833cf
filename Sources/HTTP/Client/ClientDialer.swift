/// The connections of a client that lets servers choose the version of HTTP; for one request at a time.
///
/// Confined to its loop. Browsers choose in the same way: by ALPN over TLS, and never without TLS.
package final class ClientDialer {
    package typealias Ending = (Result<any RequestStream, UpstreamError>) -> Void

    private let settings: ClientSettings
    private let protocols: HTTPProtocols
    private let core: EventLoop.Core
    /// The connections that speak HTTP/1.1.
    private let pool: ConnectionPool
    private var http2: [UpstreamTarget: HTTP2ClientConnection] = [:]
    private var handshake: ClientHandshake?

    /// With `http2` alone, servers must speak it, and do so unasked if there is no TLS.
    package init(settings: ClientSettings, protocols: HTTPProtocols, core: EventLoop.Core) {
        self.settings = settings
        self.protocols = protocols
        self.core = core
        pool = ConnectionPool(settings: settings, core: core)
    }

    /// Passes on a connection to a target: an idle one, or a new one if there is none or `fresh` is set.
    package func connect(to target: UpstreamTarget, fresh: Bool, onEnd: @escaping Ending) {
        let targetPool = pool.targetPool(for: target)
        if !fresh {
            if let kept = http2[target], kept.isIdle { return onEnd(.success(kept)) }
            if let kept = pool.keptConnection(from: targetPool) { return onEnd(.success(kept)) }
        }
        do throws(SystemError) {
            let transport = try pool.transport(to: target)
            guard protocols.contains(.http2), target.scheme == .https || !protocols.contains(.http1) else {
                return onEnd(.success(pool.connection(from: targetPool, over: transport)))
            }
            handshake = ClientHandshake(
                transport, to: target.endpoint, core: core, deadline: core.now + settings.connectTimeout
            ) { [unowned self] result in
                handshake = nil
                onEnd(result.flatMap { connection(over: $0, to: targetPool) })
            }
        } catch {
            onEnd(.failure(.connectFailed(error)))
        }
    }

    private func connection(
        over transport: any ConnectionTransport, to targetPool: TargetPool
    ) -> Result<any RequestStream, UpstreamError> {
        let isHTTP2 = (transport as? TLSTransport).map(\.facts.isHTTP2) ?? true
        guard isHTTP2 else {
            guard protocols.contains(.http1) else { return .failure(.http2(.notSpoken)) }
            return .success(pool.connection(from: targetPool, over: transport))
        }
        guard
            let connection = HTTP2ClientConnection(
                transport, scheme: targetPool.target.scheme, settings: settings, core: core)
        else { return .failure(.connectFailed(SystemError(code: 0))) }
        // The former one may still be open, and nobody else would close it.
        http2.updateValue(connection, forKey: targetPool.target)?.abort()
        return .success(connection)
    }

    /// Gives up the connection that is being made.
    package func cancel() {
        handshake?.cancel()
        handshake = nil
    }

    package func closeIdle() {
        cancel()
        pool.closeIdle()
        for connection in http2.values where connection.isIdle { connection.abort() }
        http2 = [:]
    }
}
