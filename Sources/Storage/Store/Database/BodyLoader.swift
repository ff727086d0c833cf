internal import Dictionaries
internal import Dispatch
internal import Primitives

/// The part of a store that reads bodies from disk, on a queue of its own.
///
/// `load` may be called on any thread. Everything else asserts that it runs on the queue.
final class BodyLoader: Sendable {
    let queue = DispatchQueue(label: "dictum.store.read", qos: .userInitiated)
    private let memory: StoreMemory
    /// The owner of the open database, which is told to write the removal of damaged versions.
    private let writer: StoreWriter
    private let flights = Guarded(
        Flights<BodyName, @Sendable (Body?) -> Void>(worksMax: 1024, waitersMax: 1024))

    /// The upper bound of versions that are tried for a body that is missing in its own row.
    private static let candidatesMax = 16

    init(_ memory: StoreMemory, _ writer: StoreWriter) {
        self.memory = memory
        self.writer = writer
    }

    /// Reads the body of a version; see `DictionaryStore.load`.
    func load(_ version: Version, completion: @escaping @Sendable (Body?) -> Void) {
        switch flights.withLock({ $0.join(version.bodyName, completion) }) {
        case .waits: return
        case .refused: queue.async { completion(nil) }
        case .first: queue.async { self.finishLoad(version) }
        }
    }

    private func finishLoad(_ version: Version) {
        dispatchPrecondition(condition: .onQueue(queue))
        let name = version.bodyName
        let (whole, packed) = memory.hot.withLock { ($0.body(name), $0.packed(name)) }
        let body = whole ?? packed.flatMap { memory.unpack($0, as: name) } ?? read(version)
        let callers = flights.withLock { $0.land(name) }
        memory.counters.withLock { counters in
            counters.loads += 1
            if body == nil { counters.loadFailures += 1 }
        }
        for completion in callers { completion(body) }
    }

    // MARK: The disk

    private func read(_ version: Version) -> Body? {
        guard let database = writer.database.withLock({ $0 }) else { return nil }
        do {
            if case .sound(let body) = try reading(version, in: database) { return body }
            return try readElsewhere(version.bodyName, first: version.id, in: database)
        } catch {
            memory.reports.unreadable(
                "a body in \(memory.configuration.path) could not be read for now: \(error)")
            return nil
        }
    }

    /// Reads the body from other versions that have it; several may share a row, or each have one.
    ///
    /// Damaged versions are removed on the way. If none of the tried ones is intact, all versions of the body are
    /// removed.
    private func readElsewhere(_ name: BodyName, first: Int64, in database: StoreDatabase)
        throws(StoreDatabaseError) -> Body?
    {
        let versions = memory.index.versions(of: name)
        // Try the requested version again: another object may stand for it in the index by now.
        let candidates = versions.filter { $0.id == first } + versions.filter { $0.id != first }
        var (damaged, gone): ([Version], [Version]) = ([], [])
        var reason: String?
        defer {
            writer.evict(gone, reason: .removed)
            if let reason { giveUp(damaged, because: reason) }
        }
        for candidate in candidates.prefix(Self.candidatesMax) {
            switch try reading(candidate, in: database) {
            case .sound(let body): return body
            case .gone: gone.append(candidate)
            case .damaged(let text):
                damaged.append(candidate)
                reason = text
            }
        }
        damaged += candidates.dropFirst(Self.candidatesMax)
        return nil
    }

    private func reading(
        _ version: Version, in database: StoreDatabase
    ) throws(StoreDatabaseError) -> StoreCatalogue.Reading {
        do {
            guard let stored = try database.stored(version) else {
                return try database.hasRow(of: version) ? .damaged("its body is missing") : .gone
            }
            let base = try base(of: stored, in: database)
            let body = Body(try stored.whole(over: base?.body))
            guard version.chainKey.isName(version.digest, ofBody: body.digest, memory.configuration.keys)
            else {
                return .damaged("its bytes do not match its digest")
            }
            let packed = stored.count.map { count in
                PackedBody(frame: stored.bytes, base: base, count: count, digest: body.digest)
            }
            memory.hot.withLock { hot in
                hot.keep(body, as: version.bodyName)
                if let packed { hot.keep(packed, as: version.bodyName) }
            }
            return .sound(body)
        } catch .damaged(let reason), .failing(let reason) {
            return .damaged(reason)
        }
    }

    /// Returns the base of a packed body.
    ///
    /// Its digest is not verified, because that of the unpacked body is.
    private func base(of stored: StoredBody, in database: StoreDatabase) throws(StoreDatabaseError)
        -> PackingBase?
    {
        guard let row = stored.base else { return nil }
        if let known = memory.hot.withLock({ $0.base(row) }) { return known }
        return try database.stored(row: row).map { stored throws(StoreDatabaseError) in
            PackingBase(row: row, body: Body(try stored.whole(over: nil)))
        }
    }

    private func giveUp(_ versions: [Version], because reason: String) {
        guard writer.evict(versions, reason: .damaged) > 0 else { return }
        memory.reports.unreadable(
            "a body in \(memory.configuration.path) was lost and is no longer used: \(reason); "
                + "check the disk if this repeats")
    }
}
