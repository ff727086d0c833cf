internal import GRDB

/// A failure of the database, classified by how the store reacts to it.
enum StoreDatabaseError: Error {
    /// The file is invalid; it is set aside.
    case damaged(String)
    /// The disk cannot be written for now, mostly because it or a quota is full; the store tries again, on a new connection if
    /// this one is lost.
    case unavailable(String, connectionLost: Bool)
    /// Another process holds a lock; the store tries again.
    case locked(String)
    /// The disk itself fails.
    ///
    /// A body that cannot be read is given up; a write is tried again on a new connection.
    case failing(String)
    /// These rows can never be written; they are dropped.
    case rejected(String)
    /// The file does not belong to this program.
    case refused(StoreError)

    /// Errors of a system that does not let the file grow or change.
    private static let ofWriting: [ResultCode] = [
        .SQLITE_IOERR_WRITE, .SQLITE_IOERR_TRUNCATE, .SQLITE_IOERR_SHMSIZE,
    ]

    var reason: String {
        switch self {
        case .damaged(let reason), .unavailable(let reason, connectionLost: _), .locked(let reason),
            .failing(let reason), .rejected(let reason):
            reason
        case .refused(let error): "\(error)"
        }
    }

    /// Classifies an error of opening a file.
    ///
    /// Only an unreadable file counts as damaged, because SQLite also reports SQLITE_ERROR for a file system
    /// that cannot hold its log.
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

    /// Classifies an error on an open database, where SQLITE_ERROR means a missing or different table.
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
        // A quota, or a disk that can only be read now: what is there can still be read over this connection.
        case .SQLITE_IOERR where Self.ofWriting.contains(error.extendedResultCode):
            self = .unavailable(text, connectionLost: false)
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
