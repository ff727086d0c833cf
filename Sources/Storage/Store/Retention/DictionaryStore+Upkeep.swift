internal import Primitives

/// The upkeep that the proxy asks for: expiry, the rule of currency, and pins.
extension DictionaryStore {
    /// The longest life of a pin; a row that claims more is invalid.
    package static let pinSecondsMax = 366 * 86_400
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

    // MARK: Proofs

    /// Records that the body of a version of a public chain is proven to belong to nobody, for as long as the version is here.
    package func provePublic(_ version: Version) {
        guard !version.isProvenPublic else { return }
        memory.state.withLock { $0.provePublic(version) }
        writer.schedule()
    }

    // MARK: Pins

    /// Names a version of a public chain in Links until some second; until then only damage, full memory or a purge evicts it.
    ///
    /// `former` is the version of the chain and variant that is named now. It keeps its own end, or gets a later one if
    /// it is the same version. Returns false, without a change, if another version is named, if the pins' limits are
    /// reached, or if the version is gone.
    package func name(_ version: Version, replacing former: Version? = nil, until: Int, now: Int) -> Bool {
        let until = min(until, now + Self.pinSecondsMax)
        memory.advance(to: now)
        let isNamed = memory.state.withLock { $0.name(version, replacing: former, until: until, now: now) }
        if isNamed { writer.schedule() }
        return isNamed
    }
}
