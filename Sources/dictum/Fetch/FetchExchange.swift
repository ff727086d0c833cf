internal import HTTP
internal import Primitives

/// A complete response with its body still coded.
struct FetchResponse: Sendable {
    /// The interim responses (1xx) in their order.
    var interim: [ResponseHead] = []
    let head: ResponseHead
    /// The coded body without its framing.
    let body: [UInt8]
    var trailers = Headers()
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

    private let dialer: ClientDialer
    private let request: RequestHead
    private let content: [UInt8]
    private let target: UpstreamTarget
    private let onSend: (HTTPVersion) -> Void
    private var onEnd: ((Outcome) -> Void)?
    private var connection: (any RequestStream)?
    private var interim: [ResponseHead] = []
    private var head: ResponseHead?
    private var body: [UInt8] = []
    private var isSecondTry = false

    init(
        _ request: RequestHead, _ content: [UInt8], to target: UpstreamTarget, dialer: ClientDialer,
        onSend: @escaping (HTTPVersion) -> Void, onEnd: @escaping (Outcome) -> Void
    ) {
        self.request = request
        self.content = content
        self.target = target
        self.dialer = dialer
        self.onSend = onSend
        self.onEnd = onEnd
    }

    /// Sends the request; calls `onEnd` once, unless the exchange is aborted.
    func start() {
        dialer.connect(to: target, fresh: isSecondTry) { [self] result in
            switch result {
            case .success(let connection):
                self.connection = connection
                onSend(connection.version)
                begin(on: connection)
            case .failure(let error): end(.failure(.exchange(error)))
            }
        }
    }

    private func begin(on connection: any RequestStream) {
        let content = content
        guard !content.isEmpty else { return connection.begin(request, handler: self) }
        // Content was asked for by HTTP/1.1 only.
        guard let connection = connection as? ClientConnection else {
            return end(.failure(.http2WithContent))
        }
        connection.begin(request, framing: .length(UInt64(content.count)), handler: self)
        connection.write(content.span)
        connection.finish(trailers: Headers())
    }

    /// Aborts the exchange without calling `onEnd`.
    func abort() {
        onEnd = nil
        dialer.cancel()
        connection?.abort()
        connection = nil
    }

    func receivedInterim(_ head: ResponseHead) { interim.append(head) }

    func receivedHead(_ head: consuming ResponseHead, framing: BodyFraming) {
        if case .length(let count) = framing, count > UInt64(FetchClient.bodyBytesMax) { return refuse() }
        self.head = head
    }

    func receivedBody(_ bytes: Span<UInt8>) {
        guard onEnd != nil else { return }
        guard bytes.count <= FetchClient.bodyBytesMax - body.count else { return refuse() }
        body.append(bytes)
    }

    func responseEnded(trailers: consuming Headers) {
        guard let head else { return end(.failure(.exchange(.closedBeforeHead))) }
        end(
            .success(
                FetchResponse(
                    interim: interim, head: head, body: body, trailers: trailers,
                    serverKey: connection?.peerKey,
                    receivedAt: SystemClock.unixMilliseconds / 1000)))
    }

    func failed(_ error: UpstreamError) {
        // RFC 9112 section 9.3.1: the server may have closed an idle connection just as the request was sent.
        // Other methods may have had their effect (RFC 9110 section 9.2.2).
        if error == .stale, !isSecondTry, request.method.isIdempotent {
            isSecondTry = true
            return start()
        }
        end(.failure(.exchange(error)))
    }

    private func refuse() {
        let onEnd = onEnd
        abort()
        onEnd?(.failure(.tooLarge(FetchClient.bodyBytesMax)))
    }

    private func end(_ outcome: Outcome) {
        connection = nil
        onEnd?(outcome)
        onEnd = nil
    }
}
