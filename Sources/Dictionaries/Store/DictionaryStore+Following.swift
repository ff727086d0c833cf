internal import Dispatch
internal import Synchronization

/// Keeping up with other processes on the same file; on the write queue, but for what `init` calls.
extension DictionaryStore {
    /// Between two looks at whether somebody else has written, which cost some microseconds.
    private static let lookMilliseconds = 250

    /// Looks from now on at regular intervals, until the store is closed or goes.
    func scheduleFollowing() {
        let next = DispatchTime.now() + .milliseconds(Self.lookMilliseconds)
        writeQueue.asyncAfter(deadline: next) { [weak self] in
            guard let self, !self.disk.withLock({ $0.isClosed }) else { return }
            follow()
            scheduleFollowing()
        }
    }

    /// Takes over what other processes have written, if they have.
    func follow() {
        let disk = disk.withLock { $0 }
        // A disk that fails is left alone until it is its turn.
        if let retryAt = disk.retryAt, DispatchTime.now().uptimeNanoseconds < retryAt { return }
        guard let database = disk.database else { return }
        if database.isReplaced { return goOnWithoutFile() }
        do {
            try catchUp(with: database)
        } catch {
            failed(error)
        }
    }

    /// Reads what others have changed, if they have, into the index, under what waits to be written.
    ///
    /// Not while a batch is on its way: what is in it is neither on disk nor among what waits.
    func catchUp(with database: StoreDatabase) throws(StoreDatabaseError) {
        let index = publisher.index
        switch try database.changes(home: index.chain) {
        case .none: return
        case .some(let changes): merge(changes)
        case .everything(let rows):
            let present = Set(rows.map(\.id))
            let gone = index.allVersions().filter { !present.contains($0.id) }
            merge(
                gone.map { StoreChanges.Change(id: $0.id, version: nil) }
                    + rows.map { StoreChanges.Change(id: $0.id, version: $0) })
        }
        keepPinsBounded()
        keepBounded()
        keepPrivateBounded()
        if state.withLock({ $0.pending.count }) > 0 { scheduleDrain() }
    }

    /// In small groups, so that an admission on an event loop never waits long.
    private func merge(_ changes: [StoreChanges.Change]) {
        let rule = judge(changes.lazy.compactMap(\.version))
        let index = publisher.index
        defer { judge(changes.lazy.compactMap { index.version(row: $0.id) }, unless: rule) }
        let now = latestSecond.load(ordering: .relaxed)
        for start in stride(from: 0, to: changes.count, by: 64) {
            let group = changes[start..<min(start + 64, changes.count)]
            let merged = state.withLock { state in
                hot.withLock { hot in
                    let merged = state.merge(group, now: now) { hot.body($0) }
                    for name in merged.pinned { hot.pin(name) }
                    return merged
                }
            }
            account(merged.evicted)
            unpin(merged.unpinned)
        }
    }

    /// Somebody has moved or removed the file: a new one gets what is still in memory.
    private func goOnWithoutFile() {
        disk.withLock { $0.database.take() }?.close()
        reports.replaced(
            "the store \(configuration.path) was moved or removed while it was in use; what was only there is no "
                + "longer known, the rest goes into a new one: stop the proxy before you move its store")
        restart()
    }

    /// Begins with an empty or another file, and what is in memory; on the write queue.
    func restart() {
        let lost = state.withLock { state in
            hot.withLock { hot in
                let (lost, pinned) = state.restart { hot.body($0) }
                for name in pinned { hot.pin(name) }
                publisher.publish(state.index)
                return lost
            }
        }
        counters.withLock { $0.evictions[.damaged, default: 0] += lost }
        scheduleDrain()
    }
}
