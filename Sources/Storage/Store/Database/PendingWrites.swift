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

    /// One transaction, to be applied in the order of its members, so that none undoes a former one.
    struct Batch: Sendable {
        /// Versions whose chains have left probation.
        var established: Set<Int64> = []
        var removals: Set<Int64> = []
        var insertions: [Insertion] = []
        var renewals: [Version] = []
        var touches: [Int64: Int] = [:]
        var pins: [Int64: Int] = [:]
        /// Versions that are proven to be public.
        var proofs: Set<Int64> = []
        /// Versions whose holder counts are written.
        var demands: [Int64: Version] = [:]
        /// Versions whose promised ids are written, as of the time when the batch is taken.
        var promises: [Int64: PromisedIDs] = [:]

        var count: Int {
            established.count + removals.count + insertions.count + renewals.count + touches.count
                + pins.count + proofs.count + demands.count + promises.count
        }
        var isEmpty: Bool { count == 0 }
    }

    private(set) var insertions: [Int64: Insertion] = [:]
    /// The order of the insertions, from `firstWaiting` on; some may be gone.
    private var insertionOrder: [Int64] = []
    private var firstWaiting = 0
    /// The insertions of other nodes' versions that are not due yet.
    private var borrowed: BorrowedVersions
    private(set) var renewals: [Int64: Version] = [:]
    private(set) var removals: Set<Int64> = []
    private var touches: [Int64: Int] = [:]
    private var pins: [Int64: Int] = [:]
    private var proofs: Set<Int64> = []
    /// Versions whose holder counts differ from the disk's, and the time of the first of them, in seconds
    /// since 1970.
    private var noted: [Int64: Version] = [:]
    private var notedSince = 0
    /// The ones among them that are due to be written.
    private var demands: [Int64: Version] = [:]
    private var established: Set<Int64> = []
    /// Versions whose promised ids differ from the disk's; the index has them.
    private(set) var promises: Set<Int64> = []
    /// The number of changes in batches that were taken and are neither written nor restored.
    private var takenCount = 0

    /// Makes an empty difference.
    ///
    /// - Parameter borrowedBytesMax: The most bytes of borrowed bodies.
    init(borrowedBytesMax: Int = .max) {
        borrowed = BorrowedVersions(bytesMax: borrowedBytesMax)
    }

    /// The number of changes that are not on disk: pending ones and those that are being written.
    var count: Int { waitingCount + takenCount }
    /// True if nothing is pending, although something may be in the course of being written.
    var isEmpty: Bool { waitingCount == 0 }

    private var waitingCount: Int {
        insertions.count - borrowed.count + renewals.count + removals.count + touches.count + pins.count
            + established.count + proofs.count
            + demands.count + promises.count
    }

    /// Adds a new row.
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

    /// Gives a row the new rank and facts of a version.
    mutating func renew(_ version: Version) {
        touches[version.id] = nil
        forgetDemand(version.id)
        makeDue(version.id)
        if insertions[version.id] != nil {
            insertions[version.id]?.version = version
        } else {
            renewals[version.id] = version
        }
    }

    /// Gives a row a later `lastWanted`.
    mutating func touch(_ id: Int64, lastWanted: Int) {
        guard insertions[id] == nil, renewals[id] == nil else { return }
        touches[id] = lastWanted
    }

    /// Pins a row until some second.
    ///
    /// A pending insertion writes that itself.
    mutating func pin(_ id: Int64, until second: Int) {
        makeDue(id)
        if insertions[id] == nil { pins[id] = second }
    }

    /// Marks a row as proven to be public.
    ///
    /// A pending insertion writes that itself.
    mutating func provePublic(_ id: Int64) {
        if insertions[id] == nil { proofs.insert(id) }
    }

    /// The interval between two writes of holder counts, which change with every request.
    private static let demandSeconds = 60

    /// Records that a version's holder counts changed.
    ///
    /// A pending insertion or renewal writes them itself.
    mutating func recordDemand(of version: Version, now: Int) {
        guard insertions[version.id] == nil, renewals[version.id] == nil else { return }
        if noted.isEmpty { notedSince = now }
        noted[version.id] = version
    }

    /// Makes the recorded holder counts due once a minute, or at once if `now` is nil.
    mutating func releaseDemands(now: Int? = nil) {
        guard !noted.isEmpty else { return }
        if let now, (notedSince..<notedSince + Self.demandSeconds).contains(now) { return }
        demands.merge(noted) { _, newer in newer }
        noted = [:]
    }

    private mutating func forgetDemand(_ id: Int64) {
        noted[id] = nil
        demands[id] = nil
    }

    /// Records that the promised ids of a version changed.
    ///
    /// A pending insertion writes them itself.
    mutating func recordPromises(of id: Int64) {
        if insertions[id] == nil { promises.insert(id) }
    }

    /// Removes a row; returns the pending insertion if the row does not exist yet.
    mutating func remove(_ version: Version) -> Insertion? {
        touches[version.id] = nil
        renewals[version.id] = nil
        pins[version.id] = nil
        proofs.remove(version.id)
        promises.remove(version.id)
        forgetDemand(version.id)
        borrowed.remove(version.id)
        if let waiting = insertions.removeValue(forKey: version.id) { return waiting }
        removals.insert(version.id)
        return nil
    }

    /// Forgets the changes of a version that takes the number of another row.
    mutating func forget(_ id: Int64) {
        touches[id] = nil
        renewals[id] = nil
        pins[id] = nil
        proofs.remove(id)
        promises.remove(id)
        forgetDemand(id)
        removals.remove(id)
    }

    /// Drops a renewal that another process has superseded, but keeps its `lastWanted`.
    mutating func dropRenewal(_ id: Int64) {
        if let void = renewals.removeValue(forKey: id) { touches[id] = void.lastWanted }
    }

    /// The pending changes of an existing row.
    struct Change: Sendable {
        var lastWanted: Int?
        var pinnedUntil: Int?
        var isEstablished: Bool
        var isProvenPublic: Bool
        var demand: VersionDemand?
    }

    var rowsThatChange: Set<Int64> {
        established.union(removals).union(renewals.keys).union(touches.keys).union(pins.keys)
            .union(proofs).union(noted.keys).union(demands.keys)
    }

    /// Returns the pending changes of a row, without its renewal and its removal.
    func change(of id: Int64) -> Change {
        Change(
            lastWanted: touches[id], pinnedUntil: pins[id], isEstablished: established.contains(id),
            isProvenPublic: proofs.contains(id), demand: (noted[id] ?? demands[id])?.demand)
    }

    /// Makes `row`, which was read from disk, the object whose holder counts are written.
    mutating func adopt(_ row: Version) {
        if noted[row.id] != nil { noted[row.id] = row }
        if demands[row.id] != nil { demands[row.id] = row }
    }

    /// Replaces the object of a version in its pending insertion or renewal.
    mutating func replace(_ version: Version) {
        if insertions[version.id] != nil { insertions[version.id]?.version = version }
        if renewals[version.id] != nil { renewals[version.id] = version }
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
        for id in established.prefix(max(left / LogBytes.update, 1)) { batch.established.insert(id) }
        established.subtract(batch.established)
        left -= batch.established.count * LogBytes.update
        for id in removals.prefix(max(left / LogBytes.removal, batch.isEmpty ? 1 : 0)) {
            batch.removals.insert(id)
        }
        removals.subtract(batch.removals)
        left -= batch.removals.count * LogBytes.removal
        if removals.isEmpty { takeInsertions(into: &batch, &left) }
        for (id, version) in renewals.prefix(max(left / LogBytes.update, 0)) {
            batch.renewals.append(version)
            renewals[id] = nil
        }
        left -= batch.renewals.count * LogBytes.update
        for (id, lastWanted) in touches.prefix(max(left / LogBytes.update, 0)) {
            batch.touches[id] = lastWanted
            touches[id] = nil
        }
        left -= batch.touches.count * LogBytes.update
        for (id, second) in pins.prefix(max(left / LogBytes.update, 0)) {
            batch.pins[id] = second
            pins[id] = nil
        }
        left -= batch.pins.count * LogBytes.update
        batch.proofs = Set(proofs.prefix(max(left / LogBytes.update, 0)))
        proofs.subtract(batch.proofs)
        left -= batch.proofs.count * LogBytes.update
        for (id, version) in demands.prefix(max(left / LogBytes.update, 0)) {
            batch.demands[id] = version
            demands[id] = nil
        }
        left -= batch.demands.count * LogBytes.update
        for id in promises.prefix(max(left / LogBytes.update, 0)) { batch.promises[id] = PromisedIDs() }
        promises.subtract(batch.promises.keys)
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
        for (id, lastWanted) in batch.touches where !removals.contains(id) && touches[id] == nil {
            touch(id, lastWanted: lastWanted)
        }
        for (id, second) in batch.pins where !removals.contains(id) && pins[id] == nil {
            pin(id, until: second)
        }
        proofs.formUnion(batch.proofs.subtracting(removals))
        for (id, version) in batch.demands where !removals.contains(id) && renewals[id] == nil {
            demands[id] = demands[id] ?? version
        }
        promises.formUnion(batch.promises.keys.filter { !removals.contains($0) })
        for version in batch.renewals where !removals.contains(version.id) && renewals[version.id] == nil {
            renewals[version.id] = version
        }
        var unneeded: [Insertion] = []
        for insertion in batch.insertions {
            let id = insertion.version.id
            if removals.remove(id) != nil {
                unneeded.append(insertion)
            } else {
                insertions[id] = insertion
                if let renewed = renewals.removeValue(forKey: id) { insertions[id]?.version = renewed }
                touches[id] = nil
                pins[id] = nil
                proofs.remove(id)
                promises.remove(id)
                forgetDemand(id)
            }
        }
        insertionOrder = batch.insertions.map(\.version.id) + insertionOrder[firstWaiting...]
        firstWaiting = 0
        removals.formUnion(batch.removals)
        return unneeded
    }
}
