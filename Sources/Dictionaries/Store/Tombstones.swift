/// The digests of versions that a chain had and that were evicted, for as long as clients may still hold them.
///
/// A value in two halves: the newer one is filled, and when it is full or old it takes the place of the older one,
/// which is forgotten at once. So nothing is ordered and everything is O(1). They belong to one chain, and with it
/// to one authority and one scope: a digest is never compared across.
struct Tombstones: Sendable {
    private var newer: Set<Digest> = []
    private var older: Set<Digest> = []
    private var beganAt = 0

    var count: Int { newer.count + older.count }

    /// Whether a version with this digest was evicted lately.
    func contains(_ digest: Digest) -> Bool {
        newer.contains(digest) || older.contains(digest)
    }

    /// Remembers a digest; without `hasRoom` only by forgetting older ones.
    mutating func bury(_ digest: Digest, hasRoom: Bool, now: Int, policy: ChurnPolicy) {
        forget(now: now, policy: policy)
        if newer.isEmpty { beganAt = now }
        let before = count
        if !hasRoom || newer.count >= policy.tombstonesPerHalf { turn(now: now) }
        // A chain that has nothing to forget waits until others have.
        guard hasRoom || count < before else { return }
        newer.insert(digest)
    }

    /// Forgets what is too old.
    mutating func forget(now: Int, policy: ChurnPolicy) {
        // A clock that was set back would else keep them for as long.
        if now < beganAt { beganAt = now }
        guard now - beganAt >= policy.tombstoneSeconds else { return }
        let isAllOld = now - beganAt >= 2 * policy.tombstoneSeconds
        turn(now: now)
        if isAllOld { older = [] }
    }

    private mutating func turn(now: Int) {
        older = newer
        newer = []
        beganAt = now
    }
}
