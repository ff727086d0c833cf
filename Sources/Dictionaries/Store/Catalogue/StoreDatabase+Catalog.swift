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

    // MARK: Removing

    /// Removes rows in one transaction that overwrites what they held, perhaps not those that were wanted, renewed or
    /// named since they were read; returns those that went.
    func erase(_ versions: some Sequence<Version>, sparingWanted: Bool) throws(StoreDatabaseError)
        -> [Version]
    {
        try attempt {
            try change { database in
                let going = try versions.filter { version in
                    try !sparingWanted || Removal(version, isSparing: true).stillApplies(in: database)
                }
                let erased = try StoreRows.erase(going.map(\.id), from: database)
                return going.filter { erased.contains($0.id) }
            }
        }
    }

    /// Asks the process that writes the store to remove rows.
    func ask(for removals: [Removal]) throws(StoreDatabaseError) {
        try attempt {
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
    }

    /// The removals that were asked for and not done, at most so many.
    func removalsAsked(max count: Int) throws(StoreDatabaseError) -> [Removal] {
        try attempt {
            try connection.read { database in
                try Row.fetchAll(
                    database,
                    sql: "SELECT version, last_wanted, rank, pinned_until FROM removal LIMIT ?",
                    arguments: [count]
                ).compactMap { Removal($0) }
            }
        }
    }

    /// Ends removals that were asked for: removes the rows of some, with what they held overwritten, and none of others.
    func end(_ removals: [Removal], removing ids: [Int64]) throws(StoreDatabaseError) {
        try attempt {
            // Outside of the transaction, where it has an effect.
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

    /// Which of some rows are there, and of which of them the removal is still asked for.
    func state(of ids: [Int64]) throws(StoreDatabaseError) -> (present: Set<Int64>, asked: Set<Int64>) {
        try attempt {
            try connection.read { database in
                let version = try database.cachedStatement(sql: "SELECT 1 FROM version WHERE id = ?")
                let removal = try database.cachedStatement(sql: "SELECT 1 FROM removal WHERE version = ?")
                let present = try ids.filter { try Int.fetchOne(version, arguments: [$0]) != nil }
                let asked = try ids.filter { try Int.fetchOne(removal, arguments: [$0]) != nil }
                return (Set(present), Set(asked))
            }
        }
    }
}

/// A row that somebody wants removed; perhaps only as long as it is as it was.
struct Removal: Sendable {
    let id: Int64
    /// What the row said when it was read; nil where it is to go whatever it says.
    let lastWanted: Int?
    let rank: Int64?
    let pinnedUntil: Int?

    init(_ version: Version, isSparing: Bool) {
        id = version.id
        lastWanted = isSparing ? version.lastWanted : nil
        rank = isSparing ? version.rank : nil
        pinnedUntil = isSparing ? version.pinnedUntil : nil
    }

    /// Decodes a row; nil where it was changed by hand into nonsense.
    init?(_ row: Row) {
        guard let id: Int64 = row[0] else { return nil }
        self.id = id
        lastWanted = row[1]
        rank = row[2]
        pinnedUntil = row[3]
    }

    /// True while the version was not wanted, renewed or named since the removal was decided.
    func stillApplies(to version: Version) -> Bool {
        version.lastWanted <= lastWanted ?? .max && version.rank <= rank ?? .max
            && version.pinnedUntil <= pinnedUntil ?? .max
    }

    /// The same for a row; one that says it is named for longer than anything can be is not.
    func stillApplies(in database: Database) throws -> Bool {
        try Int.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT 1 FROM version WHERE id = ? AND last_wanted <= ? AND rank <= ?
                        AND (pinned_until <= ?
                            OR pinned_until > last_wanted + \(DictionaryStore.pinSecondsMax))
                    """),
            arguments: [
                id, lastWanted.map(Int64.init) ?? .max, rank ?? .max, pinnedUntil.map(Int64.init) ?? .max,
            ])
            != nil
    }
}
