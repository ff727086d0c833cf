/// What `max_size` leaves for a transaction; pure.
///
/// The limit bounds the pages in use, and so the file, which fills its free pages before it grows. The log has a limit of
/// its own: a batch is in it first, and in the file once the log is emptied.
struct StoreRoom {
    /// What the log may take beside the file, unless a single body is larger.
    static let logBytesMax = 32 << 20
    /// What one transaction writes, at most, unless it is for a single body.
    static let batchBytesMax = 8 << 20

    let limit: Int
    /// What the files take now.
    var size: StoreDatabase.Size
    /// What the file needs for the batch, estimated from above: a large body begins a page, and ends within one.
    private let growth: Int

    /// For a batch that is to be written.
    init(_ size: StoreDatabase.Size, batch: PendingWrites.Batch, limit: Int) {
        self.limit = limit
        self.size = size
        growth = batch.insertions.reduce(0) { $0 + $1.storedBytes + size.page }
    }

    /// True if the batch has its place in the file.
    var fits: Bool { missingBytes <= 0 }

    /// How many bytes of versions must go.
    var missingBytes: Int { size.used + growth - limit }

    /// True if the log must be emptied before anything else is written.
    var isLogFull: Bool { size.log > Self.logBytesMax / 2 }

    /// How many free pages to give back where nothing is to be written: those of a file that is larger than it may be,
    /// or very much larger than what is in it.
    var sparePages: Int {
        let isTooLarge = size.file > limit || size.free > max(size.file / 4, 8 << 20)
        return isTooLarge ? min(size.free / size.page, 1024) : 0
    }
}

extension PendingWrites {
    /// What a change writes to the log, which gets each changed page once; estimated, and for the most part from above.
    enum LogBytes {
        static let removal = 32 << 10
        static let update = 8 << 10

        static func insertion(_ version: Version) -> Int { version.storedBytes + (32 << 10) }
    }
}
