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
        var loaded = StoreState(
            limits: state.withLock { $0.limits }, heads: heads, inUseMax: configuration.versionsInUseMax)
        let rule = currency.withLock { $0 }
        do {
            loaded.index.reserve(try database.versionCount())
            // Nobody waits for this: what is in use meanwhile is the former index.
            func load(_ version: Version) {
                version.setCurrent(rule.isCurrent(version))
                loaded.load(version)
            }
            try database.forEachVersion(load)
            try privateVersions(database).forEach(load)
        } catch {
            database.close()
            throw error
        }
        loaded.retention.sort(in: loaded.index)
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
