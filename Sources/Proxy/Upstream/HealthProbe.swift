internal import HTTP

/// One request that finds out whether one address of an upstream is healthy.
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

    /// A longer body than any check needs.
    private static let bodyBytesMax = 64 * 1024

    /// `onEnd` is called once, unless the probe is cancelled.
    init(
        _ settings: Configuration.Upstream.Health, core: EventLoop.Core, onEnd: @escaping (Bool) -> Void
    ) {
        self.settings = settings
        self.core = core
        self.onEnd = onEnd
    }

    /// Asks.
    func start(_ target: RequestTarget, in lane: UpstreamLane, of pool: ConnectionPool) {
        token = core.add(self)
        // For the whole of it: an upstream that drips its head is not well either.
        core.setDeadline(token, core.now + Int64(settings.timeout))
        var headers = Headers()
        headers.append(.host, lane.target.authority)
        headers.append(.userAgent, "dictum-health")
        headers.append(.connection, "close")
        do throws(SystemError) {
            let connection = try pool.connection(in: lane, fresh: true)
            self.connection = connection
            let head = RequestHead(method: .get, target: target, headers: headers)
            connection.begin(head, framing: .none, handler: self)
        } catch {
            end()
        }
    }

    /// Gives up; nobody hears of it.
    func cancel() {
        onEnd = nil
        end()
    }

    /// The time is over; a head that came before counts.
    func expired(_ core: EventLoop.Core) { end() }

    private func end() {
        core.remove(token)
        connection?.abort()
        connection = nil
        let onEnd = onEnd
        self.onEnd = nil
        onEnd?(isGood)
    }

    // MARK: What the connection reports

    func receivedInterim(_ head: ResponseHead) {}

    /// Never comes: nothing asks for an upgrade.
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
