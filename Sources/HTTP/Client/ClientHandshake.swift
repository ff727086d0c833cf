/// Connects one transport within its time limit: the socket, then the TLS handshake, which chooses the version of HTTP.
///
/// Confined to its loop. Its owner holds it until the ending is called, once.
final class ClientHandshake: Handler {
    typealias Ending = (Result<any ConnectionTransport, UpstreamError>) -> Void

    private let transport: any ConnectionTransport
    private let core: EventLoop.Core
    private var token = Token.none
    private let deadline: Int64
    /// Nil unless the socket waits for room at its listener; until then its events mean nothing.
    private var connectRetry: ConnectRetry?
    private var isReached = false
    private var onEnd: Ending?

    /// Waits until `deadline` at most, in milliseconds of the loop's clock.
    init(
        _ transport: any ConnectionTransport, to endpoint: Endpoint, core: EventLoop.Core, deadline: Int64,
        onEnd: @escaping Ending
    ) {
        self.transport = transport
        self.core = core
        self.deadline = deadline
        self.onEnd = onEnd
        let descriptor = transport.descriptor
        connectRetry = ConnectRetry(descriptor, to: endpoint, now: core.now)
        token =
            connectRetry == nil
            ? core.add(self, descriptor: descriptor, events: Readiness.edges) : core.add(self)
        updateDeadline()
    }

    private func updateDeadline() {
        core.setDeadline(token, min(connectRetry?.next ?? .max, deadline))
    }

    func ready(_ events: Readiness, _ core: EventLoop.Core) {
        if !isReached {
            guard !events.isDisjoint(with: [.writable, .broken]) else { return }
            let error = Socket.pendingError(transport.descriptor)
            guard error == 0 else { return end(.failure(.connectFailed(SystemError(code: error)))) }
            isReached = true
        }
        switch transport.establish() {
        case .done: end(.success(transport))
        case .wouldBlock, .early: break
        case .failed(let failure): end(.failure(.handshakeFailed(failure)))
        }
    }

    func expired(_ core: EventLoop.Core) {
        guard core.now < deadline else { return end(.failure(.connectTimeout)) }
        do throws(SystemError) {
            if try connectRetry?.connect(transport.descriptor, now: core.now) == true {
                connectRetry = nil
                core.watch(transport.descriptor, events: Readiness.edges, for: token)
            }
            updateDeadline()
        } catch {
            end(.failure(.connectFailed(error)))
        }
    }

    /// Gives up without calling the ending.
    func cancel() {
        onEnd = nil
        core.unwatch(transport.descriptor)
        core.remove(token)
    }

    private func end(_ result: Result<any ConnectionTransport, UpstreamError>) {
        guard let onEnd else { return }
        // If the connection goes on, its socket gets another token.
        cancel()
        onEnd(result)
    }
}
