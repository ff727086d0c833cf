internal import Dictionaries
internal import HTTP

// MARK: - Dictionaries for those who were given them

extension Exchange {
    /// Who may use the response as a dictionary.
    func audience(of response: ResponseFacts) -> Audience {
        Audience.of(request: facts, response: response, policy: route.policy)
    }

    /// What the route would offer to an audience, without an id; nil where it cannot be expressed.
    func offer(to audience: Audience) -> UseAsDictionary? {
        guard audience == .person, route.policy.scope == .public else { return routeOffer }
        return personalOffer
    }

    /// Makes `personalOffer`: nobody but an identity carries a personal dictionary to another path.
    func makePersonalOffer() -> UseAsDictionary? {
        guard let dictionary = route.dictionary else { return nil }
        if case .path = dictionary.covers { return routeOffer }
        return dictionary.personalCovers.matchValue(
            forPath: path, query: query, route: route.match.first(path: path, query: query)
        ).flatMap {
            UseAsDictionary(match: $0, matchDest: dictionary.matchDest, ttl: dictionary.ttlSeconds)
        }
    }

    // MARK: Whether the client was given it

    /// The version that the request names and proves to have been given, of the chains of this resource that need a proof.
    ///
    /// Nothing is looked up before the proof holds, so that the time tells nothing of what is there: without a proof a
    /// digest that others hold costs the same work as one that nobody holds.
    func provenVersion(_ digest: Digest) -> Dictionaries.Version? {
        guard let id = facts.dictionaryID, let keys = context.store.keys else { return nil }
        var proven: ChainKey?
        let chains = chainsForHolders(of: digest, keys)
        // All of them, also after the one that fits.
        for chain in chains where StoreKeys.areEqual(id, keys.dictionaryID(of: digest, in: chain)) {
            proven = chain
        }
        if proven == nil, let promised = context.promisedIDs.chain(of: digest, id: id),
            chains.contains(promised)
        {
            proven = promised
        }
        return proven.flatMap { proxy.index.version(chain: $0, digest: digest) }
    }

    /// Returns the chains in which a client may have been given a body for this resource.
    ///
    /// `findDictionary` has checked that the request may use the chain of a private route.
    private func chainsForHolders(of digest: Digest, _ keys: StoreKeys) -> [ChainKey] {
        if route.policy.scope == .private { return routeChain.map { [$0] } ?? [] }
        var chains = holdersChain.map { [$0] } ?? []
        if route.policy.personalUse == .capability, CrossOrigin.allowsPrivateDictionary(request: facts),
            let authority, let offer = personalOffer,
            let chain = keys.personalChain(
                authority: authority, match: offer.match, matchDest: offer.matchDest, digest: digest)
        {
            chains.append(chain)
        }
        return chains
    }

    /// What became of the dictionary, for a response: what is for everybody is coded over nothing else.
    func dictionaryFound(for response: ResponseFacts) -> DictionaryLookUp {
        dictionary.version == nil || usableVersion(for: response) != nil ? dictionary.found : .unknown
    }

    /// The version that the client named, if a response may be coded over it.
    func usableVersion(for response: ResponseFacts) -> Dictionaries.Version? {
        guard let version = dictionary.version else { return nil }
        return version.chainKey.scope == .public || audience(of: response) != .everybody ? version : nil
    }

    // MARK: The id of what is offered

    /// The place of a body that has come whole, with the chain and the id that only the body tells.
    func settled(_ place: Answer.Place, _ digest: Digest) -> Answer.Place? {
        guard place.audience != .everybody else { return place }
        guard let keys = context.store.keys else { return nil }
        var place = place
        if place.isProvisional {
            guard
                let chain = keys.personalChain(
                    authority: place.key.chainKey.authority, match: place.key.chainKey.match,
                    matchDest: place.key.chainKey.matchDest, digest: digest)
            else { return nil }
            place.key.chainKey = chain
            place.isProvisional = false
        }
        place.offer = place.offer?.with(id: keys.dictionaryID(of: digest, in: place.key.chainKey))
        return place
    }

    /// What a response offers whose body has not come whole: with a random id where it needs one.
    func promisedOffer(_ answer: Answer) -> UseAsDictionary? {
        guard let place = answer.place, let offer = place.offer else { return nil }
        guard place.audience != .everybody else { return offer }
        guard let id = context.store.keys?.makeRandomID() else { return nil }
        answer.promisedID = id
        return offer.with(id: id)
    }

    /// The version that a 304 is about, with its place: what the client holds is offered again with the id that it sent.
    ///
    /// Two users may share an entity tag, so that for others than everybody the tag alone says nothing.
    func versionConfirmed(
        by facts: ResponseFacts, own: [String], tag: String
    ) -> (place: Answer.Place, version: Dictionaries.Version)? {
        let audience = audience(of: facts)
        func find(_ place: Answer.Place) -> Dictionaries.Version? {
            proxy.index.version(place.key, etag: tag)
        }
        // A 304 that does not repeat its Cache-Control, as it should, is about what the whole response said.
        if audience == .everybody
            || audience == .holders && answer?.head.headers.contains(.cacheControl) != true,
            let place = place(for: .everybody, varyNames: facts.varyNames, own: own, isOffered: { true }),
            let version = find(place)
        {
            return (place, version)
        }
        guard audience != .everybody, let held = dictionary.version,
            let digest = self.facts.availableDictionary, let id = self.facts.dictionaryID,
            let place = place(for: audience, varyNames: facts.varyNames, own: own, isOffered: { true }),
            var settled = settled(place, digest), settled.key.chainKey == held.chainKey,
            let version = find(settled), version.digest == held.digest
        else { return nil }
        settled.offer = settled.offer?.with(id: id)
        return (settled, version)
    }
}
