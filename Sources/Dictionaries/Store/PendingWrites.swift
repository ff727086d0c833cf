/// What the index knows and the disk does not yet, reduced to the least that must be written.
///
/// Bounded by the versions in the index and the rows on disk, however long the disk takes nothing: a version
/// that comes and goes in between leaves no trace. A value without I/O; the store keeps it behind a lock.
struct PendingWrites: Sendable {
    /// A version whose row is to be made, and the body it needs.
    struct Insertion: Sendable {
        let version: Version
        let body: Body
    }

    /// One transaction; apply removals first, then insertions, renewals and touches.
    struct Batch: Sendable {
        var removals: Set<Int64> = []
        var insertions: [Insertion] = []
        var renewals: [Version] = []
        var touches: [Int64: Int] = [:]
        var pins: [Int64: Int] = [:]

        /// The bytes of the bodies in it, and of the heads.
        var bodyBytes: Int {
            insertions.reduce(0) { $0 + $1.version.bytes + ($1.version.head?.bytes?.count ?? 0) }
        }
        var count: Int {
            removals.count + insertions.count + renewals.count + touches.count + pins.count
        }
        var isEmpty: Bool { count == 0 }
    }

    private(set) var insertions: [Int64: Insertion] = [:]
    private(set) var renewals: [Int64: Version] = [:]
    private(set) var removals: Set<Int64> = []
    private var touches: [Int64: Int] = [:]
    private var pins: [Int64: Int] = [:]
    /// Changes in batches that were taken and are neither written nor restored.
    private var takenCount = 0

    /// How many changes are not on disk: those that wait and those just being written.
    var count: Int {
        insertions.count + renewals.count + removals.count + touches.count + pins.count + takenCount
    }

    /// A new row.
    mutating func insert(_ version: Version, body: Body) {
        insertions[version.id] = Insertion(version: version, body: body)
    }

    /// A row that gets the new rank and facts of this version.
    mutating func renew(_ version: Version) {
        touches[version.id] = nil
        if let waiting = insertions[version.id] {
            insertions[version.id] = Insertion(version: version, body: waiting.body)
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

    /// Whether it waits to be written until when the row is pinned.
    func pins(_ id: Int64) -> Bool { pins[id] != nil }

    /// A row that goes; the insertion that is no longer needed, if it had not begun.
    mutating func remove(_ version: Version) -> Insertion? {
        touches[version.id] = nil
        renewals[version.id] = nil
        pins[version.id] = nil
        if let waiting = insertions.removeValue(forKey: version.id) { return waiting }
        removals.insert(version.id)
        return nil
    }

    /// Forgets what waits for a row that another process removed.
    mutating func forget(_ id: Int64) {
        touches[id] = nil
        renewals[id] = nil
        pins[id] = nil
        removals.remove(id)
    }

    /// Forgets an insertion whose row turned out to be there; false if there was none.
    mutating func drop(_ version: Version) -> Bool {
        insertions.removeValue(forKey: version.id) != nil
    }

    /// Takes what to write next: all but the insertions whose bodies go beyond `bytesMax`, never fewer than one.
    mutating func takeBatch(bytesMax: Int) -> Batch {
        var batch = Batch(
            removals: removals, renewals: Array(renewals.values), touches: touches, pins: pins)
        (removals, renewals, touches, pins) = ([], [:], [:], [:])
        var bytes = 0
        for insertion in insertions.values.sorted(by: { $0.version.rank < $1.version.rank }) {
            bytes += insertion.version.bytes
            guard bytes <= bytesMax || batch.insertions.isEmpty else { break }
            batch.insertions.append(insertion)
            insertions[insertion.version.id] = nil
        }
        takenCount += batch.count
        return batch
    }

    /// Takes the rows that go, to make room before anything else is written.
    mutating func takeRemovals() -> Batch {
        let batch = Batch(removals: removals)
        removals = []
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
        for (id, lastWanted) in batch.touches where !removals.contains(id) && touches[id] == nil {
            touch(id, lastWanted: lastWanted)
        }
        for (id, second) in batch.pins where !removals.contains(id) && pins[id] == nil {
            pin(id, until: second)
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
                let version = renewals.removeValue(forKey: id) ?? insertion.version
                insertions[id] = Insertion(version: version, body: insertion.body)
                touches[id] = nil
                pins[id] = nil
            }
        }
        removals.formUnion(batch.removals)
        return unneeded
    }
}
