internal import Dictionaries
internal import HTTP

// MARK: - The body goes down, as its machine says

extension Exchange {
    /// Does what the body asks for, until it waits for an event, and sets the upstream's pace.
    ///
    /// Every event that the body takes ends with this, but for pieces that pass.
    func advance() {
        while let action = body.next(hasRoom: client.canWrite) { perform(action) }
        guard let upstream = attempt.connection else { return }
        if !body.wantsInput {
            upstream.pauseResponse()
        } else if client.canWrite {
            upstream.resumeResponse()
        }
    }

    private func perform(_ action: ResponseBody.Action) {
        switch action {
        case .write(let bytes): write(bytes.span)
        case .prepare: prepare()
        case .stream: streamHeld()
        case .streamOriginal(let reason): streamOriginal(because: reason)
        case .admit(let copy, let deltaBytes): hashCopy(copy, deltaBytes: deltaBytes)
        case .flushSoon: core.setDeadline(token, core.now + Self.flushMilliseconds)
        case .yield: if client.canWrite { core.attend(token) }
        case .countCoding(let coding, let nanoseconds):
            countCompression(coding, nanoseconds: nanoseconds)
        case .finish(let trailers): complete(trailers: trailers)
        case .fail(let failure): fail(failure)
        }
    }

    /// Writes a piece of the body to the client, and has the upstream wait for slow clients.
    func write(_ piece: Span<UInt8>) {
        guard !piece.isEmpty else { return }
        record.bodyBytesSent += piece.count
        client.write(piece)
        if !client.canWrite { attempt.connection?.pauseResponse() }
    }

    /// Counts the time of an encoder, in total and for this response.
    func countCompression(_ coding: ContentCoding, nanoseconds: Int) {
        proxy.metrics.counters.countCompression(coding, nanoseconds: nanoseconds)
        record.codingNanoseconds += nanoseconds
    }

    /// Sends the head of a draft, and uses the draft up: from here on only its body can go out.
    ///
    /// `isCopied` says that the body is copied, so that its admission needs to know the response; `hasTrailers`, that
    /// trailers may follow the body.
    func writeHead(
        _ draft: consuming ResponseDraft, body framing: BodyFraming, isCodingChanged: Bool = false,
        hasTrailers: Bool = false, isCopied: Bool = false
    ) -> SentResponse {
        if framing != .none, !hasTrailers || !takesTrailers { draft.response.head.headers.remove(.trailer) }
        if isTwin { shapeTwin(&draft.response) }
        var promise: SentResponse.Promise?
        if isCopied { promise = SentResponse.Promise(draft.response, id: draft.promisedID) }
        let length: UInt64? = if case .length(let count) = framing { count } else { nil }
        writeHead(draft.takeHead(), body: framing)
        return SentResponse(length: length, isCodingChanged: isCodingChanged, promise: promise)
    }

    var takesTrailers: Bool { request.version >= .http11 }

    /// Sends a head with the fields that every response has: the listener's Alt-Svc, and an explanation if that is
    /// configured.
    func writeHead(_ head: consuming ResponseHead, body: BodyFraming) {
        record.status = Int(head.status.rawValue)
        record.headMicroseconds = elapsedMicroseconds
        if let priority = route.priority { ResponseEdits.prioritize(&head.headers, by: priority) }
        if context.configuration.explain, !head.headers.contains(.dictumExplain) {
            let reason = record.reason.map { ";reason=\($0.text)" } ?? ""
            head.headers.append(.dictumExplain, record.coding.token + reason)
        }
        if context.addsServerTiming || isTwinDue { addServerTiming(to: &head) }
        // RFC 9110 section 12.5.3: a 415 of the upstream's is not about codings.
        if acceptsCodedBodies, head.status != .unsupportedMediaType {
            head.headers.append(.acceptEncoding, ContentCoding.dcz.token)
        }
        // An upstream that names other services knows them, or withdraws them with `clear`.
        if let services = clientFacts.alternativeServices, !head.headers.contains(.altSvc) {
            head.headers.append(.altSvc, services)
        }
        if observed != nil { settleObserved(tag: head.headers.versionTag()) }
        client.start(head, body: body)
    }

    private func fail(_ failure: ResponseBody.Failure) {
        abortUpstream()
        switch failure {
        case .malformed:
            proxy.metrics.counters.countUpstreamError(.malformed, of: route.upstreamName)
            record.fault = .upstream("the response's body is not in its content coding")
            guard withdrawResponse() else { return abort() }
            refuse(.undecodable)
        case .noMemory:
            proxy.metrics.counters.compressionBusy.add()
            record.fault = .own("memory.coding is used up")
            abort()
        case .encoder(let error):
            // RFC 9842 allows no change here: the client decodes all further bytes in the announced coding.
            if let error, error.stage == .verify, let body = dictionary.body {
                context.coding.reportInexact(
                    nil, error.coding, dictionary: body.digest, in: deltaScope, on: route)
            }
            record.fault = .own("the encoder failed")
            abort()
        }
    }
}
