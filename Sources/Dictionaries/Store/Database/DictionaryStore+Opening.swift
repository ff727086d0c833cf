internal import Dispatch

/// How a database comes and goes; on the write queue, but for `init`.
extension DictionaryStore {
    /// Opens the database and puts its rows under what is in memory; a damaged file is set aside first.
    func open() throws(StoreDatabaseError) {
        guard try mayWrite() else { return try openForReading() }
        let file = StoreFile.identity(of: configuration.path)
        do {
            try adopt(StoreDatabase(path: configuration.path, keys: configuration.keys, heads: heads))
        } catch .damaged(let reason) {
            try setAside(file, because: reason)
            try adopt(StoreDatabase(path: configuration.path, keys: configuration.keys, heads: heads))
        }
        // Not before it is known to be a store: the files of another program are left as they are.
        restrictFiles()
    }

    /// Opens what another process writes; without effect where it has to be made, migrated or repaired before.
    private func openForReading() throws(StoreDatabaseError) {
        guard disk.withLock({ $0.database == nil }), StoreFile.identity(of: configuration.path) != nil else {
            return
        }
        do {
            try adopt(StoreDatabase(existing: configuration.path, keys: configuration.keys, heads: heads))
        } catch .refused(let error) {
            if case .olderSchema = error { return }
            throw .refused(error)
        } catch {
            return
        }
    }

    private func adopt(_ database: StoreDatabase) throws(StoreDatabaseError) {
        let empty = StoreState(
            limits: state.withLock { $0.limits }, heads: heads, inUseMax: configuration.versionsInUseMax)
        let rule = currency.withLock { $0 }
        // Nobody waits for this: what is in use meanwhile is the former index.
        let loading = StoreLoading(empty)
        do {
            empty.index.reserve(try database.versionCount())
            try database.forEachVersion { version in
                version.setCurrent(rule.isCurrent(version))
                loading.add(version)
            }
            for version in try privateVersions(database) {
                version.setCurrent(rule.isCurrent(version))
                loading.add(version)
            }
        } catch {
            database.close()
            throw error
        }
        let loaded = loading.finish()
        let unneeded = state.withLock { state in
            let unneeded = state.adopt(loaded)
            publisher.publish(state.index)
            return unneeded
        }
        disk.withLock { $0.database = database }
        judgeAll(unless: rule.number)
        reportUnused()
        unpin(unneeded)
        keepPinsBounded()
        keepBounded()
        scheduleDrain()
    }

    /// Gives the name to a new file, unless another process has done so already.
    private func setAside(_ file: StoreFile.Identity?, because reason: String) throws(StoreDatabaseError) {
        switch StoreFile.setAside(configuration.path, ifStill: file) {
        case .alreadyGone: return
        case .failed:
            throw .unavailable("it is damaged (\(reason)) and could not be set aside", connectionLost: true)
        case .moved(let target):
            counters.withLock { $0.setAsides += 1 }
            reports.damaged(
                "the store \(configuration.path) is damaged (\(reason)); it was set aside as \(target) and an "
                    + "empty one is used: delete it, or recover what you want with sqlite3")
        }
    }

    /// After damage found while running: a new file, with all that is still in memory.
    func startAnew(because reason: String) {
        guard let database = disk.withLock({ $0.database.take() }) else {
            // A new file that is damaged at once: the disk's fault, and more files would not help.
            return failed(.unavailable(reason, connectionLost: true))
        }
        let names = names(from: database)
        database.close()
        do {
            try setAside(database.identity, because: reason)
        } catch {
            failed(error)
            return
        }
        restart(names)
    }
}

/// Builds the index on a queue of its own, while the next rows are read and judged.
private final class StoreLoading {
    // So many as both threads find in the caches of their processors.
    private static let batchCount = 256
    private static let waitingMax = 4

    private let state: Guarded<StoreState>
    private let queue = DispatchQueue(label: "dictum.store.load")
    private let room = DispatchSemaphore(value: waitingMax)
    private var batch: [Version] = []
    /// Those on the way: the thread that made them frees them, too.
    private var sent: [[Version]] = []

    init(_ empty: StoreState) { state = Guarded(empty) }

    func add(_ version: Version) {
        batch.append(version)
        if batch.count == Self.batchCount { flush() }
    }

    private func flush() {
        room.wait()
        queue.async { [batch, state, room] in
            state.withLock { state in
                for version in batch { state.load(version, isInUse: false) }
            }
            room.signal()
        }
        sent.append(batch)
        if sent.count > Self.waitingMax + 1 { sent.removeFirst() }
        batch = []
        batch.reserveCapacity(Self.batchCount)
    }

    /// The state with all that was added, in the order of eviction.
    func finish() -> StoreState {
        flush()
        return queue.sync {
            state.withLock { state in
                // Nothing of it stays here, or each change to it would copy it.
                var loaded = StoreState(limits: state.limits, heads: state.heads)
                swap(&loaded, &state)
                loaded.index.trim()
                loaded.retention.sort(in: loaded.index)
                return loaded
            }
        }
    }
}
