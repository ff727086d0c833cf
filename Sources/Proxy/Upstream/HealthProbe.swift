internal import HTTP

/// One health check of one upstream address.
///
/// Confined to its loop.
final class HealthProbe: ResponseHandler, Handler {
    private let settings: Configuration.Upstream.Health
    private let core: EventLoop.Core
    private var token = Token.none
    private var connection: ClientConnection?
    private var isGood = false
    private var bodyBytes = 0
    private var onEnd: ((Bool) -> Void)?

    /// The largest response body that is read.
    private static let bodyBytesMax = 64 * 1024

    /// - Parameter onEnd: called once, unless the probe is cancelled.
    init(
        _ settings: Configuration.Upstream.Health, core: EventLoop.Core, onEnd: @escaping (Bool) -> Void
    ) {
        self.settings = settings
        self.core = core
        self.onEnd = onEnd
    }

    /// Sends the request.
    func start(_ target: RequestTarget, in targetPool: TargetPool, of pool: ConnectionPool) {
        token = core.add(self)
        // The deadline covers the whole probe: an upstream that sends its head slowly is unhealthy.
        core.setDeadline(token, core.now + Int64(settings.timeout))
        var headers = Headers()
        headers.append(.host, targetPool.target.authority)
        headers.append(.userAgent, "dictum-health")
        headers.append(.connection, "close")
        do throws(SystemError) {
            let connection = try pool.connection(from: targetPool, fresh: true)
            self.connection = connection
            let head = RequestHead(method: .get, target: target, headers: headers)
            connection.begin(head, framing: .none, handler: self)
        } catch {
            end()
        }
    }

    /// Cancels the probe without calling `onEnd`.
    func cancel() {
        onEnd = nil
        end()
    }

    /// Ends the probe; a head that came in time counts.
    func expired(_ core: EventLoop.Core) { end() }

    private func end() {
        core.remove(token)
        connection?.abort()
        connection = nil
        let onEnd = onEnd
        self.onEnd = nil
        onEnd?(isGood)
    }

    // MARK: Events of the connection

    func receivedInterim(_ head: ResponseHead) {}

    /// Never called, because the probe asks for no upgrade.
    func switchedProtocols(_ head: ResponseHead) {}

    func receivedHead(_ head: consuming ResponseHead, framing: BodyFraming) {
        isGood = settings.status.contains(Int(head.status.rawValue))
    }

    func receivedBody(_ bytes: Span<UInt8>) {
        bodyBytes += bytes.count
        if bodyBytes > Self.bodyBytesMax { end() }
    }

    func responseEnded(trailers: Headers) {
        connection = nil
        end()
    }

    func upstreamDrained() {}

    func failed(_ error: UpstreamError) {
        connection = nil
        end()
    }
}
