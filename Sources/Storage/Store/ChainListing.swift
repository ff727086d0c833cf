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

    package struct Entry: Encodable, Sendable, Equatable {
        package let authority: String
        /// The URL Pattern of the chain.
        package let match: String
        package let matchDest: [String]
        /// True if its bodies are used by clients only that send the id of a version back.
        package let needsID: Bool
        package let versions: Int
        /// The number of clients that hold one of its versions, as far as known.
        package let holders: Int
        /// True if only the holders of the latest versions were counted.
        package let holdersPartial: Bool
        /// The bytes of its versions on disk, estimated from above.
        package let storedBytes: Int
        /// The seconds since its newest version was admitted; nil if that is unknown.
        package let newestAgeSeconds: Int?
        /// The seconds since its last demand.
        package let wantedAgeSeconds: Int
    }

    /// Chains that belong to one client each, as counts only.
    package struct Private: Encodable, Sendable {
        package var chains = 0
        package var versions = 0
        /// The bytes of private versions in their budget.
        package var storedBytes = 0
    }

    package var entries: [Entry] = []
    /// The number of chains that may be listed.
    package var total = 0
    package var `private` = Private()
}

extension ChainListing {
    /// The number of versions per chain whose holders are counted.
    package static let holdersCountedMax = 4_096

    /// Lists a part of a store's chains in some order; linear in the number of chains.
    ///
    /// Not on an event loop. Each lock is held for a thousand chains, or for one chain, so that no loop waits long.
    package init(
        of store: DictionaryStore, by order: Order, offset: Int, limit: Int,
        now: Int = SystemClock.unixSeconds
    ) {
        let (memory, index) = (store.memory, store.memory.index)
        var (ranks, listing) = index.rankedChains(by: order)
        listing.private.storedBytes = memory.state.withLock { $0.privateOrder.bytes }
        // Equal chains keep their order from page to page.
        ranks.sort { ($1.value, $0.place) < ($0.value, $1.place) }
        listing.entries = ranks.dropFirst(offset).prefix(limit).compactMap { rank in
            guard let record = index.chainRecord(at: rank.place) else { return nil }
            let versions = memory.state.withLock {
                $0.retention.places(of: record.chain, max: Self.holdersCountedMax)
            }
            let (holders, newestAt) = index.demand(of: versions, ofChainAt: rank.place)
            let key = record.chain.key
            return Entry(
                authority: key.authority, match: key.match, matchDest: key.matchDest,
                needsID: key.scope == .unlisted, versions: record.count, holders: holders,
                holdersPartial: record.count > versions.count, storedBytes: record.storedBytes,
                newestAgeSeconds: newestAt.map { max(0, now - $0) },
                wantedAgeSeconds: max(0, now - record.chain.wantedUntil))
        }
        self = listing
    }
}
