package import Dictionaries
package import Primitives
internal import Synchronization

/// The admission of bodies, and of the ids under which they are promised.
///
/// Safe from any thread, and never waits for the disk.
package struct StoreAdmission: Sendable {
    let memory: StoreMemory
    let writer: StoreWriter

    private var configuration: StoreConfiguration { memory.configuration }
    private var keys: StoreKeys? { configuration.keys }

    /// The bytes that a copy of unknown length reserves first.
    private static let unknownLength = 64 * 1024

    /// Reserves memory and write budget for the copy of a body in transit; a refusal means no copy and no offer.
    ///
    /// Pass no `bytes` if the length is unknown, and extend the slot while the body arrives. Each key has one copy at a
    /// time. `client` holds the bytes of all copies for the client, which gets its fair share of the memory.
    package func reserve(
        _ key: VersionKey, bytes: Int?, policy: AdmissionPolicy, for client: FairHolding? = nil
    ) throws(AdmissionRefusal) -> AdmissionSlot {
        try reserve(key, bytes: bytes ?? Self.unknownLength, policy: policy, isCopy: true, client)
    }

    private func reserve(
        _ key: VersionKey, bytes: Int, policy: AdmissionPolicy, isCopy: Bool, _ client: FairHolding? = nil
    ) throws(AdmissionRefusal) -> AdmissionSlot {
        do throws(AdmissionRefusal) {
            guard !memory.isLeaving.load(ordering: .relaxed) else { throw .leaving }
            guard key.url.utf8.count + key.variant.utf8.count <= StoredSize.namesMax else { throw .names }
            let isInProbation =
                policy.startsInProbation && memory.index.chain(key.chainKey)?.isEstablished != true
            let terms = AdmissionBudget.Terms(
                key: isCopy ? key : nil, bytesMax: bodyBytesMax(key, isInProbation: isInProbation),
                isInProbation: isInProbation, client: client)
            return try memory.budget.reserve(bytes, writing: storedBytes(key, bytes: bytes), terms)
        } catch {
            memory.budget.count(error)
            if error == .rate { memory.reports.throttled(on: writer.queue) }
            throw error
        }
    }

    private func storedBytes(_ key: VersionKey, bytes: Int) -> Int {
        StoredSize.bytes(body: bytes, names: key.nameBytes)
    }

    /// Returns the largest body that a key may have: a larger one would displace too much of the store, of the private
    /// share, or of the share of chains in probation.
    private func bodyBytesMax(_ key: VersionKey, isInProbation: Bool) -> Int {
        var most = min(configuration.maxBytes / 4, Int(UInt32.max))
        if key.chainKey.scope.isSealed { most = min(most, configuration.privateBytesMax / 4) }
        if isInProbation { most = min(most, configuration.maxBytes / 5 - storedBytes(key, bytes: 0)) }
        return most
    }

    /// Makes a complete body the newest version of its key.
    ///
    /// On return, every reader finds the version and its body is in memory; it is on disk within 100 ms. A known body
    /// becomes the newest version again; it needs no slot and gives back the given one. Any other body uses up the
    /// slot; without one it is refused if there is no room. A copy that began before a purge of its kind is refused, and so is the
    /// body of a request that began before one, at `begunAt`, in microseconds since 1970.
    /// `former` is the version that the client came with; if the response offers the new body, the client no longer holds
    /// it.
    @discardableResult
    package func admit(
        _ candidate: VersionCandidate, slot: AdmissionSlot? = nil, begunAt: Int64? = nil,
        isOffered: Bool = true, over former: Version? = nil, now: Int
    ) throws(AdmissionRefusal) -> Version {
        memory.advance(to: now)
        let (key, facts) = (candidate.key, candidate.facts(keys))
        var slot = slot
        if slot == nil, memory.index.version(facts.key(in: key.chainKey), digest: facts.digest) == nil {
            slot = try reserve(key, bytes: facts.bytes, policy: candidate.policy, isCopy: false)
        }
        let name = BodyName(scope: key.chainKey.scope, digest: facts.digest)
        let admitted = memory.publish(candidate.body, as: name, from: slot) { state, kept in
            if let rank = begunAt ?? slot?.rank,
                state.purges.forbid(key.chainKey, url: key.url, rank: rank)
            {
                return nil
            }
            return state.admit(
                facts, body: kept, chain: key.chainKey, policy: candidate.policy, now: now,
                clock: SystemClock.unixMicroseconds, head: candidate.head, isOffered: isOffered, over: former)
        }
        guard let admitted else {
            slot?.settle(written: 0)
            memory.budget.count(.purged)
            throw .purged
        }
        slot?.settle(written: admitted.isNew ? storedBytes(key, bytes: facts.bytes) : 0)
        memory.counters.withLock { counters in
            if admitted.isNew { counters.admissions += 1 } else { counters.returns += 1 }
        }
        writer.schedule()
        if admitted.isNew { memory.listener.load()?.admitted(admitted.version, candidate) }
        return admitted.version
    }

    // MARK: Promised ids

    /// Records that a client was given a body of a chain under a random id; it lives as long as the version.
    ///
    /// Like the version, it is valid at once, and on disk within 100 ms.
    package func promise(_ id: String, of digest: Digest, in chain: ChainKey, network: UInt16) {
        guard let keys, let tag = keys.promisedTag(of: id, digest, in: chain) else { return }
        let promise = PromisedIDs.Promise(tag, network: network)
        let version = memory.index.version(chain, digest: chain.scope.name(of: digest, keys))
        guard let version else { return }
        keep(promise, of: version)
        memory.listener.load()?.promised(promise)
    }

    /// Records an id that another node has promised, of a version that this node has by now.
    package func keep(_ promise: PromisedIDs.Promise, of version: Version) {
        memory.state.withLock { $0.promise(PromisedIDs([promise]), of: version) }
        writer.schedule()
    }
}
