internal import Dispatch
internal import Synchronization

/// The versions that may be used as dictionaries: an index in memory, bodies in memory and on disk.
///
/// Safe from any thread. Readers never wait for a writer or for the disk; one queue writes, another reads
/// bodies. While the disk takes nothing the store goes on from memory, within its budget, and tries again.
package final class DictionaryStore: Sendable {
    /// Where the database stands; changed only on the write queue (and before it is used).
    struct Disk: Sendable {
        var database: StoreDatabase?
        /// After a failure, when the disk is tried again, in nanoseconds of uptime.
        var retryAt: UInt64?
        var isClosed = false
    }

    let configuration: StoreConfiguration
    let reports: StoreReports
    let publisher = IndexPublisher()
    let counters = Guarded(StoreStatistics())
    /// Whether a version may be used, by the routes of today.
    let currency: Guarded<@Sendable (Version) -> Bool>
    let disk = Guarded(Disk())
    let loads = Guarded<[BodyName: [@Sendable (Body?) -> Void]]>([:])
    let drainIsScheduled = Atomic<Bool>(false)
    let latestSecond = Atomic<Int>(0)
    let writeQueue = DispatchQueue(label: "dictum.store.write", qos: .utility)
    let readQueue = DispatchQueue(label: "dictum.store.read", qos: .userInitiated)
    /// Locked before `hot` where both are needed.
    let state: Guarded<StoreState>
    let hot: Guarded<HotBodies>
    let churn: Churn
    let heads: HeadMemory

    /// Opens or makes the database and builds the index; reads no bodies.
    ///
    /// A damaged file is set aside, a disk that fails is tried again later: only a file that must not be touched
    /// is an error.
    package init(configuration: StoreConfiguration) throws(StoreError) {
        self.configuration = configuration
        reports = StoreReports(log: configuration.log)
        currency = Guarded(configuration.isCurrent)
        hot = Guarded(HotBodies(bytesMax: configuration.memoryBytes))
        churn = Churn(policy: configuration.churn)
        heads = HeadMemory(bytesMax: configuration.memoryBytes / Self.headShare)
        state = Guarded(StoreState(heads: heads))
        do {
            try open()
        } catch .refused(let error) {
            throw error
        } catch {
            failed(error)
        }
        if configuration.path != ":memory:" { scheduleFollowing() }
    }

    /// The keys of private routes, where the store was opened with them.
    package var keys: StoreKeys? { configuration.keys }

    /// Heads take at most this part of the memory.
    private static let headShare = 16

    // MARK: Reading

    /// A view of the index for one thread.
    package func reader() -> DictionaryIndex.Reader {
        DictionaryIndex.Reader(publisher, keys: configuration.keys)
    }

    /// The bytes of a version if they are in memory; never waits for the disk.
    package func hotBody(of version: Version) -> Body? {
        hot.withLock { $0.body(version.bodyName) }
    }

    // MARK: Admission

    /// Sets memory aside for the copy of a body on its way through; nil: make no copy and no offer.
    ///
    /// Give no `bytes` where the length is not known, and extend the slot as the body comes.
    package func reserve(chain: ChainKey, bytes: Int?) -> AdmissionSlot? {
        let bytes = bytes ?? 64 * 1024
        guard bytes <= bodyBytesMax(in: chain.scope), hot.withLock({ $0.reserve(bytes) }) else { return nil }
        return AdmissionSlot(hot, bytes: bytes)
    }

    /// Makes a body that went through whole the newest version of its URL and variant.
    ///
    /// When it returns, every reader finds the version and its body is hot; it is on disk within 100 ms. Of the
    /// chain the newest `keep` versions stay. A body that is there already becomes the newest again. `head` is the
    /// answer's, where the upstream may be asked whether it still holds.
    @discardableResult
    package func admit(
        _ body: Body, chain: ChainKey, url: String, variant: String, etag: String?, contentType: String?,
        versions keep: Int, maxAge: Int, now: Int, isUpstreamMatch: Bool = false, head: [UInt8]? = nil
    ) -> Version {
        noteTime(now)
        let facts = VersionFacts(
            digest: body.digest, url: url, variant: variant, etag: etag, contentType: contentType,
            bytes: body.bytes.count, maxAge: min(max(maxAge, 0), Version.secondsMax),
            isUpstreamMatch: isUpstreamMatch
        ).named(in: chain.scope, configuration.keys)
        let name = BodyName(scope: chain.scope, digest: facts.digest)
        // Pinned before it is published: whoever finds the version finds the body too.
        let kept = hot.withLock { hot in
            hot.pin(body, as: name)
            return hot.body(name) ?? body
        }
        let admitted = state.withLock { state in
            let admitted = state.admit(
                facts, body: kept, chain: chain, keep: keep, now: now, clock: StoreClock.microseconds,
                head: head)
            publisher.publish(state.index)
            return admitted
        }
        judge(admitted.version)
        if admitted.evicted > 0 { buryRemoved(because: .versions) }
        unpin(admitted.isNew ? admitted.unpinned : admitted.unpinned + [name])
        counters.withLock { counters in
            if admitted.isNew { counters.admissions += 1 } else { counters.returns += 1 }
            if admitted.evicted > 0 { counters.evictions[.versions, default: 0] += admitted.evicted }
        }
        scheduleDrain()
        return admitted.version
    }

    /// Notes that a version was wanted; written to disk at most once a minute.
    package func touch(_ version: Version, now: Int) {
        guard version.want(at: now) else { return }
        state.withLock { $0.pending.touch(version.id, lastWanted: now) }
        counters.withLock { $0.touches += 1 }
    }

    /// Puts a newer head in place of the one that a version has; written to disk at most once a minute.
    package func keep(head: [UInt8], of version: Version, now: Int) {
        guard version.head?.bytes != head else { return }
        state.withLock { $0.keep(head, of: version, now: now) }
        scheduleDrain()
    }

    // MARK: Life

    /// Waits until all that was queued is on disk; false if the disk does not take it or time is up.
    ///
    /// Blocks: never call it on an event loop.
    @discardableResult
    package func flush(timeoutSeconds: Double = 5) -> Bool {
        let done = DispatchSemaphore(value: 0)
        writeQueue.async {
            self.drain(isForced: true)
            done.signal()
        }
        guard done.wait(timeout: .now() + timeoutSeconds) == .success else { return false }
        return state.withLock { $0.pending.count } == 0
    }

    /// Flushes and closes the database.
    ///
    /// What is in memory can still be used. Blocks like `flush`, up to twice as long.
    package func close(timeoutSeconds: Double = 5) {
        flush(timeoutSeconds: timeoutSeconds)
        let done = DispatchSemaphore(value: 0)
        writeQueue.async {
            let database = self.disk.withLock { disk in
                disk.isClosed = true
                return disk.database.take()
            }
            try? database?.checkpoint()
            database?.close()
            done.signal()
        }
        _ = done.wait(timeout: .now() + timeoutSeconds)
    }

    /// What the store holds and has done.
    package var statistics: StoreStatistics {
        var statistics = counters.withLock { $0 }
        let index = publisher.index
        statistics.versions = index.versionCount
        statistics.chains = index.chainCount
        statistics.memoryBytes = hot.withLock { $0.bytes + $0.reservedBytes } + heads.bytes
        statistics.pendingWrites = state.withLock { $0.pending.count }
        churn.withLedger { $0.describe(in: &statistics) }
        return statistics
    }

    /// A larger body would turn over too much of the store to be worth keeping.
    var bodyBytesMax: Int { configuration.maxBytes / 4 }

    /// Takes pins back from bodies.
    func unpin(_ names: [BodyName]) {
        guard !names.isEmpty else { return }
        hot.withLock { hot in
            for name in names { hot.unpin(name) }
        }
    }
}
