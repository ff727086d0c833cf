internal import Dictionaries
package import HTTP
internal import Primitives

/// The proxy of one loop.
///
/// Confined to it.
///
/// # The life of a request
///
/// Each step is a function of `Exchange`, but for the first and the last, in this order:
///
/// | step | function | in |
/// |---|---|---|
/// | the head has come | `begin` | here |
/// | route, facts of the request | `init` | Exchange |
/// | answer at once, where that is due | `ownAnswer`, `redirects` | Exchange |
/// | a dictionary's own URL: from the store, not the upstream | `serve` | Exchange+Link |
/// | dictionary: look it up, have it read | `findDictionary` | Exchange+Upstream |
/// | a stored answer to ask about, where the route says so | `findStoredAnswer` | Exchange+Revalidation |
/// | upstream: whose turn it is | `forward` | Exchange+Upstream, LoopUpstreams |
/// | no answer: another upstream, where that does no harm | `retry` | Exchange+Retry |
/// | the answer's head has come | `plan` | Exchange+Answer |
/// | a 304 for the stored answer: that one, or the request again | `settleStoredAnswer` | Exchange+Revalidation |
/// | the body: whole within 25 ms, or piece by piece | `hold`, `stream` | Exchange+Answer, +Streaming |
/// | the upstream's coding undone, in small pieces | `takeCoded` | Exchange+Decoding |
/// | negotiate | `decide` | Exchange+Answer |
/// | compare, hash, find a delta or compress, beside the loop if large | `prepare`, `code` | Exchange+Holding (by CodingJob), +Streaming |
/// | store: the body becomes a version | `admit` | Exchange+Admission |
/// | how it is offered: Use-As-Dictionary, or a Link | `offerForm`, `link` | Exchange+Offer |
/// | what the response proves, which dictionaries a page announces | `notePublic`, `announce` | Exchange+Announce |
/// | respond | `respond`, `sendOn`, `send` | Exchange+Holding, +Answer |
/// | the answer is whole, or given up | `complete`, `abort` | Exchange |
/// | account, always and once | `account` | Exchange, here |
package final class ReverseProxy: Application, Handler {
    /// What new requests begin with; a reload puts another in its place.
    private(set) var context: ProxyContext
    let core: EventLoop.Core
    let connections: ConnectionPool
    let index: DictionaryIndex.Reader
    /// The counters of this loop.
    package let metrics: LoopMetrics
    private var log: AccessLog?
    private var token = Token.none
    private var requestIDs = RequestIDGenerator()
    /// The exchanges that began to hold a body in this batch of events.
    private var holding: [Exchange] = []
    /// Where requests go.
    let upstreams = LoopUpstreams()
    private var nextHandshakeReport: Int64 = 0

    package init(context: ProxyContext, log: AccessLog?, core: EventLoop.Core) {
        self.context = context
        self.log = log
        self.core = core
        connections = ConnectionPool(settings: ClientSettings(context), core: core)
        index = context.store.reader()
        metrics = LoopMetrics(routes: context.routeNames.texts.count)
        token = core.add(self)
        upstreams.adopt(context, connections)
    }

    /// Begins new requests with another configuration; those under way end with their own.
    func adopt(_ context: ProxyContext, log: AccessLog?) {
        self.log?.flush()
        self.log = log
        connections.adopt(ClientSettings(context))
        metrics.grow(routes: context.routeNames.texts.count)
        self.context = context
        upstreams.adopt(context, connections)
    }

    /// Goes on with the addresses that the upstreams have now.
    func refreshUpstreams() { upstreams.adopt(context, connections) }

    package func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on connection: ServerConnection
    ) -> any RequestHandler {
        let exchange = Exchange(head, framing: framing, on: connection, of: self)
        exchange.start()
        return exchange
    }

    package func refuse(_ refusal: Refusal, from peer: Endpoint?, send: (ResponseHead, [UInt8]) -> Int) {
        metrics.countRejected(RejectionReason(refusal))
        // Who speaks no PROXY protocol there is not spoken to.
        guard refusal != .badProxyHeader else { return }
        let answer = ProblemAnswer(refusal)
        let (head, body) = answer.rendered(accept: nil)
        var record = RequestRecord()
        record.timeMicroseconds = Int(SystemClock.unixMilliseconds) * 1000
        record.client = Exchange.text(of: peer)
        record.status = Int(answer.status.rawValue)
        record.bodyBytesBefore = body.count
        record.wireBytesSent = send(head, body)
        record.bodyBytesSent = record.wireBytesSent > 0 ? body.count : 0
        account(record)
    }

    /// Says why the TLS of an upstream cannot be used, at most every ten seconds.
    func report(_ failure: TLSFailure, of server: UpstreamServer) {
        guard core.now >= nextHandshakeReport else { return }
        nextHandshakeReport = core.now + 10_000
        context.report(
            .warning(
                "no TLS with the upstream \(server.target.authority): \(failure.text); see `upstream.tls`"))
    }

    /// An identifier for a request that has none.
    func makeRequestID() -> [32 of UInt8] { requestIDs.next() }

    /// Whether requests may be logged.
    var isLogging: Bool { log != nil }

    /// Counts a request that is over, and logs it.
    func account(_ record: RequestRecord) {
        metrics.countRequest(record)
        guard let log else { return }
        let isFirst = log.isEmpty
        log.log(record)
        // One deadline a batch: to move it with each line would put it off for ever under load.
        guard isFirst, !log.isEmpty else { return }
        core.setDeadline(token, core.now + Self.logDelayMilliseconds)
    }

    private static let logDelayMilliseconds: Int64 = 100

    /// Has the exchange limit the time it holds a body, if it still does so at the end of this batch of events.
    func watchHeld(_ exchange: Exchange) {
        holding.append(exchange)
        core.attend(token)
    }

    package func attend(_ core: EventLoop.Core) {
        for exchange in holding { exchange.limitHolding() }
        holding.removeAll(keepingCapacity: holding.count <= 1024)
    }

    package func expired(_ core: EventLoop.Core) {
        log?.flush()
    }

    /// Writes out what waits in the log, and lets idle connections go.
    package func close() {
        log?.flush()
        connections.closeIdle()
    }
}

extension ClientSettings {
    init(_ context: ProxyContext) {
        self.init()
        let upstream = context.configuration.upstream
        tls = context.upstreamTLS
        connectTimeout = Int64(upstream.connectTimeout)
        responseTimeout = Int64(upstream.responseTimeout)
        idleTimeout = Int64(upstream.idleTimeout)
        bodyRate = context.configuration.limits.bodyRate
        // The setting counts the connections of all loops.
        keepAliveMax = (upstream.keepAlive + context.loopCount - 1) / context.loopCount
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
        case .tooManyConnectionsOfClient: self = .clientConnections
        case .badProxyHeader: self = .badProxyHeader
        }
    }
}
