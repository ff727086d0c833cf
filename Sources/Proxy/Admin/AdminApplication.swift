internal import Dispatch
internal import HTTP

/// The admin listener: `/healthz`, `/readyz` and `/metrics`, for the operator alone.
///
/// On one loop.
final class AdminApplication: Application {
    private let status: AdminStatus
    private let core: EventLoop.Core
    /// Reading counters of all loops and files of the system waits, so not here.
    private let queue = DispatchQueue(label: "dictum.admin")

    init(status: AdminStatus, core: EventLoop.Core) {
        self.status = status
        self.core = core
    }

    func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on connection: ServerConnection
    ) -> any RequestHandler {
        let exchange = AdminExchange(connection, isHead: head.method == .head)
        guard head.method == .get || head.method == .head else {
            exchange.answer(AdminAnswer(.methodNotAllowed, "only GET and HEAD are known here"))
            return exchange
        }
        switch head.target.path {
        case "/healthz": exchange.answer(AdminAnswer(.ok, "ok"))
        case "/readyz":
            exchange.answer(
                status.isReady ? AdminAnswer(.ok, "ready") : AdminAnswer(.serviceUnavailable, "draining"))
        case "/metrics": answerMetrics(exchange)
        default: exchange.answer(AdminAnswer(.notFound, "there are /healthz, /readyz and /metrics"))
        }
        return exchange
    }

    func refuse(_ refusal: Refusal, from peer: Endpoint?) -> (head: ResponseHead, body: [UInt8])? {
        ProblemAnswer(refusal).rendered(accept: nil)
    }

    private func answerMetrics(_ exchange: AdminExchange) {
        let token = core.add(exchange)
        exchange.token = token
        let loop = core.loop
        queue.async { [status] in
            let text = MetricsRenderer.render(status.samples())
            loop.execute { core in
                core.handler(token, as: AdminExchange.self)?.answer(
                    AdminAnswer(.ok, text, contentType: MetricsRenderer.contentType))
            }
        }
    }
}

/// One answer of the admin listener.
struct AdminAnswer: Sendable {
    let status: Status
    let text: String
    let contentType: String

    init(_ status: Status, _ line: String) {
        self.init(status, line + "\n", contentType: "text/plain; charset=utf-8")
    }

    init(_ status: Status, _ text: String, contentType: String) {
        self.status = status
        self.text = text
        self.contentType = contentType
    }
}

/// One request to the admin listener.
private final class AdminExchange: Handler, RequestHandler {
    private let connection: ServerConnection
    private let isHead: Bool
    /// Given out while an answer is awaited from another thread.
    var token: Token?

    init(_ connection: ServerConnection, isHead: Bool) {
        self.connection = connection
        self.isHead = isHead
    }

    func answer(_ answer: AdminAnswer) {
        release()
        var headers = Headers()
        headers.append(.contentType, answer.contentType)
        headers.append(.cacheControl, "no-store")
        let body = Array(answer.text.utf8)
        if isHead { headers.append(.contentLength, String(body.count)) }
        connection.start(
            ResponseHead(status: answer.status, headers: headers),
            body: isHead ? .none : .length(UInt64(body.count)))
        connection.write(body.span)
        connection.finish()
    }

    private func release() {
        if let token { connection.core.remove(token) }
        token = nil
    }

    func received(_ bytes: Span<UInt8>) {}
    func receivedEnd(trailers: Headers) {}
    func malformed(_ error: ParseError) { connection.abort() }
    func drained() {}
    func aborted(_ cause: ClientLoss) { release() }
}
