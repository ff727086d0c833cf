internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - The request goes up

extension Exchange {
    /// Makes the request that the upstream gets, and sends it.
    func forward() {
        var surroundings = UpstreamRequest.Surroundings(peer: peer, route: route, via: context.shared.via)
        surroundings.isEarly = clientFacts.isEarly
        surroundings.subjectFields = context.clientSubjectFields
        surroundings.subjectField = clientFacts.clientSubjectField
        surroundings.isDecoded = upload.coding == .dcz
        var head = UpstreamRequest.head(from: request, framing: upload.upstreamFraming, surroundings)
        setRequestID(&head)
        translateConditions(&head.headers)
        if let storedResponse { head.headers.append(.ifNoneMatch, storedResponse.kept.tag.serialized) }
        attempt.head = consume head
        send()
    }

    /// Sends the request's kept head to the next upstream; the client's body follows.
    func send() {
        // Requests without an upstream have got their response.
        guard let upstream else { return refuse(.noRoute) }
        guard takePlace(at: upstream) else { return }
        let now = core.now
        upstream.budget.count(now: now)
        guard let address = upstream.choose(now: now) else {
            record.fault = .upstream("no upstream to ask")
            return refuse(.noUpstream)
        }
        send(to: address, of: upstream)
    }

    /// Sends the request to one address: by its head, or as `lost` still holds all of it.
    ///
    /// `fresh` asks for a new connection, because one that was kept has proved stale.
    private func send(
        to address: LoopAddress, of upstream: LoopUpstream, carriedBy lost: ClientConnection? = nil,
        fresh: Bool = false
    ) {
        attempt.enter(address, countsLoad: upstream.countsLoad)
        do throws(SystemError) {
            let connection = try upstream.connections.connection(from: address.targetPool, fresh: fresh)
            attempt.connection = connection
            attempt.unsent = nil
            if let lost {
                connection.begin(takenFrom: lost, handler: self)
            } else {
                attempt.sendHead(framing: upload.upstreamFraming, handler: self)
            }
        } catch {
            attempt.unsent = lost
            failed(.connectFailed(error))
        }
    }

    /// Gives up the upstream's connection, which reports nothing more.
    func abortUpstream() { attempt.connection.take()?.abort() }

    // MARK: Identifiers of the request in logs

    /// Gives the upstream's request an identifier, unless a trusted peer has given it a valid one.
    private func setRequestID(_ head: inout RequestHead) {
        guard let name = context.requestIDName else { return }
        if peer.isTrusted, RequestIdentifiers.hasRequestID(head.headers, name) { return }
        let id = proxy.requestIDs.next()
        head.headers.removeLookalikes(of: name)
        head.headers.append(name, checked: id.span)
        if proxy.isLogging { record.requestID = id.indices.map { id[$0] } }
    }

    func noteHeadTime() {
        let elapsed = elapsedMicroseconds
        record.upstreamMicroseconds = elapsed
        record.tryMicroseconds = elapsed - attempt.startMicroseconds
        record.upstreamRow = upstream?.metricsRow ?? 0
    }

    /// Returns an address as the log has it.
    static func text(of peer: Endpoint?) -> [UInt8] {
        switch peer {
        case .ip(let address, _)?: Array(address.text.utf8)
        case .unix?: Array("unix".utf8)
        case nil: [UInt8(ascii: "-")]
        }
    }

    // MARK: Upstreams that fail

    /// Notes that a response has begun, which settles what was held against the upstream.
    func noteResponse() {
        guard let server = attempt.server, let change = server.succeeded() else { return }
        context.report(.change(change, of: server))
    }

    /// Counts a response that will not be complete, and holds it against the upstream if that is at fault.
    func noteFailure(_ error: UpstreamError) {
        // A connection that was closed while it lay idle is no failure, as long as the request can go on.
        if error != .stale {
            proxy.metrics.counters.countUpstreamError(UpstreamErrorKind(error), of: route.upstreamName)
        }
        guard phase.isAwaited, RetryRule.isFault(error), let server = attempt.server, let upstream,
            let group = route.upstream
        else { return }
        let policy = EndpointHealth.Policy(group.settings)
        guard let change = server.change({ $0.failed(now: core.now, policy) }) else { return }
        context.report(.change(change, of: server, isOnlyOne: upstream.count == 1, because: error))
    }

    /// Sends the request once more, if the upstream cannot have acted upon it, or acting twice does no harm
    /// (RFC 9110 section 9.2.2); returns false if that is not so.
    ///
    /// `lost` is the connection that failed.
    func retry(_ error: UpstreamError, _ lost: ClientConnection?) -> Bool {
        guard phase.isAwaited, attempt.head != nil, let address = attempt.address, let upstream else {
            return false
        }
        let facts = RetryRule.Attempt(
            error: error, hasSent: lost?.hasSent ?? false, hasReceived: lost?.hasReceived ?? false,
            isRepeatable: request.method.isIdempotent && !upload.framing.hasBody)
        // A lost connection that has sent nothing holds the request whole, with what came of its body.
        let carrier = facts.hasSent ? nil : lost
        let verdict = RetryRule.verdict(facts)
        attempt.startMicroseconds = elapsedMicroseconds
        switch verdict {
        case .never:
            if error == .stale { proxy.metrics.counters.countUpstreamError(.reset, of: route.upstreamName) }
            return false
        case .reconnect:
            proxy.metrics.counters.upstreamRetries.add(at: RetryReason.stale.index)
            send(to: address, of: upstream, carriedBy: carrier, fresh: true)
            return true
        case .moveUnsent:
            guard let next = next(after: address) else { return false }
            proxy.metrics.counters.upstreamRetries.add(at: RetryReason.connect.index)
            send(to: next, of: upstream, carriedBy: carrier)
            return true
        case .retryAnywhere, .retryElsewhere:
            let isElsewhere = upstream.count > attempt.failedServers.count + 1
            // The budget comes before the choice, which may begin the trial of an address: then a request must follow.
            guard mayGoOn, isElsewhere || verdict == .retryAnywhere, takeFromBudget(),
                let next = next(after: address, orStay: verdict == .retryAnywhere)
            else { return false }
            proxy.metrics.counters.upstreamRetries.add(at: RetryReason.noAnswer.index)
            send(to: next, of: upstream, carriedBy: carrier)
            return true
        }
    }

    /// Returns the address that the request goes to next; nil if it may not go on.
    private func next(after address: LoopAddress, orStay: Bool = false) -> LoopAddress? {
        guard let upstream, mayGoOn else { return nil }
        attempt.failedServers.append(address.server)
        if let other = upstream.choose(excluding: attempt.failedServers, now: core.now) {
            return other
        }
        // Each address is tried once. If there is only one, it is retried.
        return orStay && attempt.failedServers.allSatisfy { $0 === address.server } ? address : nil
    }

    private var mayGoOn: Bool { attempt.failedServers.count < route.upstream?.settings.retries ?? 0 }

    private func takeFromBudget() -> Bool {
        if upstream?.budget.take(now: core.now) == true { return true }
        proxy.metrics.counters.upstreamRetriesOverBudget.add()
        return false
    }

    /// Sends a problem for an upstream that gave no complete response, and says why in the logs.
    func refuse(because error: UpstreamError) {
        let problem = ProblemResponse(error)
        record.fault = .upstream(error.logText)
        if let server = attempt.server, server.failureReminder.take(now: core.now) {
            context.report(.failure(error, of: server, status: problem.status))
        }
        refuse(problem)
    }

    // MARK: Connections that change their protocol

    /// Passes bytes both ways as they are, now that the upstream has agreed to the client's Upgrade.
    func switchedProtocols(_ head: ResponseHead) {
        record.upstreamStatus = Int(head.status.rawValue)
        noteResponse()
        guard let asked = attempt.head, Upgrade.isAnswer(head.headers, to: asked.headers), openTunnel(head)
        else {
            attempt.connection?.abort()
            return failed(.malformed(.unexpectedInterim))
        }
        proxy.metrics.counters.upgrades.add()
    }

    /// Makes the client's stream a tunnel; returns false if the upstream's answer is none to the client.
    private func openTunnel(_ head: ResponseHead) -> Bool {
        // What the client has sent already comes while its stream changes.
        phase = .tunnel
        // A tunnel lasts as long as both sides like, and is no response to compare.
        record.experiment = .none
        record.status = Int(head.status.rawValue)
        record.headMicroseconds = elapsedMicroseconds
        var head = head
        hideIdentity(in: &head.headers)
        route.responseEdits?.apply(to: &head.headers)
        if let priority = route.priority { ResponseEdits.prioritize(&head.headers, by: priority) }
        guard !client.switchProtocols(head) else { return true }
        phase = .awaited
        return false
    }

    /// Ends a tunnel after one connection has failed, so that the other does not seem to end normally.
    func breakTunnel() {
        client.abort(isUpstreams: true)
        account(isComplete: false)
    }
}

extension EndpointHealth.Policy {
    init(_ upstream: Configuration.Upstream) {
        self.init(failuresMax: upstream.maxFailures, backOff: Int64(upstream.failTimeout))
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
        case .malformed, .http2: self = .malformed
        }
    }
}

// MARK: - The exchange is described for the log

extension Exchange {
    /// Adds the facts to the record that only the log needs.
    func describeRequest() {
        let connected = Self.text(of: clientFacts.peer)
        let named = peer.isTrusted ? peer.clientAddressForLimits(request.headers) : nil
        record.description = RequestDescription(
            client: named.map { Array($0.text.utf8) } ?? connected, forwarder: named.map { _ in connected },
            method: Array(request.method.text.utf8), target: askedTarget,
            host: resource.authority.map { Array($0.utf8) }, userAgent: field(.userAgent),
            referer: field(.referer), traceID: RequestIdentifiers.traceID(in: request.headers))
        record.upstream = attempt.server?.logged
        // An identifier of Dictum's own is in the record already.
        if record.requestID == nil, peer.isTrusted, let name = context.requestIDName {
            record.requestID = RequestIdentifiers.requestID(in: request.headers, name)
        }
    }

    /// The target as the client wrote it.
    private var askedTarget: [UInt8] {
        let target = request.target.text
        return Array((isTwin ? DictionaryPath.twin(of: target) : target).utf8)
    }

    /// Returns the last value of a field.
    private func field(_ name: HeaderName) -> [UInt8]? {
        var found: [UInt8]?
        request.headers.forEachValue(of: name) { found = [UInt8](copying: $0) }
        return found
    }
}
