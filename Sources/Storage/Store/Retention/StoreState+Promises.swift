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
        privateOrder.grow(version, bytes: growth)
        if index.chain(version.chainKey)?.isEstablished == false { bytesInProbation += growth }
        count(version, chains: 0, bytes: growth)
        return true
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
}
