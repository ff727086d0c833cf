/// What is remembered of the chains to hold back those that change too often or cover too much.
///
/// A value without a clock; the store keeps it behind a lock of its own. Only chains in the index have a record:
/// it comes with their first eviction or advertisement and goes with their last version.
struct ChurnLedger: Sendable {
    /// What is remembered of one chain.
    private struct Record {
        var interval = AdmissionInterval()
        var width = ChainWidth()
        var tombstones = Tombstones()
    }

    /// What came of a dictionary that a client advertised.
    struct Note: Sendable {
        /// Whether a version with the digest was evicted from the chain.
        var isEvicted = false
        /// Whether the delta that is now to be made should be compared with plain coding.
        var isSampled = false
        var stop: ChainStop?
    }

    let policy: ChurnPolicy
    private var records: [ChainKey: Record] = [:]
    /// The latest second that was seen, for what happens without a clock at hand.
    private var latest = 0
    /// The chains that stopped offering, until their rest is over and noticed.
    private var resting: Set<ChainKey> = []
    private(set) var tombstoneCount = 0
    /// How many chains have an interval.
    private(set) var slowedCount = 0
    private var found = 0
    private var evicted = 0
    private var unknown = 0
    private var deferred = 0
    private var stops = 0

    var restingCount: Int { resting.count }

    init(policy: ChurnPolicy) {
        self.policy = policy
    }

    // MARK: Advertisements

    /// Counts a dictionary that was found in the chain.
    mutating func noteFound(chain: ChainKey, url: Int, now: Int) -> Note {
        found += 1
        return update(chain) { record, policy in
            record.interval.note(isEvicted: false, now: now, policy: policy)
            let stop = record.width.note(url: url, isFound: true, now: now, policy: policy)
            return Note(isSampled: record.width.isSampled(policy), stop: stop)
        }
    }

    /// Counts a dictionary that was not found and that is, or was, for the chain.
    mutating func noteMissing(_ digest: Digest, chain: ChainKey, url: Int, now: Int) -> Note {
        let note = update(chain) { record, policy in
            let isEvicted = record.tombstones.contains(digest)
            record.interval.note(isEvicted: isEvicted, now: now, policy: policy)
            let stop = record.width.note(url: url, isFound: false, now: now, policy: policy)
            return Note(isEvicted: isEvicted, stop: stop)
        }
        if note.isEvicted { evicted += 1 } else { unknown += 1 }
        return note
    }

    /// Counts a delta of the chain and what the best plain coding of its body takes.
    mutating func noteSample(chain: ChainKey, deltaBytes: Int, plainBytes: Int, now: Int) -> ChainStop? {
        guard records[chain] != nil else { return nil }
        return update(chain) { record, policy in
            let stop = record.width.note(
                deltaBytes: deltaBytes, plainBytes: plainBytes, now: now, policy: policy)
            return Note(stop: stop)
        }.stop
    }

    private mutating func update(_ chain: ChainKey, _ change: (inout Record, ChurnPolicy) -> Note) -> Note {
        let policy = policy
        let (note, slowing) = Self.applying(change, to: &records[chain, default: Record()], policy)
        slowedCount += slowing
        if note.stop != nil {
            stops += 1
            resting.insert(chain)
        }
        return note
    }

    /// The note, and by how much the change alters the number of slowed chains.
    private static func applying(
        _ change: (inout Record, ChurnPolicy) -> Note, to record: inout Record, _ policy: ChurnPolicy
    ) -> (Note, Int) {
        let wasSlowed = record.interval.seconds > 0
        let note = change(&record, policy)
        return (note, (record.interval.seconds > 0 ? 1 : 0) - (wasSlowed ? 1 : 0))
    }

    /// Fills in what the statistics say of chains that are held back.
    func describe(in statistics: inout StoreStatistics) {
        statistics.advertisedFound = found
        statistics.advertisedEvicted = evicted
        statistics.advertisedUnknown = unknown
        statistics.tombstones = tombstoneCount
        statistics.chainsSlowed = slowedCount
        statistics.admissionsDeferred = deferred
        statistics.chainsTooWide = resting.count
        statistics.chainStops = stops
    }

    // MARK: Admissions

    /// Whether the chain takes no new bodies because it stopped offering.
    func isResting(_ chain: ChainKey, now: Int) -> Bool {
        !resting.isEmpty && resting.contains(chain) && records[chain]?.width.isResting(now: now) == true
    }

    /// Takes the chain's turn to admit a new body; false: not yet.
    mutating func claim(_ chain: ChainKey, for digest: Digest?, now: Int) -> Bool {
        guard records[chain]?.interval.claim(digest, now: now) == false else { return true }
        deferred += 1
        return false
    }

    // MARK: Evictions

    /// Remembers a digest that was evicted, at this second or later, from a chain that is still there.
    mutating func bury(_ digest: Digest, chain: ChainKey, now: Int) {
        let now = max(now, latest)
        let hasRoom = tombstoneCount < policy.tombstonesMax
        let before = records[chain]?.tombstones.count ?? 0
        records[chain, default: Record()].tombstones.bury(digest, hasRoom: hasRoom, now: now, policy: policy)
        tombstoneCount += (records[chain]?.tombstones.count ?? 0) - before
    }

    /// Forgets a chain that is not in the index any more.
    mutating func drop(_ chain: ChainKey) {
        guard let record = records.removeValue(forKey: chain) else { return }
        tombstoneCount -= record.tombstones.count
        if record.interval.seconds > 0 { slowedCount -= 1 }
        resting.remove(chain)
    }

    /// Forgets the chains that stopped and whose rest is over; call it every second or so.
    mutating func wake(now: Int) {
        latest = now
        resting = resting.filter { records[$0]?.width.isResting(now: now) == true }
    }

    /// Forgets digests that are too old, and chains that are no longer there; O(chains).
    mutating func tidy(now: Int, isThere: (ChainKey) -> Bool) {
        for chain in Array(records.keys) where !isThere(chain) { drop(chain) }
        for place in records.values.indices {
            tombstoneCount -= records.values[place].tombstones.count
            records.values[place].tombstones.forget(now: now, policy: policy)
            tombstoneCount += records.values[place].tombstones.count
        }
    }
}
