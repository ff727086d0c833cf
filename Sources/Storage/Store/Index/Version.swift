package import Dictionaries
internal import Synchronization

/// One response body of a URL, as a chain keeps it; the bytes themselves are a `Body`.
///
/// The facts of the response never change: a body that returns makes a new object with the same `id`. Demand,
/// pin, currency, places and the bytes of the head change.
package final class Version: Sendable {
    /// The row in the store.
    package let id: Int64
    /// The digest of the body.
    ///
    /// In a private chain, this and the next three are names made by `StoreKeys`.
    package let digest: Digest
    private let ownURL: String?
    /// The request fields that the response varied on, as `VariantKey` writes them.
    package let variant: String
    /// The opaque-tag of the response's entity tag; nil if only its hash is in memory.
    package let etag: String?
    /// The hashes of URL and variant, of the entity tag, and of the URL alone; the last is 0 while the URL is
    /// unknown.
    let name: UInt64
    let tag: UInt64
    let urlHash: UInt64
    let urlBytes: UInt16
    package let contentType: String?
    /// The length of the body.
    package let bytes: Int
    /// The time of admission, in seconds since 1970.
    package let admittedAt: Int
    /// The seconds that the version is kept after it was last wanted.
    package let maxAge: Int
    /// True if the upstream's own Use-As-Dictionary named the chain, and not the route.
    package let isUpstreamMatch: Bool
    /// The response head, if the upstream can be asked to revalidate.
    package let head: StoredHead?
    /// The promised ids that its row had; from then on the index has them.
    let rowPromises: PromisedIDs

    /// Returns the row for a new version of this rank.
    ///
    /// Rows grow with the ranks, so that versions admitted together are stored together. Random bits keep two
    /// processes on one store from choosing the same row in the same microsecond.
    static func row(_ rank: Int64) -> Int64 {
        let randomBits = 11
        return (rank << randomBits | .random(in: 0..<(1 << randomBits))) & .max
    }

    /// The greatest time and duration that is kept, so that sums cannot overflow.
    static let secondsMax = (1 << 53) - 1

    /// The order in its chain: the newest has the highest rank, and a body that returns gets a new one.
    let rank: Int64
    let chain: Chain
    private let wanted: Atomic<Int>
    let wantedOnDisk: Atomic<Int>
    private let pinned: Atomic<Int>
    private let current = Atomic<Bool>(true)
    private let indexed = Atomic<Int32>(-1)
    // The holder counts, for `VersionDemand.swift` alone; changed only under the lock of the store's state.
    let holderCount = Atomic<UInt32>(0)
    let offeredAt = Atomic<UInt32>(0)
    let contactAt = Atomic<UInt32>(0)
    let handedOn = Atomic<UInt32>(0)
    let returned = Atomic<Bool>(false)
    private let publiclyProven: Atomic<Bool>
    let shared = Atomic<Bool>(false)
    let successorRow = Atomic<Int64>(0)
    let deltaLength = Atomic<UInt32>(0)
    let firstDeltaLength = Atomic<UInt32>(0)
    let sealedLength = Atomic<UInt32>(0)
    let privatePlaced = Atomic<Int32>(-1)
    /// The number of the client network that it was made for; networks may share one, see `PrivateOrder`.
    let network: UInt16

    /// The path and query as requested; if they are on disk only, those of another version of its chain.
    ///
    /// A personal version has none: whoever was given its body holds it, whatever the request was.
    package var url: String { ownURL ?? (isPersonal ? "" : chain.url ?? chain.key.match) }
    private var isPersonal: Bool { if case .personal = chainKey.scope { true } else { false } }
    /// True if `url` is its own.
    var hasOwnURL: Bool { ownURL != nil || isFrom(url) }
    /// True if its texts are on disk only.
    var isFromRecord: Bool { ownURL == nil }
    /// The place in the index; -1 before it has one.
    var place: Int32 {
        get { indexed.load(ordering: .relaxed) }
        set { indexed.store(newValue, ordering: .relaxed) }
    }
    /// 32 bits of the row, by which an order knows whether this version has a place in it, or another by now.
    var rowPart: UInt32 { UInt32(truncatingIfNeeded: id ^ (id >> 32)) }
    var traits: VersionTraits {
        VersionTraits(
            variant: variant, contentType: contentType, maxAge: maxAge, isUpstreamMatch: isUpstreamMatch)
    }
    package var chainKey: ChainKey { chain.key }
    var key: VersionKey { VersionKey(chain: chainKey, url: url, variant: variant) }
    /// The time of the last demand, in seconds since 1970.
    package var lastWanted: Int { wanted.load(ordering: .relaxed) }
    /// The first second at which the version is expired.
    var expiry: Int { max(lastWanted + maxAge, pinnedUntil) }
    /// The end of its pin by Links, in seconds since 1970; 0 without one.
    package var pinnedUntil: Int { pinned.load(ordering: .relaxed) }
    /// True once several clients have got the body by requests without a credential: it belongs to nobody.
    ///
    /// Changed only under the lock of the store's state.
    package internal(set) var isProvenPublic: Bool {
        get { publiclyProven.load(ordering: .relaxed) }
        set { publiclyProven.store(newValue, ordering: .relaxed) }
    }
    /// True if a present route would make it; otherwise it is kept, but no reader finds it.
    var isCurrent: Bool { current.load(ordering: .relaxed) }
    /// The bytes of a private version in its budget: the body on disk, and a kibibyte for rows and memory.
    var privateBytes: Int { (sealedBytes ?? bytes + SealedBytes.overheadBytes) + 1024 }
    var bodyName: BodyName { BodyName(scope: chain.key.scope, digest: digest) }
    /// The bytes on disk, estimated as if no other version had the body.
    package var storedBytes: Int {
        StoredSize.bytes(body: bytes, names: chainKey.match.utf8.count + Int(urlBytes) + variant.utf8.count)
    }

    /// The state of a version that an object with other facts or in another chain takes over.
    struct State {
        var admittedAt: Int
        var lastWanted: Int
        var pinnedUntil = 0
        var head: StoredHead?
        /// Nil stands for the demand of one client at the time of admission.
        var demand: VersionDemand?
        /// Nil spreads versions read from disk evenly over the numbers.
        var network: UInt16?
        var sealedBytes: Int?
        var isCurrent = true
        var isProvenPublic = false
        /// Those of its row.
        var promises = PromisedIDs()
    }

    var state: State {
        State(
            admittedAt: admittedAt, lastWanted: lastWanted, pinnedUntil: pinnedUntil, head: head,
            demand: demand,
            network: network, sealedBytes: sealedBytes, isCurrent: isCurrent, isProvenPublic: isProvenPublic)
    }

    init(_ facts: VersionFacts, id: Int64, rank: Int64, chain: Chain, _ state: State) {
        head = state.head
        rowPromises = state.promises
        network = state.network ?? UInt16(truncatingIfNeeded: facts.digest.part)
        self.id = id
        self.rank = rank
        self.chain = chain
        digest = facts.digest
        ownURL = facts.url
        urlBytes = UInt16(clamping: facts.url.utf8.count)
        name = TextHash.name(url: facts.url, variant: facts.variant)
        tag = TextHash.tag(facts.etag)
        urlHash = TextHash.url(facts.url)
        chain.keepURL(facts.url)
        variant = facts.variant
        etag = facts.etag
        contentType = facts.contentType
        bytes = facts.bytes
        maxAge = facts.maxAge
        isUpstreamMatch = facts.isUpstreamMatch
        admittedAt = Self.clamped(state.admittedAt)
        let lastWanted = Self.clamped(state.lastWanted)
        wanted = Atomic(lastWanted)
        wantedOnDisk = Atomic(lastWanted)
        pinned = Atomic(Self.clamped(state.pinnedUntil))
        publiclyProven = Atomic(state.isProvenPublic)
        chain.want(at: lastWanted)
        take(state.demand ?? VersionDemand(lastOffered: admittedAt))
        recordContact(at: state.lastWanted)
        sealedBytes = state.sealedBytes
        setCurrent(state.isCurrent)
    }

    init(
        _ record: VersionRecord, rest: VersionRecord.Rest?, traits: VersionTraits, chain: Chain, place: Int32
    ) {
        head = nil
        rowPromises = PromisedIDs()
        (id, rank, digest, self.chain) = (record.id, record.rank, record.digest, chain)
        (ownURL, urlBytes, urlHash, etag) = (nil, record.urlBytes, 0, nil)
        network = rest?.network ?? UInt16(truncatingIfNeeded: record.digest.part)
        (name, tag) = (record.name, record.tag)
        (variant, contentType) = (traits.variant, traits.contentType)
        (maxAge, isUpstreamMatch) = (traits.maxAge, traits.isUpstreamMatch)
        (bytes, admittedAt) = (Int(record.bytes), Int(record.admittedAt))
        wanted = Atomic(Int(record.lastWanted))
        wantedOnDisk = Atomic(Int(record.wantedOnDisk))
        pinned = Atomic(0)
        publiclyProven = Atomic(record.flags.contains(.isProvenPublic))
        indexed.store(place, ordering: .relaxed)
        current.store(record.flags.contains(.isCurrent), ordering: .relaxed)
        returned.store(record.flags.contains(.hasReturned), ordering: .relaxed)
        shared.store(record.flags.contains(.isShared), ordering: .relaxed)
        holderCount.store(record.holders, ordering: .relaxed)
        offeredAt.store(record.lastOffered, ordering: .relaxed)
        contactAt.store(record.lastContact, ordering: .relaxed)
        guard let rest else { return }
        successorRow.store(rest.successor, ordering: .relaxed)
        handedOn.store(rest.handedOnAt, ordering: .relaxed)
        deltaLength.store(rest.deltaBytes, ordering: .relaxed)
        firstDeltaLength.store(rest.firstDeltaBytes, ordering: .relaxed)
        sealedLength.store(rest.sealedBytes, ordering: .relaxed)
        privatePlace = rest.privatePlace
    }

    /// True if it precedes another version of its chain.
    package func isOlder(than other: Version) -> Bool { (rank, id) < (other.rank, other.id) }

    /// True while a Link names the version, so that no limit of the store evicts it.
    package func isPinned(at now: Int) -> Bool { now < pinnedUntil }

    /// Pins the version until some second; 0 ends the pin.
    func pin(until second: Int) {
        pinned.store(Self.clamped(second), ordering: .relaxed)
    }

    /// Moves `lastWanted` forward; returns true if that should be written to disk.
    ///
    /// That is at most once a minute, and less often for older versions: a version that is an hour old is
    /// written every few minutes.
    func want(at now: Int) -> Bool {
        let now = Self.clamped(now)
        wanted.max(now, ordering: .relaxed)
        chain.want(at: now)
        let written = wantedOnDisk.load(ordering: .relaxed)
        guard now >= written + max(60, (written - admittedAt) / 8) else { return false }
        return wantedOnDisk.compareExchange(expected: written, desired: now, ordering: .relaxed).exchanged
    }

    /// Moves `lastWanted` forward to the value on disk.
    func wasWanted(at time: Int) {
        let time = Self.clamped(time)
        wanted.max(time, ordering: .relaxed)
        wantedOnDisk.max(time, ordering: .relaxed)
    }

    /// Forgets future times after the clock was ahead; returns true if the disk has one.
    func turnBack(to now: Int) -> Bool {
        let (now, seconds) = (Self.clamped(now), Self.seconds(now))
        wanted.min(now, ordering: .relaxed)
        chain.turnBack(to: now)
        offeredAt.min(seconds, ordering: .relaxed)
        contactAt.min(seconds, ordering: .relaxed)
        handedOn.min(seconds, ordering: .relaxed)
        return wantedOnDisk.min(now, ordering: .relaxed).oldValue > now
    }

    /// Records whether a present route would make it; readers see that from their next look-up on.
    func setCurrent(_ isCurrent: Bool) {
        current.store(isCurrent, ordering: .relaxed)
    }
}

extension Version {
    fileprivate static func clamped(_ seconds: Int) -> Int { min(max(seconds, 0), secondsMax) }
}
