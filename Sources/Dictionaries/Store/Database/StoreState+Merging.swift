/// Versions that two processes admitted, one after the other: what a successor has in memory when it takes the store over.
extension StoreState {
    /// The row of a body that is also in memory, with what is newer there: its number is the one that stays.
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
