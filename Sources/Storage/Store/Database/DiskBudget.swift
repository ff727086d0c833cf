/// The space that `max_size` leaves for a transaction; pure.
///
/// The limit bounds the pages in use, and so the file, which fills its free pages before it grows. The log
/// has a separate limit: a batch is in the log first, and in the file once the log is emptied.
struct DiskBudget {
    /// The upper bound of the log, unless a single body is larger.
    static let logBytesMax = 32 << 20
    /// The upper bound of bytes in one transaction, unless it is for a single body.
    static let batchBytesMax = 8 << 20

    let limit: Int
    var size: StoreDatabase.Size
    /// The bytes that the batch adds to the file, estimated from above: a large body begins and ends within a
    /// page.
    private let growth: Int

    init(_ size: StoreDatabase.Size, batch: PendingWrites.Batch, limit: Int) {
        self.limit = limit
        self.size = size
        growth = batch.insertions.reduce(0) { $0 + $1.storedBytes + size.page }
    }

    var fits: Bool { missingBytes <= 0 }

    /// The bytes of versions that must be removed first.
    var missingBytes: Int { size.used + growth - limit }

    /// True if the log must be emptied before the next write.
    var isLogFull: Bool { size.log > Self.logBytesMax / 2 }

    /// The number of free pages to give back when nothing else is to be written.
    ///
    /// There are some if the file is larger than allowed, or much larger than its content.
    var sparePages: Int {
        let isTooLarge = size.file > limit || size.free > max(size.file / 4, 8 << 20)
        return isTooLarge ? min(size.free / size.page, 1024) : 0
    }
}

extension PendingWrites {
    /// The bytes that changes add to the log, which gets each changed page once; mostly estimated from above.
    enum LogBytes {
        static let removal = 32 << 10
        static let update = 8 << 10

        static func insertion(_ version: Version) -> Int { version.storedBytes + (32 << 10) }
    }
}

/// The bytes of a version in the database, estimated from above.
enum StoredSize {
    /// The greatest length of URL and variant together, which stay in memory as long as the version does.
    static let namesMax = 4096
    /// The bytes of a version's rows and their indexes, without its names.
    private static let rowBytes = 768

    /// Returns the bytes of body and rows; names are stored in a table and in an index.
    static func bytes(body: Int, names: Int) -> Int {
        body + rowBytes + 2 * names
    }
}
