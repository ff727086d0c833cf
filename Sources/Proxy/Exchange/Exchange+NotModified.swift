internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

// MARK: - The client holds the response already: 304

extension Exchange {
    /// Responds 304 for an upstream that ignores If-None-Match; the rest of the body is not needed.
    func respondNotModified(_ draft: consuming ResponseDraft) {
        draft.response.head = ResponseEdits.notModified(from: draft.response.head.headers)
        shapeNotModified(&draft, isUpstreams: false)
        respondEmpty(draft)
    }

    /// Sends a head without a body, and ends the exchange.
    func respondEmpty(_ draft: consuming ResponseDraft) {
        // What the upstream has sent of a body goes to nobody, and no coding has saved it.
        record.bodyBytesBefore = 0
        let sent = writeHead(draft, body: .none)
        body.end()
        phase = .sent(sent)
        complete()
    }

    /// Offers again the version that a 304 is about, and says what else its head must say.
    ///
    /// The fields of a 304 replace those of the response that the client holds (RFC 9111 section 3.2). So the upstream's own
    /// gets a Link only where none of the upstream's is lost by it, and Vary only where it has one or the held response is known to have had none.
    func shapeNotModified(_ draft: inout ResponseDraft, isUpstreams: Bool) {
        let hasLink = !isUpstreams || mayLink(draft.response.head)
        var hasVary =
            isUpstreams ? draft.response.head.headers.contains(.vary) : isCodedResource(draft.response)
        // They are about the upstream's bytes, and the client may hold others of the same tag.
        draft.response.head.headers.removeAll(ResponseEdits.ofTheCodedBytes)
        var facts = draft.response.facts
        facts.status = 200
        var audience = entitlement.audience(of: facts)
        if self.facts.method == .get, route.usesDictionaries, self.facts.dictionarySwitch == nil,
            let (target, version) = versionConfirmed(by: facts, draft.response.head.headers)
        {
            hasVary = true
            audience = target.audience
            facts.contentType = version.contentType
            if let offer = target.offer, entitlement.obstacleToOffer(of: facts) == nil {
                draft.response.offerForm = offerForm(draft.response, for: target.audience)
                var edits = ResponseEdits(offer: offer)
                if hasLink {
                    offerByLink(&edits, draft.response, target)
                } else if draft.response.offerForm == .link {
                    edits.offer = nil
                }
                edits.addOffer(to: &draft.response.head.headers)
                noteOffer(edits, draft.response)
                noteOffered(version, isOffered: draft.response.offerForm == .inBand)
            } else {
                context.store.demand.touch(version, now: SystemClock.unixSeconds)
            }
        }
        if hasVary { ResponseEdits.mergeVary(&draft.response.head.headers, variation(for: audience)) }
        if hasLink { announce(in: &draft.response) }
        weakenAsHeld(&draft.response.head.headers)
        record.reason = .notModified
    }

    /// Turns a response into the 304 that stands for it.
    func makeNotModified(_ draft: inout ResponseDraft) {
        record.coding = .identity
        record.reason = .notModified
        // A 304 has no Vary that the 200 would not have had (RFC 9110 section 15.4.5).
        if isCodedResource(draft.response) {
            ResponseEdits.mergeVary(&draft.response.head.headers, variation(for: draft.response.facts))
        }
        draft.response.head = ResponseEdits.notModified(from: draft.response.head.headers)
        weakenAsHeld(&draft.response.head.headers)
    }

    /// Returns true if the client holds this response already, in whichever coding.
    ///
    /// - Parameter tag: The tag that the client gets, if the response's own is not the one.
    func isNotModified(_ response: UpstreamResponse, tag: String? = nil) -> Bool {
        guard request.method == .get || request.method == .head, response.facts.status == 200 else {
            return false
        }
        let tags = request.headers.values(.ifNoneMatch)
        guard !tags.isEmpty, let tag = tag ?? response.head.headers.first(.etag) else { return false }
        return ETagForm.isNotModified(ifNoneMatch: tags, etag: EntityTag(tag))
    }

    /// Gives a 304 the tag that the client holds: weak, if that is how a coded response brought it.
    private func weakenAsHeld(_ headers: inout Headers) {
        guard let tag = headers.first(.etag).flatMap(EntityTag.init), !tag.isWeak else { return }
        let isHeldWeak = request.headers.values(.ifNoneMatch).contains {
            $0.contains(tag.weakened.serialized)
        }
        if isHeldWeak { headers.replace(.etag, with: tag.weakened.serialized) }
    }
}
