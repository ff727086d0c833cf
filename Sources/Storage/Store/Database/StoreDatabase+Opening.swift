internal import FoundationEssentials
internal import GRDB
internal import GRDBSQLite

/// The connections of a database, and the schema of its file.
extension StoreDatabase {
    static func connect(_ path: String) throws -> any DatabaseWriter {
        var configuration = Configuration()
        // Another process's transaction, or making the file, may take long on a busy disk. Only the store's
        // own queue waits for it.
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { database in
            if database.configuration.readonly { return }
            // Check before anything is changed, including the journal mode.
            try check(database, path: path)
            // This setting and the next take effect only before the first table is made. Rows of 2 KB, the size of
            // a packed personal body, fill three quarters of a page of 8 KiB, but only half of one of 4 KiB.
            try database.execute(sql: "PRAGMA page_size = 8192")
            // The file can shrink in small steps later.
            try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            // Deleted bytes are overwritten in pages that are written anyway. ON, Debian's default, doubles
            // what an eviction writes. OFF leaves copies of moved rows in free parts of pages, which `rm`
            // could not reach.
            try database.execute(sql: "PRAGMA secure_delete = FAST")
            try database.execute(sql: "PRAGMA journal_size_limit = \(4 << 20)")
        }
        guard path != ":memory:" else { return try DatabaseQueue(configuration: configuration) }
        // API responses are private to this user. SQLite gives its log the mode of the database.
        StoreFile.create(path)
        let pool = try DatabasePool(path: path, configuration: configuration)
        // FULL syncs the log once per transaction, so that an admission also survives a loss of power. It
        // costs one sync per batch on the store's queue; GRDB's NORMAL could lose the last batches.
        try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            // The cache holds the inner pages of the indexes of 100,000 versions, which each insertion reads.
            // It is not larger, because a commit scans the whole cache once a balanced tree has used a page
            // number beyond the file.
            try database.execute(sql: "PRAGMA cache_size = -4096")
            // The log is moved into the file after 4 MB, as by default with smaller pages.
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 500")
        }
        return pool
    }

    static func visit(_ path: String) throws -> any DatabaseWriter {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.readonly = !FileManager.default.isWritableFile(atPath: path)
        configuration.prepareDatabase { database in
            let found = try check(database, path: path)
            try require(schema: found, path: path)
            if database.configuration.readonly { return }
            // Overwrite the bytes that an operator removes.
            try database.execute(sql: "PRAGMA secure_delete = ON")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    static func setting(_ pragma: String, of connection: any DatabaseWriter) throws -> Int {
        try connection.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA \(pragma)") ?? 0 }
    }

    /// Returns the schema of a file, 0 for an empty one; refuses a file that this program must not touch.
    @discardableResult
    static func check(_ database: Database, path: String) throws -> Int {
        var (application, found, isEmpty) = (0, 0, true)
        // Read all three in one transaction: another process may be making the tables.
        try database.inTransaction(.deferred) {
            isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
            application = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            found = try schema(of: database)
            return .commit
        }
        guard application == StoreSchema.applicationID || (application == 0 && isEmpty) else {
            throw StoreError.foreignDatabase(path: path)
        }
        if found != 0 || !isEmpty { try require(schema: found, path: path) }
        return found
    }

    static func schema(of database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }

    static func require(schema found: Int, path: String) throws {
        guard found == StoreSchema.number else { throw StoreError.otherSchema(path: path, found: found) }
    }

    /// Makes the tables of an empty file in one transaction, so that an interruption leaves it empty.
    static func makeTables(_ connection: any DatabaseWriter) throws {
        guard try connection.read(schema) == 0 else { return }
        try connection.write { database in
            // Another process may have made them meanwhile.
            guard try schema(of: database) == 0 else { return }
            try database.execute(sql: StoreSchema.tables)
            try database.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(StoreSchema.number)")
        }
    }

    // MARK: Closing

    /// Closes the connections; every later call fails as unavailable.
    func close() {
        if isReplaced { keepLog() }
        // An error means that a statement is still running; the connection then closes with its last
        // reference.
        try? connection.close()
    }

    /// Keeps SQLite from removing the log.
    ///
    /// SQLite removes the log by its name, and another file's log has that name by now.
    private func keepLog() {
        connection.writeWithoutTransaction { database in
            var isKept: Int32 = 1
            // Safe: `isKept` is an int, as this call wants it, and outlives it; the connection is open.
            _ = unsafe sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &isKept)
        }
    }
}
