internal import Dictionaries

/// The difference between index and disk, reduced to the least that must be written.
///
/// Its size is bounded by the versions in the index and the rows on disk, however long the disk fails: a
/// version that comes and goes in between leaves no trace. A value without I/O behind the store's lock.
struct PendingWrites: Sendable {
    /// A version whose row is to be made, with its body.
    struct Insertion: Sendable {
        var version: Version
        let body: Body
        /// Versions that may have stored the body already; the row of the body is shared then.
        var siblings: [Int64] = []
        /// The promised ids that the row begins with, as of the time when it is taken to be written.
        var promises = PromisedIDs()
        /// The packed form of the body; nil if it is written whole.
        ///
        /// Valid once `isTried` is true.
        var packed: PackedBody?
        var isTried = false

        /// The bytes of version and body on disk, estimated from above.
        var storedBytes: Int {
            version.storedBytes - (packed.map { version.bytes - $0.frame.count } ?? 0)
        }
    }

    struct Change: Sendable {
        /// The version whose rank and facts the row gets; its holder counts and `lastWanted` go with them.
        var renewal: Version?
        var lastWanted: Int?
        var pinnedUntil: Int?
        var isProvenPublic = false
        /// The holder counts and the promised ids, where they differ from the row's.
        ///
        /// The index has them. They are as of the time when the batch is taken, and of no use before.
        var demand: VersionState?
        var promises: PromisedIDs?

        /// Adds what an earlier change says and this one does not.
        mutating func add(_ earlier: Change) {
            if renewal == nil {
                renewal = earlier.renewal
                lastWanted = lastWanted ?? earlier.lastWanted
                demand = demand ?? earlier.demand
            }
            pinnedUntil = pinnedUntil ?? earlier.pinnedUntil
            isProvenPublic = isProvenPublic || earlier.isProvenPublic
            promises = promises ?? earlier.promises
        }
    }

    /// One transaction, to be applied in the order of its members, so that none undoes a former one.
    struct Batch: Sendable {
        /// Versions whose chains have left probation.
        var established: Set<Int64> = []
        var removals: Set<Int64> = []
        var insertions: [Insertion] = []
        var changes: [Int64: Change] = [:]

        var count: Int { established.count + removals.count + insertions.count + changes.count }
        var isEmpty: Bool { count == 0 }
    }

    private(set) var insertions: [Int64: Insertion] = [:]
    /// The order of the insertions, from `firstWaiting` on; some may be gone.
    private var insertionOrder: [Int64] = []
    private var firstWaiting = 0
    /// The insertions of other nodes' versions that are not due yet.
    private var borrowed: BorrowedVersions
    private(set) var removals: Set<Int64> = []
    private(set) var established: Set<Int64> = []
    /// The changes of rows that have no insertion and no removal here.
    private(set) var changes: [Int64: Change] = [:]
    /// Versions whose holder counts differ from the disk's but are not due yet, and the time of the first of
    /// them, in seconds since 1970.
    private var noted: Set<Int64> = []
    private var notedSince = 0
    /// The number of rows in batches that were taken and are neither written nor restored.
    private var takenCount = 0

    /// Makes an empty difference.
    ///
    /// - Parameter borrowedBytesMax: The most bytes of borrowed bodies.
    init(borrowedBytesMax: Int = .max) {
        borrowed = BorrowedVersions(bytesMax: borrowedBytesMax)
    }

    /// The number of rows that differ from the disk: pending ones and those that are being written.
    var count: Int { waitingCount + takenCount }
    /// True if nothing is pending, although something may be in the course of being written.
    var isEmpty: Bool { waitingCount == 0 }

    private var waitingCount: Int {
        insertions.count - borrowed.count + removals.count + established.count + changes.count
    }

    mutating func insert(_ version: Version, body: Body) {
        insertions[version.id] = Insertion(version: version, body: body)
        insertionOrder.append(version.id)
        forgetGone()
    }

    /// Adds a version of another node, whose row is made once a second request wants it.
    ///
    /// Returns the borrowed versions that must be evicted for it.
    mutating func borrow(_ version: Version, body: Body) -> [Int64] {
        insertions[version.id] = Insertion(version: version, body: body)
        let gone = borrowed.insert(version.id, bytes: body.count)
        if gone == [version.id] {
            // It is too large to be kept in memory only.
            insertionOrder.append(version.id)
            return []
        }
        return gone
    }

    /// Records that a request wants a version; returns true if that makes its row due.
    mutating func want(_ id: Int64) -> Bool {
        guard borrowed.want(id) else { return false }
        makeDue(id)
        return true
    }

    /// Makes the row of a borrowed version due.
    private mutating func makeDue(_ id: Int64) {
        guard borrowed.remove(id) else { return }
        insertionOrder.append(id)
        forgetGone()
    }

    /// Marks the chain of a version as established.
    ///
    /// A pending insertion writes that itself.
    mutating func establish(_ id: Int64) {
        if insertions[id] == nil { established.insert(id) }
    }

    /// Changes a row, unless its insertion waits: that writes the version as it is by then.
    private mutating func change(_ id: Int64, _ change: (inout Change) -> Void) {
        if insertions[id] == nil { change(&changes[id, default: Change()]) }
    }

    /// Gives a row the new rank and facts of a version.
    mutating func renew(_ version: Version) {
        noted.remove(version.id)
        makeDue(version.id)
        change(version.id) { ($0.renewal, $0.lastWanted, $0.demand) = (version, nil, nil) }
        insertions[version.id]?.version = version
    }

    /// Gives a row a later `lastWanted`.
    mutating func touch(_ id: Int64, lastWanted: Int) {
        change(id) { if $0.renewal == nil { $0.lastWanted = lastWanted } }
    }

    mutating func pin(_ id: Int64, until second: Int) {
        makeDue(id)
        change(id) { $0.pinnedUntil = second }
    }

    mutating func provePublic(_ id: Int64) {
        change(id) { $0.isProvenPublic = true }
    }

    /// The interval between two writes of holder counts, which change with every request.
    private static let demandSeconds = 60

    /// Records that a version's holder counts changed.
    ///
    /// A pending insertion or renewal writes them itself.
    mutating func recordDemand(of id: Int64, now: Int) {
        guard insertions[id] == nil, changes[id]?.renewal == nil else { return }
        if noted.isEmpty { notedSince = now }
        noted.insert(id)
    }

    /// Makes the recorded holder counts due once a minute, or at once if `now` is nil.
    mutating func releaseDemands(now: Int? = nil) {
        guard !noted.isEmpty else { return }
        if let now, (notedSince..<notedSince + Self.demandSeconds).contains(now) { return }
        for id in noted { change(id) { $0.demand = VersionState(admittedAt: 0) } }
        noted = []
    }

    /// Records that the promised ids of a version changed.
    mutating func recordPromises(of id: Int64) {
        change(id) { $0.promises = PromisedIDs() }
    }

    /// Removes a row; returns the pending insertion if the row does not exist yet.
    mutating func remove(_ version: Version) -> Insertion? {
        forgetChange(of: version.id)
        borrowed.remove(version.id)
        if let waiting = insertions.removeValue(forKey: version.id) { return waiting }
        removals.insert(version.id)
        return nil
    }

    /// Forgets the changes of a version that takes the number of another row.
    mutating func forget(_ id: Int64) {
        forgetChange(of: id)
        removals.remove(id)
    }

    @discardableResult
    private mutating func forgetChange(of id: Int64) -> Change? {
        noted.remove(id)
        return changes.removeValue(forKey: id)
    }

    /// Drops a renewal that another process has superseded, but keeps its `lastWanted`.
    mutating func dropRenewal(_ id: Int64) {
        guard let void = changes[id]?.renewal else { return }
        changes[id]?.renewal = nil
        changes[id]?.lastWanted = void.lastWanted
    }

    var rowsThatChange: Set<Int64> { established.union(removals).union(changes.keys) }

    /// Replaces the object of a version in its pending insertion or renewal.
    mutating func replace(_ version: Version) {
        insertions[version.id]?.version = version
        if changes[version.id]?.renewal != nil { changes[version.id]?.renewal = version }
    }

    /// Forgets an insertion whose row exists already; returns false if there was none.
    mutating func drop(_ version: Version) -> Bool {
        borrowed.remove(version.id)
        return insertions.removeValue(forKey: version.id) != nil
    }

    /// Takes the next batch, which adds at most `bytesMax` to the log, or a single larger body.
    ///
    /// Insertions come only once no removal is pending, because a new row may take the place of a removed
    /// one.
    mutating func takeBatch(bytesMax: Int) -> Batch {
        var batch = Batch()
        var left = bytesMax
        batch.established = Set(established.prefix(max(left / LogBytes.update, 1)))
        established.subtract(batch.established)
        left -= batch.established.count * LogBytes.update
        batch.removals = Set(removals.prefix(max(left / LogBytes.removal, batch.isEmpty ? 1 : 0)))
        removals.subtract(batch.removals)
        left -= batch.removals.count * LogBytes.removal
        if removals.isEmpty { takeInsertions(into: &batch, &left) }
        for (id, change) in changes.prefix(max(left / LogBytes.update, 0)) { batch.changes[id] = change }
        for id in batch.changes.keys { changes[id] = nil }
        takenCount += batch.count
        return batch
    }

    private mutating func takeInsertions(into batch: inout Batch, _ left: inout Int) {
        while firstWaiting < insertionOrder.count {
            let id = insertionOrder[firstWaiting]
            // A removed version whose number is here may have come back as a borrowed one.
            if let insertion = insertions[id], !borrowed.contains(id) {
                let bytes = LogBytes.insertion(insertion.version)
                guard bytes <= left || batch.isEmpty else { return }
                left -= bytes
                batch.insertions.append(insertion)
                insertions[id] = nil
            }
            firstWaiting += 1
        }
        insertionOrder = []
        firstWaiting = 0
    }

    /// Drops vanished insertions from the order once they are the majority; O(1) on average.
    private mutating func forgetGone() {
        guard insertionOrder.count > 2 * insertions.count + 64 else { return }
        insertionOrder = insertionOrder[firstWaiting...].filter { insertions[$0] != nil }
        firstWaiting = 0
    }

    /// Takes removals only, to make room before a batch is written.
    ///
    /// Rows of the batch itself are left out: they were removed after it was taken, and are removed after it
    /// is written.
    mutating func takeRemovals(max count: Int, except batch: Set<Int64>) -> Batch {
        let batch = Batch(removals: Set(removals.lazy.filter { !batch.contains($0) }.prefix(count)))
        removals.subtract(batch.removals)
        takenCount += batch.count
        return batch
    }

    mutating func written(_ batch: Batch) {
        takenCount -= batch.count
    }

    /// Puts an unwritten batch back under later changes; returns the insertions that are no longer needed.
    mutating func restore(_ batch: Batch) -> [Insertion] {
        takenCount -= batch.count
        established.formUnion(batch.established)
        for (id, earlier) in batch.changes where !removals.contains(id) {
            change(id) { $0.add(earlier) }
        }
        var unneeded: [Insertion] = []
        for insertion in batch.insertions {
            let id = insertion.version.id
            if removals.remove(id) != nil {
                unneeded.append(insertion)
            } else {
                insertions[id] = insertion
                if let renewed = forgetChange(of: id)?.renewal { insertions[id]?.version = renewed }
            }
        }
        insertionOrder = batch.insertions.map(\.version.id) + insertionOrder[firstWaiting...]
        firstWaiting = 0
        removals.formUnion(batch.removals)
        return unneeded
    }
}

/// The versions of other nodes that are in memory only; a pure value.
///
/// Most are wanted by one request: its client gets a version of this node in their place. So a row is made for the second
/// one, and versions that no second request wants are evicted, the oldest first.
struct BorrowedVersions: Sendable {
    private struct Borrowed: Sendable {
        let id: Int64
        var isUsed = false
    }

    private var versions: RecencyMap<Int64, Borrowed>

    init(bytesMax: Int) {
        versions = RecencyMap(bytesMax: bytesMax)
    }

    var count: Int { versions.count }

    func contains(_ id: Int64) -> Bool { versions.contains(id) }

    /// Adds a version with a body of so many bytes; returns those that must go for it, or itself if it is too large.
    mutating func insert(_ id: Int64, bytes: Int) -> [Int64] {
        versions.remove(id)
        return versions.insert(Borrowed(id: id), bytes: bytes, for: id).map(\.id)
    }

    /// Records that a request wants a version; returns true for the second one.
    mutating func want(_ id: Int64) -> Bool {
        guard versions.count > 0 else { return false }
        return versions.update(id) { borrowed in
            defer { borrowed.isUsed = true }
            return borrowed.isUsed
        } ?? false
    }

    /// Removes a version; returns false if it was not there.
    @discardableResult
    mutating func remove(_ id: Int64) -> Bool { versions.remove(id) != nil }
}
