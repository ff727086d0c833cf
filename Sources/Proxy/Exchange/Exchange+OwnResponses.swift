internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - Dictum responds itself

/// A response that Dictum gives without the upstream.
enum OwnResponse {
    case problem(ProblemResponse, RejectionReason)
    /// The same URL by https.
    case redirect(location: String)
    /// RFC 9110 section 7.6.2: OPTIONS with no forwards left ends here.
    case options
    /// The script by which pages have twin URLs fetched.
    case script
}

extension Exchange {
    /// Returns the response that Dictum has to give instead of the upstream; charges the client's rate.
    func findOwnResponse() -> OwnResponse? {
        if let limit = context.rateLimit, let problem = charge(limit) {
            return .problem(problem, .clientRate)
        }
        if let limit = route.rateLimit, let problem = charge(limit) { return .problem(problem, .routeRate) }
        if context.shared.via.isLoop(request.headers) {
            context.reportLoop(now: core.now)
            return .problem(.loop, .loop)
        }
        if let problem = unsupportedRequest() { return problem }
        if isTwin, !hasTwin { return .problem(.noSuchDictionary, .reservedPath) }
        if asksForScript { return .script }
        switch pathRefusal {
        case .reserved where linked == nil: return .problem(.noSuchDictionary, .reservedPath)
        case .ambiguous: return .problem(.ambiguousPath, .ambiguousPath)
        case .reserved, nil: break
        }
        if case .length(let count) = upload.framing,
            count > UInt64(route.requestBodyMax)
        {
            return .problem(.bodyTooLarge, .bodyTooLarge)
        }
        if let port = clientFacts.redirectPort, peer.isTLS != true,
            peer.forwardedProtocol(request.headers) != "https"
        {
            let location = Self.secureLocation(of: request, port: port)
            return location.map { .redirect(location: $0) } ?? .problem(.noHost, .malformed)
        }
        let isLastHop = request.method == .options && UpstreamRequest.forwardsLeft(request.headers) == 0
        if isLastHop { return .options }
        guard upstream == nil, linked == nil else { return nil }
        return request.target.form == .asterisk ? .options : .problem(.noRoute, .noRoute)
    }

    private var hasTwin: Bool {
        pathRefusal == nil && switchedOff(on: route) == nil && TwinURL.admits(request, facts, route: route)
    }

    /// Responds to a client that is held out, which gets no dictionaries: the whole body would be fetched for nothing, and count
    /// on one side of the experiment alone.
    func refuseTwin() {
        record.experiment = .none
        refuse(.noSuchDictionary, .reservedPath)
    }

    private var asksForScript: Bool {
        pathRefusal == .reserved && OwnScript.isAsked(request) && context.configuration.dictionariesOn
            && !context.areDictionariesOff && !isAuthorityOff
    }

    private func unsupportedRequest() -> OwnResponse? {
        // A gateway opens no tunnels to anywhere, and echoes no credentials.
        if request.method == .connect || request.method == .trace {
            return .problem(.unsupportedMethod, .unsupported)
        }
        guard let expectation = request.headers.joined(.expect), request.version >= .http11,
            expectation.lowercased() != "100-continue"
        else { return nil }
        return .problem(ProblemResponse(Refusal.malformed(.unsupportedExpectation)), .unsupported)
    }

    /// Counts the request against a rate of its client; returns the response to a client that asks too often.
    private func charge(_ limit: RateLimit) -> ProblemResponse? {
        guard let client = limit.client(request.headers, peer),
            let wait = context.shared.clientRates.take(
                client, limit.bucket, now: SystemClock.monotonicNanoseconds)
        else { return nil }
        // RFC 9110 section 10.2.3: whole seconds, so the next one.
        let seconds = Int(wait / 1_000_000_000) + 1
        return ProblemResponse(
            status: .tooManyRequests, detail: "There were too many requests; try again in \(seconds) s.",
            retryAfter: seconds)
    }

    /// Returns the URL of a request by https, at a port; nil if it names no host.
    static func secureLocation(of request: RequestHead, port: UInt16) -> String? {
        guard let host = request.authority.map(HostPatterns.host), HostAndPort(host) != nil else {
            return nil
        }
        let target = request.target.form == .asterisk ? "/" : String(request.target.pathAndQuery.span)
        return "https://\(host)\(port == 443 ? "" : ":\(port)")\(target)"
    }

    // MARK: Sending

    /// Sends a response of Dictum's own, and ends the exchange.
    func respond(_ own: OwnResponse) {
        switch own {
        case .problem(let problem, let reason): refuse(problem, reason)
        case .redirect(let location):
            var headers = Headers()
            headers.append(.location, location)
            let isSafe = request.method == .get || request.method == .head
            let status: Status = isSafe ? .movedPermanently : .permanentRedirect
            respond(ResponseHead(status: status, headers: headers), [])
        case .options:
            var headers = Headers()
            headers.append(.allow, "GET, HEAD, QUERY, POST, PUT, DELETE, OPTIONS, PATCH")
            respond(ResponseHead(status: .ok, headers: headers), [])
        case .script:
            let (head, body) = OwnScript.response(to: request)
            respond(head, body)
        }
    }

    func refuse(_ problem: ProblemResponse, _ reason: RejectionReason? = nil) {
        if let reason {
            proxy.metrics.counters.countRejected(reason)
            record.fault = RequestFault(reason)
        }
        let (head, body) = problem.rendered(accept: request.headers.joined(.accept))
        respond(head, body)
    }

    private func respond(_ head: consuming ResponseHead, _ body: [UInt8]) {
        self.body.end()
        if request.method == .head || head.status == .notModified {
            writeHead(head, body: .none)
            phase = .sent(SentResponse(length: nil))
        } else {
            record.bodyBytesBefore = body.count
            writeHead(head, body: .length(UInt64(body.count)))
            phase = .sent(SentResponse(length: UInt64(body.count)))
            write(body.span)
        }
        complete()
    }
}
