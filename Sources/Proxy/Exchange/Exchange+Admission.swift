internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - Bodies that become versions

extension Exchange {
    /// Whether an answer may become a version, by what is known of it.
    func isAdmitted(_ response: ResponseFacts) -> Bool {
        Admission.obstacle(request: facts, response: response, policy: route.policy) == nil
    }

    /// Where the body belongs if it becomes a version; nil where admission is refused.
    func place(for facts: ResponseFacts, headers: Headers) -> Answer.Place? {
        guard isAdmitted(facts) else { return nil }
        return place(
            for: audience(of: facts), varyNames: facts.varyNames, own: headers.values(.useAsDictionary),
            isOffered: {
                // Besides that it is admitted.
                !facts.hasUseAsDictionary
                    && Offer.mayCarry(request: self.facts, response: facts, policy: self.route.policy)
            })
    }

    /// The same for a response that is admitted already; `own` is the upstream's Use-As-Dictionary.
    func place(
        for audience: Audience, varyNames: [String], own: [String], isOffered: () -> Bool
    ) -> Answer.Place? {
        // The upstream's own field stays, and then its match is the one the client goes by. It has no id of ours, so that it
        // is of use only for everybody.
        guard own.isEmpty || audience == .everybody else { return nil }
        let isProvisional = audience == .person && route.policy.scope == .public
        guard let offer = own.isEmpty ? offer(to: audience) : ownOffer(own),
            let chain = chain(of: offer, for: audience, isOwn: !own.isEmpty)
        else { return nil }
        // Whoever was given the same personal bytes shares them, whatever tokens and cookies there were.
        let variant = isProvisional ? "" : VariantKey.make(names: varyNames, values: variantValue)
        return Answer.Place(
            audience: audience,
            key: VersionKey(chain: chain, url: isProvisional ? path : storedURL, variant: variant),
            isProvisional: isProvisional,
            offer: own.isEmpty && isOffered() ? offer : nil, isUpstreamMatch: !own.isEmpty)
    }

    /// What a request field counts as where a response varies on it; nil where the request is without it.
    func variantValue(_ name: String) -> String? {
        // Without cookies that count it is the anonymous variant.
        if name == "cookie", !facts.hasCookie { return nil }
        return HeaderName(name).flatMap { request.headers.joined($0) }
    }

    /// The upstream's own offer; nil where no client takes it, so that no body is kept for it.
    private func ownOffer(_ values: [String]) -> UseAsDictionary? {
        UseAsDictionary.parse(values).flatMap { (try? URLPattern($0.match)) == nil ? nil : $0 }
    }

    /// The chain of what the route makes of this request's response, for everybody or for its identity.
    var routeChain: ChainKey? {
        route.policy.scope == .public ? publicChain : scope.flatMap(makeChain)
    }

    /// The chain of an offer: the upstream's own, or the route's; nil where there is none for this request.
    ///
    /// That of a personal response is a provisional one until its body is known.
    private func chain(of offer: UseAsDictionary, for audience: Audience, isOwn: Bool) -> ChainKey? {
        guard route.dictionary != nil, let authority else { return nil }
        if route.policy.scope == .private { return scope.flatMap(makeChain) }
        switch audience {
        case .everybody where isOwn:
            return ChainKey(authority: authority, match: offer.match, matchDest: offer.matchDest)
        case .everybody: return publicChain
        case .holders: return holdersChain
        case .person:
            return context.store.keys?.provisionalChain(
                authority: authority, match: offer.match, matchDest: offer.matchDest)
        }
    }

    /// Makes `routeOffer`.
    func makeRouteOffer() -> UseAsDictionary? {
        guard let dictionary = route.dictionary else { return nil }
        return route.matchValue(path: path, query: query).flatMap {
            UseAsDictionary(match: $0, matchDest: dictionary.matchDest, ttl: dictionary.ttlSeconds)
        }
    }

    /// Makes `publicChain` and `holdersChain`, and the chain of an identity.
    func makeChain(_ scope: ChainKey.Scope) -> ChainKey? {
        guard let authority, let routeOffer else { return nil }
        return ChainKey(
            authority: authority, scope: scope, match: routeOffer.match, matchDest: routeOffer.matchDest)
    }

    /// Path and query as a version has them.
    var storedURL: String { query.map { "\(path)?\($0)" } ?? path }

    /// Makes a whole body a version of its chain; returns what the answer offers for it, nothing where the store
    /// has no place.
    func admit(_ body: Body, _ answer: Answer, etag: String?, isNewest: Bool) -> UseAsDictionary? {
        guard let place = answer.place.flatMap({ settled($0, body.digest) }) else { return nil }
        answer.place = place
        if place.key.chainKey.scope.isPrivate { answer.headToKeep = nil }
        let now = SystemClock.unixSeconds
        let opaque = etag.flatMap { EntityTag($0)?.opaque }
        if isNewest,
            let newest = proxy.index.newest(place.key, digest: body.digest, etag: opaque),
            newest.canKeep(answer.headToKeep)
        {
            answer.slot = nil
            noteOffered(newest, answer)
            if let head = answer.headToKeep { context.store.keep(head: head, of: newest, now: now) }
            return place.offer
        }
        guard gainsVersion(body, place, answer) else {
            // What the chain has from another URL is offered for nothing.
            guard let same = proxy.index.version(chain: place.key.chainKey, digest: body.digest) else {
                return nil
            }
            answer.slot = nil
            noteOffered(same, answer)
            return place.offer
        }
        do throws(AdmissionRefusal) {
            // A body that was held has no slot yet: only what is new needs one.
            try context.store.admit(
                VersionCandidate(
                    body, key: place.key, policy: admission(to: place), etag: opaque,
                    contentType: answer.facts.contentType, isUpstreamMatch: place.isUpstreamMatch,
                    head: answer.headToKeep), slot: answer.slot, isOffered: answer.offerForm == .inBand,
                over: dictionary.version, now: now)
            answer.slot = nil
            noteVariant(place.key.variant)
            proxy.metrics.countAdmission()
            return place.offer
        } catch {
            answer.refusal = error
            return nil
        }
    }

    /// What the store heeds: personal versions have a budget of their own, and no probation among public ones.
    private func admission(to place: Answer.Place) -> AdmissionPolicy {
        var policy = route.admission
        if place.key.chainKey.scope.isPrivate {
            policy.startsInProbation = false
            // By a hash with a seed of the process: nobody can choose an address that shares another's number.
            policy.network = linkClient.address.map { UInt16(truncatingIfNeeded: $0.hashValue) }
        }
        return policy
    }

    // MARK: The copy of a body that goes through

    /// Sets memory aside for the copy that becomes a version, if there is a place for it.
    func reserveCopy(_ answer: Answer) {
        guard let place = answer.place else { return }
        guard gainsPromise(place, answer) else {
            if answer.offerForm != .link { answer.place = nil }
            return
        }
        do throws(AdmissionRefusal) {
            answer.slot = try context.store.reserve(
                place.key, bytes: answer.facts.bodyBytes, policy: admission(to: place))
        } catch {
            answer.refusal = error
        }
        // A Link needs no copy: it names a version that is there already.
        if answer.slot == nil, answer.offerForm != .link { answer.place = nil }
    }

    /// Keeps a copy for admission, as long as there is room for it.
    func copy(_ bytes: Span<UInt8>, _ answer: Answer, isDecoded: Bool) {
        guard let slot = answer.slot else { return }
        if isDecoded {
            answer.collected.append(bytes)
        } else {
            guard decodeCopy(bytes, answer, slot) else { return dropCopy(answer) }
        }
        let count = answer.collected.count
        if count > route.policy.bodyBytesMax || isInflated(answer) || !slot.extend(to: count) {
            dropCopy(answer)
        }
    }

    /// Whether decoding made a body so much larger that it is not worth its place (contract, Use).
    func isInflated(_ answer: Answer) -> Bool {
        answer.isDecoded && answer.collected.count > Self.inflationMax * record.bodyBytesBefore
    }

    private static let inflationMax = 100

    func dropCopy(_ answer: Answer) {
        answer.slot = nil
        answer.place = nil
        answer.collected = []
        if !answer.isDecoded { dropDecoder(answer) }
        if !answer.tail.isEmpty {
            let tail = answer.tail
            answer.tail = []
            send(tail.span)
        }
    }

    /// Admits the copy of a body that has gone through, and only then lets its last bytes go.
    func admitCopy(_ answer: Answer) {
        guard answer.slot != nil, !answer.collected.isEmpty else { return end(answer) }
        answer.facts.bodyBytes = answer.collected.count
        guard isAdmitted(answer.facts) else { return end(answer) }
        answer.stage = .ending
        if let bytes = answer.deltaBytes { noteDelta(answer, bytes: bytes) }
        let decision = Decision(coding: .identity, reason: record.reason ?? .noCodingAccepted)
        var job = codingJob(answer, decision)
        job.isPromised = true
        switch job.start(reply: { reply(decision) }) {
        case .done(let result), .busy(let result): admitted(result)
        case .underWay: break
        }
    }

    func admitted(_ result: CodingJob.Result) {
        guard let answer, case .ending = answer.stage else { return }
        if let body = result.body {
            let offer = admit(
                body, answer, etag: answer.head.headers.first(.etag), isNewest: result.isNewest)
            if offer != nil, let id = answer.promisedID, let place = answer.place {
                context.promisedIDs.keep(id, for: body.digest, in: place.key.chainKey)
            }
            if offer != nil { notePublic(body, answer) }
        }
        end(answer)
    }

    func end(_ answer: Answer) {
        let tail = answer.tail
        answer.tail = []
        send(tail.span)
        complete(trailers: answer.trailers)
    }
}
