internal import Dictionaries
internal import GRDB
internal import GRDBSQLite
internal import Primitives

/// Steps through the rows of a query without an object per row: a store of a million versions opens in
/// seconds.
///
/// Values of other types than requested are nil, because a damaged page can hold any value in any column.
@safe final class RowReader {
    private let statement: Statement
    /// The text of the former row, by column: many rows have the same.
    private var texts: [String]

    init(_ database: Database, sql: String) throws {
        statement = try database.makeStatement(sql: sql)
        texts = Array(repeating: "", count: statement.columnCount)
    }

    // Safe: the statement belongs to this reader, and ends its transaction's hold on it.
    deinit { _ = unsafe sqlite3_reset(statement.sqliteStatement) }

    /// Goes to the next row; returns false if there is none.
    func next() throws -> Bool {
        // Safe: the statement is open as long as this reader, like below.
        let code = unsafe sqlite3_step(statement.sqliteStatement)
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        return code == SQLITE_ROW
    }

    func integer(_ column: Int32) -> Int64? {
        // Safe: as above.
        guard unsafe sqlite3_column_type(statement.sqliteStatement, column) == SQLITE_INTEGER else {
            return nil
        }
        return unsafe sqlite3_column_int64(statement.sqliteStatement, column)
    }

    func text(_ column: Int32) -> String? {
        // Safe: as above; the bytes are valid until the next step, and copied before.
        guard unsafe sqlite3_column_type(statement.sqliteStatement, column) == SQLITE_TEXT,
            let start = unsafe sqlite3_column_text(statement.sqliteStatement, column)
        else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(statement.sqliteStatement, column))
        let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
        let former = texts[Int(column)].utf8
        if unsafe former.span.equals(bytes.span) { return texts[Int(column)] }
        let text = unsafe String(decoding: bytes, as: UTF8.self)
        texts[Int(column)] = text
        return text
    }

    func bytes(_ column: Int32) -> [UInt8]? {
        // Safe: as for `text`.
        guard unsafe sqlite3_column_type(statement.sqliteStatement, column) == SQLITE_BLOB else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(statement.sqliteStatement, column))
        guard count > 0, let start = unsafe sqlite3_column_blob(statement.sqliteStatement, column) else {
            return []
        }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    func digest(_ column: Int32) -> Digest? {
        // Safe: as for `text`; a digest has exactly the bytes that are read.
        guard unsafe sqlite3_column_type(statement.sqliteStatement, column) == SQLITE_BLOB,
            unsafe sqlite3_column_bytes(statement.sqliteStatement, column) == Int32(Digest.byteCount),
            let start = unsafe sqlite3_column_blob(statement.sqliteStatement, column)
        else { return nil }
        return Digest(words: { word in
            unsafe UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 8 * word, as: UInt64.self))
        })
    }
}

extension Row {
    /// Returns the value of a column; nil if there is none, or one of another type, as a damaged page may have.
    ///
    /// GRDB's own subscript ends the process at a value of another type.
    func value<Value: DatabaseValueConvertible>(_ column: Int) -> Value? {
        let value: DatabaseValue = self[column]
        return Value.fromDatabaseValue(value)
    }
}
