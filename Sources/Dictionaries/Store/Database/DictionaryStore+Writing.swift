internal import Dispatch
internal import Synchronization

/// The transactions of the store.
///
/// All of this runs on the write queue, apart from `scheduleDrain` and the calls of `init`.
extension DictionaryStore {
    /// The time for which admissions are collected for one transaction.
    ///
    /// A version that comes and goes meanwhile is never written.
    private static let batchMilliseconds = 40
    /// The upper bound of bytes in a transaction, unless it is for a single body.
    ///
    /// It keeps one batch from displacing much of a small store.
    private var batchBytesMax: Int { min(StoreRoom.batchBytesMax, configuration.maxBytes / 8) }

    /// Schedules a write of everything that is pending.
    func scheduleDrain() {
        guard !drainIsScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        writeQueue.asyncAfter(deadline: .now() + .milliseconds(Self.batchMilliseconds)) { [weak self] in
            self?.drain()
        }
    }

    /// Writes everything that is pending, one transaction per batch, until the disk fails.
    ///
    /// Later changes are scheduled separately, so that a busy store does not make many small transactions. A
    /// forced drain writes them too.
    func drain(isForced: Bool = false) {
        drainIsScheduled.store(false, ordering: .releasing)
        let indexBytes = publisher.index.memoryBytes + packer.withLock { $0.bytes }
        hot.withLock { $0.makeRoom(forIndex: indexBytes) }
        if isForced { state.withLock { $0.pending.releaseDemands() } }
        do {
            while let database = try usableDatabase(isForced: isForced) {
                keepPrivateBounded()
                var (batch, isLast) = takeBatch()
                pack(&batch)
                let isWritten = try makeRoomAndWrite(batch, to: database)
                if batch.isEmpty { break }
                if isLast, isWritten, !isForced {
                    // Note the size on disk, and give back some free pages.
                    _ = try makeRoom(for: PendingWrites.Batch(), in: database)
                    break
                }
            }
        } catch {
            failed(error)
        }
        if disk.withLock({
            $0.database == nil || $0.retryAt != nil || $0.waitingSince != nil || $0.isHandedOver
        }) {
            keepPendingBounded()
        }
    }

    /// Takes the next batch; `isLast` is true if it is everything.
    private func takeBatch() -> (batch: PendingWrites.Batch, isLast: Bool) {
        state.withLock { state in (state.takeBatch(bytesMax: batchBytesMax), state.pending.isEmpty) }
    }

    /// Gives each body of a batch the form in which it is written.
    private func pack(_ batch: inout PendingWrites.Batch) {
        packer.withLock { packer in
            for place in batch.insertions.indices where !batch.insertions[place].isTried {
                let insertion = batch.insertions[place]
                batch.insertions[place].packed = packer.pack(
                    insertion.body, of: insertion.version, isShared: !insertion.twins.isEmpty)
                batch.insertions[place].isTried = true
            }
        }
    }

    /// Writes a batch; returns false if it must wait because there is no room.
    private func makeRoomAndWrite(_ batch: PendingWrites.Batch, to database: StoreDatabase)
        throws(StoreDatabaseError) -> Bool
    {
        let hasRoom: Bool
        do {
            hasRoom = try makeRoom(for: batch, in: database)
        } catch {
            restore(batch)
            throw error
        }
        guard hasRoom else {
            try giveUp(batch)
            return false
        }
        if batch.isEmpty { return true }
        try write(batch, to: database)
        hot.withLock { hot in
            for insertion in batch.insertions {
                let name = insertion.version.bodyName
                // Until it is requested again, a new chain's body must not displace others in memory.
                if !insertion.version.home.isEstablished { hot.yield(name) }
                if let packed = insertion.packed { hot.keep(packed, as: name) }
                hot.unpin(name)
            }
        }
        noteSealed(batch.insertions)
        account(batch.insertions)
        return true
    }

    /// Puts a batch back and drops its bodies, if no removal can make room for them.
    ///
    /// Later changes need not wait then.
    private func giveUp(_ batch: PendingWrites.Batch) throws(StoreDatabaseError) {
        restore(batch)
        let waiting = state.withLock { state in
            batch.insertions.compactMap { state.pending.insertions[$0.version.id]?.version }
        }
        guard evict(waiting, reason: .size) > 0 else {
            throw .unavailable("store.max_size leaves no room for it", connectionLost: false)
        }
    }

    /// Counts written bodies and returns the bytes saved by packing to the write budget.
    private func account(_ insertions: [PendingWrites.Insertion]) {
        let whole = insertions.reduce(0) { $0 + $1.version.bytes }
        let stored = insertions.reduce(0) { $0 + ($1.packed?.frame.count ?? $1.version.bytes) }
        room.giveBack(whole - stored)
        counters.withLock { counters in
            counters.bodyBytesWritten += whole
            counters.bodyBytesStored += stored
        }
    }

    /// Writes one transaction; puts the batch back if it fails.
    func write(_ batch: PendingWrites.Batch, to database: StoreDatabase) throws(StoreDatabaseError) {
        do {
            let missing = try database.write(batch)
            if !missing.isEmpty {
                let chains = Set(batch.insertions.map(\.version.chain))
                packer.withLock { $0.forget(missing, of: chains) }
            }
        } catch {
            restore(batch)
            packer.withLock { $0.forgetAll() }
            if case .rejected = error { evict(batch.insertions.map(\.version), reason: .damaged) }
            throw error
        }
        state.withLock { $0.pending.written(batch) }
        counters.withLock { $0.transactions += 1 }
        let wasFailing = disk.withLock { $0.retryAt.take() != nil }
        if wasFailing { reports.recovered("the store \(configuration.path) can be written again") }
    }

    /// Puts an unwritten batch back.
    func restore(_ batch: PendingWrites.Batch) {
        unpin(state.withLock { $0.pending.restore(batch) }.map(\.version.bodyName))
    }

    // MARK: A disk that fails

    /// Returns the database, opened again if the connection was lost.
    ///
    /// Returns nil while the disk rests after a failure, while another process writes the store, and once it
    /// is closed.
    private func usableDatabase(isForced: Bool) throws(StoreDatabaseError) -> StoreDatabase? {
        let disk = disk.withLock { $0 }
        guard !disk.isClosed else { return nil }
        if let retryAt = disk.retryAt, !isForced, DispatchTime.now().uptimeNanoseconds < retryAt {
            return nil
        }
        // A waiting process checks by itself; only before it ends does it check here.
        if disk.waitingSince != nil, isForced { follow() }
        if disk.database == nil, self.disk.withLock({ $0.database == nil }) { try open() }
        return self.disk.withLock { $0.isHandedOver || $0.waitingSince != nil ? nil : $0.database }
    }

    /// Reacts to a failure; in every case the store continues in memory.
    func failed(_ error: StoreDatabaseError) {
        counters.withLock { $0.writeErrors += 1 }
        switch error {
        case .damaged(let reason):
            startAnew(because: reason)
        case .rejected(let reason):
            reports.unwritable("the store \(configuration.path) refused rows, which were dropped: \(reason)")
        case .refused(let error):
            rest(connectionLost: true)
            reports.unwritable("\(error); until then dictionaries are kept in memory only")
        case .failing(let reason):
            rest(connectionLost: true)
            reportUnwritable(reason)
        case .locked(let reason):
            rest(connectionLost: false)
            reportUnwritable(reason, remedy: "another process holds its lock, `fuser` names it")
        case .unavailable(let reason, let connectionLost):
            rest(connectionLost: connectionLost)
            reportUnwritable(reason)
        }
    }

    private func reportUnwritable(
        _ reason: String,
        remedy: String = "make room on its disk, let this user write to its folder, or change store.path"
    ) {
        reports.unwritable(
            "the store \(configuration.path) cannot be written: \(reason); dictionaries are kept in memory only "
                + "until it can: \(remedy)")
    }

    private func rest(connectionLost: Bool) {
        let seconds = configuration.retrySeconds
        let lost = disk.withLock { disk in
            disk.retryAt = DispatchTime.now().uptimeNanoseconds + UInt64(max(seconds, 0) * 1e9)
            return connectionLost ? disk.database.take() : nil
        }
        lost?.close()
        writeQueue.asyncAfter(deadline: .now() + seconds) { [weak self] in self?.drain() }
    }
}
