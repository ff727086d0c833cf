internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

// MARK: - A body becomes a version

/// A whole body that the store may take.
struct Candidate {
    let body: Body
    let etag: String?
    /// True if it is the newest version once more.
    let isNewest: Bool
    /// The length of its delta over the client's dictionary; nil if there was none.
    var deltaBytes: Int?
    /// The slot of its copy in the store's memory, if it went out piece by piece.
    var slot: AdmissionSlot?
    /// True if its response has gone out but for its last bytes: `gainsPromise` has judged the gain before its head went.
    var hasGoneOut = false
}

extension Exchange {
    // MARK: Chain, URL and variant

    /// Returns the target of the body if it becomes a version; nil if admission is refused.
    func target(for response: UpstreamResponse) -> AdmissionTarget? {
        let (facts, own) = (response.facts, response.head.headers.values(.useAsDictionary))
        guard entitlement.obstacleToAdmission(of: facts) == nil else { return nil }
        let isOffered = entitlement.obstacleToOffer(ofAdmissible: facts) == nil
        return target(for: entitlement.audience(of: facts), facts, own: own, isOffered: isOffered)
    }

    /// Returns the same for a response that is admissible; `own` is the upstream's Use-As-Dictionary.
    private func target(
        for audience: Audience, _ response: ResponseFacts, own: [String], isOffered: Bool
    ) -> AdmissionTarget? {
        let variant = variant(of: response)
        let target = entitlement.target(
            for: audience, own: own, variant: variant, isOffered: isOffered, context.store.keys)
        guard isTwin else { return target }
        return target?.offering(target?.offer?.atTwinURL(of: resource.url)?.outranking(response.contentType))
    }

    func variant(of response: ResponseFacts) -> String {
        VariantKey.make(names: response.varyNames, operation: upload.operation, values: variantValue)
    }

    /// Returns the value of a request field where a response varies by it; nil if the request is without it.
    func variantValue(_ name: String) -> [UInt8]? {
        // A request whose cookies all are ignored gets the anonymous variant.
        if name == "cookie", !facts.hasCookie { return nil }
        return HeaderName(name).flatMap { request.headers.joinedBytes($0) }
    }

    /// Returns the version that a 304 is about, with its target: what the client holds is offered again with the id that it
    /// sent.
    ///
    /// Two users may share an entity tag, so the tag alone proves nothing for bodies that are not for all clients.
    func versionConfirmed(
        by response: ResponseFacts, _ headers: Headers
    ) -> (target: AdmissionTarget, version: Storage.Version)? {
        // Beside a tag the date does not count (RFC 9110 section 13.1.3).
        let date = request.headers.contains(.ifNoneMatch) ? nil : request.headers.first(.ifModifiedSince)
        guard let tag = headers.versionTag() ?? (headers.contains(.etag) ? nil : date) else { return nil }
        let own = headers.values(.useAsDictionary)
        let audience = entitlement.audience(of: response)
        func version(at target: AdmissionTarget) -> Storage.Version? {
            proxy.index.version(target.key, etag: tag)
        }
        // A 304 that does not repeat its Cache-Control, as it should, is about what the whole response said.
        if audience == .public || audience == .unlisted && !headers.contains(.cacheControl),
            let target = target(for: .public, response, own: own, isOffered: true),
            let version = version(at: target)
        {
            return (target, version)
        }
        guard audience != .public, let held = dictionary.version,
            let digest = facts.availableDictionary, let id = facts.dictionaryID,
            let target = target(for: audience, response, own: own, isOffered: true),
            let settled = target.settled(digest, context.store.keys), settled.key.chainKey == held.chainKey,
            let version = version(at: settled), version.digest == held.digest
        else { return nil }
        return (settled.offering(settled.offer?.with(id: id)), version)
    }

    // MARK: Admission

    /// Makes a body that was held a version of its chain; returns what the response offers for it, nil where the store has
    /// no place for it.
    func admit(_ candidate: Candidate, _ draft: inout ResponseDraft) -> UseAsDictionary? {
        do throws(AdmissionRefusal) {
            return try admit(candidate, &draft.response)
        } catch {
            draft.refusal = error
            return nil
        }
    }

    /// Makes a body a version of its chain; returns its offer, nil where no client gains by the version.
    private func admit(
        _ candidate: Candidate, _ response: inout UpstreamResponse
    ) throws(AdmissionRefusal) -> UseAsDictionary? {
        let body = candidate.body
        guard let target = response.target?.settled(body.digest, context.store.keys) else { return nil }
        response.target = target
        if target.key.chainKey.scope.isSealed { response.headToKeep = nil }
        let now = SystemClock.unixSeconds
        let isOffered = target.isOffered && response.offerForm == .inBand
        let encounter = encounter(candidate, target, response)
        switch encounter.outcome(
            in: proxy.index, now: now,
            isVersionElsewhere: context.sharedStore?.hasVersion(body.digest, in: target.key.chainKey) == true
        )
        {
        case .newest(let version):
            noteOffered(version, isOffered: isOffered)
            if let head = response.headToKeep { context.store.demand.keep(head: head, of: version, now: now) }
            return target.offer
        case .elsewhere(let version):
            noteOffered(version, isOffered: isOffered)
            return target.offer
        case .nothing: return nil
        case .admission: break
        }
        try context.store.admission.admit(
            VersionCandidate(
                body, key: target.key, policy: admissionPolicy(for: target), etag: encounter.etag,
                contentType: response.facts.contentType, isUpstreamMatch: target.isUpstreamMatch,
                head: response.headToKeep),
            // An order to forget that came since then includes the body: it may be from before the order.
            slot: candidate.slot, begunAt: SystemClock.unixMicroseconds - Int64(elapsedMicroseconds),
            isOffered: isOffered, over: replaceableVersion, now: now)
        hintManyVariants(target.key.variant)
        proxy.metrics.counters.admissions.add()
        return target.offer
    }

    /// Puts together what decides about a whole body.
    private func encounter(
        _ candidate: Candidate, _ target: AdmissionTarget, _ response: UpstreamResponse
    ) -> Encounter {
        var encounter = Encounter(digest: candidate.body.digest, key: target.key)
        encounter.etag = response.head.headers.versionTag(etag: candidate.etag)
        encounter.isNewest = candidate.isNewest
        encounter.isAlwaysTaken = candidate.hasGoneOut || isAlwaysTaken(target, response)
        encounter.head = response.headToKeep
        encounter.held = renewableVersion(for: response.facts)
        encounter.lifeSeconds = lifeSeconds(of: response, on: route)
        encounter.deltaBytes = candidate.deltaBytes
        return encounter
    }

    private func admissionPolicy(for target: AdmissionTarget) -> AdmissionPolicy {
        route.admission(to: target.key.chainKey, from: linkClient.address)
    }

    // MARK: The copy of a body that goes out piece by piece

    /// Reserves memory for the copy that becomes a version; nil, and the target goes, if there is no place for it.
    func reserveCopy(_ draft: inout ResponseDraft) -> VersionCopy? {
        guard let target = draft.response.target else { return nil }
        let copy = makeCopy(&draft, target)
        // A Link needs no copy: it names a version that is there already.
        if copy == nil, draft.response.offerForm != .link { draft.response.target = nil }
        return copy
    }

    private func makeCopy(_ draft: inout ResponseDraft, _ target: AdmissionTarget) -> VersionCopy? {
        guard gainsPromise(target, draft.response) else { return nil }
        let slot: AdmissionSlot
        do throws(AdmissionRefusal) {
            slot = try context.store.admission.reserve(
                target.key, bytes: draft.response.facts.bodyBytes, policy: admissionPolicy(for: target),
                for: share.use.copies)
        } catch {
            draft.refusal = error
            return nil
        }
        let bytesMax = route.policy.bodyBytesMax
        guard case .known(let coding) = draft.response.facts.coding else {
            return VersionCopy(slot: slot, bytesMax: bytesMax)
        }
        guard
            var removal = CodingRemoval(
                coding, limits: DecoderLimits(maxBytes: bytesMax), memory: share.memory),
            removal.reserve(all: false)
        else { return nil }
        return VersionCopy(slot: slot, bytesMax: bytesMax, removal: removal)
    }

    /// Has a copy hashed that is complete; the last bytes of its body wait for the admission.
    func hashCopy(_ bytes: [UInt8], deltaBytes: Int?) {
        guard var response = phase.promise?.response else { return body.admissionSettled() }
        response.facts.bodyBytes = bytes.count
        guard entitlement.obstacleToAdmission(of: response.facts) == nil else {
            return body.admissionSettled()
        }
        if let deltaBytes { dictionary.version?.recordDelta(bytes: deltaBytes) }
        let decision = Decision(coding: .identity, reason: record.reason ?? .noCodingAccepted)
        var job = codingJob(bytes, response, decision, newest: newestBody(response, count: bytes.count))
        job.mustRun = true
        switch job.start(reply: { reply(decision) }) {
        case .done(let result): admitCopy(result)
        case .underWay: break
        }
    }

    /// Admits a copy that has been hashed, and lets the last bytes of the body go.
    func admitCopy(_ result: CodingJob.Result) {
        guard let promise = phase.promise, let slot = body.awaitedSlot else { return }
        defer { body.admissionSettled() }
        guard let whole = result.body else { return }
        var response = promise.response
        response.facts.bodyBytes = whole.count
        if body.hasTrailers { response.headToKeep = nil }
        let candidate = Candidate(
            body: whole, etag: response.head.headers.first(.etag), isNewest: result.isNewest,
            slot: slot, hasGoneOut: true)
        guard (try? admit(candidate, &response)) != nil else { return }
        if let id = promise.id, let target = response.target {
            context.store.admission.promise(
                id, of: whole.digest, in: target.key.chainKey,
                network: Route.network(of: linkClient.address) ?? 0)
        }
        notePublic(whole, response)
    }

    // MARK: The gain of a version

    /// Returns true if a body that is not complete yet is to become a version.
    ///
    /// The length of its delta is not known; that of the last delta over the same version counts.
    private func gainsPromise(_ target: AdmissionTarget, _ response: UpstreamResponse) -> Bool {
        if isAlwaysTaken(target, response) { return true }
        if let tag = response.head.headers.versionTag(), proxy.index.version(target.key, etag: tag) != nil {
            return true
        }
        return isRenewed(response, deltaBytes: dictionary.version?.lastDeltaBytes)
    }

    /// Returns true if a body is a version for any client: the upstream offers it, its head is to be confirmed, a Link may
    /// name it, or the client asked for it by the twin URL.
    private func isAlwaysTaken(_ target: AdmissionTarget, _ response: UpstreamResponse) -> Bool {
        isTwin || target.isUpstreamMatch || response.headToKeep != nil || response.offerForm == .link
    }

    /// Returns true if the client gains by another dictionary than the one it has come with, or has none.
    func isRenewed(_ response: UpstreamResponse, deltaBytes: Int?) -> Bool {
        Renewal.isDue(
            of: renewableVersion(for: response.facts), lifeSeconds: lifeSeconds(of: response, on: route),
            deltaBytes: deltaBytes, now: SystemClock.unixSeconds)
    }

    /// The version that another would replace: a client with the route's built dictionary has no version of the path.
    private func renewableVersion(for response: ResponseFacts) -> Storage.Version? {
        usableVersion(for: response).flatMap { route.hasBuilt($0) ? nil : $0 }
    }

    /// Returns the time for which a client keeps the offered body; nil if no field says so.
    func lifeSeconds(of response: UpstreamResponse, on route: Route) -> Int? {
        if let ttl = route.dictionary?.ttlSeconds { return ttl }
        let seconds = freshness(of: response).remainingSeconds(at: Int64(SystemClock.unixSeconds))
        return seconds > 0 ? Int(clamping: seconds) : nil
    }

    /// Records that a version was wanted; if the response itself offers it, also that one more client holds it.
    func noteOffered(_ version: Storage.Version, isOffered: Bool) {
        let now = SystemClock.unixSeconds
        guard isOffered else { return context.store.demand.touch(version, now: now) }
        context.store.demand.offered(version, over: replaceableVersion, now: now)
    }
}

extension Headers {
    /// The text by which a 304 finds its version: the opaque part of the entity tag, or without a tag the date of the last
    /// modification.
    ///
    /// `etag` is a tag that is not among the fields yet.
    func versionTag(etag: String? = nil) -> String? {
        guard let tag = etag ?? first(.etag) else { return first(.lastModified) }
        return EntityTag(tag)?.opaque
    }
}
