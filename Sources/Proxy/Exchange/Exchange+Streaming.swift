internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - Bodies that go on piece by piece

extension Exchange {
    /// Starts to send a body that is not whole yet.
    func stream(_ answer: Answer) {
        if isNotModified(answer.head.headers.first(.etag)) { return stopUnmodified(answer) }
        // There is no way back from here.
        if !reserveDecoder(answer, isFinal: true) {
            if answer.isDecoded { return passOriginal(answer) }
            // Only for the copy: the answer goes on as it is.
            dropDecoder(answer)
            answer.place = nil
        }
        let held = answer.collected
        answer.heldBytes = held.count
        keepHeldMemory(answer, held.count)
        // What is too large already is not offered.
        if held.count > route.policy.bodyBytesMax || isInflated(answer) { answer.place = nil }
        answer.collected = []
        if case .length(let count) = answer.framing, !answer.head.headers.contains(.contentEncoding),
            !answer.isDecoded
        {
            answer.facts.bodyBytes = Int(count)
        }
        answer.original = nil
        answer.facts.bodyBytesSeen = held.count
        var decision = decide(answer)
        var opening = Opening.none
        if decision.upstreamCodingHandling != .passThrough, decision.coding != .identity {
            opening = openEncoder(answer, decision, held)
            if case .none = opening {
                answer.encoderMemory = nil
                answer.checkMemory = nil
                decision = Decision(
                    coding: .identity, reason: .busy, upstreamCodingHandling: decision.upstreamCodingHandling)
            }
        }
        reserveCopy(answer)
        if answer.slot == nil, !answer.isDecoded { dropDecoder(answer) }
        startStreaming(answer, decision, isCoded: decision.coding != .identity && opening.isCoded)
        switch opening {
        case .none:
            answer.stage = answer.isDecoded ? .decoding : .passing
            copy(held.span, answer, isDecoded: true)
            forward(held.span, answer)
            releaseSentMemory(answer)
        case .ready(let encoder):
            answer.stage = .coding(encoder)
            // What was held has been decoded already.
            if !held.isEmpty { code(held, .more, answer, encoder) }
            releaseSentMemory(answer)
        case .underWay:
            answer.stage = .opening
            upstream?.pauseResponse()
            copy(held.span, answer, isDecoded: true)
        }
    }

    /// Where the encoder of an answer comes from.
    enum Opening {
        /// There is none: no coding, or no memory or place for it.
        case none
        case ready(any Encoder)
        /// Another thread makes it.
        case underWay

        var isCoded: Bool {
            if case .none = self { false } else { true }
        }
    }

    /// What the loop codes in one go.
    private static let openedBytesMax = 64 << 10

    /// Makes an encoder; where a dictionary is to be indexed first, or much of the body has come, beside the loop.
    private func openEncoder(_ answer: Answer, _ decision: Decision, _ held: [UInt8]) -> Opening {
        let coding = decision.coding
        let body = coding.usesDictionary ? dictionary.body : nil
        let level = context.configuration.compression.levels.givenForStream(coding)
        var options = EncoderOptions(bodyBytes: answer.facts.bodyBytes, level: level)
        options.dictionary = body.flatMap { quickDictionary($0, coding) }
        let isQuick = held.count <= Self.openedBytesMax && (body == nil || options.dictionary != nil)
        if options.dictionary == nil, let body { options.dictionary = .reference(body) }
        let isChecked = body != nil && context.deltas.sampleStream()
        guard reserveEncoder(answer, coding, options, isChecked: isChecked) else { return .none }
        if isQuick {
            let encoder = try? context.deltas.encoder(for: coding, options: options, isChecked: isChecked)
            return encoder.map { .ready($0) } ?? .none
        }
        let (loop, token, deltas, scope) = (core.loop, token, context.deltas, deltaScope)
        let memory = context.compressionMemory
        let bodyBytes = options.bodyBytes
        let isTaken = context.compressionPool.submit(bytes: held.count + (body?.count ?? 0)) {
            let opened = OpenedEncoder(
                coding, bodyBytes: bodyBytes, level: level, dictionary: body, scope: scope, held: held,
                isChecked: isChecked, deltas: deltas, memory: memory)
            loop.execute { core in core.handler(token, as: Exchange.self)?.opened(opened) }
        }
        return isTaken ? .underWay : .none
    }

    /// Takes the memory of an encoder, and of its check; both or none.
    private func reserveEncoder(
        _ answer: Answer, _ coding: ContentCoding, _ options: EncoderOptions, isChecked: Bool
    ) -> Bool {
        // Some estimates say "never" by the largest number there is.
        guard resize(&answer.encoderMemory, to: Codec.memoryEstimate(for: coding, options: options)) else {
            return false
        }
        guard isChecked, !resize(&answer.checkMemory, to: Deltas.streamCheckBytes) else { return true }
        answer.encoderMemory = nil
        return false
    }

    /// The dictionary if an encoder may have it on the loop: indexed, or so small that indexing takes no time.
    private func quickDictionary(_ body: Body, _ coding: ContentCoding) -> DictionaryUse? {
        let prepared = context.deltas.prepared
        guard
            body.count <= CodingJob.inlineBytesMax || prepared.isReady(body, for: coding, in: deltaScope)
        else { return nil }
        return prepared.quick(body, for: coding, in: deltaScope)
    }

    /// The encoder is there, and has coded what was held: what has come since follows.
    private func opened(_ opened: OpenedEncoder) {
        guard let answer, case .opening = answer.stage else { return }
        if answer.checkMemory == nil { answer.checkMemory = opened.takeCheckMemory() }
        guard let encoder = opened.encoder else { return abortCoding(opened.error) }
        proxy.metrics.countCompression(encoder.coding, nanoseconds: opened.nanoseconds)
        answer.stage = .coding(encoder)
        flushSoon(answer)
        let output = opened.output
        send(output.span)
        releaseSentMemory(answer)
        let pending = answer.pending
        answer.pending = []
        if !pending.isEmpty { codeNext(pending.span, answer, encoder) }
        guard self.answer === answer, case .coding = answer.stage else { return }
        if answer.isWhole { return endCoding(answer, encoder) }
        if decodeOn() { return }
        if connection.canWrite { upstream?.resumeResponse() }
    }

    func startStreaming(_ answer: Answer, _ decision: Decision, isCoded: Bool) {
        note(decision)
        var shape = Delivery.Shape()
        shape.coding = isCoded ? decision.coding : .identity
        shape.isCodingChanged = isCoded || answer.isDecoded
        shape.offer = willBeAdmitted(answer) ? promisedOffer(answer) : nil
        // A Link names a version that is there already.
        link(&shape, answer, answer.place, isOffered: answer.place?.offer != nil)
        shapeHead(answer, shape)
        explain(decision, on: answer, sent: nil)
        if shape.isCodingChanged { answer.framing = .chunked }
        let framing: BodyFraming = if case .length = answer.framing { answer.framing } else { .chunked }
        start(answer.head, body: framing)
    }

    /// Whether a body that is not whole yet has all that admission asks for, so that it may be offered.
    private func willBeAdmitted(_ answer: Answer) -> Bool {
        guard answer.slot != nil else { return false }
        // Of a coded body the length is a lower bound, of one without a length what has come so far.
        let length: Int? = if case .length(let count) = answer.framing { Int(count) } else { nil }
        return (answer.facts.bodyBytes ?? length ?? answer.heldBytes) >= route.policy.bodyBytesMin
    }

    /// Hands on what the upstream sent, untouched.
    func pass(_ bytes: Span<UInt8>, _ answer: Answer) {
        record.bodyBytesBefore += bytes.count
        copy(bytes, answer, isDecoded: answer.decoder == nil)
        forward(bytes, answer)
    }

    /// Sends bytes on; the very last ones of a body that is to be admitted wait for the admission.
    func forward(_ bytes: Span<UInt8>, _ answer: Answer) {
        answer.passedBytes += UInt64(bytes.count)
        if answer.slot != nil, case .length(let count) = answer.framing, answer.passedBytes == count {
            answer.tail.append(bytes)
        } else {
            send(bytes)
        }
    }

    func finishDecoder(_ answer: Answer) -> Bool {
        guard let decoder = answer.decoder else { return true }
        return (try? decoder.finish()) != nil
    }

    func codeNext(_ bytes: Span<UInt8>, _ answer: Answer, _ encoder: any Encoder) {
        record.bodyBytesBefore += bytes.count
        var piece: [UInt8] = []
        piece.append(bytes)
        code(piece, .more, answer, encoder)
    }

    func code(
        _ piece: [UInt8], _ directive: EncoderDirective, _ answer: Answer, _ encoder: any Encoder
    ) {
        copy(piece.span, answer, isDecoded: true)
        let directive =
            MediaTypes.isEventStream(answer.facts.contentType) && directive == .more ? .flush : directive
        let begin = SystemClock.monotonicNanoseconds
        var output: [UInt8] = []
        do throws(CodingError) {
            try encoder.encode(piece.span, directive, into: &output)
        } catch {
            return abortCoding(error)
        }
        proxy.metrics.countCompression(
            encoder.coding, nanoseconds: Int(SystemClock.monotonicNanoseconds - begin))
        if directive == .more { flushSoon(answer) }
        if directive == .flush { answer.needsFlush = false }
        if encoder.coding.usesDictionary { answer.deltaBytes = (answer.deltaBytes ?? 0) + output.count }
        if directive == .end { answer.tail = output } else { send(output.span) }
    }

    /// RFC 9842 leaves no way back: what follows would be read as this coding.
    private func abortCoding(_ error: CodingError?) {
        if let error, error.stage == .verify, let body = dictionary.body {
            context.reportInexact(nil, error.coding, dictionary: body.digest, in: deltaScope, on: route)
        }
        upstream?.abort()
        upstream = nil
        abort()
    }

    private func flushSoon(_ answer: Answer) {
        guard !answer.needsFlush else { return }
        answer.needsFlush = true
        core.setDeadline(token, core.now + Self.flushMilliseconds)
    }

    /// How long an encoder may keep bytes that the upstream has sent.
    static let flushMilliseconds: Int64 = 10

    func endCoding(_ answer: Answer, _ encoder: any Encoder) {
        guard finishDecoder(answer) else { return fail(answer) }
        code([], .end, answer, encoder)
        guard self.answer === answer, connection.isOpen else { return }
        admitCopy(answer)
    }
}
