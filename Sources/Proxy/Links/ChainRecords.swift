internal import Dictionaries
internal import Storage

/// The knowledge about a chain that may be named.
struct ChainRecord: Sendable {
    var keptSeconds = 0
    var proven: (body: Digest, variant: String)?
    var ledger = AnnouncementLedger()
    var savings = BuiltSavings()
}

/// The records of chains, by a seeded hash.
///
/// Built chains have a table of their own, as many as hosts can have built dictionaries: a route of many paths opens a chain for
/// each of them, which would push the one out that matters to all.
struct ChainRecords: Sendable {
    private var paths = FairTable<Int, ChainRecord>(buckets: 256, slots: 16)
    private var built = FairTable<Int, ChainRecord>(buckets: 16, slots: 4)

    subscript(chain: ChainKey) -> ChainRecord? { self[chain.hashValue] }

    subscript(chain: Int) -> ChainRecord? { built[chain] ?? paths[chain] }

    /// Changes the record of a path's chain; opens it on behalf of a client if it is missing.
    mutating func change(_ chain: ChainKey, openedBy client: UInt128, _ change: (inout ChainRecord) -> Void) {
        paths.change(chain.hashValue, openedBy: client, fresh: ChainRecord(), change)
    }

    mutating func changeBuilt(
        _ chain: ChainKey, openedBy client: UInt128, _ change: (inout ChainRecord) -> Void = { _ in }
    ) {
        built.change(chain.hashValue, openedBy: client, fresh: ChainRecord(), change)
    }

    /// Changes the record of a chain, given by its hash, if there is one.
    mutating func changeIfPresent(_ chain: Int, _ change: (inout ChainRecord) -> Void) {
        if built.changeIfPresent(chain, change) == nil { _ = paths.changeIfPresent(chain, change) }
    }
}
