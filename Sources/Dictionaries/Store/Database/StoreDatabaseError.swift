internal import GRDB

/// What the store can do about a failure of its database.
enum StoreDatabaseError: Error {
    /// The file is not what it should be: it is set aside.
    case damaged(String)
    /// The disk takes nothing for now: tried again.
    ///
    /// A lost connection is opened anew.
    case unavailable(String, connectionLost: Bool)
    /// Another process holds the lock: tried again.
    case locked(String)
    /// The disk itself fails: a body that cannot be read is given up, a write is tried again on a new connection.
    case failing(String)
    /// These rows cannot be written, now or later: they are dropped.
    case rejected(String)
    /// The file is none of this program's.
    case refused(StoreError)

    /// Sorts an error from connecting: only a file that SQLite cannot read is taken for damaged, as a file system
    /// without support for the log gives SQLITE_ERROR too.
    init(opening error: any Error) {
        if let error = error as? StoreError {
            self = .refused(error)
            return
        }
        self = StoreDatabaseError(error)
        if case .damaged(let text) = self, let error = error as? DatabaseError,
            ![.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
        {
            self = .unavailable(text, connectionLost: true)
        }
    }

    /// Sorts an error of SQLite or of the file system on an open database, where SQLITE_ERROR means that a table
    /// is missing or is another.
    init(_ error: any Error) {
        guard let error = error as? DatabaseError else {
            self = .unavailable("\(error)", connectionLost: true)
            return
        }
        let text = "\(error.message ?? "no message") (SQLite \(error.extendedResultCode.rawValue))"
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR:
            self = .damaged(text)
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_RANGE:
            self = .rejected(text)
        case .SQLITE_IOERR:
            self = .failing(text)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self = .locked(text)
        case .SQLITE_FULL:
            self = .unavailable(text, connectionLost: false)
        default:
            self = .unavailable(text, connectionLost: true)
        }
    }
}
