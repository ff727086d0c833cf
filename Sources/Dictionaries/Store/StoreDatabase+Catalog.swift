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

    /// Removes rows in one transaction, perhaps not those that were wanted or renewed since they were read; the ones
    /// that went.
    func remove(_ versions: [Version], sparingWanted: Bool) throws(StoreDatabaseError) -> [Version] {
        try attempt {
            try connection.write { database in
                let delete = try database.cachedStatement(
                    sql: "DELETE FROM version WHERE id = ? AND last_wanted <= ? AND rank <= ?")
                let latest = sparingWanted ? nil : Int64.max
                let removed = try versions.filter { version in
                    try delete.execute(arguments: [
                        version.id, latest ?? Int64(version.lastWanted), latest ?? version.rank,
                    ])
                    return database.changesCount > 0
                }
                try StoreRows.shortenFeed(database)
                return removed
            }
        }
    }
}
