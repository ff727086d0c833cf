internal import Dictionaries
internal import HTTP

// MARK: - Chains that change too often, or cover too much

extension Exchange {
    /// Counts a dictionary that the client advertises and the store has.
    func noteFound(_ version: Dictionaries.Version) {
        isSampled = context.store.noteFound(
            version, path: path, query: query, now: Clock.unixSeconds, route: route.text)
    }

    /// Counts a dictionary that the store does not have, now that the chain of the answer is known.
    ///
    /// Returns whether the chain may offer; one that is too wide may not.
    func mayOffer(from chain: ChainKey) -> Bool {
        if let digest = missing, proxy.index.holds(chain) {
            context.store.noteMissing(
                digest, chain: chain, path: path, query: query, now: Clock.unixSeconds, route: route.text)
        }
        // Once, though a place may be looked for again.
        missing = nil
        isChainTooWide = context.store.isTooWide(chain, now: Clock.unixSeconds)
        return !isChainTooWide
    }

    /// The decision, where the chain offers nothing: for a client that could use a dictionary, that is the reason.
    func explained(_ decision: Decision) -> Decision {
        guard isChainTooWide,
            decision.reason == .noDictionaryOffered || decision.reason == .dictionaryUnknown,
            [.dcz, .dcb].contains(where: { facts.acceptEncoding.quality(of: $0) > 0 })
        else { return decision }
        return Decision(
            coding: decision.coding, reason: .chainTooWide,
            upstreamCodingHandling: decision.upstreamCodingHandling)
    }

    /// Whether a body that is not whole yet may be promised to become a version.
    ///
    /// One that the chain has needs no turn, as far as its tag tells.
    func mayPromise(_ place: Answer.Place, _ answer: Answer) -> Bool {
        let tag = answer.head.headers.first(.etag).flatMap { EntityTag($0)?.opaque }
        if let tag,
            proxy.index.version(chain: place.chain, url: place.url, variant: place.variant, etag: tag) != nil
        {
            return true
        }
        return context.store.claimAdmission(of: nil, to: place.chain, now: Clock.unixSeconds)
    }

    /// Whether a whole body may become a version: one that was promised, that returns, or whose turn it is.
    func mayBecomeVersion(_ body: Body, _ place: Answer.Place, _ answer: Answer) -> Bool {
        if answer.isStarted { return true }
        let known = proxy.index.version(
            chain: place.chain, url: place.url, variant: place.variant, digest: body.digest)
        return known != nil
            || context.store.claimAdmission(of: body.digest, to: place.chain, now: Clock.unixSeconds)
    }

    /// Has a delta that went out compared with plain coding, if it is its turn.
    func sampleSavings(_ body: [UInt8], deltaBytes: Int) {
        guard case .ready(let version, _) = dictionary else { return }
        context.savings.submit(
            .init(chain: version.chain, body: body, deltaBytes: deltaBytes, route: route.text))
    }
}
