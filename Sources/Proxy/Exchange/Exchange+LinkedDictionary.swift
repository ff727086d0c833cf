internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

// MARK: - A dictionary is asked for by its own URL

extension Exchange {
    /// Responds to GET and HEAD with a named version: whole, even for a Range, and in the best coding.
    func respond(with linked: LinkedDictionary) {
        let now = SystemClock.unixSeconds
        let facts = linked.facts(now: now)
        var draft = ResponseDraft(linked.head(now: now), framing: .length(UInt64(linked.version.bytes)))
        draft.response.facts = facts
        // The conditions of an offer hold here too (RFC 9842 sections 8 and 9.3.3).
        if entitlement.obstacleToOffer(ofAdmissible: facts) == nil, let offer = linked.offer {
            draft.response.head.headers.append(.useAsDictionary, offer.serialized)
            proxy.metrics.counters.offers.add()
            findDictionary(for: linked)
            context.store.demand.offered(linked.version, over: dictionary.version, now: now)
        } else {
            findDictionary(for: linked)
            context.store.demand.touch(linked.version, now: now)
        }
        if isNotModified(draft.response) {
            makeNotModified(&draft)
            return respondEmpty(draft)
        }
        if request.method == .head {
            shapeBodiless(&draft)
            return respondEmpty(draft)
        }
        phase = .draft(draft)
        core.setDeadline(token, core.now + Self.lookUpMilliseconds)
        read(linked.version) { exchange, state in
            if !state.isLoading { exchange.linkedDictionaryRead(state.body) }
        }
    }

    /// Finds the dictionary that the client names: an older version of the same chain, or any that it may use here.
    private func findDictionary(for linked: LinkedDictionary) {
        guard let digest = facts.availableDictionary, let authority = resource.authority else { return }
        let found =
            proxy.index.version(chain: linked.version.chainKey, digest: digest)
            ?? proxy.index.find(digest: digest, authority: authority, url: resource.url)
        guard let found else { return dictionary = .unknown }
        context.store.demand.advertised(found, now: SystemClock.unixSeconds)
        read(found) { $0.dictionaryChanged(to: $1) }
    }

    /// True while nothing has come of the body from memory or disk.
    var isReadingLinkedDictionary: Bool {
        linked != nil && !phase.isSent && !body.isHeld && !body.isPreparing
    }

    /// Responds with the body; 503 if it cannot be read for now.
    func linkedDictionaryRead(_ body: Body?) {
        guard var draft = phase.takeDraft() else { return }
        guard let body else {
            record.fault = .own("the dictionary's body cannot be read")
            return refuse(.unreadableDictionary)
        }
        draft.stored = body
        phase = .draft(draft)
        self.body.hold(whole: body.bytes)
        core.setDeadline(token, dictionary.isLoading ? core.now + HeldBody.millisecondsMax : nil)
        advance()
    }
}
