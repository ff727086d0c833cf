internal import Dispatch
internal import Synchronization

extension DictionaryStore {
    /// Removes versions that were not wanted for their `max_age`.
    ///
    /// Call it about every second, not on an event loop.
    ///
    /// It costs nothing until the earliest expiry is reached. No expired version is found after the sweep.
    package func sweep(now: Int) {
        let now = min(now, Version.secondsMax)
        turnBack(to: now)
        noteTime(now)
        removeOverdue(now: now)
        let due = state.withLock { state in
            now >= state.earliestExpiry ? state.beginExpiry() : nil
        }
        if let due {
            let expired = due.expired(now: now)
            state.withLock { $0.endExpiry(earliest: expired.next) }
            evict(expired.versions, reason: .age)
        }
        let isWaiting = state.withLock { state in
            state.pending.releaseDemands(now: now)
            return state.pending.count > 0
        }
        if isWaiting { scheduleDrain() }
    }

    /// The difference above which the clock was set back; smaller ones come from loops that read it at
    /// different times.
    private static let clockSecondsMax = 5

    /// Forgets future times if the clock was set back.
    private func turnBack(to now: Int) {
        guard now < latestSecond.load(ordering: .relaxed) - Self.clockSecondsMax else { return }
        latestSecond.store(now, ordering: .relaxed)
        let versions = publisher.index.allVersions()
        for start in stride(from: 0, to: versions.count, by: 64) {
            let group = versions[start..<min(start + 64, versions.count)]
            state.withLock { $0.turnBack(group, to: now) }
        }
    }

    /// Removes versions that seem to have no holder any more, a part at a time.
    private func removeOverdue(now: Int) {
        for _ in 0..<Self.overdueRounds {
            let (evicted, count) = state.withLock { state in
                var evicted = StoreState.Evicted()
                let count = state.removeOverdue(now: now, into: &evicted)
                return (evicted, count)
            }
            account(evicted)
            if count < StoreState.overdueMax { return }
        }
    }

    private static let overdueRounds = 256

    /// Removes versions from the index, for every reader at once, and queues their removal from disk.
    ///
    /// It works in small groups, so that an admission on an event loop never waits long. Returns the number
    /// of versions that were still there.
    @discardableResult
    func evict(_ versions: [Version], reason: StoreStatistics.Eviction) -> Int {
        var count = 0
        for start in stride(from: 0, to: versions.count, by: 64) {
            let group = versions[start..<min(start + 64, versions.count)]
            let evicted = state.withLock { state in
                var evicted = StoreState.Evicted()
                state.remove(group, reason: reason, into: &evicted)
                return evicted
            }
            account(evicted)
            count += evicted.versions.count
        }
        return count
    }

    /// Evicts until an index that was read from disk is within its limits; admissions keep it there.
    func keepBounded() {
        let now = latestSecond.load(ordering: .relaxed)
        var isWithin = false
        while !isWithin {
            let evicted = state.withLock { state in
                var evicted = StoreState.Evicted()
                state.keepBounded(now: now, into: &evicted)
                return evicted
            }
            account(evicted)
            isWithin = evicted.versions.isEmpty
        }
    }

    /// Counts evicted versions and makes their bodies the first to leave memory.
    func account(_ evicted: StoreState.Evicted) {
        guard !evicted.versions.isEmpty else { return }
        hot.withLock { hot in
            // First of all, as unpinning frees bodies from that end of the order.
            for (version, _) in evicted.versions { hot.yield(version.bodyName) }
            for name in evicted.unpinned { hot.unpin(name) }
        }
        counters.withLock { counters in
            for (_, reason) in evicted.versions { counters.evictions[reason, default: 0] += 1 }
        }
        scheduleDrain()
    }

    /// Bounds the bodies that wait for a failing disk to half of the memory.
    func keepPendingBounded() {
        let names = Set(hot.withLock { $0.pinnedBeyond($0.bytesMax / 2) })
        guard !names.isEmpty else { return }
        let waiting = state.withLock { $0.pending.insertions.values.map(\.version) }
        evict(waiting.filter { names.contains($0.bodyName) }, reason: .memory)
    }
}
