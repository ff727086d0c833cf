internal import GRDB

/// What the commands of an operator ask for beside what a proxy does.
extension StoreDatabase {
    /// How many chains and versions there are that belong to one identity each.
    func hidden() throws(StoreDatabaseError) -> StoreCatalog.Hidden {
        try attempt {
            try connection.read { database in
                guard try database.tableExists("private_version") else { return StoreCatalog.Hidden() }
                let row = try Row.fetchOne(
                    database, sql: "SELECT count(DISTINCT chain), count(*) FROM private_version")
                return StoreCatalog.Hidden(chains: row?[0] ?? 0, versions: row?[1] ?? 0)
            }
        }
    }

    /// The rows of the bodies, by those of the public versions.
    func bodyRows() throws(StoreDatabaseError) -> [Int64: Int64] {
        try attempt {
            try connection.read { database in
                var bodies: [Int64: Int64] = [:]
                let rows = try Row.fetchCursor(database, sql: "SELECT id, body FROM version")
                while let row = try rows.next() {
                    if let id: Int64 = row[0] { bodies[id] = row[1] }
                }
                return bodies
            }
        }
    }

    /// Removes the first of some rows in one transaction, as many as there is room for, perhaps not those that were
    /// wanted, renewed or named since they were read.
    ///
    /// What was tried, and what of it went; nil, and nothing done, where the log must be emptied before.
    func remove(
        firstOf versions: some Sequence<Version>, sparingWanted: Bool, bytesMax: Int?
    ) throws(StoreDatabaseError) -> (batch: RemovalRoom.Batch, removed: [Version])? {
        try attempt {
            try connection.writeWithoutTransaction { database in
                var outcome: (batch: RemovalRoom.Batch, removed: [Version])?
                // No other process can write from where the size is read.
                try database.inTransaction(.immediate) {
                    let room = RemovalRoom(bytesMax: bytesMax, size: try size(database))
                    guard let batch = room.batch(of: versions) else { return .rollback }
                    // FAST overwrites what shares a page with others; whole pages it leaves to the shrinking.
                    try database.execute(sql: "PRAGMA secure_delete = \(batch.isOverwriting ? "ON" : "FAST")")
                    let removed = try delete(versions.prefix(batch.count), sparingWanted, from: database)
                    outcome = (batch, removed)
                    return .commit
                }
                return outcome
            }
        }
    }

    private func delete(
        _ versions: some Sequence<Version>, _ sparesWanted: Bool, from database: Database
    ) throws -> [Version] {
        // What says that it is named for longer than anything can be is not.
        let delete = try database.cachedStatement(
            sql: """
                DELETE FROM version WHERE id = ? AND last_wanted <= ? AND rank <= ?
                    AND (pinned_until <= ? OR pinned_until > last_wanted + \(DictionaryStore.pinSecondsMax))
                """)
        let latest = sparesWanted ? nil : Int64.max
        let removed = try versions.filter { version in
            try delete.execute(arguments: [
                version.id, latest ?? Int64(version.lastWanted), latest ?? version.rank,
                latest ?? Int64(version.pinnedUntil),
            ])
            return database.changesCount > 0
        }
        try StoreRows.shortenFeed(database)
        return removed
    }
}
