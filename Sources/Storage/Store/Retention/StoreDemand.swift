internal import Primitives
internal import Synchronization

/// The notes of a store about versions: which ones clients come back with and are offered, their names, proofs and heads.
///
/// Safe from any thread, and never waits for the disk.
package struct StoreDemand: Sendable {
    let memory: StoreMemory
    let writer: StoreWriter

    /// The longest life of a pin; a row that claims more is invalid.
    static let pinSecondsMax = 366 * 86_400

    /// Records that a client came back with a version: the version and its chain are in demand.
    package func advertised(_ version: Version, now: Int) {
        let (isNew, isDue) = memory.state.withLock { state in
            state.advertised(version, now: now)
            let isInProbation = !version.chain.isEstablished
            if isInProbation { state.establish(version) }
            return (isInProbation, state.pending.want(version.id))
        }
        if isNew { memory.listener.load()?.established(version.chainKey) }
        if isDue {
            memory.budget.owe(version.storedBytes)
            writer.schedule()
        }
        memory.counters.withLock { $0.advertisedFound += 1 }
        touch(version, now: now)
    }

    package func countUnknown() { memory.counters.withLock { $0.advertisedUnknown += 1 } }

    /// Records that a response offers an existing version to a client that came with `former`, or with none.
    package func offered(_ version: Version, over former: Version?, now: Int) {
        memory.state.withLock { $0.offered(version, over: former, now: now) }
        touch(version, now: now)
    }

    /// Records that a version was wanted; the time is written to disk now and then.
    ///
    /// The third request ends the probation of its chain.
    package func touch(_ version: Version, now: Int) {
        if !version.chain.isEstablished, version.chain.countRequest() {
            memory.state.withLock { $0.establish(version) }
            writer.schedule()
            memory.listener.load()?.established(version.chainKey)
        }
        guard version.want(at: now) else { return }
        memory.state.withLock { state in
            state.pending.touch(version.id, lastWanted: now)
            state.touched(version, now: now)
        }
    }

    // MARK: Names, proofs, heads

    /// Names a version of a public chain in Links until some second; until then only damage, full memory or a purge evicts it.
    ///
    /// `former` is the version of the chain and variant that is named now. It keeps its own end, or gets a later one if
    /// it is the same version. Returns false, without a change, if another version is named, if the pins' limits are
    /// reached, or if the version is gone.
    package func nameInLinks(
        _ version: Version, replacing former: Version? = nil, until: Int, now: Int
    ) -> Bool {
        let until = min(until, now + Self.pinSecondsMax)
        memory.advance(to: now)
        let isNamed = memory.state.withLock {
            $0.nameInLinks(version, replacing: former, until: until, now: now)
        }
        if isNamed { writer.schedule() }
        return isNamed
    }

    /// Records that the body of a version of a public chain is proven to belong to nobody, for as long as the version is here.
    package func provePublic(_ version: Version) {
        guard !version.isProvenPublic else { return }
        memory.state.withLock { $0.provePublic(version) }
        writer.schedule()
    }

    /// Replaces the head of a version with a newer one, which is written to disk at most once a minute.
    package func keep(head: [UInt8], of version: Version, now: Int) {
        guard version.head?.bytes != head else { return }
        memory.state.withLock { $0.keep(head, of: version, now: now) }
        writer.schedule()
    }
}
