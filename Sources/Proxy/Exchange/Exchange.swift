internal import Dictionaries
internal import HTTP
internal import Primitives

/// One request and its answer, from the head's last byte to the answer's last.
///
/// Confined to its loop.
///
/// The client's connection and the upstream's each hold it as their handler; it lets go of both at the end.
final class Exchange: Handler {
    let proxy: ReverseProxy
    /// The configuration that the request began with.
    let context: ProxyContext
    let connection: ServerConnection
    let request: RequestHead
    let requestFraming: BodyFraming
    let path: String
    let query: String?
    let peer: ClientPeer
    /// The host, and the port if given, that the request is for; nil in HTTP/1.0 without Host.
    private(set) lazy var authority = request.authority
    /// What the route would offer for an answer, whatever the answer; nil where it cannot be expressed.
    private(set) lazy var routeOffer = makeRouteOffer()
    /// The same for a personal response on a public route.
    private(set) lazy var personalOffer = makePersonalOffer()
    /// The public chain of the route's own offer, if there is one.
    private(set) lazy var publicChain = makeChain(.public)
    /// The chain of the same offer for those who send its id.
    private(set) lazy var holdersChain = makeChain(.unlisted)
    /// The client, as proofs that a body is public tell it from others.
    private(set) lazy var linkClient = peer.linkClient(request.headers)
    /// The stored version that this request asks for by its own URL.
    let linked: LinkedDictionary?
    let route: Route
    var facts: RequestFacts
    /// Whose chains the request may use and add to on a private route; nil as long as it is not known whose it is.
    var scope: ChainKey.Scope?
    var record = RequestRecord()
    /// The name by which results of other threads find this exchange; given out on first need.
    private var ownToken: Token?

    // The way to the upstream.
    var upstream: ClientConnection?
    var upstreamHead: RequestHead?
    /// The address that the request is at, or was last.
    var way: LoopUpstreams.Way?
    /// Where it counts as load, if anywhere.
    var loaded: UpstreamServer?
    /// The upstreams that have failed it; none is asked twice if there is another.
    var passed: [UpstreamServer] = []
    /// A lost connection that still holds the request, of which it sent nothing.
    var unsent: ClientConnection?
    /// Whether both connections have changed their protocol.
    var isTunnel = false
    var requestBodyBytes = 0
    var isRequestWhole: Bool
    /// What the upstream is asked about on behalf of nobody but us.
    var storedAnswer: StoredAnswer?
    var startedNanoseconds = SystemClock.monotonicNanoseconds

    // The way back.
    var dictionary = DictionaryState.none
    var answer: Answer?
    private let bytesSentBefore: Int
    private var isOver = false

    init(_ head: RequestHead, framing: BodyFraming, on connection: ServerConnection, of proxy: ReverseProxy) {
        self.proxy = proxy
        self.connection = connection
        context = proxy.context
        let configuration = context.configuration
        path = head.target.path
        query = head.target.query
        peer = ClientPeer.of(connection, in: context)
        // Switched off, a name leads nowhere, as where the configuration says so.
        linked =
            DictionaryPath.isReserved(path) && !context.dictionarySwitch.isOff
            ? LinkedDictionary.find(head, of: proxy) : nil
        route = linked?.route ?? context.routes.route(path: path, query: query)
        facts = RequestFacts(
            head, path: path, query: query, peer: peer, route: route,
            secureTransport: configuration.secureTransport)
        request = head
        bytesSentBefore = connection.bytesSent
        requestFraming = framing
        isRequestWhole = framing == .none || framing == .length(0)
        record.timeMicroseconds = Int(SystemClock.unixMilliseconds) * 1000
        record.routeIndex = route.index
        record.isPrivate = route.policy.scope != .public
        if route.policy.scope == .private { identify() }
    }

    var core: EventLoop.Core { proxy.core }

    /// This exchange's name on its loop.
    var token: Token {
        if let ownToken { return ownToken }
        let token = core.add(self)
        ownToken = token
        return token
    }

    /// Notes whether dictionaries are out of use just now.
    func heedSwitch() {
        facts.dictionarySwitch =
            context.dictionarySwitch.reason ?? route.dictionarySwitch
            ?? (authority.map(context.authorities.contains) == false ? .authorityOff : nil)
    }

    /// Begins: looks for reasons to answer at once, else goes to the upstream.
    func start() {
        if let problem = ownAnswer() { return refuse(problem.0, problem.1) }
        if redirects() { return }
        if answersItself() { return }
        heedSwitch()
        if let linked { return serve(linked) }
        findDictionary()
        findStoredAnswer()
        forward()
    }

    /// Sends a plain request on to the same URL by https, where its listener is for that; returns whether it did.
    private func redirects() -> Bool {
        guard let port = connection.settings.redirectPort, peer.isTLS != true,
            peer.forwardedProtocol(request.headers) != "https"
        else { return false }
        guard let location = Redirect.location(of: request, port: port) else {
            refuse(ProblemAnswer(status: .badRequest, detail: "The request names no host."), .malformed)
            return true
        }
        var headers = Headers()
        headers.append(.location, location)
        let isSafe = request.method == .get || request.method == .head
        start(
            ResponseHead(status: isSafe ? .movedPermanently : .permanentRedirect, headers: headers),
            body: request.method == .head ? .none : .length(0))
        complete()
        return true
    }

    /// What Dictum itself has to say instead of an upstream.
    private func ownAnswer() -> (ProblemAnswer, RejectionReason)? {
        if let refusal = rateRefusal() { return (refusal, .clientRate) }
        if context.shared.via.isLoop(request.headers) {
            context.reportLoop(now: core.now)
            return (Self.loop, .loop)
        }
        switch request.method {
        case .connect, .trace:
            // A tunnel to anywhere, and an echo of credentials: neither is for a gateway.
            return (
                ProblemAnswer(status: .notImplemented, detail: "The method is not supported."), .unsupported
            )
        default: break
        }
        if let expectation = request.headers.joined(.expect), request.version >= .http11,
            expectation.lowercased() != "100-continue"
        {
            return (ProblemAnswer(Refusal.malformed(.unsupportedExpectation)), .unsupported)
        }
        if linked == nil, DictionaryPath.isReserved(path) {
            return (Self.noSuchDictionary, .reservedPath)
        }
        if case .length(let count) = requestFraming, count > UInt64(context.configuration.limits.requestBody)
        {
            return (Self.bodyTooLarge, .bodyTooLarge)
        }
        return nil
    }

    private static let loop = ProblemAnswer(
        status: .loopDetected,
        detail: "The request has been here before: an upstream of this server leads back to it.")

    static let bodyTooLarge = ProblemAnswer(
        status: .contentTooLarge, detail: "The request's body is too large.")

    /// RFC 9110 section 7.6.2: with no forwards left, OPTIONS ends here.
    private func answersItself() -> Bool {
        guard request.method == .options, UpstreamRequest.forwardsLeft(request.headers) == 0 else {
            return false
        }
        var headers = Headers()
        headers.append(.allow, "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH")
        start(ResponseHead(status: .ok, headers: headers), body: .length(0))
        complete()
        return true
    }

    // MARK: Ends

    /// Answers with a problem of Dictum's own and ends the exchange.
    func refuse(_ problem: ProblemAnswer, _ reason: RejectionReason? = nil) {
        if let reason { proxy.metrics.countRejected(reason) }
        let (head, body) = problem.rendered(accept: request.headers.joined(.accept))
        record.bodyBytesBefore = body.count
        if request.method == .head {
            start(head, body: .none)
        } else {
            start(head, body: .length(UInt64(body.count)))
            send(body.span)
        }
        complete()
    }

    /// Takes back what has been made of an answer, so that a problem can be sent in its place; false where some of it has
    /// gone to the client.
    func canRefuse(_ answer: Answer) -> Bool {
        if answer.isStarted {
            guard connection.withdraw() else { return false }
            answer.isStarted = false
        }
        record.bodyBytesSent = 0
        record.coding = .identity
        record.reason = nil
        releaseAnswer()
        return true
    }

    /// The answer has gone to the client whole.
    func complete(trailers: Headers = Headers()) {
        connection.finish(trailers: trailers)
        account(isComplete: true)
    }

    /// The answer cannot be completed: what has gone out must not look whole.
    func abort() {
        if answer?.isStarted == true { connection.abort() }
        account(isComplete: false)
    }

    /// Counts and logs the exchange, once, and lets everything go.
    func account(isComplete: Bool) {
        guard !isOver else { return }
        isOver = true
        record.isComplete = isComplete
        if proxy.isLogging { describeRequest() }
        record.wireBytesSent = connection.bytesSent - bytesSentBefore
        record.durationMicroseconds = Int(SystemClock.monotonicNanoseconds - startedNanoseconds) / 1000
        upstream?.abort()
        upstream = nil
        unsent = nil
        leaveServer()
        releaseAnswer()
        if let ownToken { core.remove(ownToken) }
        proxy.account(record)
    }

    /// What only the log wants to know.
    private func describeRequest() {
        noteClient()
        record.method = Array(request.method.text.utf8)
        record.target = request.target.bytes
        record.upstream = way?.server.logText
        noteIdentifiers()
    }

    /// Who asked: whom a trusted peer names, else whoever is connected.
    private func noteClient() {
        let connected = Self.text(of: connection.peer)
        record.client = connected
        guard peer.isTrusted, let client = peer.limitedAddress(request.headers) else { return }
        record.client = Array(client.text.utf8)
        record.forwarder = connected
    }

    /// An address as the log has it.
    static func text(of peer: Endpoint?) -> [UInt8] {
        switch peer {
        case .ip(let address, _)?: Array(address.text.utf8)
        case .unix?: Array("unix".utf8)
        case nil: [UInt8(ascii: "-")]
        }
    }
}

// MARK: - What the client's connection reports

extension Exchange: RequestHandler {
    func received(_ bytes: Span<UInt8>) {
        requestBodyBytes += bytes.count
        guard isTunnel || requestBodyBytes <= context.configuration.limits.requestBody else {
            return endUpload(Self.bodyTooLarge, .bodyTooLarge)
        }
        guard let upstream else { return }
        upstream.write(bytes)
        if !upstream.canWrite { connection.pauseRequest() }
    }

    func receivedEnd(trailers: Headers) {
        upstream?.finish(trailers: trailers)
        isRequestWhole = true
        // What Dictum answers itself waited for this: an answer that overtakes its request ends the connection.
        if linked != nil { dictionarySettled() }
    }

    func malformed(_ error: ParseError) {
        endUpload(ProblemAnswer(Refusal.malformed(error)), .malformed)
    }

    /// Gives up a request whose body cannot be taken.
    private func endUpload(_ problem: ProblemAnswer, _ reason: RejectionReason) {
        upstream?.abort()
        upstream = nil
        if answer?.isStarted == true { return abort() }
        refuse(problem, reason)
    }

    func drained() {
        if let answer, case .sending(let body, let offset) = answer.stage {
            return sendOn(body, from: offset, answer)
        }
        // While an encoder is being made the upstream waits.
        if case .opening? = answer?.stage { return }
        if let answer { releaseSentMemory(answer) }
        if decodeOn() { return }
        upstream?.resumeResponse()
    }

    func aborted(_ cause: ClientLoss) {
        if cause == .timedOut, !isTunnel {
            proxy.metrics.countRejected(isRequestWhole ? .answerTimeout : .bodyTimeout)
        }
        account(isComplete: false)
    }
}
