internal import Dictionaries
internal import HTTP

// MARK: - To the upstream

extension Exchange {
    /// Looks up the dictionary that the client offers, and has it read while the upstream works.
    func findDictionary() {
        guard let digest = facts.availableDictionary, facts.dictionarySwitch == nil,
            let authority, let scope,
            scope == .public || CrossOrigin.allowsPrivateDictionary(request: facts)
        else { return }
        guard
            let version = proxy.index.find(
                digest: digest, authority: authority, scope: scope, path: path, query: query)
        else {
            dictionary = .unknown
            missing = digest
            return
        }
        context.store.touch(version, by: .advertised, now: Clock.unixSeconds)
        noteFound(version)
        if let body = context.store.hotBody(of: version) {
            dictionary = .ready(version, body)
            return
        }
        dictionary = .loading(version)
        let loop = core.loop
        let token = token
        context.store.load(version) { body in
            loop.execute { core in core.handler(token, as: Exchange.self)?.loaded(body) }
        }
    }

    func loaded(_ body: Body?) {
        guard case .loading(let version) = dictionary else { return }
        dictionary = body.map { .ready(version, $0) } ?? .cold(version)
        dictionarySettled()
    }

    /// Sends the request to the upstream.
    func forward() {
        var surroundings = UpstreamRequest.Surroundings(
            peer: peer, route: route, acceptEncoding: context.configuration.upstream.acceptEncoding,
            upstreamAuthority: context.upstreamAuthority, isTLS: peer.isTLS ?? false)
        surroundings.subjectFields = context.clientSubjectFields
        surroundings.subjectField = connection.settings.clientSubjectField
        var head = UpstreamRequest.head(from: request, framing: requestFraming, surroundings)
        setRequestID(&head)
        if let storedAnswer { head.headers.append(.ifNoneMatch, storedAnswer.kept.tag.serialized) }
        upstreamHead = head
        askUpstream(head)
    }

    /// Sends a request's head to the upstream; what the client sends as its body follows.
    func askUpstream(_ head: RequestHead) {
        connect { [requestFraming] in $0.begin(head, framing: requestFraming, handler: self) }
    }

    /// Has `begin` send the request on a connection; a new one where one that was kept has proved stale.
    private func connect(fresh: Bool = false, begin: (ClientConnection) -> Void) {
        do throws(SystemError) {
            let connection = try proxy.connections.connection(to: endpoint, fresh: fresh)
            upstream = connection
            begin(connection)
        } catch {
            failed(.connectFailed(error))
        }
    }

    /// The address in its turn, beginning with the one that answered last.
    private var endpoint: Endpoint {
        context.upstreams[(proxy.answeringUpstream + tries) % context.upstreams.count]
    }

    /// Sends the request once more, where nothing of it can have been acted upon, or acting twice does no harm
    /// (RFC 9110 section 9.2.2); returns whether it did.
    private func retry(_ error: UpstreamError, after failed: ClientConnection?) -> Bool {
        guard let head = upstreamHead else { return false }
        switch error {
        case .connectFailed, .handshakeFailed, .connectTimeout:
            guard tries + 1 < context.upstreams.count else { return false }
            tries += 1
            connect { [requestFraming] connection in
                if let failed {
                    connection.begin(takenFrom: failed, handler: self)
                } else {
                    connection.begin(head, framing: requestFraming, handler: self)
                }
            }
            return true
        case .stale where failed?.hasSentNothing == true:
            connect(fresh: true) { connection in
                if let failed { connection.begin(takenFrom: failed, handler: self) }
            }
            return true
        case .stale where request.method.isIdempotent && requestBodyBytes == 0 && !hasRequestBody:
            // Once: a fresh connection cannot be stale.
            connect(fresh: true) { [requestFraming] in
                $0.begin(head, framing: requestFraming, handler: self)
            }
            return true
        default:
            return false
        }
    }

    private var hasRequestBody: Bool { requestFraming != .none && requestFraming != .length(0) }
}

// MARK: - What the upstream's connection reports

extension Exchange: ResponseHandler {
    func receivedInterim(_ head: ResponseHead) {
        // 100 is for the client that waits for it; anybody else has no use for it.
        if head.status == .continue, !request.headers.contains(.expect) { return }
        var interim = head
        interim.headers.removeConnectionFields()
        // RFC 9110 section 8.6: a 1xx has no body, so that a length could only mislead.
        interim.headers.remove(.contentLength)
        hideIdentity(in: &interim.headers)
        connection.sendInterim(interim)
    }

    func receivedHead(_ head: consuming ResponseHead, framing: BodyFraming) {
        record.upstreamStatus = Int(head.status.rawValue)
        proxy.answered(after: tries)
        record.upstreamMicroseconds = Int(Clock.monotonicNanoseconds - startedNanoseconds) / 1000
        if isAnswerToRevalidation(head) { return }
        plan(head, framing: framing)
    }

    func receivedBody(_ bytes: Span<UInt8>) {
        if isTunnel { send(bytes) } else { take(bytes) }
    }

    func responseEnded(trailers: Headers) {
        upstream = nil
        if storedAnswer != nil { return settleStoredAnswer() }
        if isTunnel { complete() } else { bodyEnded(trailers: trailers) }
    }

    func upstreamDrained() {
        connection.resumeRequest()
    }

    func failed(_ error: UpstreamError) {
        let connection = upstream
        upstream = nil
        if isTunnel { return breakTunnel() }
        if case .handshakeFailed(let failure) = error { proxy.report(failure) }
        if retry(error, after: connection) { return }
        proxy.metrics.countUpstreamError(UpstreamErrorKind(error))
        if answer?.isStarted == true { return abort() }
        releaseAnswer()
        refuse(ProblemAnswer(error))
    }
}

extension UpstreamErrorKind {
    init(_ error: UpstreamError) {
        switch error {
        case .connectFailed: self = .connect
        case .handshakeFailed: self = .tls
        case .connectTimeout: self = .connectTimeout
        case .headTimeout: self = .responseTimeout
        case .idleTimeout: self = .idleTimeout
        case .stale, .closedBeforeHead, .truncated: self = .reset
        case .malformed: self = .malformed
        }
    }
}
