internal import Dictionaries
internal import HTTP

// MARK: - Bodies that are held until they are whole

extension Exchange {
    func collectHeld(_ bytes: Span<UInt8>, _ answer: Answer) {
        record.bodyBytesBefore += bytes.count
        answer.collected.append(bytes)
        boundHeld(answer)
    }

    /// Holds a body no longer that is larger than may be held.
    func boundHeld(_ answer: Answer) {
        let count = answer.collected.count
        let isWithinMemory = count <= answer.reservedBytes || reserve(max(count, 64 * 1024), for: answer)
        if count > heldBytesMax || !isWithinMemory { stream(answer) }
    }

    /// The body cannot be read.
    ///
    /// Nothing of it has gone out, or what has is cut off.
    func fail(_ answer: Answer) {
        proxy.metrics.countUpstreamError(.malformed)
        upstream?.abort()
        upstream = nil
        if answer.isStarted { return abort() }
        releaseAnswer()
        refuse(Self.undecodable)
    }

    static let undecodable = ProblemAnswer(
        status: .badGateway, detail: "The upstream sent a body that is not in its coding.")

    /// Works on a whole body: compares, hashes and codes it, here or beside the loop.
    func prepare(_ answer: Answer) {
        guard !dictionary.isLoading else { return }
        answer.stage = .preparing
        answer.facts.bodyBytes = answer.collected.count
        answer.facts.isBodyWhole = true
        let verdict = Admission.evaluate(request: facts, response: answer.facts, policy: route.policy)
        if verdict != .admit || isInflated(answer) { answer.place = nil }
        // A stored body is there already, and takes no place for a copy.
        if let place = answer.place, answer.stored == nil {
            answer.slot = context.store.reserve(chain: place.chain, bytes: answer.collected.count)
            if answer.slot == nil { answer.place = nil }
        }
        let decision = decide(answer)
        let job = codingJob(answer, decision)
        if job.isSmall { return deliver(answer, decision, job.run()) }
        let loop = core.loop
        let token = token
        let isTaken = context.compressionPool.submit(bytes: job.bytes.count) {
            let result = job.run()
            loop.execute { core in core.handler(token, as: Exchange.self)?.prepared(decision, result) }
        }
        if !isTaken { deliverBusy(answer) }
    }

    func codingJob(_ answer: Answer, _ decision: Decision) -> CodingJob {
        let newest =
            answer.stored
            ?? answer.place.flatMap { proxy.index.newest(chain: $0.chain, url: $0.url, variant: $0.variant) }
            .flatMap { $0.bytes == answer.collected.count ? context.store.hotBody(of: $0) : nil }
        let needsTag =
            !answer.head.headers.contains(.etag) && isCodedResource(answer.facts)
            && request.method == .get && answer.collected.count <= heldBytesMax
        return CodingJob(
            bytes: answer.collected, newest: newest, needsDigest: answer.place != nil || needsTag,
            coding: decision.coding, dictionary: decision.coding.usesDictionary ? dictionary.body : nil,
            preparedDictionaries: context.preparedDictionaries)
    }

    func prepared(_ decision: Decision, _ result: CodingJob.Result) {
        guard let answer, case .preparing = answer.stage else { return }
        deliver(answer, decision, result)
    }

    /// All places for large jobs are taken: plain and now, rather than coded and late.
    func deliverBusy(_ answer: Answer) {
        answer.place = nil
        let result = CodingJob.Result(body: nil, isNewest: false, coded: nil, error: nil, nanoseconds: 0)
        deliver(answer, decide(answer, isBusy: true), result)
    }

    /// Sends a whole body with everything that is known of it.
    func deliver(_ answer: Answer, _ decision: Decision, _ result: CodingJob.Result) {
        var decision = decision
        if decision.coding != .identity {
            proxy.metrics.countCompression(decision.coding, nanoseconds: result.nanoseconds)
        }
        if result.coded == nil, decision.coding != .identity {
            decision = Decision(
                coding: .identity, reason: result.error == nil ? .notShorter : .codingFailed,
                upstreamCodingHandling: decision.upstreamCodingHandling)
        }
        record.bodyBytesBefore = answer.collected.count
        note(decision)
        var shape = Delivery.Shape()
        shape.coding = decision.coding
        shape.isCodingChanged = decision.coding != .identity || answer.isDecoded
        if !answer.head.headers.contains(.etag), let body = result.body, isCodedResource(answer.facts) {
            shape.madeETag = Delivery.entityTag(of: body.digest)
        }
        let etag = answer.head.headers.first(.etag) ?? shape.madeETag
        if let body = result.body {
            shape.offer = admit(body, answer, etag: etag, isNewest: result.isNewest)
            if answer.offerForm == .link { link(&shape, answer, answer.place, body: body) }
        }
        respond(answer, decision, shape, etag: etag, coded: result.coded, nanoseconds: result.nanoseconds)
    }

    func respond(
        _ answer: Answer, _ decision: Decision, _ shape: Delivery.Shape, etag: String?, coded: [UInt8]?,
        nanoseconds: Int
    ) {
        shapeHead(answer, shape)
        if isNotModified(etag) {
            makeNotModified(answer)
            start(answer.head, body: .none)
            return complete()
        }
        let body = coded ?? answer.collected
        explain(decision, on: answer, sent: body.count, microseconds: nanoseconds / 1000)
        start(answer.head, body: .length(UInt64(body.count)))
        if coded != nil { answer.collected = [] }
        sendOn(body, from: 0, answer)
    }

    /// Sends as much of a whole body as the client has room for; the rest stays here, and in the budget.
    func sendOn(_ body: [UInt8], from offset: Int, _ answer: Answer) {
        var offset = offset
        while offset < body.count, connection.canWrite {
            let end = min(offset + Self.sliceBytes, body.count)
            send(body.span.extracting(offset..<end))
            offset = end
        }
        if offset < body.count {
            answer.stage = .sending(body, offset: offset)
        } else {
            complete()
        }
    }

    private static let sliceBytes = 256 * 1024
}
