internal import Dictionaries
package import HTTP

/// The proxy of one loop.
///
/// Confined to it.
///
/// # The life of a request
///
/// Each step is a function of `Exchange`, in this order:
///
/// | step | function | where |
/// |---|---|---|
/// | the head has come | `begin` | here |
/// | route | `route` | Exchange |
/// | upstream | `forward` | Exchange+Upstream |
/// | the answer's head has come | `plan` | Exchange+Answer |
/// | store: the body is kept | `admit` | Exchange+Body |
/// | negotiate | `decide` | Exchange+Body |
/// | compress | `code`, on the loop or in the CompressionPool | Exchange+Body |
/// | respond | `respond`, `send`, `finish` | Exchange+Answer |
/// | account | `account`, always and once | Exchange |
package final class ReverseProxy: Application, Handler {
    let context: ProxyContext
    let core: EventLoop.Core
    let connections: ConnectionPool
    let index: DictionaryIndex.Reader
    /// The counters of this loop.
    package let metrics: LoopMetrics
    private let log: AccessLog?
    private var token: Token?

    package init(context: ProxyContext, log: AccessLog?, core: EventLoop.Core) {
        self.context = context
        self.log = log
        self.core = core
        var settings = ClientSettings()
        let upstream = context.configuration.upstream
        settings.connectTimeout = Int64(upstream.connectTimeout)
        settings.responseTimeout = Int64(upstream.responseTimeout)
        settings.idleTimeout = Int64(upstream.idleTimeout)
        settings.keepAliveMax = upstream.keepAlive
        connections = ConnectionPool(settings: settings, core: core)
        index = context.store.reader()
        metrics = LoopMetrics(routes: context.configuration.routes.count)
    }

    package func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on connection: ServerConnection
    ) -> any RequestHandler {
        let exchange = Exchange(head, framing: framing, on: connection, of: self)
        exchange.start()
        return exchange
    }

    package func refuse(_ refusal: Refusal, from peer: Endpoint?) -> (head: ResponseHead, body: [UInt8])? {
        let answer = ProblemAnswer(refusal)
        let (head, body) = answer.rendered(accept: nil)
        metrics.countRejected(RejectionReason(refusal))
        var record = RequestRecord()
        record.timeMicroseconds = Int(Clock.unixMilliseconds) * 1000
        record.client = Exchange.text(of: peer)
        record.status = Int(answer.status.rawValue)
        record.bodyBytesSent = body.count
        record.bodyBytesBefore = body.count
        account(record)
        return (head, body)
    }

    /// Whether requests may be logged.
    var isLogging: Bool { log != nil }

    /// Counts a request that is over, and logs it.
    func account(_ record: RequestRecord) {
        metrics.countRequest(record)
        guard let log else { return }
        log.log(record)
        guard !log.isEmpty else { return }
        let token = token ?? core.add(self)
        self.token = token
        core.setDeadline(token, core.now + Self.logDelayMilliseconds)
    }

    private static let logDelayMilliseconds: Int64 = 100

    package func expired(_ core: EventLoop.Core) {
        log?.flush()
    }

    /// Writes out what waits in the log, and lets idle connections go.
    package func close() {
        log?.flush()
        connections.closeIdle()
    }
}

extension RejectionReason {
    init(_ refusal: Refusal) {
        switch refusal {
        case .malformed(.headTooLarge), .malformed(.tooManyFields), .malformed(.targetTooLong):
            self = .headTooLarge
        case .malformed(.unsupportedVersion), .malformed(.unsupportedTransferEncoding): self = .unsupported
        case .malformed: self = .malformed
        case .headTimeout: self = .headTimeout
        case .tooManyConnections: self = .tooManyConnections
        }
    }
}
