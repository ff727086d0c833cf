internal import HTTP
internal import Primitives
internal import Storage

/// The proxy of one loop: it hands each request to an `Exchange`, whose file reads as the life of a request.
final class ReverseProxy: Application, Handler {
    /// The configuration that new requests begin with; a reload replaces it.
    private(set) var context: ProxyContext
    let core: EventLoop.Core
    let index: DictionaryIndex.Reader
    let metrics: LoopMetrics
    private var log: AccessLog?
    private var token = Token.none
    var requestIDs = RequestIDGenerator()
    /// The exchanges that have begun to hold a body in this batch of events.
    private var holding: [Exchange] = []
    let upstreams: LoopUpstreams
    private let handshakeReminder = Reminder(milliseconds: 10_000)

    init(context: ProxyContext, log: AccessLog?, checksHealth: Bool, core: EventLoop.Core) {
        self.context = context
        self.log = log
        self.core = core
        index = context.store.reader()
        upstreams = LoopUpstreams(checksHealth: checksHealth)
        metrics = LoopMetrics(routes: context.routeNames.texts.count)
        token = core.add(self)
        core.turnEnded = { [metrics] in metrics.counters.turns.add(microseconds: $0) }
        upstreams.adopt(context.upstreams, metrics, core: core)
    }

    /// Adopts a configuration for new requests; requests under way keep their own.
    func adopt(_ context: ProxyContext, log: AccessLog?) {
        self.log?.flush()
        self.log = log
        metrics.counters.grow(routes: context.routeNames.texts.count)
        self.context = context
        upstreams.adopt(context.upstreams, metrics, core: core)
    }

    func refreshUpstreams() { upstreams.refresh(context.upstreams) }

    func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on stream: any ResponseStream
    ) -> any RequestHandler {
        let exchange = Exchange(head, framing: framing, on: stream, of: self)
        exchange.begin()
        return exchange
    }

    func refuse(_ refusal: Refusal, from peer: Endpoint?, send: (ResponseHead, [UInt8]) -> Int) {
        let reason = RejectionReason(refusal)
        metrics.counters.countRejected(reason)
        // A connection without a valid PROXY header gets no response.
        guard refusal != .badProxyHeader else { return }
        let problem = ProblemResponse(refusal)
        let (head, body) = problem.rendered(accept: nil)
        var record = RequestRecord()
        record.timeMicroseconds = Int(SystemClock.unixMilliseconds) * 1000
        if isLogging { record.description = RequestDescription(client: Exchange.text(of: peer)) }
        record.fault = RequestFault(reason)
        record.status = Int(problem.status.rawValue)
        record.bodyBytesBefore = body.count
        record.wireBytesSent = send(head, body)
        record.bodyBytesSent = record.wireBytesSent > 0 ? body.count : 0
        account(record)
    }

    func count(_ event: ListenerEvent) { metrics.counters.count(event) }

    /// Reports why the TLS of an upstream cannot be used, at most every ten seconds.
    func report(_ failure: TLSFailure, of server: UpstreamServer) {
        guard handshakeReminder.take(now: core.now) else { return }
        context.report(
            .warning(
                """
                no TLS with the upstream \(server.target.authority): \(failure.text); see \
                `\(Configuration.Upstream.key(of: server.name)).tls`
                """))
    }

    var isLogging: Bool { log != nil }

    /// Counts a complete request, and logs it; `experiment` is that of the configuration that it began with.
    func account(_ record: RequestRecord, in experiment: ExperimentTotals? = nil) {
        metrics.counters.count(record)
        if let arm = record.experiment.arm, record.isComplete {
            experiment?.count(
                arm, unit: record.experiment.unit, bytes: record.wireBytesSent,
                microseconds: record.durationMicroseconds)
        }
        guard let log else { return }
        let isFirst = log.isEmpty
        log.log(record)
        // Moved by each line, the deadline would never come under load.
        guard isFirst, !log.isEmpty else { return }
        core.setDeadline(token, core.now + Self.logDelayMilliseconds)
    }

    private static let logDelayMilliseconds: Int64 = 100

    /// Has the exchange limit the time of a body that is still held at the end of this batch of events.
    func watchHeld(_ exchange: Exchange) {
        holding.append(exchange)
        core.attend(token)
    }

    func attend(_ core: EventLoop.Core) {
        // Taken out, since an exchange may be added meanwhile.
        var held = exchange(&holding, with: [])
        for exchange in held { exchange.setHoldDeadline() }
        held.removeAll(keepingCapacity: held.count <= 1024)
        if holding.isEmpty { swap(&held, &holding) }
    }

    func expired(_ core: EventLoop.Core) {
        log?.flush()
    }

    func close() {
        log?.flush()
        upstreams.close()
    }
}
