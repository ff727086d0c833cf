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
        let isInMemory: Bool
        var total: Int { file + log + index }
    }

    let path: String
    let connection: any DatabaseWriter
    /// The file that was opened; nil in memory.
    let identity: StoreFile.Identity?
    /// Fixed when the file was made.
    let pageBytes: Int
    /// What the heads of the versions that are read may take.
    let heads: HeadMemory
    /// How far the changes of others were read.
    let position = Guarded(ChangePosition())
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
            pageBytes = try Self.pageBytes(connection)
        } catch {
            throw StoreDatabaseError(opening: error)
        }
        identity = StoreFile.identity(of: path)
        try attempt { try Self.migrate(connection, steps: steps) }
    }

    /// Opens a file that is there and up to date, as it is, beside the proxies that use it.
    init(existing path: String) throws(StoreDatabaseError) {
        self.path = path
        keys = nil
        heads = .none
        schemasMax = StoreSchema.steps.count
        do {
            connection = try Self.visit(path)
            pageBytes = try Self.pageBytes(connection)
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
            // Before the first table is made: lets the file shrink in small steps later.
            try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            // Debian's SQLite overwrites what is deleted with zeroes, which doubles what an eviction writes.
            try database.execute(sql: "PRAGMA secure_delete = OFF")
            try database.execute(sql: "PRAGMA journal_size_limit = \(4 << 20)")
            // A page that changes is in the log once a transaction: what one takes can be told before.
            try database.execute(sql: "PRAGMA cache_spill = OFF")
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
            // As above: what a transaction takes in the log can be told before.
            try database.execute(sql: "PRAGMA cache_spill = OFF")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func pageBytes(_ connection: any DatabaseWriter) throws -> Int {
        try connection.unsafeRead { try Int.fetchOne($0, sql: "PRAGMA page_size") ?? 4096 }
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
        // A step may change every row: what is more than the cache holds goes to the log, not to memory.
        try connection.writeWithoutTransaction { try $0.execute(sql: "PRAGMA cache_spill = ON") }
        try connection.write { database in
            // Read again: another process may have taken them meanwhile.
            let taken = try Int.fetchOne(database, sql: schema) ?? 0
            guard taken < steps.count else { return }
            for step in steps.dropFirst(max(taken, 0)) { try database.execute(sql: step) }
            try database.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(steps.count)")
        }
        try connection.writeWithoutTransaction { try $0.execute(sql: "PRAGMA cache_spill = OFF") }
    }

    // MARK: Reading

    /// Every version, without the bodies; from here on `changes` tells what others do.
    func versions() throws(StoreDatabaseError) -> [Version] {
        try attempt {
            // Before the rows: what is written in between is told once more.
            let seen = try dataVersion()
            let (rows, newest) = try connection.read { database in
                (try StoreRows.versions(database, heads: heads), try StoreRows.lastChange(database))
            }
            position.withLock { $0 = ChangePosition(dataVersion: seen, sequence: newest) }
            return rows
        }
    }

    /// What other processes have changed since the rows were read last; a few microseconds where that is nothing.
    ///
    /// `home` gives the chains that are known already.
    func changes(home: @Sendable (ChainKey) -> Chain?) throws(StoreDatabaseError) -> StoreChanges {
        guard !isInMemory else { return .none }
        return try attempt {
            let seen = try dataVersion()
            let former = position.withLock { $0 }
            guard seen != former.dataVersion else { return .none }
            let (changes, newest) = try connection.read { database in
                (
                    try StoreRows.changes(
                        database, after: former.sequence, keys: keys, heads: heads, home: home),
                    try StoreRows.lastChange(database)
                )
            }
            position.withLock { $0 = ChangePosition(dataVersion: seen, sequence: newest) }
            return changes
        }
    }

    private func dataVersion() throws -> Int? {
        try connection.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA data_version") }
    }

    /// Whether the row of a version is there.
    func hasRow(of version: Version) throws(StoreDatabaseError) -> Bool {
        try attempt {
            try connection.read { database in
                let table = version.chain.scope == .public ? "version" : "private_version"
                return try StoreRows.hasRow(version, in: table, database)
            }
        }
    }

    /// Every private version that the keys open, and what they do not.
    func privateVersions() throws(StoreDatabaseError) -> PrivateRows.Found {
        guard let keys else { return PrivateRows.Found() }
        return try attempt { try connection.read { try PrivateRows.find($0, keys) } }
    }

    /// The bytes of a version's body as they are on disk, not verified; nil if there is no such row.
    func body(of version: Version) throws(StoreDatabaseError) -> [UInt8]? {
        try attempt {
            try connection.read { database in
                guard version.chain.scope == .public else {
                    return try keys.flatMap { try PrivateRows.body(of: version, database, $0) }
                }
                return try StoreRows.body(of: version, database)
            }
        }
    }

    // MARK: Writing

    /// Applies a batch in one transaction: all of it or nothing.
    ///
    /// `hasRoom` is asked inside it, where no other process can write; if it says no, nothing is done, and nil.
    /// Else what could not be renewed, as another process has removed its row.
    func write(_ batch: PendingWrites.Batch, ifRoom hasRoom: (Size) -> Bool = { _ in true })
        throws(StoreDatabaseError) -> [Version]?
    {
        try attempt {
            try change { database in
                guard hasRoom(try size(database)) else { return nil }
                return try StoreRows.apply(batch, to: database, keys)
            }
        }
    }

    /// Writes in one transaction; what is only written here need not be read again.
    ///
    /// Not under a newer schema, which a newer program that takes over may have brought meanwhile.
    private func change<Result>(_ work: (Database) throws -> Result) throws -> Result {
        let (before, result, after) = try connection.write { database in
            let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            try Self.refuse(schema: found, path: path, schemasMax: schemasMax)
            return (
                try StoreRows.lastChange(database), try work(database), try StoreRows.lastChange(database)
            )
        }
        position.withLock { if $0.sequence == before { $0.sequence = after } }
        return result
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
            index: isInMemory ? 0 : max(fileBytes("-shm"), 32_768), free: free * pageBytes, page: pageBytes,
            isInMemory: isInMemory)
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

    /// Gives free pages back to the file system, at most this many, if `hasRoom` says so where nobody else can write.
    func vacuum(pages: Int, ifRoom hasRoom: (Size) -> Bool = { _ in true }) throws(StoreDatabaseError) {
        try attempt {
            try connection.write { database in
                guard hasRoom(try size(database)) else { return }
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
