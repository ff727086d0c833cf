internal import Dispatch
internal import Primitives

/// The opening of a database, and a new start after damage.
extension StoreWriter {
    /// Opens the database and puts its rows under the pending writes; a damaged file is set aside first.
    func open() throws(StoreDatabaseError) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard try mayWrite() else { return try openForReading() }
        let file = StoreFile.identity(of: configuration.path)
        do {
            try adopt(makeDatabase())
        } catch .damaged(let reason) {
            try setAside(file, because: reason)
            try adopt(makeDatabase())
        }
        // Only now is the file known to be a store; the files of another program stay as they are.
        restrictFiles()
    }

    /// Opens a store that another process writes; has no effect if the file must be made or repaired
    /// first.
    private func openForReading() throws(StoreDatabaseError) {
        guard openDatabase == nil, StoreFile.identity(of: configuration.path) != nil else { return }
        do {
            try adopt(makeDatabase(isVisitor: true))
        } catch .refused(let error) {
            if case .otherSchema(path: _, found: 0) = error { return }
            throw .refused(error)
        } catch {
            return
        }
    }

    private func makeDatabase(isVisitor: Bool = false) throws(StoreDatabaseError) -> StoreDatabase {
        try StoreDatabase(
            path: configuration.path, keys: configuration.keys, heads: memory.heads, isVisitor: isVisitor)
    }

    private func adopt(_ database: StoreDatabase) throws(StoreDatabaseError) {
        let limits = memory.state.withLock { $0.limits }
        let rule = memory.currencyRule
        // Nobody waits for this: meanwhile readers use the former index.
        let loading = StoreLoading(
            StoreState(limits: limits, heads: memory.heads, inUseMax: configuration.versionsInUseMax))
        do {
            loading.reserve(try database.versionCount())
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
        let unneeded = loading.finish { loaded in
            memory.state.withLock { $0.adopt(&loaded) }
        }
        self.database.withLock { $0 = database }
        memory.judgeAll(unless: rule.number, urlsFrom: database)
        memory.reportUnused()
        memory.unpin(unneeded)
        removePurged()
        memory.state.withLock { $0.limitPins() }
        memory.evictBeyondLimits()
        schedule()
    }

    /// Sets the file aside, unless another process has done so already.
    private func setAside(_ file: StoreFile.Identity?, because reason: String) throws(StoreDatabaseError) {
        switch StoreFile.setAside(configuration.path, ifStill: file) {
        case .alreadyGone: return
        case .failed:
            throw .unavailable("it is damaged (\(reason)) and could not be set aside", connectionLost: true)
        case .moved(let target):
            memory.counters.withLock { $0.setAsides += 1 }
            reports.log(
                .error(
                    "the store \(configuration.path) is damaged (\(reason)); it was set aside as \(target) and an "
                        + "empty one is used: delete it, or recover what you want with sqlite3"))
        }
    }

    /// Starts a new file with the versions in memory, after damage was found; leaves the file alone if another process writes it.
    func startAnew(because reason: String) {
        do {
            guard try mayWrite() else { return }
        } catch {
            return failed(error)
        }
        guard let database = database.withLock({ $0.take() }) else {
            // A new file that is damaged at once is the disk's fault; more files would not help.
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

    // MARK: Private versions

    /// Restricts the files to their owner if the store has keys and may hold private data.
    func restrictFiles() {
        guard configuration.keys != nil, configuration.path != ":memory:" else { return }
        switch StoreFile.restrict(configuration.path) {
        case true?:
            configuration.log(
                .warning(
                    "other users could read the store \(configuration.path): its files now have mode 0600"))
        case nil:
            configuration.log(
                .warning(
                    "other users can read the store \(configuration.path), and its mode cannot be changed: chmod 600 it"
                ))
        case false?: break
        }
    }

    /// Returns the private versions of an opened database, and removes those that no client can use.
    func privateVersions(_ database: StoreDatabase) throws(StoreDatabaseError) -> [Version] {
        let mayChange = status.value.waitingSince == nil
        switch configuration.privateRows {
        case .untouched:
            return []
        case .removed:
            let count = mayChange ? (try? database.removeAllPrivate()) ?? 0 : 0
            if count > 0 {
                configuration.log(
                    .info("removed \(count) private dictionaries from the store: no route is private now"))
            }
            return []
        case .used:
            let found = try database.privateVersions()
            guard mayChange, !found.unusableChains.isEmpty else { return found.versions }
            // If the disk fails, they stay there, but are not used.
            try? database.removePrivate(chains: found.unusableChains)
            configuration.log(
                .warning(
                    "removed \(found.unusableVersions) private dictionaries from the store: they were made with "
                        + "a key other than that of store.key_file, or are damaged"))
            return found.versions
        }
    }
}

/// Builds the index on a queue of its own, while the next rows are read and judged.
private final class StoreLoading {
    /// The versions per batch: so many fit into the caches of both processors.
    private static let batchCount = 256
    private static let waitingMax = 4

    private let state: Guarded<StoreState>
    private let queue = DispatchQueue(label: "dictum.store.load")
    private let slots = DispatchSemaphore(value: waitingMax)
    private var batch: [Version] = []
    /// The batches on their way: the thread that made the versions also frees them.
    private var sent: [[Version]] = []

    init(_ empty: consuming StoreState) { state = Guarded(empty) }

    func reserve(_ count: Int) { state.withLock { $0.index.reserve(count) } }

    func add(_ version: Version) {
        batch.append(version)
        if batch.count == Self.batchCount { send() }
    }

    private func send() {
        slots.wait()
        queue.async { [batch, state, slots] in
            state.withLock { state in
                for version in batch { state.load(version, isInUse: false) }
            }
            slots.signal()
        }
        sent.append(batch)
        if sent.count > Self.waitingMax + 1 { sent.removeFirst() }
        batch = []
        batch.reserveCapacity(Self.batchCount)
    }

    /// Calls `use` with the state of all versions that were added, in the order of eviction.
    func finish<Result>(_ use: (inout StoreState) -> Result) -> Result {
        send()
        queue.sync {}
        return state.withLock { state in
            state.index.trim()
            state.retention.sort(in: state.index)
            state.privateOrder.sort()
            return use(&state)
        }
    }
}
