internal import Dispatch
internal import Glibc
internal import Primitives

/// The space that a batch needs on disk.
extension StoreWriter {
    /// The time to wait for another process that keeps the log from being emptied.
    private static let crowdedSecondsMax = 2
    /// The upper bound of rows that one transaction removes.
    private static let removalsMax = 500

    /// Makes space for a batch before it is written, so that the file stays within `maxBytes`.
    ///
    /// Returns false if nothing is left to remove. Throws if the log is too long and another process keeps it
    /// from being emptied.
    func makeSpace(for batch: PendingWrites.Batch, in database: StoreDatabase) throws(StoreDatabaseError)
        -> Bool
    {
        dispatchPrecondition(condition: .onQueue(queue))
        var budget = DiskBudget(try database.size(), batch: batch, limit: configuration.maxBytes)
        let kept = Set(batch.insertions.map(\.version.id))
        defer { memory.counters.withLock { $0.diskBytes = budget.size.total } }
        if budget.isLogFull { budget.size = try emptyLog(database) }
        while !budget.fits {
            guard try removeLeastWanted(budget.missingBytes, except: kept, from: database) else { break }
            budget.size = try database.size()
        }
        if batch.isEmpty, budget.sparePages > 0 {
            try database.giveBack(pages: budget.sparePages)
            budget.size = try database.size()
        }
        return budget.fits || batch.isEmpty
    }

    /// Moves the log into the file; throws if another process prevents that for too long.
    private func emptyLog(_ database: StoreDatabase) throws(StoreDatabaseError) -> StoreDatabase.Size {
        let end = DispatchTime.now() + .seconds(Self.crowdedSecondsMax)
        while true {
            try database.checkpoint()
            let size = try database.size()
            if size.log <= DiskBudget.logBytesMax - DiskBudget.batchBytesMax { return size }
            guard DispatchTime.now() < end else {
                throw .unavailable(
                    "another process that reads it keeps its log from being emptied", connectionLost: false)
            }
            usleep(10_000)
        }
    }

    /// Removes versions of so many bytes and a reserve, so that not every batch needs this; returns false if
    /// none is left.
    private func removeLeastWanted(_ bytes: Int, except kept: Set<Int64>, from database: StoreDatabase)
        throws(StoreDatabaseError) -> Bool
    {
        let now = memory.now
        var missing = bytes + configuration.maxBytes / 32
        var isSome = false
        while missing > 0 {
            let evicted = memory.state.withLock { state in
                state.evictLeastWanted(bytes: missing, now: now, except: kept)
            }
            guard !evicted.versions.isEmpty else { break }
            isSome = true
            memory.release(evicted)
            schedule()
            missing -= evicted.versions.reduce(0) { $0 + $1.version.storedBytes }
        }
        while true {
            let batch = memory.state.withLock { $0.pending.takeRemovals(max: Self.removalsMax, except: kept) }
            if batch.isEmpty { return isSome }
            isSome = true
            try write(batch, to: database)
            if try database.size().log > DiskBudget.logBytesMax / 2 { _ = try emptyLog(database) }
        }
    }
}
