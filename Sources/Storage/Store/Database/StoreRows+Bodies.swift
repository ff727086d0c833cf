internal import Dictionaries
internal import FoundationEssentials
internal import GRDB

/// The rows of bodies: whole, or packed over others.
extension StoreRows {
    // MARK: Reading

    /// Returns the body of a version as it is stored; nil if there is no such row.
    static func stored(_ version: Version, _ database: Database) throws -> StoredBody? {
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT bytes, body.size, base FROM version JOIN body ON body.id = version.body
                    WHERE version.id = ?
                    """), arguments: [version.id])
        return row.flatMap(storedBody)
    }

    static func stored(row: Int64, _ database: Database) throws -> StoredBody? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT bytes, size, base FROM body WHERE id = ?"),
            arguments: [row]
        ).flatMap(storedBody)
    }

    private static func storedBody(_ row: Row) -> StoredBody? {
        guard let bytes: Data = row.value(0) else { return nil }
        return StoredBody(bytes: [UInt8](bytes), count: row.value(1), base: row.value(2))
    }

    /// Returns the bytes of a whole body, not verified.
    static func whole(_ stored: StoredBody, _ database: Database) throws -> [UInt8] {
        let base = try stored.base.flatMap { try self.stored(row: $0, database) }
        return try stored.whole(over: base.map { Body(try $0.whole(over: nil)) })
    }

    // MARK: Writing

    /// Makes the row of a body and returns it.
    ///
    /// If its base is missing, the body is written whole and the base is added to `missing`.
    static func makeBody(
        _ insertion: PendingWrites.Insertion, _ database: Database, missing: inout Set<Int64>
    ) throws -> Int64 {
        var packed = insertion.packed
        if let base = packed?.base?.row, try !hasBody(base, database) {
            missing.insert(base)
            packed = nil
        }
        let row = insertion.version.id
        try database.cachedStatement(
            sql: "INSERT INTO body (id, bytes, size, base) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        ).execute(arguments: [
            row, Data(packed?.frame ?? insertion.body.bytes), packed?.count, packed?.base?.row,
        ])
        return row
    }

    private static func hasBody(_ row: Int64, _ database: Database) throws -> Bool {
        try Int.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM body WHERE id = ?"), arguments: [row]) != nil
    }

    // MARK: Erasing

    /// Deletes versions and overwrites each body with its last version; bodies packed over it get another
    /// base.
    ///
    /// Returns the versions that were there.
    static func erase(_ ids: some Sequence<Int64>, from database: Database) throws -> Set<Int64> {
        var erased: Set<Int64> = []
        let delete = try database.cachedStatement(sql: "DELETE FROM version WHERE id = ?")
        for id in ids {
            try releaseBody(ofVersion: id, database)
            try delete.execute(arguments: [id])
            if database.changesCount > 0 { erased.insert(id) }
        }
        return erased
    }

    /// Overwrites the body of a version, unless another version has it.
    ///
    /// The first body packed over it becomes the base of the others.
    private static func releaseBody(ofVersion id: Int64, _ database: Database) throws {
        let row = try Int64.fetchOne(database, sql: "SELECT body FROM version WHERE id = ?", arguments: [id])
        guard let row,
            try Int.fetchOne(
                database, sql: "SELECT 1 FROM version WHERE body = ? AND id <> ?", arguments: [row, id])
                == nil
        else { return }
        let former = try stored(row: row, database)
        // Overwrite it in place before anything else: moving rows leaves copies of them in free parts of
        // pages.
        try database.execute(
            sql: "UPDATE body SET bytes = zeroblob(length(bytes)) WHERE id = ?", arguments: [row])
        let dependents = try Int64.fetchAll(
            database, sql: "SELECT id FROM body WHERE base = ? ORDER BY id", arguments: [row])
        guard !dependents.isEmpty, let former else { return }
        let base = (try? former.whole(over: nil)).map { Body($0) }
        var next: (row: Int64, tables: PreparedDictionary)?
        for dependent in dependents {
            guard let base, let stored = try stored(row: dependent, database),
                let whole = (try? stored.whole(over: base)).map({ Body($0) })
            else {
                // It was damaged before; the next read will find that.
                try write(dependent, bytes: [], count: nil, base: nil, database)
                continue
            }
            let frame = try ZstdFrames.pack(whole, over: next?.tables)
            try write(dependent, bytes: frame, count: whole.count, base: next?.row, database)
            if next == nil {
                next = (dependent, try PreparedDictionary(whole, for: .dcz, bodyBytesHint: whole.count))
            }
        }
    }

    private static func write(
        _ row: Int64, bytes: [UInt8], count: Int?, base: Int64?, _ database: Database
    ) throws {
        try database.cachedStatement(sql: "UPDATE body SET bytes = ?, size = ?, base = ? WHERE id = ?")
            .execute(arguments: [Data(bytes), count, base, row])
    }
}
