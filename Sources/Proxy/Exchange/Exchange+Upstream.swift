internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - To the upstream

extension Exchange {
    /// Looks up the dictionary that the client offers, and has it read while the upstream works.
    func findDictionary() {
        guard let digest = facts.availableDictionary, facts.dictionarySwitch == nil, authority != nil,
            route.policy.scope == .public
                || scope != nil && CrossOrigin.allowsPrivateDictionary(request: facts)
        else { return }
        guard let version = publicVersion(digest) ?? provenVersion(digest) else {
            dictionary = .unknown
            context.store.countUnknown()
            return
        }
        context.store.advertised(version, now: SystemClock.unixSeconds)
        noteUser(of: version)
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

    /// The version of this digest that everybody may use.
    private func publicVersion(_ digest: Digest) -> Dictionaries.Version? {
        guard route.policy.scope == .public, let authority else { return nil }
        return proxy.index.find(
            digest: digest, authority: authority, path: path, query: query, ownChain: publicChain)
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
            via: context.shared.via, upstreamAuthority: context.upstreamAuthority, isTLS: peer.isTLS ?? false)
        surroundings.isEarly = connection.isEarly
        surroundings.subjectFields = context.clientSubjectFields
        surroundings.subjectField = connection.settings.clientSubjectField
        var head = UpstreamRequest.head(from: request, framing: requestFraming, surroundings)
        setRequestID(&head)
        if let storedAnswer { head.headers.append(.ifNoneMatch, storedAnswer.kept.tag.serialized) }
        upstreamHead = head
        askUpstream(head)
    }

    /// Sends a request's head to the upstream whose turn it is; what the client sends as its body follows.
    func askUpstream(_ head: RequestHead) {
        proxy.upstreams.budget.count(now: core.now)
        guard let way = proxy.upstreams.choose(now: core.now) else {
            record.error = Array("no upstream to ask".utf8)
            return refuse(Self.noUpstream)
        }
        send(head, by: way)
    }

    private static let noUpstream = ProblemAnswer(
        status: .serviceUnavailable, detail: "There is no upstream to ask; try again later.")

    /// Sends the request on a connection to one address: by its head, or as `lost` still holds all of it.
    ///
    /// On a new connection where one that was kept has proved stale.
    func send(
        _ head: RequestHead, by way: LoopUpstreams.Way, carriedBy lost: ClientConnection? = nil,
        fresh: Bool = false
    ) {
        self.way = way
        enter(way.server)
        do throws(SystemError) {
            let connection = try proxy.connections.connection(in: way.lane, fresh: fresh)
            upstream = connection
            unsent = nil
            if let lost {
                connection.begin(takenFrom: lost, handler: self)
            } else {
                connection.begin(head, framing: requestFraming, handler: self)
            }
        } catch {
            unsent = lost
            failed(.connectFailed(error))
        }
    }

    private func enter(_ server: UpstreamServer) {
        leaveServer()
        guard proxy.upstreams.countsLoad else { return }
        server.enter()
        loaded = server
    }

    /// The upstream has nothing more to do for this request.
    func leaveServer() {
        loaded?.leave()
        loaded = nil
    }
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
        noteAnswer()
        record.upstreamMicroseconds = Int(SystemClock.monotonicNanoseconds - startedNanoseconds) / 1000
        if isAnswerToRevalidation(head.status) { return keepNotModified(head) }
        plan(head, framing: framing)
    }

    func receivedBody(_ bytes: Span<UInt8>) {
        if isTunnel { send(bytes) } else { take(bytes) }
    }

    func responseEnded(trailers: Headers) {
        upstream = nil
        leaveServer()
        if storedAnswer != nil { return settleStoredAnswer() }
        if isTunnel { complete() } else { bodyEnded(trailers: trailers) }
    }

    func upstreamDrained() {
        connection.resumeRequest()
    }

    func failed(_ error: UpstreamError) {
        let lost = upstream ?? unsent
        upstream = nil
        unsent = nil
        if isTunnel { return breakTunnel() }
        if case .handshakeFailed(let failure) = error, let way { proxy.report(failure, of: way.server) }
        noteFailure(error)
        if retry(error, lost) { return }
        if let answer, !canRefuse(answer) {
            record.error = Array(error.logText.utf8)
            return abort()
        }
        refuse(because: error)
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
