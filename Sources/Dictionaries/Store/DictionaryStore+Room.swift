internal import Dispatch
internal import Glibc
internal import Synchronization

/// Everything here runs on the write queue.
extension DictionaryStore {
    /// How long a log that another process keeps from being emptied is waited for.
    private static let crowdedSecondsMax = 2

    /// Makes room for a batch before it is written, so that `maxBytes` holds meanwhile too.
    ///
    /// What is written stands in the log first and in the file later, where it fills free pages before it grows.
    /// False where nothing that is left can go. Throws where the room cannot be had for now, as while another process
    /// reads and the log must stay.
    func makeRoom(for batch: PendingWrites.Batch, in database: StoreDatabase) throws(StoreDatabaseError)
        -> Bool
    {
        var room = try StoreRoom(database.size(), batch: batch, limit: configuration.maxBytes)
        let kept = Set(batch.insertions.map(\.version.id))
        let end = DispatchTime.now() + .seconds(Self.crowdedSecondsMax)
        var idleRounds = 0
        while !room.fits, idleRounds < 3 {
            try database.checkpoint()
            room.size = try database.size()
            if room.fits { break }
            let before = room.size
            if room.size.log > 0 {
                // Another process writes, which is soon over, or reads, which may last.
                if DispatchTime.now() > end { break }
                usleep(10_000)
            } else if room.missingBytes > 0 {
                try removeLeastWanted(room, except: kept, from: database)
            } else {
                try database.vacuum(pages: room.vacuumPages, ifRoom: room.mayVacuum)
            }
            room.size = try database.size()
            idleRounds = before.log == 0 && room.size == before ? idleRounds + 1 : 0
        }
        counters.withLock { $0.diskBytes = room.size.total }
        guard room.fits || batch.isEmpty else {
            guard room.size.log == 0 else {
                throw .unavailable(
                    "another process that reads it keeps its log from being emptied", connectionLost: false)
            }
            return false
        }
        if batch.isEmpty { try giveBack(room, in: database) }
        return true
    }

    /// What a great many evictions left is given back little by little, when nothing is to be written.
    private func giveBack(_ room: StoreRoom, in database: StoreDatabase) throws(StoreDatabaseError) {
        let pages = room.spareVacuumPages
        guard pages > 0, room.size.free > max(room.size.file / 4, 8 << 20) else { return }
        try database.vacuum(pages: pages, ifRoom: room.mayVacuum)
    }

    /// Removes versions until enough of the file is free, in transactions that fit themselves.
    private func removeLeastWanted(_ room: StoreRoom, except kept: Set<Int64>, from database: StoreDatabase)
        throws(StoreDatabaseError)
    {
        // A little more than must, or every batch would come here again.
        var missing = room.missingBytes + configuration.maxBytes / 32
        let now = latestSecond.load(ordering: .relaxed)
        while missing > 0 {
            let evicted = state.withLock { $0.evictLeastWanted(bytes: missing, now: now, except: kept) }
            guard !evicted.versions.isEmpty else { break }
            account(evicted)
            missing -= evicted.versions.reduce(0) { $0 + $1.version.storedBytes }
        }
        var size = room.size
        while true {
            let batch = state.withLock {
                $0.pending.takeRemovals(max: room.removals(size), except: kept)
            }
            if batch.isEmpty { return }
            // Another process may have filled the log meanwhile.
            guard try write(batch, to: database, ifRoom: { room.mayRemove(batch, $0) }) else {
                return restore(batch)
            }
            size = try database.size()
            // The next one has its place in the log too, unless that cannot be emptied.
            guard room.removals(size) < 10 else { continue }
            try database.checkpoint()
            size = try database.size()
            if size.log > 0 { return }
        }
    }
}
