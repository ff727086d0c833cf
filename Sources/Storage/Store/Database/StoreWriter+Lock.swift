internal import Dispatch
internal import Primitives

/// The lock that makes one process the writer of a store, and the wait of the others for it.
///
/// A process without the lock reads the rows that exist and continues in memory. Once the lock is free, it takes the
/// store over and reads everything that the former writer has written.
extension StoreWriter {
    /// The interval between two checks by the writer.
    private static let lookMilliseconds = 250
    /// The interval between two checks while waiting: soon after a hand-over, offers must be on disk again.
    private static let waitMilliseconds = 25
    /// The time after which a waiting process checks only once a second.
    private static let patienceSeconds: UInt64 = 120
    /// The time that no hand-over or command takes; later, the operator is told.
    private static let waitingReportSeconds: UInt64 = 3

    /// Checks at regular intervals from now on, until the store is closed or freed.
    func scheduleFollowing() {
        dispatchPrecondition(condition: .onQueue(queue))
        queue.asyncAfter(deadline: .now() + .milliseconds(nextLookMilliseconds)) { [weak self] in
            guard let self, !status.value.isClosed else { return }
            follow()
            scheduleFollowing()
        }
    }

    private var nextLookMilliseconds: Int {
        guard let since = status.value.waitingSince else { return Self.lookMilliseconds }
        return Self.seconds(since: since) < Self.patienceSeconds ? Self.waitMilliseconds : 1000
    }

    private static func seconds(since start: UInt64) -> UInt64 {
        (DispatchTime.now().uptimeNanoseconds - start) / 1_000_000_000
    }

    /// Takes the store over if no process writes it.
    ///
    /// The writer does what commands have asked for.
    func follow() {
        dispatchPrecondition(condition: .onQueue(queue))
        let status = status.value
        // Leave a failing disk alone until its next attempt is due, unless there is another in its place.
        if let retryAt = status.retryAt, DispatchTime.now().uptimeNanoseconds < retryAt,
            openDatabase?.isReplaced != true
        {
            return
        }
        if status.isHandedOver { return }
        do {
            guard try mayWrite() else { return reportWaiting() }
            guard let database = openDatabase, status.waitingSince == nil else { return try takeOver() }
            if database.isReplaced { return goOnWithoutFile() }
            if try database.noticesForeignWrites() { try removeAsAsked(database) }
        } catch {
            failed(error)
            // What commands have asked for stays asked for at the next attempt, also if nobody writes any more.
            if self.status.value.retryAt != nil { openDatabase?.forgetForeignWrites() }
        }
    }

    // MARK: The lock

    /// Takes the lock, unless this process has it.
    ///
    /// Returns false while another process has it, or after a hand-over.
    func mayWrite() throws(StoreDatabaseError) -> Bool {
        guard configuration.path != ":memory:" else { return true }
        if status.value.isHandedOver { return false }
        if let lock = status.value.lock, lock.isInForce { return true }
        // Before the lock is made beside it, which would tell the next start that the file is a store.
        if openDatabase == nil, let refusal = StoreFile.refusal(of: configuration.path) {
            throw .refused(refusal)
        }
        switch StoreLock.take(for: configuration.path) {
        case .taken(let lock):
            status.value.lock = lock
            return true
        case .held(let holder):
            status.value.lock = nil
            status.value.holder = holder
            status.value.waitingSince = status.value.waitingSince ?? DispatchTime.now().uptimeNanoseconds
            return false
        case .failed(let reason):
            throw .unavailable("its lock cannot be taken: \(reason)", connectionLost: true)
        }
    }

    /// Becomes the writer: reads the rows again and applies the pending writes to them.
    private func takeOver() throws(StoreDatabaseError) {
        // The former connection closes with its last reader.
        database.withLock { $0 = nil }
        status.value.waitingSince = nil
        try open()
        reports.tookOver("this process now writes the store \(configuration.path)")
    }

    private func reportWaiting() {
        let status = status.value
        guard let since = status.waitingSince, Self.seconds(since: since) >= Self.waitingReportSeconds else {
            return
        }
        let holder = status.holder.map { "process \($0)" } ?? "another process"
        reports.waiting(
            "\(holder) writes the store \(configuration.path): until it ends, this process keeps new dictionaries in "
                + "memory only; give each proxy a store.path of its own")
    }

    // MARK: Changes by commands

    /// The upper bound of bytes that one transaction removes for a command, as it overwrites them in log and
    /// file.
    private static let eraseBytesMax = 8 << 20
    private static let eraseCountMax = 64
    /// The upper bound of steps in which the file then shrinks.
    private static let shrinkRoundsMax = 64

    private func removeAsAsked(_ database: StoreDatabase) throws(StoreDatabaseError) {
        var isDone = false
        while case let asked = try database.removalsAsked(max: Self.eraseCountMax), !asked.isEmpty {
            let index = memory.index
            var (going, rows, ended): ([Version], [Int64], [Removal]) = ([], [], [])
            var bytes = 0
            for removal in asked where bytes < Self.eraseBytesMax {
                ended.append(removal)
                let version = index.version(row: removal.id)
                guard version.map(removal.stillApplies) ?? true else { continue }
                rows.append(removal.id)
                guard let version else { continue }
                going.append(version)
                bytes += version.bytes
            }
            evict(going, reason: .removed)
            try database.end(ended, removing: rows)
            try database.checkpoint()
            isDone = isDone || !rows.isEmpty
        }
        guard isDone else { return }
        for _ in 0..<Self.shrinkRoundsMax where try database.size().free > 0 {
            try database.giveBack(pages: 1024)
        }
    }

    /// Overwrites versions on disk that are not in the index any more, or asks the process that writes the store to do so.
    ///
    /// The row of one that has come back since is that of a new version. Returns false if rows are left: the
    /// disk fails, or another process has yet to remove them.
    @discardableResult
    func erase(_ removed: [Version]) -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        let versions = removed.filter { memory.index.version(row: $0.id) == nil }
        guard let database = openDatabase else {
            schedule()
            return false
        }
        guard !isFileOfAnother else {
            ask(database, toRemove: versions)
            return versions.isEmpty
        }
        do {
            for some in versions.pieces(of: Self.eraseCountMax) {
                try database.end([], removing: some.map(\.id))
                try database.checkpoint()
            }
        } catch {
            failed(error)
        }
        // Sealed rows go with the pending removals, and so do those of a former order that the disk did not take.
        drain(isForced: true)
        return memory.state.withLock { $0.pending.removals.isEmpty } && status.value.retryAt == nil
    }

    private var isFileOfAnother: Bool { status.value.waitingSince != nil || status.value.isHandedOver }

    /// Asks the process that writes the store to remove versions, until that succeeds.
    ///
    /// No error leads to more than another attempt: what becomes of the file, and when this process takes it over, depends
    /// on its writer.
    private func ask(_ database: StoreDatabase, toRemove versions: [Version]) {
        do {
            try database.ask(for: versions.map { Removal($0, isSparing: false) })
        } catch {
            memory.counters.withLock { $0.writeErrors += 1 }
            reports.unwritten(
                "the process that writes the store \(configuration.path) could not be asked to forget versions: "
                    + "\(error.reason); it is asked again until it can")
            queue.asyncAfter(deadline: .now() + configuration.retrySeconds) { [weak self] in
                // A process that has taken the store over meanwhile has removed them itself.
                guard let self, isFileOfAnother, let database = openDatabase else { return }
                ask(database, toRemove: versions)
            }
        }
    }

    // MARK: Another file

    /// Starts a new file with the versions in memory, after the file was moved or removed.
    private func goOnWithoutFile() {
        let former = database.withLock { $0.take() }
        // A file that was only moved can still be read.
        let names = former.map { self.names(from: $0) } ?? [:]
        former?.close()
        reports.log(
            .error(
                "the store \(configuration.path) was moved or removed while it was in use; versions that were only "
                    + "there are lost, and the others are written to a new one: stop the proxy before you move its "
                    + "store"))
        restart(names)
    }

    /// Returns the names, from disk, of versions whose bodies are in memory and whose names are not.
    func names(from database: StoreDatabase) -> [Int64: (url: String, etag: String?)] {
        var names: [Int64: (url: String, etag: String?)] = [:]
        for version in memory.index.allVersions() where version.isFromRecord {
            guard memory.hot.withLock({ $0.body(version.bodyName) }) != nil else { continue }
            names[version.id] = try? database.names(of: version)
        }
        return names
    }

    /// Starts with an empty or another file and the versions in memory.
    func restart(_ names: [Int64: (url: String, etag: String?)]) {
        let lost = memory.state.withLock { state in
            memory.hot.withLock { hot in
                let (lost, pinned) = state.restart(bodies: { hot.body($0) }, names: names)
                for name in pinned { hot.pin(name) }
                return lost
            }
        }
        memory.counters.withLock { $0.evictions[.damaged, default: 0] += lost }
        schedule()
    }
}
