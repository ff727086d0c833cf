package import Dictionaries
internal import Primitives
internal import Synchronization

/// A version that a node may share: its facts as its response stated them, and its body.
package struct SharableVersion: Sendable {
    package let version: Version
    package var chainKey: ChainKey { version.chainKey }
    package var isInProbation: Bool { version.isInProbation }
    let facts: VersionFacts
    package let body: Body
    /// True once this node has written it to the shared store.
    package var isWritten = false

    package var record: SharedRecord {
        SharedRecord(chain: version.chainKey, facts: facts, rank: version.rank, body: body)
    }

    /// Returns its name in the shared store; nil where a key is missing.
    package func name(_ keys: StoreKeys?) -> SharedName? {
        SharedName(chain: chainKey, digest: facts.digest, keys: keys)
    }
}

extension SharableVersion {
    /// Describes a version that was admitted just now; `keys` are those of its store.
    package init(_ version: Version, _ candidate: VersionCandidate, _ keys: StoreKeys?) {
        self.init(version: version, facts: candidate.facts(keys), body: candidate.body)
    }
}

extension DictionaryStore {
    /// The exchange of versions with other nodes.
    package var sharing: StoreSharing { StoreSharing(memory: memory, writer: writer) }
}

/// The exchange of versions and holder counts with other nodes.
///
/// Safe from any thread; what reads the disk or visits every version says so.
package struct StoreSharing: Sendable {
    let memory: StoreMemory
    let writer: StoreWriter

    /// Begins to report new versions to `listener` and to keep changes of holder counts for other nodes; once.
    package func share(with listener: StoreListener) {
        guard memory.listener.storeIfNil(listener) === listener else { return }
        memory.state.withLock { $0.demandLog = DemandLog() }
    }

    /// Returns the versions of a chain that other nodes do not have yet, of the newest ones in memory.
    ///
    /// Like the next one it is not for an event loop.
    package func readSharable(of chain: ChainKey) -> [SharableVersion] {
        memory.index.recent(chain).compactMap { version in
            memory.hotBody(of: version).map { readSharable(version, $0) }
        }
    }

    /// Describes a stored version and its body for other nodes.
    ///
    /// Names that are on disk only are read from there: never call it on an event loop.
    package func readSharable(_ version: Version, _ body: Body) -> SharableVersion {
        let names =
            version.isFromRecord ? try? writer.openDatabase?.names(of: version) : nil
        let facts = names.map { version.with(url: $0.url, etag: $0.etag).facts } ?? version.facts
        return SharableVersion(version: version, facts: facts, body: body)
    }

    /// Returns the held versions, the newest first, at most so many.
    ///
    /// It examines every version: never call it on an event loop.
    package func versionsToShare(max: Int) -> [Version] {
        memory.index.allVersions().filter { $0.holders > 0 && $0.isCurrent }
            .sorted { $1.isOlder(than: $0) }.prefix(max).map { $0 }
    }

    /// Returns true if a chain has versions here that were wanted lately.
    package func isInDemand(_ chain: ChainKey, since second: Int) -> Bool {
        memory.index.chain(chain).map { $0.isEstablished && $0.wantedUntil >= second } ?? false
    }

    /// Adopts a verified version of another node, without making it newer than those that were admitted after it.
    ///
    /// It stays in memory only until a second request wants it: most are for one client, which gets a version of this node
    /// in its place. The shared store has it meanwhile. One that was purged here is refused, also if the other nodes
    /// have not heard of that yet.
    ///
    /// Returns the version, or the one that is here already.
    ///
    /// - Parameter told: What other nodes have told of its holders, which counts once.
    package func adopt(
        _ record: SharedRecord, told: SharedDemand? = nil, now: Int
    ) throws(AdmissionRefusal) -> Version {
        let (version, isNew) = try insert(record, holders: Int(told?.change ?? 0), now: now)
        if let told, !isNew { add(told, to: version) }
        return version
    }

    private func insert(
        _ record: SharedRecord, holders: Int, now: Int
    ) throws(AdmissionRefusal) -> (version: Version, isNew: Bool) {
        memory.advance(to: now)
        let (chain, facts) = (record.chain, record.facts)
        if let known = memory.index.version(chain, digest: facts.digest) { return (known, false) }
        let names = facts.key(in: chain).nameBytes
        guard names <= StoredSize.namesMax * 2 else { throw .names }
        let slot = try memory.budget.reserve(
            facts.bytes, writing: 0,
            AdmissionBudget.Terms(key: nil, bytesMax: memory.configuration.maxBytes / 4, isInProbation: false)
        )
        let name = BodyName(scope: chain.scope, digest: facts.digest)
        let url = chain.scope.isSealed ? nil : facts.url
        var isDue = false
        let adopted = memory.publish(record.body, as: name, from: slot) { state, kept in
            guard !state.purges.include(chain, url: url, rank: record.rank) else { return nil }
            let adopted = state.adopt(
                facts, body: kept, chain: chain, rank: min(record.rank, SystemClock.unixMicroseconds),
                holders: max(holders, 1), now: now)
            isDue = !state.pending.isEmpty
            return adopted
        }
        slot.settle(written: 0)
        guard let adopted else { throw .purged }
        if isDue { writer.schedule() }
        return (adopted.version, adopted.isNew)
    }

    // MARK: Holders

    /// Takes the changes of holder counts that no other node has heard of, at most so many.
    package func takeDemand(max: Int, keys: StoreKeys?) -> [SharedDemand] {
        let changes = memory.state.withLock { state in
            (state.demandLog?.take(max: max) ?? []).compactMap { row, change in
                state.index.version(row: row).map { ($0, change) }
            }
        }
        return changes.compactMap { version, change in
            version.sharedName(keys).map {
                SharedDemand(name: $0, change: change.holders, contact: change.contact)
            }
        }
    }

    /// Keeps changes for the next time, since the other nodes could not be told of them.
    package func giveBack(_ demand: SharedDemand, of version: Version) {
        memory.state.withLock {
            $0.demandLog?.record(version.id, holders: demand.change, contact: Int(demand.contact))
        }
    }

    /// Adds what another node says about the holders of a version.
    package func add(_ demand: SharedDemand, to version: Version) {
        let now = memory.now
        memory.state.withLock {
            $0.addHolders(to: version, Int(demand.change), contact: min(Int(demand.contact), now), now: now)
        }
    }

    // MARK: Versions by their shared names

    package func promises(of version: Version) -> [PromisedIDs.Promise] {
        memory.index.promises(of: version).all
    }

    package func version(row: Int64) -> Version? { memory.index.version(row: row) }

    /// Returns the version of a public name; `chain` is its chain, if that is known.
    package func version(_ name: SharedName, chain: ChainKey?) -> Version? {
        guard !name.isSealed else { return nil }
        if let chain { return memory.index.version(chain, digest: name.digest) }
        // Each name costs a hash.
        return memory.index.versions(of: BodyName(scope: .public, digest: name.digest))
            .prefix(SharedIndex.candidatesMax).first { $0.chainKey.name == name.chain }
    }
}
