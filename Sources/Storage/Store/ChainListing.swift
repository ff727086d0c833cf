internal import Primitives

/// A page of the chains of a store, for an operator.
///
/// Chains that belong to one client each appear as counts only.
package struct ChainListing: Sendable {
    /// An order of chains; the greatest value comes first.
    package enum Order: String, CaseIterable, Sendable {
        /// By the time of the last demand.
        case wanted
        case bytes, versions
    }

    package struct Entry: Sendable, Equatable {
        package let authority: String
        /// True if its bodies are used by clients only that send the id of a version back.
        package let needsID: Bool
        package let match: String
        package let matchDest: [String]
        package let versions: Int
        /// The number of clients that hold one of its versions, as far as known.
        package let holders: Int
        /// True if only the holders of the latest versions were counted.
        package let areHoldersPartial: Bool
        /// The bytes of its versions on disk, estimated from above.
        package let storedBytes: Int
        /// The time at which its newest version was admitted, in seconds since 1970; nil if that is unknown.
        package let newestAt: Int?
        /// The time of its last demand, in seconds since 1970.
        package let wantedAt: Int
    }

    package var entries: [Entry] = []
    /// The number of chains that may be listed.
    package var total = 0
    package var privateChains = 0
    package var privateVersions = 0
    /// The bytes of private versions in their budget.
    package var privateBytes = 0
}

extension DictionaryStore {
    /// The number of versions per chain whose holders are counted.
    package static let holdersCountedMax = 4_096

    /// Returns a part of the chains in some order; linear in the number of chains.
    ///
    /// Not on an event loop. Each lock is held for a thousand chains, or for one chain, so that no loop waits long.
    package func chains(by order: ChainListing.Order, offset: Int, limit: Int) -> ChainListing {
        let index = memory.index
        var (ranks, listing) = index.rankedChains(by: order)
        listing.privateBytes = memory.state.withLock { $0.privateOrder.bytes }
        // Equal chains keep their order from page to page.
        ranks.sort { ($1.value, $0.place) < ($0.value, $1.place) }
        listing.entries = ranks.dropFirst(offset).prefix(limit).compactMap { rank in
            guard let record = index.chainRecord(at: rank.place) else { return nil }
            let versions = memory.state.withLock {
                $0.retention.places(of: record.chain, max: Self.holdersCountedMax)
            }
            let (holders, newestAt) = index.demand(of: versions, ofChainAt: rank.place)
            let key = record.chain.key
            return ChainListing.Entry(
                authority: key.authority, needsID: key.scope == .unlisted, match: key.match,
                matchDest: key.matchDest, versions: record.count, holders: holders,
                areHoldersPartial: record.count > versions.count, storedBytes: record.storedBytes,
                newestAt: newestAt, wantedAt: record.chain.wantedUntil)
        }
        return listing
    }
}
