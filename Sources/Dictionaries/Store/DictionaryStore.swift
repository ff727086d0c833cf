internal import Dispatch
internal import Synchronization

/// The versions that may be used as dictionaries: an index in memory, bodies in memory and on disk.
///
/// Safe from any thread. Readers wait for a writer one step at most, never for the disk; one queue writes, another reads
/// bodies. While the disk takes nothing the store goes on from memory, within its budget, and tries again.
package final class DictionaryStore: Sendable {
    /// Where the database stands; changed only on the write queue (and before it is used).
    struct Disk: Sendable {
        var database: StoreDatabase?
        /// The right to write the file; nil in memory.
        var lock: StoreLock?
        /// Since when another process has it, in nanoseconds of uptime, and which.
        var waitingSince: UInt64?
        var holder: Int32?
        /// After a hand-over this process never writes again.
        var isHandedOver = false
        /// After a failure, when the disk is tried again, in nanoseconds of uptime.
        var retryAt: UInt64?
        var isClosed = false
    }

    let configuration: StoreConfiguration
    let reports: StoreReports
    let publisher: IndexPublisher
    let counters = Guarded(StoreStatistics())
    /// Whether a version may be used, by the routes of today.
    let currency: Guarded<CurrencyRule>
    let disk = Guarded(Disk())
    let loads = Guarded<[BodyName: [@Sendable (Body?) -> Void]]>([:])
    let drainIsScheduled = Atomic<Bool>(false)
    let latestSecond = Atomic<Int>(0)
    /// True once a hand-over has begun: nothing new is admitted.
    let isLeaving = Atomic<Bool>(false)
    let writeQueue = DispatchQueue(label: "dictum.store.write", qos: .utility)
    let readQueue = DispatchQueue(label: "dictum.store.read", qos: .userInitiated)
    /// Locked before `hot` where both are needed.
    let state: Guarded<StoreState>
    let hot: Guarded<HotBodies>
    let heads: HeadMemory
    let room: AdmissionRoom
    /// The bases that something in memory leans on.
    let bases = PackingBases()
    /// Used on the write queue alone.
    let packer: Guarded<Packer>

    /// Opens or makes the database and builds the index; reads no bodies.
    ///
    /// A damaged file is set aside, a disk that fails is tried again later: only a file that must not be touched
    /// is an error.
    package init(configuration: StoreConfiguration) throws(StoreError) {
        self.configuration = configuration
        reports = StoreReports(log: configuration.log)
        currency = Guarded(CurrencyRule(isCurrent: configuration.isCurrent))
        hot = Guarded(HotBodies(bytesMax: configuration.memoryBytes))
        // A small store is written in small batches, each with room to make.
        room = AdmissionRoom(
            hot: hot, bytesPerSecond: configuration.writeBytesPerSecond,
            burstBytes: configuration.maxBytes / 4, counters: counters)
        packer = Guarded(Packer(bytesMax: configuration.memoryBytes / Self.packerShare, bases: bases))
        heads = HeadMemory(bytesMax: configuration.memoryBytes / Self.headShare)
        let limits = StoreLimits(chains: configuration.maxChains, bytes: configuration.maxBytes)
        let empty = StoreState(limits: limits, heads: heads, inUseMax: configuration.versionsInUseMax)
        state = Guarded(empty)
        publisher = IndexPublisher(empty.index)
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
    /// So do the bases at hand, over which bodies are packed.
    private static let packerShare = 8
    /// A larger body is unpacked on the read queue, not where it is asked for.
    private static let unpackedAtOnceMax = 1 << 20

    // MARK: Reading

    /// A view of the index for one thread.
    package func reader() -> DictionaryIndex.Reader {
        DictionaryIndex.Reader(publisher, keys: configuration.keys)
    }

    /// The bytes of a version if they are in memory; never waits for the disk.
    package func hotBody(of version: Version) -> Body? {
        let name = version.bodyName
        let (whole, packed) = hot.withLock { hot in
            let whole = hot.body(name)
            return (whole, whole == nil ? hot.packed(name) : nil)
        }
        if let whole { return whole }
        guard let packed, packed.count <= Self.unpackedAtOnceMax else { return nil }
        return unpack(packed, as: name)
    }

    /// Unpacks a body that is in memory, and keeps it whole as long as there is room.
    func unpack(_ packed: PackedBody, as name: BodyName) -> Body? {
        guard let body = try? packed.unpacked() else {
            // Memory that does not hold what was put there: the disk may.
            hot.withLock { $0.removePacked(name) }
            return nil
        }
        hot.withLock { $0.keep(body, as: name) }
        return body
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
            let (database, lock) = self.disk.withLock { disk in
                disk.isClosed = true
                return (disk.database.take(), disk.lock.take())
            }
            if lock != nil { try? database?.checkpoint() }
            database?.close()
            lock?.release()
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
        statistics.indexBytes = index.memoryBytes
        (statistics.memoryBytes, statistics.packedBytes) = hot.withLock { hot in
            (hot.bytes + hot.reservedBytes, hot.packedBytes)
        }
        statistics.memoryBytes += heads.bytes
        state.withLock { state in
            statistics.pendingWrites = state.pending.count
            statistics.chainsInProbation = state.chainsInProbation
            for standing in Retention.Standing.allCases {
                statistics.standings[standing.name] = state.retention.counts[standing.rawValue]
            }
        }
        return statistics
    }

    /// A larger body would turn over too much of the store to be worth keeping.
    var bodyBytesMax: Int { min(configuration.maxBytes / 4, Int(UInt32.max)) }

    /// Takes pins back from bodies.
    func unpin(_ names: [BodyName]) {
        guard !names.isEmpty else { return }
        hot.withLock { hot in
            for name in names { hot.unpin(name) }
        }
    }
}
