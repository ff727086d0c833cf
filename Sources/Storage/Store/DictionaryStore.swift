package import Dictionaries
internal import Dispatch
internal import Glibc
internal import Primitives
internal import Synchronization

/// The versions that may be used as dictionaries: an index in memory, and bodies in memory and on disk.
///
/// Safe from any thread. A reader waits for one step of a change at most, and never for the disk: a writer and a loader
/// use it, each on a queue of its own. While the disk fails, the store continues in memory, within its budget, and
/// tries again.
package final class DictionaryStore: Sendable {
    let memory: StoreMemory
    let writer: StoreWriter
    let loader: BodyLoader

    /// The admission of bodies as versions.
    package let admission: StoreAdmission
    /// The notes that requests make of versions.
    package let demand: StoreDemand
    /// The work beside the requests.
    package let upkeep: StoreUpkeep

    /// Opens or makes the database and builds the index; reads no bodies.
    ///
    /// A damaged file is set aside, and a failing disk is tried again later. Only a file that must not be touched is an
    /// error.
    package init(configuration: StoreConfiguration) throws(StoreError) {
        memory = StoreMemory(configuration)
        writer = StoreWriter(memory)
        loader = BodyLoader(memory, writer)
        admission = StoreAdmission(memory: memory, writer: writer)
        demand = StoreDemand(memory: memory, writer: writer)
        upkeep = StoreUpkeep(memory: memory, writer: writer)
        let writer = writer
        let opening: Result<Void, StoreError> = writer.queue.sync {
            Result { () throws(StoreError) in try writer.start() }
        }
        try opening.get()
    }

    /// The keys of private routes, if the store was opened with them.
    package var keys: StoreKeys? { memory.configuration.keys }

    // MARK: Reading

    package func reader() -> DictionaryIndex.Reader {
        DictionaryIndex.Reader(memory.index, keys: keys)
    }

    /// Returns the body of a version if it is in memory; never waits for the disk.
    package func hotBody(of version: Version) -> Body? { memory.hotBody(of: version) }

    /// Reads a body from disk, verifies its digest, and keeps it in memory; several callers share one read.
    ///
    /// `completion` runs on the loader's queue and must be short. It gets nil if the body cannot be read. A damaged
    /// body removes its versions from the index.
    package func load(_ version: Version, completion: @escaping @Sendable (Body?) -> Void) {
        loader.load(version, completion: completion)
    }

    // MARK: Life

    /// Flushes and closes the database; bodies in memory stay usable.
    ///
    /// Blocks like `StoreUpkeep.flush`, up to twice as long: never call it on an event loop.
    package func close(timeoutSeconds: Double = 5) {
        upkeep.flush(timeoutSeconds: timeoutSeconds)
        writer.onQueue(within: timeoutSeconds) { $0.close() }
    }

    /// Leaves the store to a waiting successor: writes what was offered, and releases the lock.
    ///
    /// If the disk fails, the lock is released all the same; if it takes too long, once it is done or the process ends.
    /// From now on only bodies that were already offered are admitted; they get some seconds to arrive. Blocks: never
    /// call it on an event loop.
    package func handOver(timeoutSeconds: Double = 5) {
        memory.isLeaving.store(true, ordering: .relaxed)
        let end = DispatchTime.now() + timeoutSeconds
        while memory.hot.withLock({ $0.reservedBytes }) > 0, DispatchTime.now() < end { usleep(5000) }
        upkeep.flush(timeoutSeconds: timeoutSeconds)
        writer.onQueue(within: timeoutSeconds) { $0.handOver() }
    }

    /// The counts and sizes of this moment; an event loop may read them: that costs a few locks, however large the store is.
    package var statistics: StoreStatistics {
        var statistics = memory.counters.withLock { $0 }
        let index = memory.index
        statistics.versions = index.versionCount
        statistics.chains = index.chainCount
        statistics.indexBytes = index.memoryBytes
        (statistics.memoryBytes, statistics.packedBytes) = memory.hot.withLock { hot in
            (hot.bytes + hot.reservedBytes, hot.packedBytes)
        }
        statistics.memoryBytes += memory.heads.bytes
        memory.state.withLock { state in
            statistics.pendingWrites = state.pending.count
            statistics.chainsInProbation = state.chainsInProbation
            for standing in Retention.Standing.allCases {
                statistics.standings[standing.name] = state.retention.counts[standing.rawValue]
            }
        }
        return statistics
    }
}
