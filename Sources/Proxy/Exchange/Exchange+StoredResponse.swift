internal import Dictionaries
internal import HTTP
internal import Storage

// MARK: - The upstream is asked about a stored response

extension Exchange {
    /// Looks for a response to this very request that the upstream may confirm, and has its body read meanwhile.
    func findStoredResponse() {
        guard route.revalidates, !isTwin, facts.dictionarySwitch == nil,
            Revalidation.mayAsk(request, framing: upload.framing, facts)
        else { return }
        // The last whole response said whether it is for all clients or for holders. Both kinds are revalidated.
        var newest: Storage.Version?
        for chain in [resource.publicChain, resource.unlistedChain].compactMap({ $0 }) {
            let version = proxy.index.newestWithHead(
                chain: chain, url: resource.url.text, values: variantValue)
            guard let version else { continue }
            if newest?.isOlder(than: version) ?? true { newest = version }
        }
        guard let version = newest, let kept = version.head?.reading(KeptHead.init),
            kept.source == source,
            isOrdinary(for: kept.head, varyingBy: Vary.names(kept.head.headers.values(.vary)))
        else { return }
        storedResponse = StoredResponse(version: version, kept: kept)
        read(version) { exchange, state in
            if !state.isLoading { exchange.storedBodyRead(state.body) }
        }
    }

    private func isOrdinary(for response: ResponseHead, varyingBy names: [String]) -> Bool {
        Revalidation.isOrdinary(
            request, for: response.headers, varyingBy: names, isPeerTrusted: peer.isTrusted)
    }

    private func storedBodyRead(_ body: Body?) {
        guard let storedResponse else { return }
        storedResponse.body = body.map { .ready($0) } ?? .lost
        // The 304 has come already, and waited for this.
        guard storedResponse.notModified != nil, attempt.connection == nil else { return }
        settleStoredResponse()
        advance()
    }

    /// Keeps the head of a 304 until it is complete.
    func keepNotModified(_ received: consuming ResponseHead) {
        var head = received
        head.headers.removeConnectionFields()
        storedResponse?.notModified = head
    }

    /// Forgets the stored response, because the upstream has sent another one.
    func dropStoredResponse() {
        record.revalidation = .changed
        storedResponse = nil
    }

    /// Sends the stored response once its 304 is complete, or asks for the whole one.
    func settleStoredResponse() {
        guard let stored = storedResponse, let notModified = stored.notModified else { return }
        guard Revalidation.confirms(notModified, stored.kept.tag) else {
            // This upstream does not use tags as RFC 9110 means them, so it is not asked about this one again.
            stored.version.head?.refuse()
            return forwardUnconditionally()
        }
        switch stored.body {
        case .ready(let body):
            core.setDeadline(token, nil)
            storedResponse = nil
            record.revalidation = .hit
            planStored(stored, confirmedBy: notModified, body)
        case .loading: core.setDeadline(token, core.now + HeldBody.millisecondsMax)
        case .lost: forwardUnconditionally()
        }
    }

    /// Sends the request again without a condition: GET may be repeated (RFC 9110 section 9.2.2).
    func forwardUnconditionally() {
        guard var head = attempt.head else { return }
        core.setDeadline(token, nil)
        storedResponse = nil
        record.revalidation = .retried
        head.headers.remove(.ifNoneMatch)
        attempt.head = head
        attempt.failedServers = []
        attempt.startMicroseconds = elapsedMicroseconds
        send()
    }

    /// Goes on as if the upstream had sent the body whole; it is hashed already.
    private func planStored(_ stored: StoredResponse, confirmedBy notModified: ResponseHead, _ body: Body) {
        let isKept = Revalidation.isUnchanged(stored.kept.head, by: notModified)
        var draft = draft(
            of: Revalidation.updated(stored.kept.head, by: notModified), framing: .length(UInt64(body.count)),
            stored: body, keepsHead: !isKept)
        draft.response.target = target(for: draft.response)
        // The 304 has changed the head: the response may no longer be stored, or it varies by other fields now.
        let version = stored.version
        let isReplaced =
            draft.response.headToKeep != nil && draft.response.target?.key.variant == version.variant
        if !isKept, !isReplaced { version.head?.clear() }
        draft.response.offerForm = offerForm(draft.response)
        record.bodyBytesBefore = body.count
        self.body.hold(whole: body.bytes)
        phase = .draft(draft)
        if dictionary.isLoading { proxy.watchHeld(self) }
    }

    /// Keeps the head of a response as the upstream sent it, to ask about it once its body is a version.
    func keepHead(of response: inout UpstreamResponse) {
        guard route.revalidates, facts.method == .get, response.facts.status == 200 else { return }
        response.headToKeep = Revalidation.kept(
            response.head, response.facts, for: facts,
            isOrdinary: isOrdinary(for: response.head, varyingBy: response.facts.varyNames),
            acceptEncoding: route.acceptEncoding, source: source)
    }

    /// The resource that the request's URL stands for at the upstream, as far as the URL itself does not say it: the scheme
    /// is a part of the target URI (RFC 9111 section 4), and one tag may stand for a page of http and for another of https.
    private var source: String { peer.scheme(request.headers) + route.source }
}
