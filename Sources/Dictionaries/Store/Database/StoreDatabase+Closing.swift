internal import GRDB
internal import GRDBSQLite

extension StoreDatabase {
    /// Closes the connections; every later call fails as unavailable.
    func close() {
        if isReplaced { keepLog() }
        // An error means that a statement is still running; the connection then closes with its last
        // reference.
        try? connection.close()
    }

    /// Keeps SQLite from removing the log: it would remove it by name, and the name is that of the new file's
    /// log by now.
    private func keepLog() {
        connection.writeWithoutTransaction { database in
            var isKept: Int32 = 1
            // Safe: `isKept` is an int, as this call wants it, and outlives it; the connection is open.
            _ = unsafe sqlite3_file_control(
                database.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &isKept)
        }
    }
}
