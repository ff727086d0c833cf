/// The merge of versions that two processes admitted one after the other, when a successor takes the store
/// over.
extension StoreState {
    /// Merges a version in memory with the row of the same body; the number of the row stays.
    mutating func unite(_ own: Version, with row: Version) -> Version {
        pending.forget(own.id)
        if own.pinnedUntil > row.pinnedUntil { pin(row, until: own.pinnedUntil) }
        if own.lastWanted > row.lastWanted {
            row.wasWanted(at: own.lastWanted)
            pending.touch(row.id, lastWanted: own.lastWanted)
        }
        guard own.rank > row.rank else { return row }
        let later = Version(
            own.facts, id: row.id, rank: own.rank, home: own.home, admittedAt: row.admittedAt,
            lastWanted: row.lastWanted, pinnedUntil: row.pinnedUntil, head: own.head ?? row.head,
            demand: own.demand, network: own.network)
        later.sealedBytes = row.sealedBytes
        later.setCurrent(own.isCurrent)
        pending.renew(later)
        return later
    }
}
