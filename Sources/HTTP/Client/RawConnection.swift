/// One connection to a server of another protocol than HTTP: connects, sends bytes, and passes on those that come.
///
/// Confined to its loop. Its owner holds it.
package final class RawConnection: Connection {
    let core: EventLoop.Core
    let io: ConnectionCore
    private weak var handler: (any RawConnectionHandler)?
    private var handshake: ClientHandshake?

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - host: The name that the certificate must have.
    ///   - tls: The TLS to speak; nil for none.
    ///   - timeout: The milliseconds for the connection and the TLS handshake.
    package init(
        to endpoint: Endpoint, host: String, tls: TLSClientContext?, timeout: Int64, core: EventLoop.Core,
        handler: any RawConnectionHandler
    ) throws(SystemError) {
        self.core = core
        self.handler = handler
        let transport = try TLSTransport.open(to: endpoint, host: host, by: tls, TLSSessions())
        io = ConnectionCore(transport, now: core.now)
        handshake = ClientHandshake(transport, to: endpoint, core: core, deadline: core.now + timeout) {
            [unowned self] result in
            handshake = nil
            switch result {
            case .success(let transport):
                takeOver(transport)
                self.handler?.connected()
            case .failure(let error): end(error)
            }
        }
    }

    /// Sends bytes, or keeps them until the socket takes them.
    package func send(_ bytes: [UInt8]) {
        guard isAlive else { return }
        io.output.append(bytes.span)
        core.attend(io.token)
    }

    /// Ends the connection; the handler is not called.
    package func close() {
        handler = nil
        handshake?.cancel()
        handshake = nil
        guard isAlive else { return }
        release()
    }

    // MARK: Events

    package func ready(_ events: Readiness, _ core: EventLoop.Core) {
        io.note(events)
        serve()
    }

    package func attend(_ core: EventLoop.Core) { serve() }

    func serve() {
        writeOutput()
        readInput()
        // Only once everything before the failure has been read: it may say why.
        if io.isBroken, !io.isReadable { end(.truncated) }
    }

    var wantsInput: Bool { isAlive }

    func consume(_ bytes: Span<UInt8>) -> Int {
        handler?.received(bytes)
        return bytes.count
    }

    func inputEnded(_ outcome: ReadOutcome) { end(.truncated) }

    private func end(_ error: UpstreamError) {
        guard isAlive else { return }
        let handler = handler
        close()
        handler?.ended(error)
    }
}

/// The owner of a raw connection, called on its loop.
package protocol RawConnectionHandler: AnyObject {
    /// The connection is made; bytes can pass.
    func connected()
    /// Bytes have come, valid during the call.
    func received(_ bytes: Span<UInt8>)
    /// The connection has failed or ended: the last call.
    func ended(_ error: UpstreamError)
}
