internal import Dictionaries
internal import HTTP

// MARK: - Asking whether a stored answer still holds

extension Exchange {
    /// Looks for an answer to this very request that the upstream may confirm, and has its body read meanwhile.
    func findStoredAnswer() {
        guard route.revalidates, facts.dictionarySwitch == nil,
            Revalidation.mayAsk(request, framing: requestFraming, facts)
        else { return }
        // As the last whole response said, it is for everybody or for holders; the upstream is asked about it either way.
        let found = [publicChain, holdersChain].lazy.compactMap { $0 }.compactMap { chain in
            self.proxy.index.newestWithHead(chain: chain, url: self.storedURL, values: self.variantValue)
        }
        guard let version = found.max(by: { $0.isOlder(than: $1) }),
            let kept = version.head?.reading(KeptHead.init),
            isOrdinary(for: kept.head, varyingBy: Vary.names(kept.head.headers.values(.vary)))
        else { return }
        storedAnswer = StoredAnswer(version: version, kept: kept)
        readStoredBody(of: version)
    }

    private func isOrdinary(for response: ResponseHead, varyingBy names: [String]) -> Bool {
        Revalidation.isOrdinary(
            request, for: response.headers, varyingBy: names, isPeerTrusted: peer.isTrusted)
    }

    private func readStoredBody(of version: Dictionaries.Version) {
        if let body = context.store.hotBody(of: version) {
            storedAnswer?.body = .ready(body)
            return
        }
        let loop = core.loop
        let token = token
        context.store.load(version) { body in
            loop.execute { core in core.handler(token, as: Exchange.self)?.storedBodyLoaded(body) }
        }
    }

    private func storedBodyLoaded(_ body: Body?) {
        guard storedAnswer != nil else { return }
        storedAnswer?.body = body.map { .ready($0) } ?? .lost
        // The 304 has come and its exchange is over: the answer waited for this.
        if storedAnswer?.notModified != nil, upstream == nil { settleStoredAnswer() }
    }

    /// Whether the head of the upstream's answer is a 304 to the question that the client did not ask.
    func isAnswerToRevalidation(_ status: Status) -> Bool {
        guard storedAnswer != nil else { return false }
        guard status == .notModified else {
            record.revalidation = .changed
            storedAnswer = nil
            return false
        }
        return true
    }

    /// Keeps the head of that 304 until it has come whole.
    func keepNotModified(_ received: consuming ResponseHead) {
        var head = received
        head.headers.removeConnectionFields()
        storedAnswer?.notModified = head
    }

    /// The 304 has come whole: sends the stored answer, or asks for the whole one.
    func settleStoredAnswer() {
        guard let stored = storedAnswer, let notModified = stored.notModified else { return }
        guard Revalidation.confirms(notModified, stored.kept.tag) else {
            // Neither now nor later: what the upstream means by its tags is not what a tag is for.
            stored.version.head?.refuse()
            return askForWhole()
        }
        switch stored.body {
        case .ready(let body):
            core.setDeadline(token, nil)
            storedAnswer = nil
            record.revalidation = .hit
            planStored(
                Revalidation.updated(stored.kept.head, by: notModified), body,
                isKept: Revalidation.isUnchanged(stored.kept.head, by: notModified), of: stored.version)
        case .loading: core.setDeadline(token, core.now + Self.holdMilliseconds)
        case .lost: askForWhole()
        }
    }

    /// Sends the request again without a condition: GET may be repeated (RFC 9110 section 9.2.2).
    func askForWhole() {
        guard var head = upstreamHead else { return }
        core.setDeadline(token, nil)
        storedAnswer = nil
        record.revalidation = .retried
        head.headers.remove(.ifNoneMatch)
        upstreamHead = head
        passed = []
        askUpstream(head)
    }

    /// Goes on as if the upstream had sent the body whole; what it is needs neither reading nor hashing.
    ///
    /// `isKept` says that the head is kept as it is already.
    private func planStored(
        _ head: ResponseHead, _ body: Body, isKept: Bool, of version: Dictionaries.Version
    ) {
        var head = head
        if context.configuration.explain { head.headers.remove(.dictumExplain) }
        heedSwitch()
        let framing = BodyFraming.length(UInt64(body.count))
        let facts = ResponseFacts(head, framing: framing, types: route.policy.types)
        let answer = Answer(head, framing: framing, facts: facts)
        self.answer = answer
        if !isKept { keepHead(of: answer) }
        setCacheControl(answer)
        answer.stored = body
        answer.collected = body.bytes
        answer.place = place(for: answer.facts, headers: head.headers)
        if !isKept { forgetHead(of: version, unlessReplacedBy: answer) }
        answer.offerForm = offerForm(answer)
        record.bodyBytesBefore = body.count
        answer.stage = .holding
        answer.isWhole = true
        if dictionary.isLoading { proxy.watchHeld(self) }
        prepare(answer)
    }

    /// Lets a stored head go that the upstream's last word has changed, where that word is not stored in its place: nobody
    /// may be answered from it, or it varies by other fields now.
    private func forgetHead(of version: Dictionaries.Version, unlessReplacedBy answer: Answer) {
        let isReplaced = answer.headToKeep != nil && answer.place?.key.variant == version.variant
        if !isReplaced { version.head?.clear() }
    }

    /// Keeps the head of an answer as the upstream sent it, for the upstream to be asked about it once it is a version.
    func keepHead(of answer: Answer) {
        guard route.revalidates, answer.facts.status == 200 else { return }
        answer.headToKeep = Revalidation.kept(
            answer.head, answer.facts, for: facts,
            isOrdinary: isOrdinary(for: answer.head, varyingBy: answer.facts.varyNames),
            acceptEncoding: context.configuration.upstream.acceptEncoding)
    }
}
