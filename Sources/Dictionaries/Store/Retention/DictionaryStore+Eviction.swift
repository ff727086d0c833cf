internal import Dispatch
internal import Synchronization

extension DictionaryStore {
    /// Removes what was not wanted for its `max_age`; call it every second or so, not on an event loop.
    ///
    /// Costs nothing until the earliest expiry is reached; a version is not found after the sweep at its time.
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

    /// Loops read the clock at different times: only beyond so many seconds it was set back.
    private static let clockSecondsMax = 5

    /// Forgets what a clock that was ahead has told, if it was set back since.
    private func turnBack(to now: Int) {
        guard now < latestSecond.load(ordering: .relaxed) - Self.clockSecondsMax else { return }
        latestSecond.store(now, ordering: .relaxed)
        let versions = publisher.index.allVersions()
        for start in stride(from: 0, to: versions.count, by: 64) {
            let group = versions[start..<min(start + 64, versions.count)]
            state.withLock { $0.turnBack(group, to: now) }
        }
    }

    /// Removes what nobody seems to hold any more, a part of it at a time.
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

    /// Takes versions out of the index, for every reader at once, and queues their removal from disk.
    ///
    /// In small groups, so that an admission on an event loop never waits long. Returns how many were still there.
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

    /// Brings an index that was read from disk within its limits; admissions keep it there.
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

    /// Counts versions that went, and lets their bodies go before others.
    func account(_ evicted: StoreState.Evicted) {
        guard !evicted.versions.isEmpty else { return }
        hot.withLock { hot in
            // Yielding first: to take a pin back frees bodies from the end that goes first.
            for (version, _) in evicted.versions { hot.yield(version.bodyName) }
            for name in evicted.unpinned { hot.unpin(name) }
        }
        counters.withLock { counters in
            for (_, reason) in evicted.versions { counters.evictions[reason, default: 0] += 1 }
        }
        scheduleDrain()
    }

    /// While the disk takes nothing, bodies that wait for it take at most half of the memory.
    func keepPendingBounded() {
        let names = Set(hot.withLock { $0.pinnedBeyond($0.bytesMax / 2) })
        guard !names.isEmpty else { return }
        let waiting = state.withLock { $0.pending.insertions.values.map(\.version) }
        evict(waiting.filter { names.contains($0.bodyName) }, reason: .memory)
    }
}
