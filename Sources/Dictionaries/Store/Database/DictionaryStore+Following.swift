internal import Dispatch
internal import Glibc
internal import Synchronization

/// The one process that writes a store, and those that wait to become it; on the write queue, but for `handOver` and what
/// `init` calls.
///
/// A process without the lock reads what is there and goes on from memory. It takes the store over as soon as the lock is
/// free, and then knows all that the former one has written.
extension DictionaryStore {
    /// Between two looks of the process that writes.
    private static let lookMilliseconds = 250
    /// Between two looks of one that waits for the lock: what it offers must be on disk soon after a hand-over.
    private static let waitMilliseconds = 25
    /// After so many seconds it looks once a second.
    private static let patienceSeconds: UInt64 = 120
    /// A hand-over, or a command, takes less; from then on an operator should know.
    private static let waitingReportSeconds: UInt64 = 3

    /// Looks from now on at regular intervals, until the store is closed or goes.
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

    /// Takes the store over if nobody writes it; does what commands ask of the process that does.
    func follow() {
        let disk = disk.withLock { $0 }
        // A disk that fails is left alone until it is its turn.
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

    /// Takes the lock, unless this process has it; false while another one has it, or was given it.
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

    /// Begins to write: reads the rows anew, under what waits to be written.
    private func takeOver() throws(StoreDatabaseError) {
        // The former connection closes with the last who reads from it.
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

    /// Leaves the store to a successor that waits for it: all that was offered is on disk when the lock goes.
    ///
    /// From here on no body is admitted but those whose offers are out; they get some seconds to come in. Blocks: never
    /// call it on an event loop.
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

    /// What one transaction removes for a command, whose bodies are overwritten in the log and in the file.
    private static let eraseBytesMax = 8 << 20
    private static let eraseCountMax = 64
    /// The steps in which the file shrinks then.
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

    /// Somebody has moved or removed the file: a new one gets what is still in memory.
    private func goOnWithoutFile() {
        let former = disk.withLock { $0.database.take() }
        // Where the file was only moved, its rows are still to be read.
        let names = former.map { self.names(from: $0) } ?? [:]
        former?.close()
        reports.replaced(
            "the store \(configuration.path) was moved or removed while it was in use; what was only there is no "
                + "longer known, the rest goes into a new one: stop the proxy before you move its store")
        restart(names)
    }

    /// The names of versions whose bodies are in memory, and whose names are not.
    func names(from database: StoreDatabase) -> [Int64: VersionNames] {
        var names: [Int64: VersionNames] = [:]
        for version in publisher.index.allVersions() where version.isLaidDown {
            guard hot.withLock({ $0.body(version.bodyName) }) != nil else { continue }
            names[version.id] = try? database.names(ofRow: version.id)
        }
        return names
    }

    /// Begins with an empty or another file, and what is in memory; on the write queue.
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
