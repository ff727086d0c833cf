/// The ids that were given out before their body was complete: they stand with their version, and go with it.
extension StoreState {
    /// Records ids under which clients were given the body of a version.
    mutating func promise(_ ids: PromisedIDs, of version: Version) {
        guard keep(ids, of: version) else { return }
        pending.recordPromises(of: version.id)
    }

    /// Adds promised ids of a version to the index and to all counts; returns false if nothing has changed.
    @discardableResult
    mutating func keep(_ ids: PromisedIDs, of version: Version) -> Bool {
        guard let growth = index.add(ids, to: version) else { return false }
        countPromises(of: version, bytes: growth)
        return true
    }

    /// Takes the promised ids of a version that is about to go.
    mutating func takePromises(of version: Version) -> PromisedIDs {
        let ids = index.takePromises(of: version)
        if !ids.isEmpty { countPromises(of: version, bytes: -ids.count * PromisedIDs.bytesEach) }
        return ids
    }

    /// Gives the promised ids of a version that has gone to another one of the same body and chain.
    ///
    /// Clients hold a body, whatever its URL was.
    mutating func handOver(_ ids: PromisedIDs, of version: Version) {
        guard !ids.isEmpty, let sibling = index.version(version.chainKey, digest: version.digest) else {
            return
        }
        promise(ids, of: sibling)
    }

    private mutating func countPromises(of version: Version, bytes: Int) {
        guard bytes != 0 else { return }
        let isSealed = version.chainKey.scope.isSealed
        if isSealed { privateOrder.grow(version, bytes: bytes) }
        if index.chain(version.chainKey)?.isEstablished == false { bytesInProbation += bytes }
        authorities.count(
            version.chainKey.authority, chains: 0, bytes: isSealed ? 0 : bytes, isSealed: isSealed)
    }
}
