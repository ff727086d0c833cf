internal import Dispatch

extension DictionaryStore {
    /// Removes what was not wanted for its `max_age`; call it every second or so, not on an event loop.
    ///
    /// Costs nothing until the earliest expiry is reached; a version is not found after the sweep at its time.
    package func sweep(now: Int) {
        let now = min(now, Version.secondsMax)
        noteTime(now)
        churn.sweep(now: now) { publisher.index }
        let due = state.withLock { state in
            now >= state.earliestExpiry ? state.beginExpiry() : nil
        }
        if let due {
            var earliest = Int.max
            var expired: [Version] = []
            for version in due.allVersions() {
                if version.expiry <= now {
                    expired.append(version)
                } else {
                    earliest = min(earliest, version.expiry)
                }
            }
            state.withLock { $0.endExpiry(earliest: earliest) }
            evict(expired, reason: .age)
        }
        if state.withLock({ $0.pending.count }) > 0 { scheduleDrain() }
    }

    /// Takes versions out of the index, for every reader at once, and queues their removal from disk.
    ///
    /// In small groups, so that an admission on an event loop never waits long. Returns how many were still there.
    @discardableResult
    func evict(_ versions: [Version], reason: StoreStatistics.Eviction) -> Int {
        var count = 0
        for start in stride(from: 0, to: versions.count, by: 64) {
            let group = versions[start..<min(start + 64, versions.count)]
            let (removed, unpinned) = state.withLock { state in
                let result = state.remove(group)
                if result.removed > 0 { publisher.publish(state.index) }
                return result
            }
            if removed > 0 { buryRemoved(because: reason) }
            unpin(unpinned)
            count += removed
        }
        guard count > 0 else { return 0 }
        counters.withLock { $0.evictions[reason, default: 0] += count }
        scheduleDrain()
        return count
    }

    /// Keeps to `maxChains`: the chains that were wanted the longest ago go, a few more than must.
    func keepChainsBounded() {
        let index = publisher.index
        let limit = configuration.maxChains
        // What private chains have too many of is theirs to lose.
        let count = index.chainCount - max(0, index.privateChainCount - privateChainsMax)
        guard count > limit else { return }
        let chains = index.allChains().filter { !$0.versions.contains(where: isPinned) }.map { chain in
            (
                lastWanted: chain.versions.map(\.lastWanted).max() ?? 0, rank: chain.versions.last?.rank ?? 0,
                chain.versions
            )
        }
        let victims = chains.sorted { ($0.lastWanted, $0.rank) < ($1.lastWanted, $1.rank) }
            .prefix(count - limit + limit / 64)
        evict(victims.flatMap(\.2), reason: .chains)
    }

    /// While the disk takes nothing, bodies that wait for it take at most half of the memory.
    func keepPendingBounded() {
        let names = Set(hot.withLock { $0.pinnedBeyond(configuration.memoryBytes / 2) })
        guard !names.isEmpty else { return }
        let waiting = state.withLock { $0.pending.insertions.values.map(\.version) }
        evict(waiting.filter { names.contains($0.bodyName) }, reason: .memory)
    }

    // MARK: Room on disk

    /// Makes room for bodies of this size before they are written, so that `maxBytes` holds meanwhile too.
    ///
    /// What is written stands in the log first and in the file later, where it fills free pages before it grows.
    func makeRoom(for bodyBytes: Int, in database: StoreDatabase) throws(StoreDatabaseError) {
        let needed = Self.bytesNeeded(for: bodyBytes)
        var size = try database.size()
        if excess(size, needed: needed) > 0 {
            // What another process has just written can make room like anything else.
            try catchUp(with: database)
            try database.checkpoint()
            size = try database.size()
        }
        // A little more than must, or every batch would come here again.
        let wanted = needed + configuration.maxBytes / 32
        // Bodies that versions share free less than they weigh: hence more than one round, but not endless ones.
        for _ in 0..<8 where excess(size, needed: needed) > 0 {
            // What the file must give back, and what must then still be free in it.
            let missing = max(0, size.total + wanted - configuration.maxBytes) + wanted - size.free
            if missing > 0, try !removeLeastWanted(bytes: missing, from: database), size.free == 0 { break }
            try shrink(database, needed: wanted)
            size = try database.size()
        }
        // What a great many evictions left is given back little by little.
        if size.free > max(size.file / 4, 8 << 20) { try database.vacuum(pages: 1024) }
        counters.withLock { $0.diskBytes = size.total }
    }

    private static func bytesNeeded(for bodyBytes: Int) -> Int { bodyBytes + bodyBytes / 16 + 64 * 1024 }

    /// Whether the files would go beyond `maxBytes` if bodies of this size were written now.
    func lacksRoom(_ size: StoreDatabase.Size, for bodyBytes: Int) -> Bool {
        excess(size, needed: Self.bytesNeeded(for: bodyBytes)) > 0
    }

    /// By how much the files would go beyond `maxBytes`.
    private func excess(_ size: StoreDatabase.Size, needed: Int) -> Int {
        size.total + needed + max(0, needed - size.free) - configuration.maxBytes
    }

    private func removeLeastWanted(bytes: Int, from database: StoreDatabase) throws(StoreDatabaseError)
        -> Bool
    {
        let waiting = state.withLock { Set($0.pending.insertions.keys) }
        let versions = publisher.index.allVersions().filter { !waiting.contains($0.id) && !isPinned($0) }
            .sorted { ($0.lastWanted, $0.rank) < ($1.lastWanted, $1.rank) }
        var victims: [Version] = []
        var found = 0
        for version in versions where found < bytes {
            victims.append(version)
            found += version.bytes
        }
        guard evict(victims, reason: .size) > 0 else { return false }
        try write(state.withLock { $0.pending.takeRemovals() }, to: database)
        return true
    }

    /// Gives free pages back, in steps that keep the log small, until what is needed fits.
    private func shrink(_ database: StoreDatabase, needed: Int) throws(StoreDatabaseError) {
        try database.checkpoint()
        var size = try database.size()
        while excess(size, needed: needed) > 0, size.free > needed {
            try database.vacuum(pages: 256)
            try database.checkpoint()
            let smaller = try database.size()
            guard smaller.free < size.free else { return }
            size = smaller
        }
    }
}
