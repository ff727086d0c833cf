internal import Synchronization

/// One body that a URL answered with, as a chain keeps it; the bytes themselves are a `Body`.
///
/// What the answer said never changes: a body that returns makes a new object with the same `id`. What does is when it
/// was last wanted, until when it is named, whether it is current, its place in the order of eviction, and the bytes
/// of its head.
package final class Version: Sendable, DemandQueueElement {
    /// The row in the store; see `row`.
    package let id: Int64
    /// The digest of the body; in a private chain what `StoreKeys` calls it there, as also the next three.
    package let digest: Digest
    /// Path and query exactly as requested.
    package let url: String
    /// The request fields that the answer varied on, as `VariantKey` writes them.
    package let variant: String
    /// The opaque-tag of the entity tag that the answer had or was given.
    package let etag: String?
    package let contentType: String?
    /// The length of the body.
    package let bytes: Int
    /// Seconds since 1970.
    package let admittedAt: Int
    /// Seconds that the version is kept after it was last wanted.
    package let maxAge: Int
    /// Whether the upstream's own Use-As-Dictionary named the chain, and not the route.
    package let isUpstreamMatch: Bool
    /// The answer's head, where the upstream may be asked whether it still holds.
    package let head: StoredHead?

    /// A row for a new version of this rank.
    ///
    /// Rows grow with the ranks, so that what is admitted together lies together on disk; what is random keeps two
    /// processes on one store from choosing the same one in the same microsecond.
    static func row(_ rank: Int64) -> Int64 {
        let randomBits = 11
        return (rank << randomBits | .random(in: 0..<(1 << randomBits))) & .max
    }

    /// The longest time and the latest second that are kept: such numbers can be added without overflow.
    static let secondsMax = (1 << 53) - 1

    /// The place in its chain: the newest has the highest, and a body that returns gets a new one.
    let rank: Int64
    let home: Chain
    private let wanted: Atomic<Int>
    private let wantedOnDisk: Atomic<Int>
    private let pinned: Atomic<Int>
    private let current = Atomic<Bool>(true)
    private let queued = Atomic<Int>(0)

    /// What its names take beside it.
    var nameBytes: Int { url.utf8.count + variant.utf8.count }
    /// The name of the chain that this is a version of.
    package var chain: ChainKey { home.key }
    /// Seconds since 1970.
    package var lastWanted: Int { wanted.load(ordering: .relaxed) }
    /// The first second at which the version is too old to be used.
    var expiry: Int { max(lastWanted + maxAge, pinnedUntil) }
    /// Until when the version is named in Links, in seconds since 1970; 0 where it is not.
    package var pinnedUntil: Int { pinned.load(ordering: .relaxed) }
    /// Whether a route of today would make it; otherwise it is kept, but no reader finds it.
    var isCurrent: Bool { current.load(ordering: .relaxed) }
    /// What it takes of the budget of private versions, its rows included.
    var privateBytes: Int { bytes + SealedBytes.overheadBytes + 1024 }
    /// Until when it was, or is sure to be, wanted: a Link that names it is kept to.
    var wantedUntil: Int { max(lastWanted, pinnedUntil) }
    var queuePlace: Int {
        get { queued.load(ordering: .relaxed) }
        set { queued.store(newValue, ordering: .relaxed) }
    }
    var bodyName: BodyName { BodyName(scope: home.key.scope, digest: digest) }
    /// What it takes on disk, at most, were its body in no other chain.
    var storedBytes: Int {
        StoredSize.bytes(body: bytes, names: StoredSize.names(chain: chain, url: url, variant: variant))
    }

    init(
        _ facts: VersionFacts, id: Int64, rank: Int64, home: Chain, admittedAt: Int, lastWanted: Int,
        pinnedUntil: Int = 0, head: StoredHead? = nil
    ) {
        self.head = head
        self.id = id
        self.rank = rank
        self.home = home
        digest = facts.digest
        url = facts.url
        variant = facts.variant
        etag = facts.etag
        contentType = facts.contentType
        bytes = facts.bytes
        maxAge = facts.maxAge
        isUpstreamMatch = facts.isUpstreamMatch
        self.admittedAt = Self.clamped(admittedAt)
        wanted = Atomic(Self.clamped(lastWanted))
        wantedOnDisk = Atomic(Self.clamped(lastWanted))
        pinned = Atomic(Self.clamped(pinnedUntil))
    }

    /// Whether it comes before another of its chain.
    func isOlder(than other: Version) -> Bool { (rank, id) < (other.rank, other.id) }

    /// Whether a Link names the version, so that no limit of the store evicts it.
    package func isPinned(at now: Int) -> Bool { now < pinnedUntil }

    /// Pins the version until some second; 0 lets it go.
    func pin(until second: Int) {
        pinned.store(Self.clamped(second), ordering: .relaxed)
    }

    /// Moves `lastWanted` forward; true at most once a minute, when that should be written to disk.
    func want(at now: Int) -> Bool {
        let now = Self.clamped(now)
        wanted.max(now, ordering: .relaxed)
        let written = wantedOnDisk.load(ordering: .relaxed)
        guard now >= written + 60 else { return false }
        return wantedOnDisk.compareExchange(expected: written, desired: now, ordering: .relaxed).exchanged
    }

    /// Moves `lastWanted` forward to what the disk says.
    func wasWanted(at time: Int) {
        let time = Self.clamped(time)
        wanted.max(time, ordering: .relaxed)
        wantedOnDisk.max(time, ordering: .relaxed)
    }

    /// Notes whether a route of today would make it; every reader heeds it from its next look-up on.
    func setCurrent(_ isCurrent: Bool) {
        current.store(isCurrent, ordering: .relaxed)
    }
}

extension Version {
    private static func clamped(_ seconds: Int) -> Int { min(max(seconds, 0), secondsMax) }
}

/// What an answer says about the version it makes.
struct VersionFacts: Sendable, Equatable {
    let digest: Digest
    let url: String
    let variant: String
    let etag: String?
    let contentType: String?
    let bytes: Int
    let maxAge: Int
    var isUpstreamMatch = false
}

extension Version {
    /// Whether a head may be put in place of the one that the version has, without another version.
    package func canKeep(_ head: [UInt8]?) -> Bool { head == nil || self.head != nil }

    /// What the answer that made the version said.
    var facts: VersionFacts {
        VersionFacts(
            digest: digest, url: url, variant: variant, etag: etag, contentType: contentType, bytes: bytes,
            maxAge: maxAge, isUpstreamMatch: isUpstreamMatch)
    }
}
