/// Whether a transaction fits into what the files may take, and what must go if it does not.
struct StoreRoom {
    private let limit: Int
    private let logGrowth: Int
    private let fileGrowth: Int
    /// What the files take now.
    var size: StoreDatabase.Size

    /// For a batch that is to be written.
    init(_ size: StoreDatabase.Size, batch: PendingWrites.Batch, limit: Int) {
        let cost = batch.cost(pageBytes: size.page)
        self.limit = limit
        self.size = size
        fileGrowth = batch.insertions.isEmpty ? 0 : cost.fileBytes
        // Each page that is there changes once at most.
        let everyPage = (size.file + fileGrowth) / size.page * (size.page + 32) + 4096
        logGrowth = batch.isEmpty || size.isInMemory ? 0 : min(cost.logBytes, everyPage)
    }

    /// What the file itself may take, so that the log has its place beside it.
    private var fileMax: Int { limit - size.index - logGrowth }

    /// Whether the transaction can be written now.
    var fits: Bool { size.total + logGrowth + max(0, fileGrowth - size.free) <= limit }

    /// How much of the file must become free; what is more than zero takes versions.
    var missingBytes: Int { size.file - fileMax + fileGrowth - size.free }

    /// How many pages of the file to give back next: a page moves, and what points to it changes.
    var vacuumPages: Int {
        let pages = logPages(size)
        let wanted = (size.file - fileMax) / size.page + 1
        return min(max((pages - 16) / 4, 1), max(wanted, 1), 1024)
    }

    /// How many free pages may be given back where nothing needs it: none if the log of that would not fit.
    var spareVacuumPages: Int {
        size.total > limit ? 0 : min(max((logPages(size) - 16) / 4, 0), 1024)
    }

    /// Whether rows may be removed now: always where the log is empty, as there is no other way on.
    func mayRemove(_ batch: PendingWrites.Batch, _ size: StoreDatabase.Size) -> Bool {
        size.log == 0 || size.total + batch.cost(pageBytes: size.page).logBytes <= limit
    }

    /// Whether pages may be given back now, as many as `vacuumPages` and `size` say.
    func mayVacuum(_ now: StoreDatabase.Size) -> Bool {
        now.total <= size.total
    }

    /// How many rows to remove in the next transaction.
    func removals(_ size: StoreDatabase.Size) -> Int {
        var cost = WriteCost(pageBytes: size.page)
        var count = 0
        let pages = logPages(size)
        while count < 1000, cost.add(.removal, within: pages) { count += 1 }
        return max(count, 1)
    }

    /// The pages that the log may get next.
    ///
    /// Files that are beyond the limit already, as after it was lowered, shrink in larger steps.
    private func logPages(_ size: StoreDatabase.Size) -> Int {
        size.total > limit ? 2048 : (limit - size.total) / (size.page + 32)
    }
}
