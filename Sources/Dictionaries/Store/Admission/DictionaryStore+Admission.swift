internal import Synchronization

extension DictionaryStore {
    /// Reserves room for the copy of a body in transit; a refusal means no copy and no offer.
    ///
    /// Pass no `bytes` if the length is unknown, and extend the slot while the body arrives. Each key has one
    /// copy at a time.
    package func reserve(
        chain: ChainKey, url: String, variant: String, bytes: Int?, policy: AdmissionPolicy
    ) throws(AdmissionRefusal) -> AdmissionSlot {
        try reserve(
            AdmissionRoom.Name(chain: chain, url: url, variant: variant), bytes: bytes ?? 64 * 1024,
            policy: policy, isCopy: true)
    }

    private func reserve(
        _ name: AdmissionRoom.Name, bytes: Int, policy: AdmissionPolicy, isCopy: Bool
    ) throws(AdmissionRefusal) -> AdmissionSlot {
        do throws(AdmissionRefusal) {
            guard !isLeaving.load(ordering: .relaxed) else { throw .leaving }
            guard name.url.utf8.count + name.variant.utf8.count <= StoredSize.namesMax else { throw .names }
            let isInProbation =
                policy.startsInProbation && publisher.index.chain(name.chain)?.isEstablished != true
            let terms = AdmissionRoom.Terms(
                name: isCopy ? name : nil, bytesMax: bodyBytesMax(name, isInProbation: isInProbation),
                isInProbation: isInProbation)
            return try room.reserve(bytes, writing: storedBytes(name, bytes: bytes), terms)
        } catch {
            note(error)
            throw error
        }
    }

    private func storedBytes(_ name: AdmissionRoom.Name, bytes: Int) -> Int {
        StoredSize.bytes(
            body: bytes,
            names: StoredSize.names(chain: name.chain, url: name.url, variant: name.variant))
    }

    /// Returns the largest body that the chain may have, by itself and within its share of the store.
    private func bodyBytesMax(_ name: AdmissionRoom.Name, isInProbation: Bool) -> Int {
        let alone = bodyBytesMax(in: name.chain.scope)
        guard isInProbation else { return alone }
        return min(alone, configuration.maxBytes / 5 - storedBytes(name, bytes: 0))
    }

    private func note(_ refusal: AdmissionRefusal) {
        room.note(refusal)
        if refusal == .rate { reports.throttled(on: writeQueue) }
    }

    /// Makes a complete body the newest version of its key.
    ///
    /// On return, every reader finds the version and its body is in memory; it is on disk within 100 ms. A
    /// known body becomes the newest version again; it needs no slot and gives back the given one. Any other
    /// body uses up the slot; without one it is refused if there is no room. `head` is the response head with
    /// which the upstream can be asked to revalidate. `former` is the version that the client came with; if
    /// the response offers the new body, the client no longer holds it.
    @discardableResult
    package func admit(
        _ body: Body, chain: ChainKey, url: String, variant: String, etag: String?, contentType: String?,
        policy: AdmissionPolicy, slot: AdmissionSlot? = nil, now: Int, isUpstreamMatch: Bool = false,
        head: [UInt8]? = nil, isOffered: Bool = true, over former: Version? = nil
    ) throws(AdmissionRefusal) -> Version {
        noteTime(now)
        let facts = VersionFacts(
            digest: body.digest, url: url, variant: variant, etag: etag, contentType: contentType,
            bytes: body.bytes.count, maxAge: min(max(policy.maxAge, 0), Version.secondsMax),
            isUpstreamMatch: isUpstreamMatch
        ).named(in: chain.scope, configuration.keys)
        let place = AdmissionRoom.Name(chain: chain, url: url, variant: variant)
        var slot = slot
        if slot == nil, !isKnown(facts, in: chain) {
            slot = try reserve(place, bytes: body.bytes.count, policy: policy, isCopy: false)
        }
        let name = BodyName(scope: chain.scope, digest: facts.digest)
        // Pin the body before the version is published: whoever finds the version must find the body.
        let reserved = slot?.takeMemory() ?? 0
        let kept = hot.withLock { hot in
            hot.release(reserved)
            return hot.pin(body, as: name)
        }
        let admitted = state.withLock { state in
            state.admit(
                facts, body: kept, chain: chain, policy: policy, now: now,
                clock: StoreClock.microseconds, head: head, isOffered: isOffered, over: former)
        }
        judge(admitted.version)
        slot?.settle(written: admitted.isNew ? storedBytes(place, bytes: facts.bytes) : 0)
        if !admitted.isNew { unpin([name]) }
        counters.withLock { counters in
            if admitted.isNew { counters.admissions += 1 } else { counters.returns += 1 }
        }
        account(admitted.evicted)
        scheduleDrain()
        return admitted.version
    }

    private func isKnown(_ facts: VersionFacts, in chain: ChainKey) -> Bool {
        publisher.index.version(chain, url: facts.url, variant: facts.variant, digest: facts.digest) != nil
    }

    /// Records that a client came back with a version: the version and its chain are in demand.
    package func advertised(_ version: Version, now: Int) {
        state.withLock { state in
            state.advertised(version, now: now)
            if !version.home.isEstablished { state.establish(version) }
        }
        counters.withLock { $0.advertisedFound += 1 }
        touch(version, now: now)
    }

    /// Counts an advertised dictionary that was not found.
    package func noteUnknown() { counters.withLock { $0.advertisedUnknown += 1 } }

    /// Records that a response offers an existing version to a client that came with `former`, or with none.
    package func offered(_ version: Version, over former: Version?, now: Int) {
        state.withLock { $0.offered(version, over: former, now: now) }
        touch(version, now: now)
    }

    /// Records that a version was wanted; the time is written to disk now and then.
    ///
    /// The third request ends the probation of its chain.
    package func touch(_ version: Version, now: Int) {
        if !version.home.isEstablished, version.home.countRequest() {
            state.withLock { $0.establish(version) }
            scheduleDrain()
        }
        guard version.want(at: now) else { return }
        state.withLock { state in
            state.pending.touch(version.id, lastWanted: now)
            state.touched(version, now: now)
        }
        counters.withLock { $0.touches += 1 }
    }

    /// Replaces the head of a version with a newer one, which is written to disk at most once a minute.
    package func keep(head: [UInt8], of version: Version, now: Int) {
        guard version.head?.bytes != head else { return }
        state.withLock { $0.keep(head, of: version, now: now) }
        scheduleDrain()
    }
}
