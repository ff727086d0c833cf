internal import Dictionaries
internal import HTTP

// MARK: - Bodies that go on piece by piece

extension Exchange {
    /// Starts to send a body that is not whole yet.
    func stream(_ answer: Answer) {
        if isNotModified(answer.head.headers.first(.etag)) { return stopUnmodified(answer) }
        let held = answer.collected
        answer.heldBytes = held.count
        // What is too large already is not offered.
        if held.count > route.policy.bodyBytesMax || isInflated(answer) { answer.place = nil }
        answer.collected = []
        if case .length(let count) = answer.framing, answer.facts.contentEncodings.isEmpty, !answer.isDecoded
        {
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
        answer.stage = encoder.map { .coding($0) } ?? (answer.isDecoded ? .decoding : .passing)
        guard !held.isEmpty else { return }
        // What was held has been decoded already.
        if let encoder { return code(held, .more, answer, encoder) }
        copy(held.span, answer, isDecoded: true)
        forward(held.span, answer)
    }

    func makeEncoder(_ answer: Answer, _ decision: Decision) -> (any Encoder)? {
        var options = EncoderOptions(bodyBytes: answer.facts.bodyBytes)
        if decision.coding.usesDictionary, let body = dictionary.body {
            let prepared = context.preparedDictionaries.prepared(body, for: decision.coding)
            options.dictionary = prepared.map { .prepared($0) } ?? .reference(body)
        }
        let bytes = Codec.memoryEstimate(for: decision.coding, options: options)
        guard reserve(bytes, for: answer) else { return nil }
        return try? Codec.encoder(for: decision.coding, options: options)
    }

    func startStreaming(_ answer: Answer, _ decision: Decision, isCoded: Bool) {
        note(decision)
        var shape = Delivery.Shape()
        shape.coding = isCoded ? decision.coding : .identity
        shape.isCodingChanged = isCoded || answer.isDecoded
        // A Link names a version that is there already.
        shape.offer = answer.offerForm == .link || willBeAdmitted(answer) ? answer.place?.offer : nil
        if answer.offerForm == .link { link(&shape, answer, answer.place) }
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
    static let flushMilliseconds: Int64 = 10

    func endCoding(_ answer: Answer, _ encoder: any Encoder) {
        guard finishDecoder(answer) else { return fail(answer) }
        code([], .end, answer, encoder)
        guard self.answer === answer, connection.isOpen else { return }
        admitCopy(answer)
    }
}
