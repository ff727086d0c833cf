internal import GRDB

extension StoreRows {
    /// How many changes the feed keeps: a process that has missed more reads all rows.
    static let feedMax = 10_000

    /// The number of the newest change.
    static func lastChange(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database.cachedStatement(sql: "SELECT max(sequence) FROM change")) ?? 0
    }

    /// The rows of the feed that are newer than one; SQL.
    static func changed(after sequence: Int64) -> String {
        "id IN (SELECT version FROM change WHERE sequence > \(sequence))"
    }

    /// What changed after this one; linear in that.
    ///
    /// Without keys a private row is as one that is gone: nobody here has it.
    static func changes(
        _ database: Database, after sequence: Int64?, keys: StoreKeys?, heads: HeadMemory,
        home: (ChainKey) -> Chain?
    ) throws -> StoreChanges {
        func rows(after sequence: Int64?) throws -> [Version] {
            let rows = try versions(database, changedAfter: sequence, heads: heads, home: home)
            guard let keys else { return rows }
            return try rows
                + PrivateRows.find(database, keys, changedAfter: sequence, home: home).versions
        }

        let newest = try lastChange(database)
        let oldest = try Int64.fetchOne(database, sql: "SELECT min(sequence) FROM change") ?? 0
        guard let sequence, sequence <= newest, sequence == newest || oldest <= sequence + 1 else {
            return .everything(try rows(after: nil))
        }
        let ids = try Int64.fetchAll(
            database, sql: "SELECT DISTINCT version FROM change WHERE sequence > ?", arguments: [sequence])
        guard !ids.isEmpty else { return .some([]) }
        let byID = Dictionary(try rows(after: sequence).map { ($0.id, $0) }) { $1 }
        return .some(ids.map { StoreChanges.Change(id: $0, version: byID[$0]) })
    }

    /// Drops what the feed has too much; one step of the tree where that is nothing.
    static func shortenFeed(_ database: Database) throws {
        try database.cachedStatement(
            sql: "DELETE FROM change WHERE sequence <= (SELECT max(sequence) FROM change) - \(feedMax)"
        ).execute()
    }
}
