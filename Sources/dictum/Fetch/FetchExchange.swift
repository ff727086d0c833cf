internal import HTTP
internal import Primitives

/// A complete response with its body still coded.
struct FetchResponse: Sendable {
    /// The interim responses (1xx) in their order.
    var interim: [ResponseHead] = []
    let head: ResponseHead
    /// The coded body without its framing.
    let body: [UInt8]
    /// The public key of the server's certificate (SubjectPublicKeyInfo in DER); nil without TLS.
    var serverKey: [UInt8]?
    /// The time at which it was complete, in seconds since 1970.
    let receivedAt: Int64
}

/// A request and its response, collected as a whole.
///
/// Confined to its loop. Nothing is passed on before the end, since a truncated or invalid body must not be used
/// in part.
final class FetchExchange: ResponseHandler {
    typealias Outcome = Result<FetchResponse, FetchError>

    private let pool: ConnectionPool
    private let request: RequestHead
    private let targetPool: TargetPool
    private let bodyBytesMax: Int
    private var onEnd: ((Outcome) -> Void)?
    private var connection: ClientConnection?
    private var interim: [ResponseHead] = []
    private var head: ResponseHead?
    private var body: [UInt8] = []
    private var isSecondTry = false

    init(
        _ request: RequestHead, in targetPool: TargetPool, bodyBytesMax: Int, pool: ConnectionPool,
        onEnd: @escaping (Outcome) -> Void
    ) {
        self.request = request
        self.targetPool = targetPool
        self.bodyBytesMax = bodyBytesMax
        self.pool = pool
        self.onEnd = onEnd
    }

    /// Sends the request; calls `onEnd` once, unless the exchange is aborted.
    func start() {
        do throws(SystemError) {
            let connection = try pool.connection(from: targetPool, fresh: isSecondTry)
            self.connection = connection
            connection.begin(request, framing: .none, handler: self)
        } catch {
            end(.failure(.exchange(.connectFailed(error))))
        }
    }

    /// Aborts the exchange without calling `onEnd`.
    func abort() {
        onEnd = nil
        connection?.abort()
        connection = nil
    }

    func receivedInterim(_ head: ResponseHead) { interim.append(head) }

    /// Never called, since no request asks for an upgrade.
    func switchedProtocols(_ head: ResponseHead) {}

    func receivedHead(_ head: consuming ResponseHead, framing: BodyFraming) {
        if case .length(let count) = framing, count > UInt64(bodyBytesMax) { return refuse() }
        self.head = head
    }

    func receivedBody(_ bytes: Span<UInt8>) {
        guard onEnd != nil else { return }
        guard bytes.count <= bodyBytesMax - body.count else { return refuse() }
        body.append(bytes)
    }

    func responseEnded(trailers: Headers) {
        guard let head else { return end(.failure(.exchange(.closedBeforeHead))) }
        end(
            .success(
                FetchResponse(
                    interim: interim, head: head, body: body, serverKey: connection?.peerKey,
                    receivedAt: SystemClock.unixMilliseconds / 1000)))
    }

    func upstreamDrained() {}

    func failed(_ error: UpstreamError) {
        // RFC 9112 section 9.3.1: the server may have closed an idle connection just as the request was sent.
        if error == .stale, !isSecondTry {
            isSecondTry = true
            return start()
        }
        end(.failure(.exchange(error)))
    }

    private func refuse() {
        let onEnd = onEnd
        abort()
        onEnd?(.failure(.tooLarge(bodyBytesMax)))
    }

    private func end(_ outcome: Outcome) {
        connection = nil
        onEnd?(outcome)
        onEnd = nil
    }
}
