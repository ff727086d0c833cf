internal import Primitives

/// The upkeep of a store and of its file: expiry, the rule of currency, purges.
///
/// Safe from any thread, but no member is for an event loop: each visits many versions, or waits for the disk.
package struct StoreUpkeep: Sendable {
    let memory: StoreMemory
    let writer: StoreWriter

    /// The difference above which the clock was set back; smaller ones come from loops that read it at different times.
    private static let clockSecondsMax = 5
    /// The upper bound of groups of silent versions that one sweep removes.
    private static let silentGroupsMax = 256

    // MARK: Expiry

    /// Removes versions that were not wanted for their `max_age`, and those whose clients are silent.
    ///
    /// Call it about every second, not on an event loop.
    ///
    /// No expired version is found after the sweep.
    package func sweep(now: Int) {
        let now = min(now, Version.secondsMax)
        turnBack(to: now)
        memory.advance(to: now)
        var count = evictSilent(now: now)
        let due = memory.state.withLock { state in
            now >= state.earliestExpiry ? state.beginExpiry() : nil
        }
        if let due {
            let expired = due.expired(now: now)
            memory.state.withLock { $0.endExpiry(earliest: expired.next) }
            count += memory.evict(expired.versions, reason: .age)
        }
        let isWaiting = memory.state.withLock { state in
            state.pending.releaseDemands(now: now)
            return state.pending.count > 0
        }
        if count > 0 || isWaiting { writer.schedule() }
    }

    /// Forgets future times if the clock was set back.
    private func turnBack(to now: Int) {
        guard now < memory.now - Self.clockSecondsMax else { return }
        memory.turnBack(to: now)
        memory.state.withLock { $0.purges.turnBack(to: Int64(now) * 1_000_000) }
        for group in memory.index.allVersions().pieces(of: StoreMemory.groupCount) {
            memory.state.withLock { $0.turnBack(group, to: now) }
        }
    }

    /// Removes versions that seem to have no holder any more, a group at a time; returns their number.
    private func evictSilent(now: Int) -> Int {
        var count = 0
        for _ in 0..<Self.silentGroupsMax {
            var found = 0
            count += memory.evict { found = $0.evictSilent(now: now, into: &$1) }
            if found < StoreState.removalsPerSweepMax { break }
        }
        return count
    }

    // MARK: Currency

    /// Uses only versions that are current by this rule from now on; the others stay and may become current again.
    ///
    /// Call it when the routes have changed, not on an event loop: it examines every version. When it returns, no
    /// reader finds any other.
    package func restrict(to isCurrent: @escaping @Sendable (Version) -> Bool) {
        memory.setCurrency(isCurrent)
        memory.judgeAll(urlsFrom: writer.openDatabase)
        memory.reportUnused()
    }

    // MARK: Writing

    /// Waits until everything that is pending is on disk; returns false if the disk fails or time is up.
    @discardableResult
    package func flush(timeoutSeconds: Double = 5) -> Bool {
        guard writer.onQueue(within: timeoutSeconds, { $0.drain(isForced: true) }) else { return false }
        return memory.state.withLock { $0.pending.count } == 0
    }
}
