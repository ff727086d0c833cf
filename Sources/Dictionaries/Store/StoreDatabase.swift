internal import FoundationEssentials
internal import GRDB

/// The database file: SQL and nothing else.
///
/// Its calls block; the store makes them on its own two queues.
struct StoreDatabase: Sendable {
    /// How much a database takes, in bytes.
    struct Size {
        let file: Int
        let log: Int
        /// The part of the file that holds nothing.
        let free: Int
        let page: Int
        var total: Int { file + log }
    }

    private let path: String
    private let connection: any DatabaseWriter

    var isInMemory: Bool { path == ":memory:" }

    /// Opens the file, makes it if it is missing, and brings its schema up to date.
    init(path: String) throws(StoreDatabaseError) {
        self.path = path
        do {
            connection = try Self.connect(path)
        } catch {
            throw StoreDatabaseError(opening: error)
        }
        try Self.attempt { try Self.migrate(connection) }
    }

    /// Closes the connections; every later call fails as unavailable.
    func close() {
        // An error says that a statement is still running; the connection then closes with its last reference.
        try? connection.close()
    }

    // MARK: Opening

    private static func connect(_ path: String) throws -> any DatabaseWriter {
        var configuration = Configuration()
        configuration.busyMode = .timeout(1)
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { database in
            if database.configuration.readonly { return }
            // Before anything is changed, the journal mode included.
            try check(database, path: path)
            // Before the first table is made: lets the file shrink in small steps later.
            try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            // Debian's SQLite overwrites what is deleted with zeroes, which doubles what an eviction writes.
            try database.execute(sql: "PRAGMA secure_delete = OFF")
            try database.execute(sql: "PRAGMA journal_size_limit = \(4 << 20)")
        }
        guard path != ":memory:" else { return try DatabaseQueue(configuration: configuration) }
        if !FileManager.default.fileExists(atPath: path) {
            // Answers of an API are nobody else's business. SQLite gives its log the mode of the database.
            _ = FileManager.default.createFile(
                atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        // FULL syncs the log once a transaction, so that what was admitted outlives a loss of power too. It
        // costs one sync per batch, on the store's queue; GRDB's NORMAL would leave the last batches in doubt.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return pool
    }

    /// Refuses a file that this program must not touch.
    private static func check(_ database: Database, path: String) throws {
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
        guard application == StoreSchema.applicationID || (application == 0 && isEmpty) else {
            throw StoreError.foreignDatabase(path: path)
        }
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found <= StoreSchema.steps.count else {
            throw StoreError.newerSchema(path: path, found: found, supported: StoreSchema.steps.count)
        }
    }

    /// Takes the steps that the file has not taken, each in a transaction.
    private static func migrate(_ connection: any DatabaseWriter) throws {
        let taken = try connection.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
        for step in max(taken, 0)..<StoreSchema.steps.count {
            try connection.write { database in
                try database.execute(sql: StoreSchema.steps[step])
                try database.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID)")
                try database.execute(sql: "PRAGMA user_version = \(step + 1)")
            }
        }
    }

    // MARK: Reading

    /// Every version, without the bodies.
    func versions() throws(StoreDatabaseError) -> [Version] {
        try Self.attempt { try connection.read(StoreRows.versions) }
    }

    /// The bytes of a body as they are on disk, not verified; nil if there is no such row.
    func body(_ name: BodyName) throws(StoreDatabaseError) -> [UInt8]? {
        try Self.attempt {
            try connection.read { database in
                let data = try Data.fetchOne(
                    database.cachedStatement(sql: "SELECT bytes FROM body WHERE scope = ? AND digest = ?"),
                    arguments: [name.scope.rawValue, Data(name.digest.bytes)])
                return data.map { [UInt8]($0) }
            }
        }
    }

    // MARK: Writing

    /// Applies a batch in one transaction: all of it or nothing.
    func write(_ batch: PendingWrites.Batch) throws(StoreDatabaseError) {
        try Self.attempt { try connection.write { try StoreRows.apply(batch, to: $0) } }
    }

    /// What file and log take now.
    func size() throws(StoreDatabaseError) -> Size {
        try Self.attempt {
            try connection.unsafeRead { database in
                let page = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
                let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
                let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
                return Size(file: pages * page, log: logBytes(), free: free * page, page: page)
            }
        }
    }

    /// Moves the log into the file and empties it, unless a reader is in it just now.
    func checkpoint() throws(StoreDatabaseError) {
        guard !isInMemory else { return }
        try Self.attempt {
            do {
                try connection.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                return
            }
        }
    }

    /// Gives free pages back to the file system, at most this many.
    func vacuum(pages: Int) throws(StoreDatabaseError) {
        try Self.attempt {
            try connection.writeWithoutTransaction { database in
                // Each row that the statement is stepped to frees a page.
                _ = try Row.fetchAll(database, sql: "PRAGMA incremental_vacuum(\(pages))")
            }
        }
    }

    private func logBytes() -> Int {
        guard !isInMemory else { return 0 }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
        return attributes?[.size] as? Int ?? 0
    }

    private static func attempt<Result>(_ work: () throws -> Result) throws(StoreDatabaseError) -> Result {
        do {
            return try work()
        } catch {
            throw StoreDatabaseError(error)
        }
    }
}
