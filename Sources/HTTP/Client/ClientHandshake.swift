/// Connects one transport within its time limit: the socket, then the TLS handshake, which chooses the version of HTTP.
///
/// Confined to its loop. Its owner holds it until the ending is called, once.
final class ClientHandshake: Handler {
    typealias Ending = (Result<any ConnectionTransport, UpstreamError>) -> Void

    private let transport: any ConnectionTransport
    private let core: EventLoop.Core
    private var token = Token.none
    private var connecting: Connecting
    private var onEnd: Ending?

    /// Waits until `deadline` at most, in milliseconds of the loop's clock.
    init(
        _ transport: any ConnectionTransport, to endpoint: Endpoint, core: EventLoop.Core, deadline: Int64,
        onEnd: @escaping Ending
    ) {
        self.transport = transport
        self.core = core
        self.onEnd = onEnd
        connecting = Connecting(transport, to: endpoint, now: core.now, deadline: deadline)
        token = connecting.watch(by: self, core)
        core.setDeadline(token, connecting.due)
    }

    func ready(_ events: Readiness, _ core: EventLoop.Core) {
        do throws(UpstreamError) {
            if try connecting.proceed(events) { end(.success(transport)) }
        } catch {
            end(.failure(error))
        }
    }

    func expired(_ core: EventLoop.Core) {
        do throws(UpstreamError) {
            try connecting.tryAgain(for: token, core)
            core.setDeadline(token, connecting.due)
        } catch {
            end(.failure(error))
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
