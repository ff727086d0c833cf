internal import Dispatch
internal import Glibc
internal import Synchronization

/// The lock that makes one process the writer of a store, and the wait of the others for it.
///
/// All of this runs on the write queue, apart from `handOver` and the calls of `init`. A process without the
/// lock reads the rows that exist and continues in memory. Once the lock is free, it takes the store over and
/// reads everything that the former writer has written.
extension DictionaryStore {
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
        writeQueue.asyncAfter(deadline: .now() + .milliseconds(nextLookMilliseconds)) { [weak self] in
            guard let self, !self.disk.withLock({ $0.isClosed }) else { return }
            follow()
            scheduleFollowing()
        }
    }

    private var nextLookMilliseconds: Int {
        guard let since = disk.withLock({ $0.waitingSince }) else { return Self.lookMilliseconds }
        return Self.seconds(since: since) < Self.patienceSeconds ? Self.waitMilliseconds : 1000
    }

    private static func seconds(since start: UInt64) -> UInt64 {
        (DispatchTime.now().uptimeNanoseconds - start) / 1_000_000_000
    }

    /// Takes the store over if no process writes it.
    ///
    /// The writer does what commands have asked for.
    func follow() {
        let disk = disk.withLock { $0 }
        // Leave a failing disk alone until its next attempt is due.
        if let retryAt = disk.retryAt, DispatchTime.now().uptimeNanoseconds < retryAt { return }
        if disk.isHandedOver { return }
        do {
            guard try mayWrite() else { return reportWaiting() }
            guard let database = disk.database, disk.waitingSince == nil else { return try takeOver() }
            if database.isReplaced { return goOnWithoutFile() }
            if try database.noticesForeignWrites() { try removeAsAsked(database) }
        } catch {
            failed(error)
        }
    }

    // MARK: The lock

    /// Takes the lock, unless this process has it.
    ///
    /// Returns false while another process has it, or after a hand-over.
    func mayWrite() throws(StoreDatabaseError) -> Bool {
        guard configuration.path != ":memory:" else { return true }
        let disk = disk.withLock { $0 }
        if disk.isHandedOver { return false }
        if let lock = disk.lock, lock.isInForce { return true }
        switch StoreLock.take(for: configuration.path) {
        case .taken(let lock):
            self.disk.withLock { $0.lock = lock }
            return true
        case .held(let holder):
            self.disk.withLock { disk in
                disk.lock = nil
                disk.holder = holder
                disk.waitingSince = disk.waitingSince ?? DispatchTime.now().uptimeNanoseconds
            }
            return false
        case .failed(let reason):
            throw .unavailable("its lock cannot be taken: \(reason)", connectionLost: true)
        }
    }

    /// Becomes the writer: reads the rows again and applies the pending writes to them.
    private func takeOver() throws(StoreDatabaseError) {
        // The former connection closes with its last reader.
        disk.withLock { disk in
            disk.database = nil
            disk.waitingSince = nil
        }
        try open()
        reports.tookOver("the store \(configuration.path) is written by this process now")
    }

    private func reportWaiting() {
        let disk = disk.withLock { $0 }
        guard let since = disk.waitingSince, Self.seconds(since: since) >= Self.waitingReportSeconds else {
            return
        }
        let holder = disk.holder.map { "process \($0)" } ?? "another process"
        reports.waiting(
            "\(holder) writes the store \(configuration.path): here new dictionaries are kept in memory only until it "
                + "ends; give each proxy a store.path of its own")
    }

    /// Leaves the store to a waiting successor; when the lock is released, everything that was offered is on
    /// disk.
    ///
    /// From now on only bodies that were already offered are admitted; they get some seconds to arrive.
    /// Blocks: never call it on an event loop.
    package func handOver(timeoutSeconds: Double = 5) {
        isLeaving.store(true, ordering: .relaxed)
        let end = DispatchTime.now() + timeoutSeconds
        while hot.withLock({ $0.reservedBytes }) > 0, DispatchTime.now() < end { usleep(5000) }
        flush(timeoutSeconds: timeoutSeconds)
        writeQueue.sync {
            disk.withLock { disk in
                disk.isHandedOver = true
                return disk.lock.take()
            }?.release()
        }
    }

    // MARK: What commands ask for

    /// The upper bound of bytes that one transaction removes for a command, as it overwrites them in log and
    /// file.
    private static let eraseBytesMax = 8 << 20
    private static let eraseCountMax = 64
    /// The upper bound of steps in which the file then shrinks.
    private static let shrinkRoundsMax = 64

    private func removeAsAsked(_ database: StoreDatabase) throws(StoreDatabaseError) {
        var isDone = false
        while case let asked = try database.removalsAsked(max: Self.eraseCountMax), !asked.isEmpty {
            let index = publisher.index
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
            try database.vacuum(pages: 1024)
            try database.checkpoint()
        }
    }

    // MARK: Another file

    /// Starts a new file with what is in memory, after the file was moved or removed.
    private func goOnWithoutFile() {
        let former = disk.withLock { $0.database.take() }
        // A file that was only moved can still be read.
        let names = former.map { self.names(from: $0) } ?? [:]
        former?.close()
        reports.replaced(
            "the store \(configuration.path) was moved or removed while it was in use; what was only there is no "
                + "longer known, the rest goes into a new one: stop the proxy before you move its store")
        restart(names)
    }

    /// Returns the names, from disk, of versions whose bodies are in memory and whose names are not.
    func names(from database: StoreDatabase) -> [Int64: VersionNames] {
        var names: [Int64: VersionNames] = [:]
        for version in publisher.index.allVersions() where version.isLaidDown {
            guard hot.withLock({ $0.body(version.bodyName) }) != nil else { continue }
            names[version.id] = try? database.names(ofRow: version.id)
        }
        return names
    }

    /// Starts with an empty or another file and what is in memory.
    func restart(_ names: [Int64: VersionNames]) {
        let lost = state.withLock { state in
            hot.withLock { hot in
                let (lost, pinned) = state.restart(bodies: { hot.body($0) }, names: names)
                for name in pinned { hot.pin(name) }
                publisher.publish(state.index)
                return lost
            }
        }
        counters.withLock { $0.evictions[.damaged, default: 0] += lost }
        scheduleDrain()
    }
}
