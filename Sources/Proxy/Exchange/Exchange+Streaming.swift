internal import Dictionaries
internal import HTTP
internal import Storage

// MARK: - A body goes out piece by piece

extension Exchange {
    /// Starts to send a held body that is not complete yet.
    func streamHeld() {
        guard let draft = phase.takeDraft() else { return }
        stream(draft, body.takeHeld())
    }

    /// Decides about a body that is not complete yet, and sends the head.
    ///
    /// `obstacle` is the reason why its upstream's bytes, which are in no coding, stay as they are, if that is known.
    func stream(
        _ draft: consuming ResponseDraft, _ held: consuming HeldBody?, because obstacle: Reason? = nil
    ) {
        if facts.isConditional, isNotModified(draft.response) { return respondNotModified(draft) }
        guard body.reserveDecoder() else { return respondOriginal(draft, held) }
        let bytes = held?.bytes ?? []
        // A body that is too large already is not offered.
        if bytes.count > route.policy.bodyBytesMax || body.isInflated(bytes.count) {
            draft.response.target = nil
        }
        if case .length(let count) = draft.framing, !body.isDecoded, draft.response.facts.coding == .none {
            draft.response.facts.bodyBytes = Int(count)
        }
        draft.response.facts.bodyBytesSeen = bytes.count
        var decision = obstacle.map { Decision(coding: .identity, reason: $0) } ?? decide(draft.response)
        var coding = StreamCoding.none
        if decision.upstreamCodingHandling != .passThrough, decision.coding != .identity {
            coding = openEncoder(decision, bodyBytes: draft.response.facts.bodyBytes, held: bytes)
            if !coding.isCoded {
                decision = Decision(
                    coding: .identity, reason: .busy, upstreamCodingHandling: decision.upstreamCodingHandling)
            }
        }
        let copy = reserveCopy(&draft)
        let isCoded = coding.isCoded
        let sent = respond(draft, decision, isCoded: isCoded, heldBytes: bytes.count, isCopied: copy != nil)
        body.stream(held, coding, copy: copy, after: sent)
        phase = .sent(sent)
    }

    /// Sends the head of a body that goes out piece by piece.
    private func respond(
        _ draft: consuming ResponseDraft, _ decision: Decision, isCoded: Bool, heldBytes: Int = 0,
        isCopied: Bool = false
    ) -> SentResponse {
        note(decision)
        var edits = ResponseEdits(
            coding: isCoded ? decision.coding : .identity, isCodingChanged: isCoded || body.isDecoded)
        if isCopied, isLongEnough(draft, heldBytes: heldBytes) { promiseOffer(&edits, &draft) }
        // A Link names a version that is there already.
        if let target = draft.response.target { offerByLink(&edits, draft.response, target) }
        if isCoded, decision.coding.usesDictionary {
            noteTwinDue(draft.response, deltaBytes: dictionary.version?.lastDeltaBytes)
        }
        shapeHead(edits, &draft.response)
        explain(decision, in: &draft, sent: nil)
        var framing = BodyFraming.chunked
        if !edits.isCodingChanged, case .length = draft.framing { framing = draft.framing }
        return writeHead(
            draft, body: framing, isCodingChanged: edits.isCodingChanged, hasTrailers: framing == .chunked,
            isCopied: isCopied)
    }

    /// Returns true if a body that is not complete yet is long enough for the store, so that it may be offered.
    private func isLongEnough(_ draft: borrowing ResponseDraft, heldBytes: Int) -> Bool {
        // The length of a coded body is a lower bound; without a length what has come so far is.
        let length: Int? = if case .length(let count) = draft.framing { Int(count) } else { nil }
        return (draft.response.facts.bodyBytes ?? length ?? heldBytes) >= route.policy.bodyBytesMin
    }

    /// Offers a body that is not complete yet: with a random id where it needs one.
    private func promiseOffer(_ edits: inout ResponseEdits, _ draft: inout ResponseDraft) {
        guard let target = draft.response.target, let offer = target.offer else { return }
        guard target.audience != .public else { return edits.offer = offer }
        guard let id = context.store.keys?.makeRandomID() else { return }
        draft.promisedID = id
        edits.offer = offer.with(id: id)
    }

    // MARK: As the upstream coded it

    /// Sends a held body as the upstream coded it, because there is no memory to decode it, or it cannot be decoded.
    func streamOriginal(because reason: Reason) {
        guard let draft = phase.takeDraft() else { return }
        respondOriginal(draft, body.takeHeld(), because: reason)
    }

    /// The client gets what it would get from the upstream itself.
    private func respondOriginal(
        _ draft: consuming ResponseDraft, _ held: consuming HeldBody?, because reason: Reason = .busy
    ) {
        guard let original = held?.original else { return refuse(.undecodable) }
        if reason == .busy {
            proxy.metrics.counters.compressionBusy.add()
        } else {
            proxy.metrics.counters.countUpstreamError(.malformed, of: route.upstreamName)
        }
        body.dropDecoder()
        draft.response.facts.coding = .known(original.coding)
        draft.response.target = nil
        let decision = Decision(coding: original.coding, reason: reason, upstreamCodingHandling: .passThrough)
        let sent = respond(draft, decision, isCoded: false)
        body.streamOriginal(original, memory: held?.takeMemory(), after: sent)
        phase = .sent(sent)
    }

    // MARK: The encoder

    /// The loop codes no more than this at once.
    private static let openedBytesMax = 64 << 10

    /// Makes an encoder.
    ///
    /// It is made beside the loop if a dictionary is to be indexed first, or much of the body has come, or the client has many
    /// requests under way. A client that cannot take the body costs no coding before it can.
    private func openEncoder(_ decision: Decision, bodyBytes: Int?, held: [UInt8]) -> StreamCoding {
        let coding = decision.coding
        let dictionary = coding.usesDictionary ? dictionary.body : nil
        var options = EncoderOptions(
            bodyBytes: bodyBytes, level: context.configuration.compression.levels.givenForStream(coding))
        options.isEventStream = body.isEventStream
        options.dictionary = dictionary.flatMap { quickDictionary($0, coding) }
        let isQuick =
            held.count <= Self.openedBytesMax && (dictionary == nil || options.dictionary != nil)
            && !share.use.isCrowded && client.roomForBody > 0
        if options.dictionary == nil, let dictionary { options.dictionary = .reference(dictionary) }
        let isChecked = dictionary != nil && context.deltas.sampleStream()
        guard let memory = reserveEncoder(coding, options, isChecked: isChecked) else { return .none }
        guard !isQuick else {
            let encoder = try? context.deltas.encoder(for: coding, options: options, isChecked: isChecked)
            return if let encoder { .ready(encoder, memory) } else { .none }
        }
        let (exchange, resources, scope) = (ExchangeReference(self), context.coding, deltaScope)
        let order = EncoderOrder(bytes: held.count + (dictionary?.count ?? 0)) { [options, share] in
            let opened = OpenedEncoder(
                coding, options: options, scope: scope, held: held, isChecked: isChecked,
                resources: resources, memory: share.memory)
            exchange.perform { $0.encoderReady(opened) }
        }
        return place(order) ? .underWay(memory) : .none
    }

    /// Has an encoder made once the client can take what it codes; returns false if there is no place for that.
    private func place(_ order: EncoderOrder) -> Bool {
        guard client.roomForBody > 0 else {
            encoderOrder = order
            client.awaitRoomForBody()
            return true
        }
        return context.compressionPool.submit(bytes: order.bytes, for: share.use, order.work)
    }

    /// Makes an encoder whose client has waited for nothing; the response's head has named its coding.
    func make(_ order: EncoderOrder) {
        guard client.roomForBody > 0 else { return _ = place(order) }
        _ = context.compressionPool.submit(bytes: order.bytes, for: share.use, mustRun: true, order.work)
    }

    /// Goes on with an encoder that has coded what was held.
    private func encoderReady(_ opened: OpenedEncoder) {
        body.encoderReady(opened)
        advance()
    }

    /// Borrows the memory of an encoder, and of its check; nil if there is not enough for both.
    private func reserveEncoder(
        _ coding: ContentCoding, _ options: EncoderOptions, isChecked: Bool
    ) -> EncoderMemory? {
        let bytes = Codec.memoryEstimate(for: coding, options: options)
        guard let encoder = MemoryLoan(bytes, from: share.memory) else { return nil }
        guard isChecked else { return EncoderMemory(encoder: encoder) }
        guard let check = MemoryLoan(Deltas.streamCheckBytes, from: share.memory) else { return nil }
        return EncoderMemory(encoder: encoder, check: check)
    }

    /// Returns the dictionary if an encoder may have it on the loop: indexed, or so small that indexing takes no time.
    private func quickDictionary(_ body: Body, _ coding: ContentCoding) -> DictionaryUse? {
        let prepared = context.deltas.prepared
        guard
            body.count <= CodingJob.inlineBytesMax || prepared.isReady(body, for: coding, in: deltaScope)
        else { return nil }
        return prepared.quick(body, for: coding, in: deltaScope)
    }
}
