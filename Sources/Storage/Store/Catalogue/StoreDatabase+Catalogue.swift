internal import GRDB

/// The queries that only an operator's commands need.
extension StoreDatabase {
    func hidden() throws(StoreDatabaseError) -> StoreCatalogue.Hidden {
        try read { database in
            guard try database.tableExists("private_version") else { return StoreCatalogue.Hidden() }
            let row = try Row.fetchOne(
                database, sql: "SELECT count(DISTINCT chain), count(*) FROM private_version")
            return StoreCatalogue.Hidden(chains: row?[0] ?? 0, versions: row?[1] ?? 0)
        }
    }

    /// Returns the rows of the bodies, by the rows of the public versions.
    func bodyRows() throws(StoreDatabaseError) -> [Int64: Int64] {
        try read { database in
            var bodies: [Int64: Int64] = [:]
            let rows = try Row.fetchCursor(database, sql: "SELECT id, body FROM version")
            while let row = try rows.next() {
                if let id: Int64 = row.value(0) { bodies[id] = row.value(1) }
            }
            return bodies
        }
    }

    // MARK: Removing

    /// Removes rows and overwrites their bytes, in one transaction; returns those that were removed.
    ///
    /// If `sparingWanted` is set, rows that were wanted, renewed or named since they were read stay.
    func erase(_ versions: some Sequence<Version>, sparingWanted: Bool) throws(StoreDatabaseError)
        -> [Version]
    {
        try change { database in
            let going = try versions.filter { version in
                try !sparingWanted || Removal(version, isSparing: true).stillApplies(in: database)
            }
            let erased = try StoreRows.erase(going.map(\.id), from: database)
            return going.filter { erased.contains($0.id) }
        }
    }

    /// Asks the process that writes the store to remove rows.
    func ask(for removals: [Removal]) throws(StoreDatabaseError) {
        try change { database in
            let insert = try database.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO removal (version, last_wanted, rank, pinned_until)
                    VALUES (?, ?, ?, ?)
                    """)
            for removal in removals {
                try insert.execute(arguments: [
                    removal.id, removal.lastWanted, removal.rank, removal.pinnedUntil,
                ])
            }
        }
    }

    /// Returns at most `count` removals that were asked for and are not done.
    func removalsAsked(max count: Int) throws(StoreDatabaseError) -> [Removal] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT version, last_wanted, rank, pinned_until FROM removal LIMIT ?",
                arguments: [count]
            ).compactMap { Removal($0) }
        }
    }

    /// Ends removals that were asked for; removes the rows `ids` and overwrites their bytes.
    func end(_ removals: [Removal], removing ids: [Int64]) throws(StoreDatabaseError) {
        try attempt {
            // The setting has an effect only outside of a transaction.
            try connection.writeWithoutTransaction { try $0.execute(sql: "PRAGMA secure_delete = ON") }
            defer {
                try? connection.writeWithoutTransaction { try $0.execute(sql: "PRAGMA secure_delete = FAST") }
            }
            try change { database in
                _ = try StoreRows.erase(ids, from: database)
                let end = try database.cachedStatement(sql: "DELETE FROM removal WHERE version = ?")
                for removal in removals { try end.execute(arguments: [removal.id]) }
            }
        }
    }

    /// Returns which of these rows exist, and for which of them a removal is still pending.
    func state(of ids: [Int64]) throws(StoreDatabaseError) -> (present: Set<Int64>, asked: Set<Int64>) {
        try read { database in
            let version = try database.cachedStatement(sql: "SELECT 1 FROM version WHERE id = ?")
            let removal = try database.cachedStatement(sql: "SELECT 1 FROM removal WHERE version = ?")
            let present = try ids.filter { try Int.fetchOne(version, arguments: [$0]) != nil }
            let asked = try ids.filter { try Int.fetchOne(removal, arguments: [$0]) != nil }
            return (Set(present), Set(asked))
        }
    }
}

/// A row that a command wants removed, perhaps only if it has not changed since.
struct Removal: Sendable {
    let id: Int64
    /// The value that the row had when it was read; nil if the row is to be removed in any case.
    let lastWanted: Int?
    let rank: Int64?
    let pinnedUntil: Int?

    init(_ version: Version, isSparing: Bool) {
        id = version.id
        lastWanted = isSparing ? version.lastWanted : nil
        rank = isSparing ? version.rank : nil
        pinnedUntil = isSparing ? version.pinnedUntil : nil
    }

    /// Decodes a row; returns nil if it was edited by hand and makes no sense.
    init?(_ row: Row) {
        guard let id: Int64 = row.value(0) else { return nil }
        self.id = id
        lastWanted = row.value(1)
        rank = row.value(2)
        pinnedUntil = row.value(3)
    }

    /// True while the version was not wanted, renewed or named since the removal was decided.
    func stillApplies(to version: Version) -> Bool {
        version.lastWanted <= lastWanted ?? .max && version.rank <= rank ?? .max
            && version.pinnedUntil <= pinnedUntil ?? .max
    }

    /// The same test for a row.
    ///
    /// A pin that ends later than any pin may does not count.
    func stillApplies(in database: Database) throws -> Bool {
        try Int.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT 1 FROM version WHERE id = ? AND last_wanted <= ? AND rank <= ?
                        AND (pinned_until <= ?
                            OR pinned_until > last_wanted + \(StoreDemand.pinSecondsMax))
                    """),
            arguments: [
                id, lastWanted.map(Int64.init) ?? .max, rank ?? .max, pinnedUntil.map(Int64.init) ?? .max,
            ])
            != nil
    }
}
