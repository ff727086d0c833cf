internal import Dictionaries
internal import HTTP

// MARK: - The answer's body

extension Exchange {
    /// A piece of the body as the upstream sent it.
    func take(_ bytes: Span<UInt8>) {
        guard let answer else { return }
        switch answer.stage {
        case .holding: collectHeld(bytes, answer)
        case .passing: pass(bytes, answer)
        case .coding(let encoder): codeNext(bytes, answer, encoder)
        case .bodiless, .preparing, .ending: break
        }
    }

    /// The upstream's body has come whole.
    func bodyEnded(trailers: Headers) {
        guard let answer else { return }
        answer.trailers = trailers
        switch answer.stage {
        case .bodiless:
            complete()
        case .holding:
            guard finishDecoder(answer) else { return fail(answer) }
            answer.isWhole = true
            prepare(answer)
        case .passing:
            if !finishDecoder(answer) { dropCopy(answer) }
            admitCopy(answer)
        case .coding(let encoder):
            endCoding(answer, encoder)
        case .preparing, .ending:
            break
        }
    }

    /// The dictionary has been read, or cannot be: an answer that waited for it goes on.
    func dictionarySettled() {
        guard let answer, case .holding = answer.stage, answer.isWhole else { return }
        prepare(answer)
    }

    /// The time for holding back is over, or the time to flush has come.
    func expired(_ core: EventLoop.Core) {
        guard let answer else { return }
        switch answer.stage {
        case .holding:
            if case .loading(let version) = dictionary { dictionary = .cold(version) }
            if answer.isWhole { prepare(answer) } else { stream(answer) }
        case .coding(let encoder) where answer.needsFlush:
            code([], .flush, answer, encoder)
        default: break
        }
    }

    /// Gives back what the answer holds.
    func releaseAnswer() {
        guard let answer else { return }
        answer.slot = nil
        context.compressionMemory.release(answer.reservedBytes)
        answer.reservedBytes = 0
        answer.stage = .bodiless
    }

    /// Takes memory for the answer from what all share.
    func reserve(_ bytes: Int, for answer: Answer) -> Bool {
        guard context.compressionMemory.reserve(bytes) else { return false }
        answer.reservedBytes += bytes
        return true
    }

    // MARK: Held until whole

    private func collectHeld(_ bytes: Span<UInt8>, _ answer: Answer) {
        record.bodyBytesBefore += bytes.count
        do throws(CodingError) {
            if let decoder = answer.decoder {
                try decoder.decode(bytes, into: &answer.collected)
            } else {
                answer.collected.append(bytes)
            }
        } catch {
            return fail(answer)
        }
        let count = answer.collected.count
        let isWithinMemory = count <= answer.reservedBytes || reserve(max(count, 64 * 1024), for: answer)
        if count > heldBytesMax || !isWithinMemory { stream(answer) }
    }

    /// The body cannot be read.
    ///
    /// Nothing of it has gone out, or what has is cut off.
    private func fail(_ answer: Answer) {
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
    private func prepare(_ answer: Answer) {
        guard !dictionary.isLoading else { return }
        answer.stage = .preparing
        answer.facts.bodyBytes = answer.collected.count
        answer.facts.isBodyWhole = true
        let verdict = Admission.evaluate(request: facts, response: answer.facts, policy: route.policy)
        if verdict != .admit { answer.place = nil }
        if let place = answer.place {
            answer.slot = context.store.reserve(chain: place.chain, bytes: answer.collected.count)
            if answer.slot == nil { answer.place = nil }
        }
        let decision = decide(answer)
        let job = codingJob(answer, decision)
        if job.bytes.count <= CodingJob.inlineBytesMax { return deliver(answer, decision, job.run()) }
        let loop = core.loop
        let token = token
        let isTaken = context.compressionPool.submit {
            let result = job.run()
            loop.execute { core in core.handler(token, as: Exchange.self)?.prepared(decision, result) }
        }
        if !isTaken { deliverBusy(answer) }
    }

    private func codingJob(_ answer: Answer, _ decision: Decision) -> CodingJob {
        let newest = answer.place
            .flatMap { proxy.index.newest(chain: $0.chain, url: $0.url, variant: $0.variant) }
            .flatMap { $0.bytes == answer.collected.count ? context.store.hotBody(of: $0) : nil }
        let needsTag =
            !answer.head.headers.contains(.etag) && isCodedResource(answer.facts)
            && request.method == .get && answer.collected.count <= heldBytesMax
        return CodingJob(
            bytes: answer.collected, newest: newest, needsDigest: answer.place != nil || needsTag,
            coding: decision.coding, dictionary: decision.coding.usesDictionary ? dictionary.body : nil)
    }

    private func prepared(_ decision: Decision, _ result: CodingJob.Result) {
        guard let answer, case .preparing = answer.stage else { return }
        deliver(answer, decision, result)
    }

    /// All places for large jobs are taken: plain and now, rather than coded and late.
    private func deliverBusy(_ answer: Answer) {
        answer.place = nil
        let result = CodingJob.Result(body: nil, isNewest: false, coded: nil, error: nil, nanoseconds: 0)
        deliver(answer, decide(answer, isBusy: true), result)
    }

    /// Sends a whole body with everything that is known of it.
    private func deliver(_ answer: Answer, _ decision: Decision, _ result: CodingJob.Result) {
        var decision = decision
        if decision.coding != .identity {
            proxy.metrics.countCompression(decision.coding, nanoseconds: result.nanoseconds)
        }
        if result.coded == nil, decision.coding != .identity {
            decision = Decision(
                coding: .identity, reason: result.error == nil ? decision.reason : .codingFailed,
                upstreamCodingHandling: decision.upstreamCodingHandling)
        }
        record.bodyBytesBefore = answer.collected.count
        note(decision)
        var shape = Delivery.Shape()
        shape.coding = decision.coding
        shape.isCodingChanged = decision.coding != .identity || answer.decoder != nil
        if !answer.head.headers.contains(.etag), let body = result.body, isCodedResource(answer.facts) {
            shape.madeETag = Delivery.entityTag(of: body.digest)
        }
        let etag = answer.head.headers.first(.etag) ?? shape.madeETag
        if let body = result.body { shape.offer = admit(body, answer, etag: etag, isNewest: result.isNewest) }
        respond(answer, decision, shape, etag: etag, coded: result.coded, nanoseconds: result.nanoseconds)
    }

    private func respond(
        _ answer: Answer, _ decision: Decision, _ shape: Delivery.Shape, etag: String?, coded: [UInt8]?,
        nanoseconds: Int
    ) {
        if isCodedResource(answer.facts) || shape.isCodingChanged {
            Delivery.shape(&answer.head.headers, shape, dictionary: varyingDictionary)
        } else if let offer = shape.offer {
            answer.head.headers.append(.useAsDictionary, offer.serialized)
        }
        if isNotModified(etag) {
            makeNotModified(answer)
            start(answer.head, body: .none)
            return complete()
        }
        let body = coded ?? answer.collected
        explain(decision, on: answer, sent: body.count, microseconds: nanoseconds / 1000)
        start(answer.head, body: .length(UInt64(body.count)))
        send(body.span)
        complete()
    }

    // MARK: Admission

    /// Makes a whole body a version of its chain; returns what the answer offers for it.
    private func admit(_ body: Body, _ answer: Answer, etag: String?, isNewest: Bool) -> UseAsDictionary? {
        guard let place = answer.place, let dictionary = route.dictionary else { return nil }
        let now = Clock.unixSeconds
        if isNewest,
            let newest = proxy.index.newest(chain: place.chain, url: place.url, variant: place.variant),
            newest.digest == body.digest, newest.etag == etag.flatMap({ EntityTag($0)?.opaque })
        {
            context.store.touch(newest, now: now)
        } else {
            context.store.admit(
                body, chain: place.chain, url: place.url, variant: place.variant,
                etag: etag.flatMap { EntityTag($0)?.opaque }, contentType: answer.facts.contentType,
                versions: dictionary.versions, maxAge: dictionary.maxAge / 1000, now: now)
            proxy.metrics.countAdmission()
        }
        answer.slot = nil
        if place.offer != nil { proxy.metrics.countOffer() }
        return place.offer
    }

    // MARK: Piece by piece

    /// Starts to send a body that is not whole yet.
    func stream(_ answer: Answer) {
        let held = answer.collected
        answer.collected = []
        if case .length(let count) = answer.framing, answer.facts.contentEncodings.isEmpty {
            answer.facts.bodyBytes = Int(count)
        }
        var decision = decide(answer)
        var encoder: (any Encoder)?
        if decision.upstreamCodingHandling != .passThrough, decision.coding != .identity {
            encoder = makeEncoder(answer, decision)
            if encoder == nil {
                decision = Decision(
                    coding: .identity, reason: .busy, upstreamCodingHandling: decision.upstreamCodingHandling)
            }
        }
        reserveCopy(answer)
        startStreaming(answer, decision, isCoded: encoder != nil)
        answer.stage = encoder.map { .coding($0) } ?? .passing
        guard !held.isEmpty else { return }
        // What was held has been decoded already.
        if let encoder { return code(held, .more, answer, encoder) }
        copy(held.span, answer, isDecoded: true)
        forward(held.span, answer)
    }

    private func makeEncoder(_ answer: Answer, _ decision: Decision) -> (any Encoder)? {
        let options = EncoderOptions(
            bodyBytes: answer.facts.bodyBytes,
            dictionary: decision.coding.usesDictionary ? dictionary.body.map { .reference($0) } : nil)
        let bytes = Codec.memoryEstimate(for: decision.coding, options: options)
        guard reserve(bytes, for: answer) else { return nil }
        return try? Codec.encoder(for: decision.coding, options: options)
    }

    /// Sets memory aside for the copy that becomes a version, if there is a place for it.
    private func reserveCopy(_ answer: Answer) {
        guard let place = answer.place else { return }
        answer.slot = context.store.reserve(chain: place.chain, bytes: answer.facts.bodyBytes)
        if answer.slot == nil { answer.place = nil }
    }

    private func startStreaming(_ answer: Answer, _ decision: Decision, isCoded: Bool) {
        note(decision)
        let isDecoded = answer.decoder != nil && decision.upstreamCodingHandling == .decode
        var shape = Delivery.Shape()
        shape.coding = isCoded ? decision.coding : .identity
        shape.isCodingChanged = isCoded || isDecoded
        shape.offer = answer.slot == nil ? nil : answer.place?.offer
        if shape.offer != nil { proxy.metrics.countOffer() }
        if isCodedResource(answer.facts) {
            Delivery.shape(&answer.head.headers, shape, dictionary: varyingDictionary)
        }
        explain(decision, on: answer, sent: nil)
        if shape.isCodingChanged { answer.framing = .chunked }
        let framing: BodyFraming = if case .length = answer.framing { answer.framing } else { .chunked }
        start(answer.head, body: framing)
    }

    private func pass(_ bytes: Span<UInt8>, _ answer: Answer) {
        record.bodyBytesBefore += bytes.count
        let isForClient =
            answer.decoder != nil && record.coding == .identity && answer.framing == .chunked
            && !answer.head.headers.contains(.contentEncoding)
        if isForClient { return passDecoded(bytes, answer) }
        copy(bytes, answer, isDecoded: answer.decoder == nil)
        forward(bytes, answer)
    }

    /// The client does not accept the upstream's coding, and no other is used.
    private func passDecoded(_ bytes: Span<UInt8>, _ answer: Answer) {
        var piece: [UInt8] = []
        do throws(CodingError) {
            try answer.decoder?.decode(bytes, into: &piece)
        } catch {
            return fail(answer)
        }
        copy(piece.span, answer, isDecoded: true)
        forward(piece.span, answer)
    }

    /// Sends bytes on; the very last ones of a body that is to be admitted wait for the admission.
    private func forward(_ bytes: Span<UInt8>, _ answer: Answer) {
        answer.passedBytes += UInt64(bytes.count)
        if answer.slot != nil, case .length(let count) = answer.framing, answer.passedBytes == count {
            answer.tail.append(bytes)
        } else {
            send(bytes)
        }
    }

    /// Keeps a copy for admission, as long as there is room for it.
    private func copy(_ bytes: Span<UInt8>, _ answer: Answer, isDecoded: Bool) {
        guard let slot = answer.slot else { return }
        if isDecoded {
            answer.collected.append(bytes)
        } else {
            let isReadable = (try? answer.decoder?.decode(bytes, into: &answer.collected)) != nil
            if !isReadable { return dropCopy(answer) }
        }
        let count = answer.collected.count
        if count > route.policy.bodyBytesMax || !slot.extend(to: count) { dropCopy(answer) }
    }

    private func dropCopy(_ answer: Answer) {
        answer.slot = nil
        answer.place = nil
        answer.collected = []
        if !answer.tail.isEmpty {
            let tail = answer.tail
            answer.tail = []
            send(tail.span)
        }
    }

    private func finishDecoder(_ answer: Answer) -> Bool {
        guard let decoder = answer.decoder else { return true }
        return (try? decoder.finish()) != nil
    }

    private func codeNext(_ bytes: Span<UInt8>, _ answer: Answer, _ encoder: any Encoder) {
        record.bodyBytesBefore += bytes.count
        var piece: [UInt8] = []
        if let decoder = answer.decoder {
            do throws(CodingError) {
                try decoder.decode(bytes, into: &piece)
            } catch {
                return fail(answer)
            }
        } else {
            piece.append(bytes)
        }
        code(piece, .more, answer, encoder)
    }

    private func code(
        _ piece: [UInt8], _ directive: EncoderDirective, _ answer: Answer, _ encoder: any Encoder
    ) {
        copy(piece.span, answer, isDecoded: true)
        let directive =
            MediaTypes.isEventStream(answer.facts.contentType) && directive == .more ? .flush : directive
        let begin = Clock.monotonicNanoseconds
        var output: [UInt8] = []
        do throws(CodingError) {
            try encoder.encode(piece.span, directive, into: &output)
        } catch {
            // RFC 9842 leaves no way back: what follows would be read as this coding.
            upstream?.abort()
            upstream = nil
            return abort()
        }
        proxy.metrics.countCompression(encoder.coding, nanoseconds: Int(Clock.monotonicNanoseconds - begin))
        if directive == .more, !answer.needsFlush {
            answer.needsFlush = true
            core.setDeadline(token, core.now + Self.flushMilliseconds)
        } else if directive == .flush {
            answer.needsFlush = false
        }
        if directive == .end { answer.tail = output } else { send(output.span) }
    }

    /// How long an encoder may keep bytes that the upstream has sent.
    private static let flushMilliseconds: Int64 = 10

    private func endCoding(_ answer: Answer, _ encoder: any Encoder) {
        guard finishDecoder(answer) else { return fail(answer) }
        code([], .end, answer, encoder)
        guard self.answer === answer, connection.isOpen else { return }
        admitCopy(answer)
    }

    // MARK: The end

    /// Admits the copy of a body that has gone through, and only then lets its last bytes go.
    private func admitCopy(_ answer: Answer) {
        guard answer.slot != nil, !answer.collected.isEmpty else { return end(answer) }
        answer.facts.bodyBytes = answer.collected.count
        guard Admission.evaluate(request: facts, response: answer.facts, policy: route.policy) == .admit
        else {
            return end(answer)
        }
        answer.stage = .ending
        let decision = Decision(coding: .identity, reason: record.reason ?? .noCodingAccepted)
        let job = codingJob(answer, decision)
        if job.bytes.count <= CodingJob.inlineBytesMax { return admitted(job.run()) }
        let loop = core.loop
        let token = token
        let isTaken = context.compressionPool.submit {
            let result = job.run()
            loop.execute { core in core.handler(token, as: Exchange.self)?.admitted(result) }
        }
        if !isTaken { end(answer) }
    }

    private func admitted(_ result: CodingJob.Result) {
        guard let answer, case .ending = answer.stage else { return }
        if let body = result.body {
            _ = admit(body, answer, etag: answer.head.headers.first(.etag), isNewest: result.isNewest)
        }
        end(answer)
    }

    private func end(_ answer: Answer) {
        let tail = answer.tail
        answer.tail = []
        send(tail.span)
        complete(trailers: answer.trailers)
    }
}
