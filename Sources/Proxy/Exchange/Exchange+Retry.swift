internal import HTTP

// MARK: - Upstreams that give no answer

extension Exchange {
    /// An answer has begun: what was held against the upstream is settled.
    func noteAnswer() {
        passed = []
        guard let server = way?.server, let change = server.succeeded() else { return }
        context.report(.change(change, of: server))
    }

    /// No whole answer comes: counts it, and holds it against the upstream where that is at fault.
    func noteFailure(_ error: UpstreamError) {
        // A connection that was closed while it lay idle is nobody's failure, as long as the request can go on.
        if error != .stale { proxy.metrics.countUpstreamError(UpstreamErrorKind(error)) }
        guard answer == nil, RetryRule.isFault(error), let server = way?.server else { return }
        let policy = EndpointHealth.Policy(context.configuration.upstream)
        guard let change = server.failed(now: core.now, policy) else { return }
        context.report(
            .change(change, of: server, isOnlyOne: proxy.upstreams.count == 1, because: error))
    }

    /// Sends a problem to the client for an upstream that gave no whole response, and says why in the logs.
    func refuse(because error: UpstreamError) {
        let problem = ProblemAnswer(error)
        record.error = Array(error.logText.utf8)
        if let server = way?.server, server.failureReminder.take(now: core.now) {
            context.report(.failure(error, of: server, status: problem.status))
        }
        refuse(problem)
    }

    /// Sends the request once more, where nothing of it can have been acted upon, or acting twice does no harm
    /// (RFC 9110 section 9.2.2); returns whether it did.
    ///
    /// `lost` is the connection that failed.
    func retry(_ error: UpstreamError, _ lost: ClientConnection?) -> Bool {
        guard answer == nil, let head = upstreamHead, let way else { return false }
        let attempt = RetryRule.Attempt(
            error: error, hasSent: lost?.hasSent ?? false, hasReceived: lost?.hasReceived ?? false,
            isRepeatable: request.method.isIdempotent && !hasRequestBody)
        // As long as nothing was sent the lost connection holds the request whole, with what came of its body.
        let carrier = attempt.hasSent ? nil : lost
        let verdict = RetryRule.verdict(attempt)
        switch verdict {
        case .never:
            if error == .stale { proxy.metrics.countUpstreamError(.reset) }
            return false
        case .refresh:
            proxy.metrics.countRetry(.stale)
            send(head, by: way, carriedBy: carrier, fresh: true)
            return true
        case .elsewhere:
            guard let next = next(after: way) else { return false }
            proxy.metrics.countRetry(.connect)
            send(head, by: next, carriedBy: carrier)
            return true
        case .again, .another:
            guard let next = next(after: way, orStay: verdict == .again), takeFromBudget() else {
                return false
            }
            proxy.metrics.countRetry(.noAnswer)
            send(head, by: next, carriedBy: carrier)
            return true
        }
    }

    private var hasRequestBody: Bool { requestFraming != .none && requestFraming != .length(0) }

    /// Where the request goes next, as long as it may go on.
    private func next(after way: LoopUpstreams.Way, orStay: Bool = false) -> LoopUpstreams.Way? {
        guard passed.count < context.configuration.upstream.retries else { return nil }
        passed.append(way.server)
        if let other = proxy.upstreams.choose(passing: passed, now: core.now) { return other }
        // None is asked twice, but for an only one.
        return orStay && passed.allSatisfy { $0 === way.server } ? way : nil
    }

    private func takeFromBudget() -> Bool {
        if proxy.upstreams.budget.take(now: core.now) { return true }
        proxy.metrics.countRetryOverBudget()
        return false
    }
}

extension EndpointHealth.Policy {
    init(_ upstream: Configuration.Upstream) {
        self.init(failuresMax: upstream.maxFailures, backOff: Int64(upstream.failTimeout))
    }
}
