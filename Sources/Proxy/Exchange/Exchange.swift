internal import Dictionaries
internal import HTTP
internal import Primitives

/// One request and its response.
///
/// This file follows a request from its beginning to its end; each step is a file of this folder. Confined to its loop.
/// The client's stream and the upstream's connection each hold the exchange as their handler until it ends.
final class Exchange: Handler {
    let proxy: ReverseProxy
    /// The configuration that the request began with.
    let context: ProxyContext
    let client: any ResponseStream
    let clientFacts: ConnectionFacts
    let peer: ClientPeer
    let share: ClientShare
    let request: RequestHead
    let route: Route
    /// The reason for which the path goes to no upstream, if any.
    let pathRefusal: RouteChoice.Refusal?
    /// The route's upstream on this loop; nil where the request has none.
    let upstream: LoopUpstream?
    /// The stored version that this request names by its dictionary URL.
    let linked: LinkedDictionary?
    /// True if the client asked for the twin URL of the resource.
    let isTwin: Bool
    /// True if the client gains by fetching the twin URL again.
    var isTwinDue = false
    var storedResponse: StoredResponse?
    /// Why the request waits for a place.
    var shortage = UpstreamPlaces.Shortage.upstream
    /// The trailers of a response that ends once the client has room for its last bytes.
    var lateTrailers: Headers?
    /// The encoder that is made once the client takes the body.
    var encoderOrder: EncoderOrder?
    /// What is observed beside the exchange; nil unless the route is observed.
    var observed: ObservedExchange?
    var phase = ResponsePhase.awaited
    var record = RequestRecord()
    /// The time at the arrival of the request, and the bytes that its stream had sent then.
    private let begunAt = SystemClock.monotonicNanoseconds
    private let formerBytesSent: Int
    /// The exchange's name on its loop, given out on first need.
    private var ownToken: Token?

    var entitlement: Entitlement
    var dictionary = DictionaryState.none
    var attempt = UpstreamAttempt()
    var upload: RequestUpload
    var body: ResponseBody

    var facts: RequestFacts {
        _read { yield entitlement.facts }
        _modify { yield &entitlement.facts }
    }

    var resource: RequestedResource {
        _read { yield entitlement.resource }
        _modify { yield &entitlement.resource }
    }

    /// The client, as proofs that a body is public tell it from others.
    var linkClient: LinkClient { peer.linkClient(request.headers) }

    var core: EventLoop.Core { proxy.core }

    /// The name by which results of other threads find this exchange.
    var token: Token {
        if let ownToken { return ownToken }
        let token = core.add(self)
        ownToken = token
        return token
    }

    // MARK: 1. The request's head has come

    /// Finds the route, and reads the facts that decide.
    init(
        _ head: consuming RequestHead, framing: BodyFraming, on client: any ResponseStream,
        of proxy: ReverseProxy
    ) {
        self.proxy = proxy
        self.client = client
        clientFacts = client.facts
        context = proxy.context
        peer = context.peer(of: clientFacts)
        let authority = head.authority
        // From here on a request for a twin URL is one for the resource itself.
        isTwin = TwinURL.resolve(&head)
        let url = PathAndQuery(path: head.target.path, query: head.target.query)
        let choice = context.routes.choose(url, authority: authority)
        share = peer.share(head.headers, of: context.shared.clientResources)
        formerBytesSent = client.bytesSent
        pathRefusal = choice.refusal
        // While dictionaries are switched off, their URLs do not exist.
        linked =
            choice.refusal == .reserved && !context.areDictionariesOff
            ? LinkedDictionary.find(head, of: proxy) : nil
        route = linked?.route ?? choice.route
        upstream = route.upstream.map { proxy.upstreams[$0] }
        upload = RequestUpload(framing, coding: route.decodesRequests ? UploadCoding(head) : .passes)
        entitlement = Entitlement(
            facts: RequestFacts(), resource: RequestedResource(authority: authority, url: url, route: route))
        entitlement.facts.read(
            head, url: url, isPathNormal: choice.isPathNormal, peer: peer, route: route,
            secureTransport: context.configuration.secureTransport)
        request = consume head
        body = ResponseBody(memory: share.memory)
        if let key = route.operationKey, facts.method == .query || facts.method == .post {
            upload.read(key, memory: share.memory)
        }
        record.timeMicroseconds = Int(SystemClock.unixMilliseconds) * 1000
        record.version = request.version
        record.routeIndex = route.index
        record.isFromBrowser = facts.secFetchSite != nil
        record.isPrivate = route.isPrivate || linked == nil && choice.isPrivate
        if route.policy.scope == .private { identify() }
    }

    /// Responds without the upstream if possible; otherwise prepares the dictionary and forwards the request.
    func begin() {
        if let own = findOwnResponse() { return respond(own) }
        if let experiment = context.experiment { joinExperiment(experiment) }
        heedSwitch()
        if isTwin, facts.dictionarySwitch != nil { return refuseTwin() }
        if let linked { return respond(with: linked) }
        findDictionary()
        findStoredResponse()
        if let shadow = route.shadow { observe(shadow) }
        if upload.coding == .passes { forward() } else { awaitCodedBody() }
    }
}

// MARK: - 2. The request's body goes up

extension Exchange: RequestHandler {
    func received(_ bytes: Span<UInt8>) {
        guard !awaitsWindow else { return }
        upload.received(bytes)
        guard phase.isTunnel || upload.bytes <= route.requestBodyMax else {
            return refuseUpload(.bodyTooLarge, .bodyTooLarge)
        }
        if upload.decoding != nil {
            upload.decoding?.received(bytes)
            return advanceUpload()
        }
        guard let upstream = attempt.connection else {
            if attempt.isWaiting { upload.keep(bytes) }
            return
        }
        upstream.write(bytes)
        if !upstream.canWrite { client.pauseRequest() }
    }

    func receivedEnd(trailers: Headers) {
        upload.receivedEnd()
        guard !awaitsWindow else { return }
        if upload.decoding != nil {
            upload.decoding?.receivedEnd(trailers)
            advanceUpload()
        } else if attempt.isWaiting {
            upload.keepEnd(trailers)
        } else {
            finishUpload(trailers)
        }
        // A response that overtakes its request ends the connection, so Dictum's own dictionaries wait for this.
        if linked != nil { dictionarySettled() }
    }

    func finishUpload(_ trailers: Headers) {
        attempt.connection?.finish(
            trailers: UpstreamRequest.trailers(
                trailers, without: context.clientSubjectFields, requestID: context.requestIDName,
                edits: route.requestEdits, isDecoded: upload.coding == .dcz))
    }

    func malformed(_ error: ParseError) {
        guard !awaitsWindow else { return }
        refuseUpload(ProblemResponse(Refusal.malformed(error)), .malformed)
    }

    /// Continues after the client has taken the waiting bytes.
    func drained() {
        if let trailers = lateTrailers.take() { return complete(trailers: trailers) }
        if let order = encoderOrder.take() { make(order) }
        body.resume()
        advance()
    }

    func aborted(_ cause: ClientLoss) {
        if cause == .timedOut, !phase.isTunnel {
            proxy.metrics.counters.countRejected(upload.isWhole ? .answerTimeout : .bodyTimeout)
        }
        record.fault = record.fault ?? RequestFault(cause, isUploaded: upload.isWhole)
        account(isComplete: false)
    }
}

// MARK: - 3. The upstream responds

extension Exchange: ResponseHandler {
    func upstreamDrained() {
        if upload.decoding != nil { advanceUpload() } else { client.resumeRequest() }
    }

    func receivedInterim(_ head: ResponseHead) {
        // A 100 is only for clients that wait for it, and a body that is decoded has had Dictum's own.
        if head.status == .continue, upload.coding != .passes || !request.headers.contains(.expect) { return }
        var interim = head
        interim.headers.removeConnectionFields()
        // RFC 9110 section 8.6: a 1xx has no body, so a length could only mislead.
        interim.headers.remove(.contentLength)
        route.responseEdits?.remove(from: &interim.headers)
        hideIdentity(in: &interim.headers)
        client.sendInterim(interim)
    }

    func receivedHead(_ head: consuming ResponseHead, framing: BodyFraming) {
        record.upstreamStatus = Int(head.status.rawValue)
        noteResponse()
        noteHeadTime()
        if !context.routes.privateRoutes.isEmpty { heedClearSiteData(head.headers) }
        noteTag(of: head.headers)
        if observed != nil { observeHead(head, framing: framing) }
        if storedResponse != nil {
            if head.status == .notModified { return keepNotModified(head) }
            dropStoredResponse()
        }
        plan(head, framing: framing)
        if !body.isPassing { advance() }
    }

    func receivedBody(_ bytes: Span<UInt8>) {
        if phase.isTunnel { return write(bytes) }
        record.bodyBytesBefore += bytes.count
        observed?.append(bytes, context.observer)
        if body.received(bytes) { write(bytes) }
        if !body.isPassing { advance() }
    }

    func responseEnded(trailers: consuming Headers) {
        attempt.connection = nil
        upload.decoding = nil
        attempt.leaveServer()
        attempt.leavePlace(context.shared.places)
        if let observed {
            observed.receivedEnd()
            settleObserved()
        }
        if storedResponse != nil {
            settleStoredResponse()
            return advance()
        }
        if phase.isTunnel { return complete() }
        hideIdentity(in: &trailers)
        route.responseEdits?.remove(from: &trailers)
        body.receivedEnd(trailers: trailers)
        advance()
    }

    func failed(_ error: UpstreamError) {
        let lost = attempt.takeLost()
        if phase.isTunnel { return breakTunnel() }
        if case .handshakeFailed(let failure) = error, let server = attempt.server {
            proxy.report(failure, of: server)
        }
        noteFailure(error)
        if retry(error, lost) { return }
        guard withdrawResponse() else {
            record.fault = .upstream(error.logText)
            return abort()
        }
        refuse(because: error)
    }
}

// MARK: - 4. Time passes

extension Exchange {
    /// Encoders keep bytes that the upstream has sent no longer than this.
    static let flushMilliseconds: Int64 = 10

    /// Limits the time of a body that is held at the end of the batch of events in which holding began.
    ///
    /// Most bodies are complete by then, and need no deadline.
    func setHoldDeadline() {
        guard body.isHeld else { return }
        if !body.isHeldWhole { attempt.connection?.acknowledgeNow() }
        core.setDeadline(token, core.now + HeldBody.millisecondsMax)
    }

    /// Goes on without the part that is late, or refuses a request that has waited too long for a place or a dictionary.
    func expired(_ core: EventLoop.Core) {
        if attempt.isWaiting { return refuseWaiting() }
        if isFindingUploadDictionary { return refuseUnknownDictionary() }
        if isReadingLinkedDictionary { return linkedDictionaryRead(nil) }
        if phase.isAwaited, storedResponse != nil { return forwardUnconditionally() }
        if body.isHeld { dictionary.giveUp() }
        body.deadlinePassed()
        advance()
    }

    /// Goes on with a body after others have had their turn.
    func attend(_ core: EventLoop.Core) {
        body.resume()
        advance()
    }
}

// MARK: - 5. The end

extension Exchange {
    /// Takes back a response, so that a problem can be sent instead; returns false if some of it has been sent.
    func withdrawResponse() -> Bool {
        if phase.isAwaited { return true }
        if phase.isSent, !client.withdraw() { return false }
        record.bodyBytesSent = 0
        record.coding = .identity
        record.reason = nil
        phase = .awaited
        encoderOrder = nil
        body.end()
        return true
    }

    /// Ends a response that has gone to the client whole, apart from bytes that wait for its window.
    func complete(trailers: Headers = Headers()) {
        guard lendStuckBytes() else { return awaitWindow(before: trailers) }
        client.finish(trailers: trailers)
        account(isComplete: true)
    }

    /// Ends a response that cannot be completed, so that it does not look complete.
    func abort() {
        // In each phase before the end, since a response may have begun in any. Behind the end the connection
        // may carry another request.
        if !phase.isOver { client.abort(isUpstreams: record.fault?.isUpstreams ?? false) }
        account(isComplete: false)
    }

    /// Counts and logs the exchange, once, and lets everything go.
    func account(isComplete: Bool) {
        guard !phase.isOver else { return }
        phase = .over
        record.isComplete = isComplete
        noteFetchAfterPage()
        if proxy.isLogging { describeRequest() }
        record.wireBytesSent = client.bytesSent - formerBytesSent
        record.durationMicroseconds = elapsedMicroseconds
        abortUpstream()
        attempt.end()
        attempt.leavePlace(context.shared.places)
        body.end()
        if let ownToken { core.remove(ownToken) }
        if record.coding.usesDictionary {
            context.gain.count(
                of: gainRoute, bodyBytes: record.bodyBytesBefore, deltaBytes: record.bodyBytesSent)
        }
        let finished = exchange(&record, with: RequestRecord())
        proxy.account(finished, in: context.experiment)
    }

    var elapsedMicroseconds: Int { Int(SystemClock.monotonicNanoseconds - begunAt) / 1000 }
}

// MARK: - Other threads

/// A reference to an exchange that any thread may hold.
struct ExchangeReference: Sendable {
    private let loop: EventLoop
    private let token: Token

    init(_ exchange: Exchange) {
        loop = exchange.core.loop
        token = exchange.token
    }

    /// Calls `body` on the loop of the exchange, unless the exchange is over by then.
    func perform(_ body: @escaping @Sendable (Exchange) -> Void) {
        let token = token
        loop.execute { core in
            if let exchange = core.handler(token, as: Exchange.self) { body(exchange) }
        }
    }
}
