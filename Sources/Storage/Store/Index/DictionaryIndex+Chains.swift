internal import Primitives

/// The chains as a listing shows them, some of them per hold of the lock.
extension DictionaryIndex {
    /// Returns the places of all chains that belong to no single client, each with its value in an order, and the counts of the
    /// others; linear in their number.
    func rankedChains(
        by order: ChainListing.Order
    ) -> (ranks: [(place: Int, value: Int)], counts: ChainListing) {
        var ranks: [(place: Int, value: Int)] = []
        var counts = ChainListing()
        inSteps { tables, step in
            for place in step.clamped(to: 0..<tables.chains.count) {
                guard let chain = tables.chains[place].chain else { continue }
                let count = Int(tables.chains[place].count)
                guard !chain.key.scope.isSealed else {
                    counts.private.chains += 1
                    counts.private.versions += count
                    continue
                }
                let value =
                    switch order {
                    case .wanted: chain.wantedUntil
                    case .bytes: tables.chains[place].storedBytes
                    case .versions: count
                    }
                ranks.append((place: place, value: value))
            }
            return step.upperBound >= tables.chains.count
        }
        counts.total = ranks.count
        return (ranks, counts)
    }

    /// Returns the chain at a place with the number of its versions and their bytes on disk; nil if it has gone, or
    /// belongs to one client.
    func chainRecord(at place: Int) -> (chain: Chain, count: Int, storedBytes: Int)? {
        tables.withLock { tables in
            guard tables.chains.indices.contains(place), let chain = tables.chains[place].chain,
                !chain.key.scope.isSealed
            else { return nil }
            return (chain, Int(tables.chains[place].count), tables.chains[place].storedBytes)
        }
    }

    /// Returns the number of clients that hold some versions, and the time at which the newest of them was admitted.
    ///
    /// Versions that have left the chain at this place count nothing.
    func demand(of versions: [Int32], ofChainAt place: Int) -> (holders: Int, newestAt: Int?) {
        tables.withLock { tables in
            var (holders, newestAt) = (0, Int?.none)
            for version in versions where tables.isTaken(version) {
                guard Int(tables.records[Int(version)].chain) == place else { continue }
                let state = tables.state(at: version)
                holders += Int(state.holders)
                newestAt = max(newestAt ?? 0, Int(state.admittedAt))
            }
            return (holders, newestAt)
        }
    }
}
