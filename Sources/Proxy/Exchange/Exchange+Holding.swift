internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - Bodies that are held until they are whole

extension Exchange {
    func collectHeld(_ bytes: Span<UInt8>, _ answer: Answer) {
        record.bodyBytesBefore += bytes.count
        answer.collected.append(bytes)
        boundHeld(answer)
    }

    /// Holds a body no longer that is larger than may be held.
    func boundHeld(_ answer: Answer) {
        let count = answer.collected.count + (answer.original?.bytes.count ?? 0)
        let reserved = answer.heldMemory?.bytes ?? 0
        let isWithinMemory =
            count <= reserved || resize(&answer.heldMemory, to: reserved + max(count, 64 * 1024))
        // What is worth no place in the store is not worth much here.
        let countMax = isInflated(answer) ? 1 << 20 : heldBytesMax
        if answer.collected.count > countMax || !isWithinMemory { stream(answer) }
    }

    /// The body cannot be read.
    ///
    /// Nothing of it has gone out, or what has is cut off.
    func fail(_ answer: Answer) {
        proxy.metrics.countUpstreamError(.malformed)
        upstream?.abort()
        upstream = nil
        record.error = Array("the response's body is not in its content coding".utf8)
        guard canRefuse(answer) else { return abort() }
        refuse(Self.undecodable)
    }

    static let undecodable = ProblemAnswer(
        status: .badGateway, detail: "The upstream sent a body that is not in its coding.")

    /// Works on a whole body: compares, hashes and codes it, here or beside the loop.
    func prepare(_ answer: Answer) {
        guard !dictionary.isLoading, linked == nil || isRequestWhole else { return }
        answer.stage = .preparing
        let isLengthNews = answer.facts.bodyBytes != answer.collected.count
        answer.facts.bodyBytes = answer.collected.count
        answer.facts.isBodyWhole = true
        if answer.place != nil, isInflated(answer) || isLengthNews && !isAdmitted(answer.facts) {
            answer.place = nil
        }
        let decision = decide(answer)
        var job = codingJob(answer, decision)
        switch job.start(reply: { reply(decision) }) {
        case .done(let result): deliver(answer, decision, result)
        case .underWay: break
        case .busy(let result): deliverBusy(answer, result)
        }
    }

    func codingJob(_ answer: Answer, _ decision: Decision) -> CodingJob {
        // What comes from the store needs neither reading nor hashing.
        let newest = answer.stored ?? newestBody(answer)
        return CodingJob(
            answer.collected, newest: newest, needsDigest: answer.place != nil || needsTag(answer),
            coding: decision.coding, dictionary: dictionary.body, scope: deltaScope, route: route,
            context: context)
    }

    /// Whether the answer is to have an entity tag made from its body.
    private func needsTag(_ answer: Answer) -> Bool {
        !answer.head.headers.contains(.etag) && isCodedResource(answer)
            && request.method == .get && answer.collected.count <= heldBytesMax
    }

    /// The newest version of the answer's URL and variant, if the body may be that once more.
    private func newestBody(_ answer: Answer) -> Body? {
        guard let place = answer.place else { return nil }
        if place.isProvisional {
            // What others hold is never compared, as the time would tell; what the client holds itself may well return.
            return dictionary.body.flatMap { $0.count == answer.collected.count ? $0 : nil }
        }
        guard let newest = proxy.index.newest(place.key),
            newest.bytes == answer.collected.count
        else { return nil }
        return context.store.hotBody(of: newest)
    }

    /// The way back from another thread, with what was decided.
    func reply(_ decision: Decision) -> CodingReply {
        CodingReply(loop: core.loop, token: token, decision: decision)
    }

    /// A job has been done by another thread.
    func worked(_ decision: Decision, _ result: CodingJob.Result) {
        guard let answer else { return }
        switch answer.stage {
        case .preparing: deliver(answer, decision, result)
        case .ending: admitted(result)
        default: break
        }
    }

    /// Sends a whole body with everything that is known of it.
    func deliver(_ answer: Answer, _ decision: Decision, _ result: CodingJob.Result) {
        if result.obstacle == .busy { return deliverBusy(answer, result) }
        noteAsker(answer, result)
        // A delta that failed says nothing of how long deltas are.
        if decision.coding.usesDictionary, result.obstacle == nil || result.obstacle == .notShorter {
            noteDelta(answer, bytes: result.coded?.count ?? answer.collected.count)
        }
        guard decision.coding != .identity else { return respond(answer, decision, result, nil) }
        if !result.isShared {
            proxy.metrics.countCompression(decision.coding, nanoseconds: result.nanoseconds)
        }
        guard let coded = result.coded else {
            return respondUncoded(answer, because: result.obstacle ?? .notShorter, result)
        }
        if decision.coding.usesDictionary { sampleGain(of: answer.collected, deltaBytes: coded.count) }
        // Holders of the same bytes do not know of each other.
        let isKnown = deltaScope == .public || route.policy.scope == .private
        let reason = result.isShared && isKnown ? Reason.deltaCached : decision.reason
        respond(
            answer,
            Decision(
                coding: decision.coding, reason: reason,
                upstreamCodingHandling: decision.upstreamCodingHandling), result, coded)
    }

    /// All places for large jobs are taken: in the best way that takes no time, rather than late.
    func deliverBusy(_ answer: Answer, _ result: CodingJob.Result) {
        proxy.metrics.countBusy()
        // Hashing takes a place, too.
        if result.body == nil {
            answer.place = nil
            answer.slot = nil
        }
        let coding = BusyCoding.quick(
            accept: facts.acceptEncoding, codings: context.configuration.compression.codings,
            bodyBytes: answer.collected.count)
        guard answer.original?.isAccepted != true, coding != .identity,
            let coded = quicklyCoded(answer.collected, coding), coded.count < answer.collected.count
        else {
            return respondUncoded(answer, because: .busy, result)
        }
        respond(answer, Decision(coding: coding, reason: .busy), result, coded)
    }

    /// A body in a coding at its least effort; nil where there is no memory for it, or it fails.
    private func quicklyCoded(_ body: [UInt8], _ coding: ContentCoding) -> [UInt8]? {
        let options = EncoderOptions(bodyBytes: body.count, effort: .fast)
        return context.compressionMemory.lend(Codec.memoryEstimate(for: coding, options: options)) {
            try? Codec.encode(body.span, coding, options: options)
        } ?? nil
    }

    /// Sends a body without a coding of ours: as the upstream coded it, where the client accepts that, else plain.
    private func respondUncoded(_ answer: Answer, because reason: Reason, _ result: CodingJob.Result) {
        guard let original = answer.original, original.isAccepted else {
            return respond(answer, Decision(coding: .identity, reason: reason), result, nil)
        }
        answer.isDecoded = false
        respond(
            answer,
            Decision(coding: original.coding, reason: reason, upstreamCodingHandling: .passThrough), result,
            original.bytes)
    }

    /// Admits the body, and sends the answer in its final form.
    private func respond(
        _ answer: Answer, _ decision: Decision, _ result: CodingJob.Result, _ coded: [UInt8]?
    ) {
        record.bodyBytesBefore = answer.collected.count
        note(decision)
        var shape = Delivery.Shape()
        shape.coding = decision.coding
        let isOriginal = decision.upstreamCodingHandling == .passThrough
        shape.isCodingChanged = !isOriginal && decision.coding != .identity || answer.isDecoded
        shape.etag = answer.head.headers.first(.etag)
        if shape.etag == nil, let body = result.body, isCodedResource(answer) {
            shape.etag = Delivery.entityTag(of: body.digest)
        }
        if let body = result.body {
            shape.offer = admit(body, answer, etag: shape.etag, isNewest: result.isNewest)
            if shape.offer != nil { notePublic(body, answer) }
            // A Link names a version that is there already: it goes out while this body must wait, too.
            link(&shape, answer, answer.place, isOffered: answer.place?.offer != nil)
        }
        shapeHead(answer, shape)
        if isNotModified(shape.etag) {
            // The tag may be another user's, too: no id goes out beside those that were sent.
            if let offer = shape.offer, !offer.id.isEmpty, offer.id != facts.dictionaryID {
                answer.head.headers.remove(.useAsDictionary)
            }
            makeNotModified(answer)
            start(answer.head, body: .none)
            return complete()
        }
        let body = coded ?? answer.collected
        noteNamed(answer, sentBytes: body.count)
        explain(decision, on: answer, sent: body.count, microseconds: result.nanoseconds / 1000)
        start(answer.takeHead(), body: .length(UInt64(body.count)))
        if coded != nil { answer.collected = [] }
        answer.original = nil
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
            // The delta waits, and not what it was made of.
            keepHeldMemory(answer, body.count)
        } else {
            complete()
        }
    }

    /// Gives back what is no longer held of a body.
    func keepHeldMemory(_ answer: Answer, _ bytes: Int) {
        guard let held = answer.heldMemory?.bytes, bytes < held else { return }
        _ = resize(&answer.heldMemory, to: bytes)
    }

    /// Gives back the memory of what was held, once it has gone on and the client has taken all but little of it.
    func releaseSentMemory(_ answer: Answer) {
        if answer.isStarted, connection.canWrite { answer.heldMemory = nil }
    }

    private static let sliceBytes = 64 * 1024
}
