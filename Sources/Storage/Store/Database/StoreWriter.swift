internal import Dictionaries
internal import Dispatch
internal import Primitives
internal import Synchronization

/// The part of a store that writes its file, confined to a queue of its own.
///
/// `schedule`, `onQueue` and `openDatabase` may be used on any thread, everything else on the queue: `status` and `packer` assert that.
final class StoreWriter: Sendable {
    /// The relation of this process to the file.
    struct Status: Sendable {
        /// The right to write the file; nil in memory.
        var lock: StoreLock?
        /// The time since when another process has the lock, in nanoseconds of uptime, and that process.
        var waitingSince: UInt64?
        var holder: Int32?
        /// True after a hand-over: this process never writes again.
        var isHandedOver = false
        /// The time of the next attempt after a failure, in nanoseconds of uptime.
        var retryAt: UInt64?
        var isClosed = false
    }

    let queue: DispatchQueue
    let memory: StoreMemory
    /// The open database: changed by the writer alone, and read by the loader too.
    let database = Guarded<StoreDatabase?>(nil)
    let status: Confined<Status>
    let packer: Confined<Packer>
    private let isScheduled = Atomic<Bool>(false)

    /// The share of memory for the bases over which bodies are packed.
    private static let packerShare = 8
    /// The time for which admissions are collected for one transaction.
    ///
    /// A version that comes and goes meanwhile is never written.
    private static let batchMilliseconds = 40

    init(_ memory: StoreMemory) {
        let queue = DispatchQueue(label: "dictum.store.write", qos: .utility)
        self.queue = queue
        self.memory = memory
        status = Confined(Status(), to: queue)
        let packerBytes = memory.configuration.memoryBytes / Self.packerShare
        packer = Confined(Packer(bytesMax: packerBytes), to: queue)
    }

    var configuration: StoreConfiguration { memory.configuration }
    var reports: StoreReports { memory.reports }
    var openDatabase: StoreDatabase? { database.withLock { $0 } }

    /// The upper bound of bytes in a transaction, unless it is for a single body.
    ///
    /// It keeps one batch from displacing much of a small store.
    private var batchBytesMax: Int { min(DiskBudget.batchBytesMax, configuration.maxBytes / 8) }

    // MARK: Life

    /// Opens the database; from now on the writer checks the lock regularly.
    func start() throws(StoreError) {
        dispatchPrecondition(condition: .onQueue(queue))
        do {
            try open()
        } catch .refused(let error) {
            throw error
        } catch {
            failed(error)
        }
        if configuration.path != ":memory:" { scheduleFollowing() }
    }

    /// Closes the database for good and releases the lock.
    func close() {
        dispatchPrecondition(condition: .onQueue(queue))
        status.value.isClosed = true
        let (database, lock) = (database.withLock { $0.take() }, status.value.lock.take())
        if lock != nil { try? database?.checkpoint() }
        database?.close()
        lock?.release()
    }

    /// Releases the lock to a successor; this process never writes again.
    func handOver() {
        dispatchPrecondition(condition: .onQueue(queue))
        status.value.isHandedOver = true
        status.value.lock.take()?.release()
    }

    /// Does something after what the queue is at, and waits for it; returns false if time is up before.
    @discardableResult
    func onQueue(within seconds: Double, _ work: @escaping @Sendable (StoreWriter) -> Void) -> Bool {
        let item = DispatchWorkItem { [self] in work(self) }
        queue.async(execute: item)
        return item.wait(timeout: .now() + seconds) == .success
    }

    // MARK: Batches

    func schedule() {
        guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.batchMilliseconds)) { [weak self] in
            self?.drain()
        }
    }

    /// Writes everything that is pending, one transaction per batch, until the disk fails.
    ///
    /// Later changes are scheduled separately, so that a busy store does not make many small transactions. A forced
    /// drain goes on once more, for what making room has removed, but not for as long as changes come.
    func drain(isForced: Bool = false) {
        dispatchPrecondition(condition: .onQueue(queue))
        isScheduled.store(false, ordering: .releasing)
        let indexBytes = memory.index.memoryBytes + packer.value.bytes
        memory.hot.withLock { $0.makeRoom(forIndex: indexBytes) }
        if isForced { memory.state.withLock { $0.pending.releaseDemands() } }
        do {
            var rounds = isForced ? 2 : 1
            while let database = try usableDatabase(isForced: isForced) {
                memory.evictPrivateBeyondBudget()
                var (batch, isLast) = memory.state.withLock { state in
                    (state.takeBatch(bytesMax: batchBytesMax), state.pending.isEmpty)
                }
                pack(&batch)
                let isWritten = try makeSpaceAndWrite(batch, to: database)
                if batch.isEmpty { break }
                if isLast, isWritten { rounds -= 1 }
                if rounds == 0 {
                    // Note the size on disk, and give back some free pages.
                    _ = try makeSpace(for: PendingWrites.Batch(), in: database)
                    break
                }
            }
        } catch {
            failed(error)
        }
        let status = status.value
        if openDatabase == nil || status.retryAt != nil || status.waitingSince != nil || status.isHandedOver {
            memory.evictUnwrittenBeyondMemory()
        }
    }

    /// Gives each body of a batch the form in which it is written.
    private func pack(_ batch: inout PendingWrites.Batch) {
        for place in batch.insertions.indices where !batch.insertions[place].isTried {
            let insertion = batch.insertions[place]
            batch.insertions[place].packed = packer.value.pack(
                insertion.body, of: insertion.version, isShared: !insertion.siblings.isEmpty)
            batch.insertions[place].isTried = true
        }
    }

    /// Writes a batch; returns false if it must wait because there is no space.
    private func makeSpaceAndWrite(_ batch: PendingWrites.Batch, to database: StoreDatabase)
        throws(StoreDatabaseError) -> Bool
    {
        let hasSpace: Bool
        do {
            hasSpace = try makeSpace(for: batch, in: database)
        } catch {
            restore(batch)
            throw error
        }
        guard hasSpace else {
            try giveUp(batch)
            return false
        }
        if batch.isEmpty { return true }
        try write(batch, to: database)
        memory.hot.withLock { hot in
            for insertion in batch.insertions {
                let name = insertion.version.bodyName
                // Until it is requested again, a new chain's body must not displace others in memory.
                if !insertion.version.chain.isEstablished { hot.yield(name) }
                if let packed = insertion.packed { hot.keep(packed, as: name) }
                hot.unpin(name)
            }
        }
        recordSealedSizes(of: batch.insertions)
        countWritten(batch.insertions)
        return true
    }

    /// Puts a batch back and drops its bodies, if no removal can make room for them.
    ///
    /// Later changes need not wait then.
    private func giveUp(_ batch: PendingWrites.Batch) throws(StoreDatabaseError) {
        restore(batch)
        let waiting = memory.state.withLock { state in
            batch.insertions.compactMap { state.pending.insertions[$0.version.id]?.version }
        }
        guard evict(waiting, reason: .size) > 0 else {
            throw .unavailable("store.max_size leaves no room for it", connectionLost: false)
        }
    }

    private func recordSealedSizes(of insertions: [PendingWrites.Insertion]) {
        let written = insertions.filter { $0.version.chainKey.scope.isSealed }
        guard !written.isEmpty else { return }
        memory.state.withLock { state in
            for insertion in written {
                // Another object may stand for the row by now.
                let version = state.index.version(row: insertion.version.id) ?? insertion.version
                let bytes = insertion.packed?.frame.count ?? insertion.body.count
                version.sealedBytes = bytes + SealedBytes.overheadBytes
                state.privateOrder.resize(version)
            }
        }
    }

    /// Counts written bodies and returns the bytes saved by packing to the write budget.
    private func countWritten(_ insertions: [PendingWrites.Insertion]) {
        let whole = insertions.reduce(0) { $0 + $1.version.bytes }
        let stored = insertions.reduce(0) { $0 + ($1.packed?.frame.count ?? $1.version.bytes) }
        memory.budget.giveBack(whole - stored)
        memory.counters.withLock { counters in
            counters.bodyBytesWritten += whole
            counters.bodyBytesStored += stored
        }
    }

    /// Writes one transaction; puts the batch back if it fails.
    func write(_ batch: PendingWrites.Batch, to database: StoreDatabase) throws(StoreDatabaseError) {
        do {
            let missing = try database.write(batch)
            if !missing.isEmpty {
                packer.value.forget(missing, of: Set(batch.insertions.map(\.version.chainKey)))
            }
        } catch {
            restore(batch)
            packer.value.forgetAll()
            if case .rejected = error { evict(batch.insertions.map(\.version), reason: .damaged) }
            throw error
        }
        memory.state.withLock { $0.pending.written(batch) }
        memory.counters.withLock { $0.transactions += 1 }
        let wasFailing = status.value.retryAt.take() != nil
        if wasFailing { reports.recovered("the store \(configuration.path) can be written again") }
    }

    private func restore(_ batch: PendingWrites.Batch) {
        memory.unpin(memory.state.withLock { $0.pending.restore(batch) }.map(\.version.bodyName))
    }

    /// Evicts versions and schedules the write of their removal; returns the number of those that were still there.
    @discardableResult
    func evict(_ versions: [Version], reason: StoreStatistics.Eviction) -> Int {
        let count = memory.evict(versions, reason: reason)
        if count > 0 { schedule() }
        return count
    }

    // MARK: A disk that fails

    /// Returns the database, opened again if the connection was lost.
    ///
    /// Returns nil in the pause after a failure of the disk, while another process writes the store, and once it is closed.
    private func usableDatabase(isForced: Bool) throws(StoreDatabaseError) -> StoreDatabase? {
        guard !status.value.isClosed else { return nil }
        if let retryAt = status.value.retryAt, !isForced, DispatchTime.now().uptimeNanoseconds < retryAt {
            return nil
        }
        // A waiting process checks by itself; only before it ends does it check here.
        let wasOpen = openDatabase != nil
        if status.value.waitingSince != nil, isForced { follow() }
        if !wasOpen, openDatabase == nil { try open() }
        return status.value.isHandedOver || status.value.waitingSince != nil ? nil : openDatabase
    }

    /// Reacts to a failure; in every case the store continues in memory.
    func failed(_ error: StoreDatabaseError) {
        dispatchPrecondition(condition: .onQueue(queue))
        memory.counters.withLock { $0.writeErrors += 1 }
        switch error {
        case .damaged(let reason):
            startAnew(because: reason)
        case .rejected(let reason):
            reports.unwritten("the store \(configuration.path) refused rows, which were dropped: \(reason)")
        case .refused(let error):
            retryLater(connectionLost: true)
            reports.unwritable("\(error); until then dictionaries are kept in memory only")
        case .failing(let reason):
            retryLater(connectionLost: true)
            reportUnwritable(reason)
        case .locked(let reason):
            retryLater(connectionLost: false)
            reportUnwritable(reason, remedy: "another process holds its lock, `fuser` names it")
        case .unavailable(let reason, let connectionLost):
            retryLater(connectionLost: connectionLost)
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

    private func retryLater(connectionLost: Bool) {
        let seconds = configuration.retrySeconds
        status.value.retryAt = DispatchTime.now().uptimeNanoseconds + UInt64(max(seconds, 0) * 1e9)
        if connectionLost { database.withLock { $0.take() }?.close() }
        queue.asyncAfter(deadline: .now() + seconds) { [weak self] in self?.drain() }
    }
}

/// A value that one serial queue owns: every access asserts that it runs there.
// @unchecked proof: accesses run on a serial queue, as each asserts, so that no two overlap.
final class Confined<Value: Sendable>: @unchecked Sendable {
    private var stored: Value
    private let queue: DispatchQueue

    init(_ value: Value, to queue: DispatchQueue) {
        stored = value
        self.queue = queue
    }

    var value: Value {
        _read {
            dispatchPrecondition(condition: .onQueue(queue))
            yield stored
        }
        _modify {
            dispatchPrecondition(condition: .onQueue(queue))
            yield &stored
        }
    }
}
