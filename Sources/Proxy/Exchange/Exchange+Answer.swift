internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - The answer's head

extension Exchange {
    /// Nothing is held back longer than this (contract, Use).
    static let holdMilliseconds: Int64 = 25

    /// Decides what becomes of an answer, now that its head has come.
    func plan(_ head: consuming ResponseHead, framing: BodyFraming) {
        // A 426 says by its Upgrade what the client must ask for (RFC 9110 section 15.5.22).
        head.headers.removeConnectionFields(except: head.status == .upgradeRequired ? .upgrade : nil)
        takeIdentity(from: &head.headers)
        if context.configuration.explain { head.headers.remove(.dictumExplain) }
        heedSwitch()
        let facts = ResponseFacts(head, framing: framing, types: route.policy.types)
        let answer = Answer(head, framing: framing, facts: facts)
        self.answer = answer
        keepHead(of: answer)
        setCacheControl(answer)
        if answer.head.status.isBodiless || request.method == .head { return respondBodiless(answer) }
        answer.place = place(for: answer.facts, headers: answer.head.headers)
        answer.offerForm = offerForm(answer)
        noteHint(answer)

        if case .known(let coding) = facts.coding {
            return planCoded(answer, coding)
        }
        let obstacle = Eligibility.obstacle(request: self.facts, response: facts, policy: route.policy)
        let isHeld =
            obstacle == nil || obstacle == .ineligibleSize || answer.place != nil
        guard isHeld, !MediaTypes.isEventStream(facts.contentType), canHold(answer) else {
            return stream(answer)
        }
        hold(answer)
    }

    /// An answer that the upstream coded itself: its bytes go on untouched, unless the client gains by decoding.
    private func planCoded(_ answer: Answer, _ coding: ContentCoding) {
        let decision = decide(answer)
        // However much it grows: it goes on in small pieces.
        let limits = DecoderLimits(maxBytes: .max, maxRatio: .max)
        if decision.upstreamCodingHandling == .decode {
            guard let decoder = try? Codec.decoder(for: coding, limits: limits) else {
                return refuse(Self.undecodable)
            }
            answer.decoder = decoder
            answer.isDecoded = true
            answer.facts.coding = .none
            let isAccepted = self.facts.acceptEncoding.quality(of: coding) > 0
            answer.original = Answer.Original(coding: coding, isAccepted: isAccepted)
            return MediaTypes.isEventStream(answer.facts.contentType) ? stream(answer) : hold(answer)
        }
        if answer.place != nil {
            answer.decoder = try? Codec.decoder(
                for: coding, limits: DecoderLimits(maxBytes: route.policy.bodyBytesMax))
        }
        stream(answer)
    }

    /// Whether the body fits into what may be held.
    private func canHold(_ answer: Answer) -> Bool {
        guard case .length(let count) = answer.framing else { return true }
        return count <= UInt64(heldBytesMax)
    }

    /// Bodies beyond this are coded piece by piece.
    var heldBytesMax: Int { max(route.policy.bodyBytesMax, 1 << 20) }

    private func hold(_ answer: Answer) {
        answer.stage = .holding
        if case .length(let count) = answer.framing, answer.decoder == nil,
            resize(&answer.heldMemory, to: Int(count))
        {
            answer.collected.reserveCapacity(Int(count))
        }
        proxy.watchHeld(self)
    }

    /// Called at the end of the batch of events in which holding began: most bodies have come whole by then, and
    /// need no deadline.
    func limitHolding() {
        guard let answer, case .holding = answer.stage else { return }
        if !answer.isWhole { upstream?.acknowledgeNow() }
        core.setDeadline(token, core.now + Self.holdMilliseconds)
    }

    // MARK: Answers without body

    /// HEAD, 204 and 304: the fields that GET would have, and no body.
    private func respondBodiless(_ answer: Answer) {
        if answer.head.status == .notModified { return respondNotModified(answer) }
        if answer.head.status != .noContent, request.method == .head { shapeBodiless(answer) }
        if answer.head.status == .noContent {
            answer.head.headers.remove(.contentLength)
            record.reason = .ineligibleStatus
        }
        start(answer.head, body: .none)
    }

    func shapeBodiless(_ answer: Answer) {
        guard isCodedResource(answer) else { return }
        // The length of HEAD is the length GET would have; what is coded has none that is known.
        if let length = answer.head.headers.first(.contentLength).flatMap(Int.init),
            !answer.head.headers.contains(.contentEncoding)
        {
            answer.facts.bodyBytes = length
        }
        answer.facts.isBodyWhole = true
        let decision = decide(answer)
        let isChanged =
            decision.upstreamCodingHandling == .decode
            || decision.upstreamCodingHandling == .none && decision.coding != .identity
        if isNotModified(answer.head.headers.first(.etag)) { return makeNotModified(answer) }
        note(decision)
        Delivery.shape(
            &answer.head.headers, .init(coding: decision.coding, isCodingChanged: isChanged),
            variation(for: audience(of: answer.facts)))
        explain(decision, on: answer, sent: nil)
    }

    private func respondNotModified(_ answer: Answer) {
        // The length is that of the upstream's bytes, which the answer to a GET may not have.
        answer.head.headers.remove(.contentLength)
        var facts = answer.facts
        facts.status = 200
        let own = answer.head.headers.values(.useAsDictionary)
        var audience = audience(of: facts)
        if let tag = answer.head.headers.first(.etag).flatMap({ EntityTag($0)?.opaque }),
            route.usesDictionaries, self.facts.dictionarySwitch == nil,
            let (place, version) = versionConfirmed(by: facts, own: own, tag: tag)
        {
            audience = place.audience
            facts.contentType = version.contentType
            if let offer = place.offer,
                Offer.obstacle(request: self.facts, response: facts, policy: route.policy) == nil
            {
                answer.offerForm = offerForm(answer, for: place.audience)
                var shape = Delivery.Shape(offer: offer)
                link(&shape, answer, place, isOffered: true)
                Delivery.offer(&answer.head.headers, shape)
                noteOffer(shape, answer)
                noteOffered(version, answer)
            } else {
                context.store.touch(version, now: SystemClock.unixSeconds)
            }
        }
        Delivery.mergeVary(&answer.head.headers, variation(for: audience))
        announce(answer)
        weakenAsHeld(&answer.head.headers)
        record.reason = .ineligibleStatus
        start(answer.head, body: .none)
    }

    /// Answers 304 for an upstream that does not look at If-None-Match, before its body is whole; the rest of it is
    /// of no use to anybody.
    func stopUnmodified(_ answer: Answer) {
        answer.head = Delivery.notModified(from: answer.head.headers)
        respondNotModified(answer)
        complete()
    }

    /// The tag of a 304 in the form that the client holds: weak, if that is how a coded answer brought it.
    private func weakenAsHeld(_ headers: inout Headers) {
        guard let tag = headers.first(.etag).flatMap(EntityTag.init), !tag.isWeak else { return }
        let isHeldWeak = request.headers.values(.ifNoneMatch).contains {
            $0.contains(tag.weakened.serialized)
        }
        if isHeldWeak { headers.replace(.etag, with: tag.weakened.serialized) }
    }

    // MARK: What every head says

    /// Whether an answer of this kind may come in several codings, so that it varies.
    func isCodedResource(_ answer: Answer) -> Bool {
        // Read where they are: all of them together are many to copy.
        guard answer.facts.status == 200 || answer.facts.status == 206,
            route.policy.types.contains(answer.facts.contentType)
        else {
            return false
        }
        if case .foreign = answer.facts.coding { return false }
        return !answer.facts.cacheControl.noTransform
    }

    /// Whether the client holds this answer already, in whichever coding.
    func isNotModified(_ etag: String?) -> Bool {
        guard request.method == .get || request.method == .head, answer?.facts.status == 200 else {
            return false
        }
        let tags = request.headers.values(.ifNoneMatch)
        return !tags.isEmpty && ETagForm.isNotModified(ifNoneMatch: tags, etag: etag.flatMap(EntityTag.init))
    }

    /// Turns the answer into the 304 that stands for it.
    func makeNotModified(_ answer: Answer) {
        record.coding = .identity
        record.reason = .ineligibleStatus
        Delivery.mergeVary(&answer.head.headers, variation(for: audience(of: answer.facts)))
        answer.head = Delivery.notModified(from: answer.head.headers)
        weakenAsHeld(&answer.head.headers)
    }

    /// The decision for an answer, by what is known of it now.
    func decide(_ answer: Answer) -> Decision {
        Negotiation.decide(
            request: facts, response: answer.facts, route: route.policy,
            dictionary: dictionaryFound(for: answer.facts),
            serverPreference: context.configuration.compression.preference)
    }

    func note(_ decision: Decision) {
        record.coding = decision.coding
        record.reason = decision.reason
    }

    /// `Dictum-Explain`: what was decided, and what it came to as far as that is known.
    func explain(_ decision: Decision, on answer: Answer, sent: Int?, microseconds: Int? = nil) {
        guard context.configuration.explain else { return }
        var text = "\(decision.coding.token);reason=\(decision.reason.text)"
        // With its id a digest is a credential.
        if decision.coding.usesDictionary, deltaScope == .public, let body = dictionary.body {
            text += ";dictionary=:\(body.digest.base64):"
        }
        if let sent { text += ";from=\(answer.collected.count);to=\(sent)" }
        if let microseconds { text += ";micros=\(microseconds)" }
        text += explainedGain
        if let cause = Personal.cause(request: facts, response: answer.facts, policy: route.policy.personal) {
            text += ";personal=\(cause.rawValue)"
        }
        let harmless = answer.facts.setCookieNames.filter(route.policy.personal.ignoredSetCookies.contains)
        if !harmless.isEmpty { text += ";harmless-set-cookie=\(harmless.joined(separator: ","))" }
        if let refusal = answer.refusal {
            text += ";not-admitted=\(refusal.rawValue)"
        } else if let obstacle = offerObstacle(answer), obstacle != decision.reason {
            text += ";not-offered=\(obstacle.text)"
        }
        answer.head.headers.replace(.dictumExplain, with: text)
    }

    /// What forbids to offer the answer, whatever the store says.
    private func offerObstacle(_ answer: Answer) -> Reason? {
        Offer.obstacle(request: facts, response: answer.facts, policy: route.policy)
    }

    /// What a response varies by, as caches must know.
    func variation(for audience: Audience) -> Delivery.Variation {
        guard let sharedCaches = route.sharedCaches else { return .encoding }
        let isOverPublic = dictionary.version.map { $0.chainKey.scope == .public } ?? true
        return .dictionary(
            sharedCaches, byID: audience != .everybody, isOverPublic: isOverPublic)
    }

    /// Shapes the head of an answer with a body.
    func shapeHead(_ answer: Answer, _ shape: Delivery.Shape) {
        if isCodedResource(answer) || shape.isCodingChanged {
            Delivery.shape(&answer.head.headers, shape, variation(for: audience(of: answer.facts)))
        } else {
            Delivery.offer(&answer.head.headers, shape)
        }
        noteOffer(shape, answer)
        announce(answer)
    }

    // MARK: Sending

    /// Sends the answer's head.
    func start(_ head: consuming ResponseHead, body: BodyFraming) {
        record.status = Int(head.status.rawValue)
        if context.configuration.explain, !head.headers.contains(.dictumExplain) {
            let reason = record.reason.map { ";reason=\($0.text)" } ?? ""
            head.headers.append(.dictumExplain, record.coding.token + reason)
        }
        answer?.isStarted = true
        connection.start(head, body: body)
    }

    /// Sends a piece of the answer's body, and has the upstream wait where the client is slow.
    func send(_ piece: Span<UInt8>) {
        guard !piece.isEmpty else { return }
        record.bodyBytesSent += piece.count
        connection.write(piece)
        if !connection.canWrite { upstream?.pauseResponse() }
    }
}
