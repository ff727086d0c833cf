internal import FoundationEssentials
internal import GRDB

/// The database file: SQL and nothing else.
///
/// Its calls block; the store makes them on its own two queues.
struct StoreDatabase: Sendable {
    /// How much a database takes, in bytes.
    struct Size: Equatable {
        let file: Int
        let log: Int
        /// The index over the log, `-shm`.
        let index: Int
        /// The part of the file that holds nothing.
        let free: Int
        let page: Int
        var total: Int { file + log + index }
        /// The part of the file that holds something.
        var used: Int { file - free }
    }

    let path: String
    let connection: any DatabaseWriter
    /// The file that was opened; nil in memory.
    let identity: StoreFile.Identity?
    /// Fixed when the file was made.
    let pageBytes: Int
    /// What the heads of the versions that are read may take.
    let heads: HeadMemory
    /// `PRAGMA data_version` as it was seen last: another number once another process has written.
    private let dataVersion = Guarded<Int?>(nil)
    /// The newest schema that this program knows.
    private let schemasMax: Int
    /// Without them private rows are neither read nor written.
    private let keys: StoreKeys?

    var isInMemory: Bool { path == ":memory:" }
    /// Whether the path leads to another file by now, or to none.
    var isReplaced: Bool { !isInMemory && StoreFile.identity(of: path) != identity }

    /// Opens the file, makes it if it is missing, and brings its schema up to date.
    ///
    /// The steps are the released ones but in tests.
    init(
        path: String, keys: StoreKeys? = nil, heads: HeadMemory = .none,
        steps: [String] = StoreSchema.steps
    ) throws(StoreDatabaseError) {
        self.path = path
        self.keys = keys
        self.heads = heads
        schemasMax = steps.count
        do {
            connection = try Self.connect(path, schemasMax: steps.count)
            pageBytes = try Self.setting("page_size", of: connection)
        } catch {
            throw StoreDatabaseError(opening: error)
        }
        identity = StoreFile.identity(of: path)
        try attempt { try Self.migrate(connection, steps: steps) }
    }

    /// Opens a file that is there and up to date, as it is, beside the process that writes it.
    init(existing path: String, keys: StoreKeys? = nil, heads: HeadMemory = .none) throws(StoreDatabaseError)
    {
        self.path = path
        self.keys = keys
        self.heads = heads
        schemasMax = StoreSchema.steps.count
        do {
            connection = try Self.visit(path)
            pageBytes = try Self.setting("page_size", of: connection)
        } catch {
            throw StoreDatabaseError(opening: error)
        }
        identity = StoreFile.identity(of: path)
    }

    // MARK: Opening

    private static func connect(_ path: String, schemasMax: Int) throws -> any DatabaseWriter {
        var configuration = Configuration()
        // A transaction of another process, or the making of the file, may take long on a busy disk; nobody but the
        // store's own queue waits for it.
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { database in
            if database.configuration.readonly { return }
            // Before anything is changed, the journal mode included.
            try check(database, path: path, schemasMax: schemasMax)
            // Before the first table is made, like the next. Rows of two kilobytes, as a packed body of a person takes, fill
            // three quarters of such a page, and half of one of 4 KiB.
            try database.execute(sql: "PRAGMA page_size = 8192")
            // Lets the file shrink in small steps later.
            try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            // Overwrites what is deleted in pages that are written anyway; ON, as Debian has it, doubles what an eviction
            // writes, and OFF leaves copies of rows that moved in the free parts of pages, which `rm` could not reach.
            try database.execute(sql: "PRAGMA secure_delete = FAST")
            try database.execute(sql: "PRAGMA journal_size_limit = \(4 << 20)")
        }
        guard path != ":memory:" else { return try DatabaseQueue(configuration: configuration) }
        // Answers of an API are nobody else's business. SQLite gives its log the mode of the database.
        StoreFile.create(path)
        let pool = try DatabasePool(path: path, configuration: configuration)
        // FULL syncs the log once a transaction, so that what was admitted outlives a loss of power too. It
        // costs one sync per batch, on the store's queue; GRDB's NORMAL would leave the last batches in doubt.
        try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            // Holds the inner pages of the indexes of 100,000 versions, which each insertion reads. Not more: a commit
            // goes through all that the cache has, once a balanced tree has lent itself a page number beyond the file.
            try database.execute(sql: "PRAGMA cache_size = -4096")
            // The log goes into the file after 4 MB, as it does by default with smaller pages.
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 500")
        }
        return pool
    }

    private static func visit(_ path: String) throws -> any DatabaseWriter {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.readonly = !FileManager.default.isWritableFile(atPath: path)
        configuration.prepareDatabase { database in
            let needed = StoreSchema.steps.count
            let found = try check(database, path: path, schemasMax: needed)
            guard found == needed else {
                throw StoreError.olderSchema(path: path, found: found, needed: needed)
            }
            if database.configuration.readonly { return }
            // What an operator removes is to be gone: its bytes are overwritten.
            try database.execute(sql: "PRAGMA secure_delete = ON")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// The number that a PRAGMA says, as it is for the connection that writes.
    static func setting(_ pragma: String, of connection: any DatabaseWriter) throws -> Int {
        try connection.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA \(pragma)") ?? 0 }
    }

    /// Refuses a file that this program must not touch; the schema that it has.
    @discardableResult
    private static func check(_ database: Database, path: String, schemasMax: Int) throws -> Int {
        var (application, found, isEmpty) = (0, 0, true)
        // In one view: another process may be making the tables just now.
        try database.inTransaction(.deferred) {
            isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
            application = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            return .commit
        }
        guard application == StoreSchema.applicationID || (application == 0 && isEmpty) else {
            throw StoreError.foreignDatabase(path: path)
        }
        try refuse(schema: found, path: path, schemasMax: schemasMax)
        return found
    }

    private static func refuse(schema found: Int, path: String, schemasMax: Int) throws {
        guard found <= schemasMax else {
            throw StoreError.newerSchema(path: path, found: found, supported: schemasMax)
        }
    }

    /// Takes the steps that the file has not taken, all in one transaction: an end in the middle leaves it as it was.
    private static func migrate(_ connection: any DatabaseWriter, steps: [String]) throws {
        let schema = "PRAGMA user_version"
        guard try connection.read({ try Int.fetchOne($0, sql: schema) ?? 0 }) < steps.count else { return }
        try connection.write { database in
            // Read again: another process may have taken them meanwhile.
            let taken = try Int.fetchOne(database, sql: schema) ?? 0
            guard taken < steps.count else { return }
            for step in steps.dropFirst(max(taken, 0)) { try database.execute(sql: step) }
            try database.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(steps.count)")
        }
    }

    // MARK: Reading

    /// Every version, without the bodies.
    func versions() throws(StoreDatabaseError) -> [Version] {
        var versions: [Version] = []
        try forEachVersion { versions.append($0) }
        return versions
    }

    /// The number of public versions.
    func versionCount() throws(StoreDatabaseError) -> Int {
        try attempt { try connection.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM version") ?? 0 } }
    }

    /// Hands out every version, without the bodies.
    func forEachVersion(_ body: (Version) -> Void) throws(StoreDatabaseError) {
        try attempt { try connection.read { try StoreRows.forEachVersion($0, heads: heads, body) } }
    }

    /// Hands out the row and the URL of every public version.
    func forEachURL(_ body: (Int64, String) -> Void) throws(StoreDatabaseError) {
        try attempt { try connection.read { try StoreRows.forEachURL($0, body) } }
    }

    /// True once another process has written since the last call, and at the first one; a few microseconds.
    func noticesForeignWrites() throws(StoreDatabaseError) -> Bool {
        guard !isInMemory else { return false }
        let seen = try attempt {
            try connection.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA data_version") }
        }
        return dataVersion.withLock { known in
            defer { known = seen }
            return known != seen
        }
    }

    /// Whether the row of a version is there.
    func hasRow(of version: Version) throws(StoreDatabaseError) -> Bool {
        try attempt {
            try connection.read { database in
                let table = version.chain.scope.isPrivate ? "private_version" : "version"
                return try StoreRows.hasRow(version, in: table, database)
            }
        }
    }

    /// Every private version that the keys open, and what they do not.
    func privateVersions() throws(StoreDatabaseError) -> PrivateRows.Found {
        guard let keys else { return PrivateRows.Found() }
        return try attempt { try connection.read { try PrivateRows.find($0, keys) } }
    }

    /// The body of a version as it is on disk, not verified; nil if there is no such row.
    func stored(_ version: Version) throws(StoreDatabaseError) -> StoredBody? {
        try attempt {
            try connection.read { database in
                guard version.chain.scope.tag == nil else {
                    let bytes = try keys.flatMap { try PrivateRows.body(of: version, database, $0) }
                    return bytes.map { StoredBody(row: version.id, bytes: $0, count: nil, base: nil) }
                }
                return try StoreRows.stored(version, database)
            }
        }
    }

    /// The body of a row.
    func stored(row: Int64) throws(StoreDatabaseError) -> StoredBody? {
        try attempt { try connection.read { try StoreRows.stored(row: row, $0) } }
    }

    /// The bytes of a version's whole body, not verified; nil if there is no such row.
    func body(of version: Version) throws(StoreDatabaseError) -> [UInt8]? {
        try attempt {
            try connection.read { database in
                guard !version.chain.scope.isPrivate else {
                    return try keys.flatMap { try PrivateRows.body(of: version, database, $0) }
                }
                return try StoreRows.stored(version, database).map { try StoreRows.whole($0, database) }
            }
        }
    }

    /// The names of a version, which a request needs only rarely; nil if there is no such row.
    func names(ofRow id: Int64) throws(StoreDatabaseError) -> VersionNames? {
        try attempt {
            try connection.read { database in
                for table in ["version", "private_version"] {
                    let row = try Row.fetchOne(
                        database.cachedStatement(
                            sql: "SELECT url, variant, etag, content_type FROM \(table) WHERE id = ?"),
                        arguments: [id])
                    guard let row, let url: String = row[0], let variant: String = row[1] else { continue }
                    return VersionNames(url: url, variant: variant, etag: row[2], contentType: row[3])
                }
                return nil
            }
        }
    }

    // MARK: Writing

    /// Applies a batch in one transaction: all of it or nothing.
    ///
    /// Returns the bases that are gone, so that what should lean on them was written whole.
    @discardableResult
    func write(_ batch: PendingWrites.Batch) throws(StoreDatabaseError) -> Set<Int64> {
        try attempt { try change { try StoreRows.apply(batch, to: $0, keys) } }
    }

    /// Writes in one transaction; not under a newer schema, which a newer program that takes over may have brought.
    func change<Result>(_ work: (Database) throws -> Result) throws -> Result {
        try connection.write { database in
            let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            try Self.refuse(schema: found, path: path, schemasMax: schemasMax)
            return try work(database)
        }
    }

    /// Removes private chains with their versions.
    func removePrivate(chains: [Int64]) throws(StoreDatabaseError) {
        try attempt { try change { try PrivateRows.remove(chains: chains, from: $0) } }
    }

    /// Removes all private rows; returns how many versions there were.
    func removeAllPrivate() throws(StoreDatabaseError) -> Int {
        try attempt { try change { try PrivateRows.removeAll(from: $0) } }
    }

    /// What file and log take now.
    func size() throws(StoreDatabaseError) -> Size {
        try attempt { try connection.unsafeRead(size) }
    }

    /// The same, inside a transaction.
    func size(_ database: Database) throws -> Size {
        let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        return Size(
            // What was given back leaves the file when the log is emptied.
            file: max(pages * pageBytes, fileBytes("")), log: fileBytes("-wal"),
            index: isInMemory ? 0 : max(fileBytes("-shm"), 32_768), free: free * pageBytes, page: pageBytes)
    }

    /// Moves the log into the file and empties it, unless a reader is in it just now.
    func checkpoint() throws(StoreDatabaseError) {
        guard !isInMemory else { return }
        try attempt {
            do {
                try connection.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                return
            }
        }
    }

    /// Gives free pages back to the file system, at most this many.
    func vacuum(pages: Int) throws(StoreDatabaseError) {
        try attempt {
            try connection.write { database in
                // Each row that the statement is stepped to frees a page.
                _ = try Row.fetchAll(database, sql: "PRAGMA incremental_vacuum(\(pages))")
            }
        }
    }

    private func fileBytes(_ suffix: String) -> Int {
        isInMemory ? 0 : StoreFile.bytes(of: path + suffix)
    }

    func attempt<Result>(_ work: () throws -> Result) throws(StoreDatabaseError) -> Result {
        do {
            return try work()
        } catch let error as StoreDatabaseError {
            throw error
        } catch let error as StoreError {
            throw .refused(error)
        } catch {
            throw StoreDatabaseError(error)
        }
    }
}

/// What the response that made a version was called.
struct VersionNames: Sendable {
    let url: String
    let variant: String
    let etag: String?
    let contentType: String?
}
