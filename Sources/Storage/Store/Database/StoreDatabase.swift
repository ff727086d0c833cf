internal import GRDB
internal import Primitives

/// The database file: SQL and nothing else.
///
/// Its calls block; the store makes them on its own two queues.
struct StoreDatabase: Sendable {
    /// The size of a database, in bytes.
    struct Size: Equatable {
        let file: Int
        let log: Int
        /// The index over the log, `-shm`.
        let index: Int
        /// The unused part of the file.
        let free: Int
        let page: Int
        var total: Int { file + log + index }
        var used: Int { file - free }
    }

    let path: String
    let connection: any DatabaseWriter
    /// The identity of the opened file; nil in memory.
    let identity: StoreFile.Identity?
    /// The size of a page, fixed when the file was made.
    let pageBytes: Int
    /// The memory for the heads of the versions that are read.
    let heads: HeadMemory
    /// The last value of `PRAGMA data_version`, which changes once another process has written.
    private let dataVersion = Guarded<Int?>(nil)
    /// The keys of private rows; without them such rows are neither read nor written.
    let keys: StoreKeys?

    var isInMemory: Bool { path == ":memory:" }
    /// True if the path leads to another file by now, or to none.
    var isReplaced: Bool { !isInMemory && StoreFile.identity(of: path) != identity }

    /// Opens the file, and makes it if it is missing; as a visitor, opens an existing file as it is, beside the process
    /// that writes it.
    init(
        path: String, keys: StoreKeys? = nil, heads: HeadMemory = .none, isVisitor: Bool = false
    ) throws(StoreDatabaseError) {
        self.path = path
        self.keys = keys
        self.heads = heads
        do {
            connection = try isVisitor ? Self.visit(path) : Self.connect(path)
            pageBytes = try Self.setting("page_size", of: connection)
        } catch {
            throw StoreDatabaseError(opening: error)
        }
        identity = StoreFile.identity(of: path)
        if !isVisitor { try attempt { try Self.makeTables(connection) } }
    }

    // MARK: Reading

    /// Returns every public version, without the bodies.
    func versions() throws(StoreDatabaseError) -> [Version] {
        var versions: [Version] = []
        try forEachVersion { versions.append($0) }
        return versions
    }

    func versionCount() throws(StoreDatabaseError) -> Int {
        try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM version") ?? 0 }
    }

    /// Returns true if another process has written since the last call, and at the first call; takes a few
    /// microseconds.
    func noticesForeignWrites() throws(StoreDatabaseError) -> Bool {
        guard !isInMemory else { return false }
        let seen = try attempt {
            try connection.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA data_version") }
        }
        return dataVersion.withLock { exchange(&$0, with: seen) != seen }
    }

    /// Has the next call of `noticesForeignWrites` return true.
    func forgetForeignWrites() { dataVersion.withLock { $0 = nil } }

    func hasRow(of version: Version) throws(StoreDatabaseError) -> Bool {
        try read { database in
            let table = version.chainKey.scope.isSealed ? "private_version" : "version"
            let row = try Int.fetchOne(
                database.cachedStatement(sql: "SELECT 1 FROM \(table) WHERE id = ?"), arguments: [version.id])
            return row != nil
        }
    }

    /// Returns the body of a version as it is stored, not verified; nil if there is no such row.
    func stored(_ version: Version) throws(StoreDatabaseError) -> StoredBody? {
        try read { try stored(version, $0) }
    }

    private func stored(_ version: Version, _ database: Database) throws -> StoredBody? {
        guard version.chainKey.scope.isSealed else { return try StoreRows.stored(version, database) }
        let bytes = try keys.flatMap { try PrivateRows.body(of: version, database, $0) }
        return bytes.map { StoredBody(bytes: $0, count: nil, base: nil) }
    }

    func stored(row: Int64) throws(StoreDatabaseError) -> StoredBody? {
        try read { try StoreRows.stored(row: row, $0) }
    }

    /// Returns the bytes of a version's whole body, not verified; nil if there is no such row.
    func body(of version: Version) throws(StoreDatabaseError) -> [UInt8]? {
        try read { database in try stored(version, database).map { try StoreRows.whole($0, database) } }
    }

    /// Returns the URL and the entity tag of a version, which requests need only rarely; nil if there is no such row.
    func names(of version: Version) throws(StoreDatabaseError) -> (url: String, etag: String?)? {
        try read { database in
            let table = version.chainKey.scope.isSealed ? "private_version" : "version"
            let row = try Row.fetchOne(
                database.cachedStatement(sql: "SELECT url, etag FROM \(table) WHERE id = ?"),
                arguments: [version.id])
            guard let row, let url: String = row.value(0) else { return nil }
            return (url == PrivateRows.placeholder(forRow: version.id) ? "" : url, row.value(1))
        }
    }

    // MARK: Writing

    /// Applies a batch in one transaction, all of it or nothing; see `StoreRows.apply`.
    @discardableResult
    func write(_ batch: PendingWrites.Batch) throws(StoreDatabaseError) -> Set<Int64> {
        try change { try StoreRows.apply(batch, to: $0, keys) }
    }

    /// Writes in one transaction, unless another program has changed the schema meanwhile.
    func change<Result>(_ work: (Database) throws -> Result) throws(StoreDatabaseError) -> Result {
        try attempt {
            try connection.write { database in
                try Self.require(schema: Self.schema(of: database), path: path)
                return try work(database)
            }
        }
    }

    func size() throws(StoreDatabaseError) -> Size {
        try attempt { try connection.unsafeRead(size) }
    }

    /// Returns the present size; runs inside a transaction.
    func size(_ database: Database) throws -> Size {
        let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        return Size(
            // Pages that were given back leave the file when the log is emptied.
            file: max(pages * pageBytes, fileBytes("")), log: fileBytes("-wal"),
            index: isInMemory ? 0 : max(fileBytes("-shm"), 32_768), free: free * pageBytes, page: pageBytes)
    }

    /// Moves the log into the file and empties it, unless another process reads it.
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

    /// Returns free pages to the file system, at most this many.
    func giveBack(pages: Int) throws(StoreDatabaseError) {
        try attempt {
            try connection.write { database in
                // Each step of the statement frees one page.
                _ = try Row.fetchAll(database, sql: "PRAGMA incremental_vacuum(\(pages))")
            }
        }
        // Only a checkpoint truncates the file.
        try checkpoint()
    }

    private func fileBytes(_ suffix: String) -> Int {
        isInMemory ? 0 : StoreFile.bytes(of: path + suffix)
    }

    /// Reads in one transaction.
    func read<Result>(_ work: (Database) throws -> Result) throws(StoreDatabaseError) -> Result {
        try attempt { try connection.read(work) }
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
