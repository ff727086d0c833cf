/// What the index knows and the disk does not yet, reduced to the least that must be written.
///
/// Bounded by the versions in the index and the rows on disk, however long the disk takes nothing: a version
/// that comes and goes in between leaves no trace. A value without I/O; the store keeps it behind a lock.
struct PendingWrites: Sendable {
    /// A version whose row is to be made, and the body it needs.
    struct Insertion: Sendable {
        var version: Version
        let body: Body
        /// Versions that may have that body on disk, whose row is shared then.
        var twins: [Int64] = []
        /// The form in which the body is written, once that was tried; whole without one.
        var packed: PackedBody?
        var isTried = false

        /// What version and body take on disk, estimated from above.
        var storedBytes: Int {
            version.storedBytes - (packed.map { version.bytes - $0.frame.count } ?? 0)
        }
    }

    /// One transaction; apply in this order, in which nothing undoes what went before.
    struct Batch: Sendable {
        /// Versions whose chains are no longer in probation.
        var established: Set<Int64> = []
        var removals: Set<Int64> = []
        var insertions: [Insertion] = []
        var renewals: [Version] = []
        var touches: [Int64: Int] = [:]
        var pins: [Int64: Int] = [:]
        /// Versions of which is written what is known of their holders.
        var demands: [Int64: Version] = [:]

        var count: Int {
            established.count + removals.count + insertions.count + renewals.count + touches.count
                + pins.count + demands.count
        }
        var isEmpty: Bool { count == 0 }
    }

    private(set) var insertions: [Int64: Insertion] = [:]
    /// The order in which they are written, those included that are gone again, from `firstWaiting` on.
    private var insertionOrder: [Int64] = []
    private var firstWaiting = 0
    private(set) var renewals: [Int64: Version] = [:]
    private(set) var removals: Set<Int64> = []
    private var touches: [Int64: Int] = [:]
    private var pins: [Int64: Int] = [:]
    /// Versions of whose holders more is known than the disk says, and since when, in seconds since 1970.
    private var noted: [Int64: Version] = [:]
    private var notedSince = 0
    /// Those of them that are to be written now.
    private var demands: [Int64: Version] = [:]
    private var established: Set<Int64> = []
    /// Changes in batches that were taken and are neither written nor restored.
    private var takenCount = 0

    /// How many changes are not on disk: those that wait and those just being written.
    var count: Int { waitingCount + takenCount }
    /// Whether nothing waits, though something may be just being written.
    var isEmpty: Bool { waitingCount == 0 }

    private var waitingCount: Int {
        insertions.count + renewals.count + removals.count + touches.count + pins.count + established.count
            + demands.count
    }

    /// A new row.
    mutating func insert(_ version: Version, body: Body) {
        insertions[version.id] = Insertion(version: version, body: body)
        insertionOrder.append(version.id)
        forgetGone()
    }

    /// The chain of a version that is no longer in probation; what waits to be inserted says so itself.
    mutating func establish(_ id: Int64) {
        if insertions[id] == nil { established.insert(id) }
    }

    /// A row that gets the new rank and facts of this version.
    mutating func renew(_ version: Version) {
        touches[version.id] = nil
        forgetDemand(version.id)
        if insertions[version.id] != nil {
            insertions[version.id]?.version = version
        } else {
            renewals[version.id] = version
        }
    }

    /// A row that gets a later `lastWanted`.
    mutating func touch(_ id: Int64, lastWanted: Int) {
        guard insertions[id] == nil, renewals[id] == nil else { return }
        touches[id] = lastWanted
    }

    /// A row that is pinned until some second; one that is still to be made is made with it.
    mutating func pin(_ id: Int64, until second: Int) {
        if insertions[id] == nil { pins[id] = second }
    }

    /// The time between two writes of what is known of holders: it changes with every request.
    private static let demandSeconds = 60

    /// A version of whose holders more is known; a row that is still to be made, or renewed, says so itself.
    mutating func note(_ version: Version, now: Int) {
        guard insertions[version.id] == nil, renewals[version.id] == nil else { return }
        if noted.isEmpty { notedSince = now }
        noted[version.id] = version
    }

    /// Has what was noted of holders written, once a minute; without a time at once.
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

    /// A row that goes; the insertion that is no longer needed, if it had not begun.
    mutating func remove(_ version: Version) -> Insertion? {
        touches[version.id] = nil
        renewals[version.id] = nil
        pins[version.id] = nil
        forgetDemand(version.id)
        if let waiting = insertions.removeValue(forKey: version.id) { return waiting }
        removals.insert(version.id)
        return nil
    }

    /// Forgets what waits for a version that gets the number of another row.
    mutating func forget(_ id: Int64) {
        touches[id] = nil
        renewals[id] = nil
        pins[id] = nil
        forgetDemand(id)
        removals.remove(id)
    }

    /// Forgets a renewal that a later return in another process makes void; when it was wanted is still written.
    mutating func dropRenewal(_ id: Int64) {
        if let void = renewals.removeValue(forKey: id) { touches[id] = void.lastWanted }
    }

    /// What waits to be written of a row that is there.
    struct Change: Sendable {
        var lastWanted: Int?
        var pinnedUntil: Int?
        var isEstablished: Bool
        var demand: VersionDemand?
    }

    /// The rows that are there and of which something waits to be written.
    var rowsThatChange: Set<Int64> {
        established.union(removals).union(renewals.keys).union(touches.keys).union(pins.keys).union(
            noted.keys
        )
        .union(demands.keys)
    }

    /// What waits of a row, but for its renewal and its removal.
    func change(of id: Int64) -> Change {
        Change(
            lastWanted: touches[id], pinnedUntil: pins[id], isEstablished: established.contains(id),
            demand: (noted[id] ?? demands[id])?.demand)
    }

    /// Has the object of a row that was read be the one of which counts are written.
    mutating func lay(_ row: Version) {
        if noted[row.id] != nil { noted[row.id] = row }
        if demands[row.id] != nil { demands[row.id] = row }
    }

    /// Has another object stand for a version that waits to be written.
    mutating func replace(_ version: Version) {
        if insertions[version.id] != nil { insertions[version.id]?.version = version }
        if renewals[version.id] != nil { renewals[version.id] = version }
    }

    /// Forgets an insertion whose row turned out to be there; false if there was none.
    mutating func drop(_ version: Version) -> Bool {
        insertions.removeValue(forKey: version.id) != nil
    }

    /// Takes what to write next, which adds at most `bytesMax` to the log, but for a single body that has more.
    ///
    /// Insertions come only when no removal waits: one row may take the place of another.
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
        for (id, version) in demands.prefix(max(left / LogBytes.update, 0)) {
            batch.demands[id] = version
            demands[id] = nil
        }
        takenCount += batch.count
        return batch
    }

    private mutating func takeInsertions(into batch: inout Batch, _ left: inout Int) {
        while firstWaiting < insertionOrder.count {
            let id = insertionOrder[firstWaiting]
            if let insertion = insertions[id] {
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

    /// Keeps the order of insertions as short as what waits, within a factor; O(1) on average.
    private mutating func forgetGone() {
        guard insertionOrder.count > 2 * insertions.count + 64 else { return }
        insertionOrder = insertionOrder[firstWaiting...].filter { insertions[$0] != nil }
        firstWaiting = 0
    }

    /// Takes rows that go, to make room before a batch is written.
    ///
    /// Not those that the batch itself makes: they went after it was taken, and are removed after it is written.
    mutating func takeRemovals(max count: Int, except batch: Set<Int64>) -> Batch {
        let batch = Batch(removals: Set(removals.lazy.filter { !batch.contains($0) }.prefix(count)))
        removals.subtract(batch.removals)
        takenCount += batch.count
        return batch
    }

    /// Notes that a batch is on disk.
    mutating func written(_ batch: Batch) {
        takenCount -= batch.count
    }

    /// Puts a batch that was not written back, under what has changed since; the insertions no longer needed.
    mutating func restore(_ batch: Batch) -> [Insertion] {
        takenCount -= batch.count
        established.formUnion(batch.established)
        for (id, lastWanted) in batch.touches where !removals.contains(id) && touches[id] == nil {
            touch(id, lastWanted: lastWanted)
        }
        for (id, second) in batch.pins where !removals.contains(id) && pins[id] == nil {
            pin(id, until: second)
        }
        for (id, version) in batch.demands where !removals.contains(id) && renewals[id] == nil {
            demands[id] = demands[id] ?? version
        }
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
                forgetDemand(id)
            }
        }
        insertionOrder = batch.insertions.map(\.version.id) + insertionOrder[firstWaiting...]
        firstWaiting = 0
        removals.formUnion(batch.removals)
        return unneeded
    }
}
