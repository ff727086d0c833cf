internal import Synchronization

/// One body that a URL answered with, as a chain keeps it; the bytes themselves are a `Body`.
///
/// What the answer said never changes: a body that returns makes a new object with the same `id`. What does is when it
/// was last wanted, until when it is named, whether it is current, its place in the order of eviction, and the bytes
/// of its head.
package final class Version: Sendable {
    /// The row in the store; see `row`.
    package let id: Int64
    /// The digest of the body; in a private chain what `StoreKeys` calls it there, as also the next three.
    package let digest: Digest
    private let ownURL: String?
    /// The request fields that the answer varied on, as `VariantKey` writes them.
    package let variant: String
    /// The opaque-tag of the entity tag that the answer had or was given; nil where only its hash is in memory.
    package let etag: String?
    /// What URL and variant, the entity tag, and the URL alone hash to; the last only while the URL is known.
    let name: UInt64
    let tag: UInt64
    let urlHash: UInt64
    let urlBytes: UInt16
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
    private let indexed = Atomic<Int32>(-1)
    // What is known of its holders; changed only under the lock of the store's state.
    private let holderCount = Atomic<UInt32>(0)
    private let offeredAt = Atomic<UInt32>(0)
    private let contactAt = Atomic<UInt32>(0)
    private let passedOnAt = Atomic<UInt32>(0)
    private let proven = Atomic<Bool>(false)
    private let shared = Atomic<Bool>(false)
    private let successorRow = Atomic<Int64>(0)
    private let deltaLength = Atomic<UInt32>(0)
    private let firstDeltaLength = Atomic<UInt32>(0)
    private let sealedLength = Atomic<UInt32>(0)
    private let privatePlaced = Atomic<Int32>(-1)
    /// The client network that it was made for, by a number that others may share; see `PrivateOrder`.
    let network: UInt16

    /// Path and query as requested; of a version whose own are on disk alone those of a version of its chain.
    package var url: String { ownURL ?? home.url ?? home.key.match }
    /// True where `url` is its own.
    var hasOwnURL: Bool { ownURL != nil || isFrom(url) }
    /// True where its texts are on disk alone.
    var isLaidDown: Bool { ownURL == nil }
    /// Its place in the index; -1 before it has one.
    var place: Int32 {
        get { indexed.load(ordering: .relaxed) }
        set { indexed.store(newValue, ordering: .relaxed) }
    }
    /// What it has in common with others.
    var traits: VersionTraits {
        VersionTraits(
            variant: variant, contentType: contentType, maxAge: maxAge, isUpstreamMatch: isUpstreamMatch)
    }
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
    /// What a private version takes of its budget: its body on disk, with a kibibyte for rows and the place in memory.
    var privateBytes: Int { (sealedBytes ?? bytes + SealedBytes.overheadBytes) + 1024 }
    /// Until when it was, or is sure to be, wanted: a Link that names it is kept to.
    var wantedUntil: Int { max(lastWanted, pinnedUntil) }
    var bodyName: BodyName { BodyName(scope: home.key.scope, digest: digest) }
    /// What it takes on disk, at most, were its body in no other chain.
    var storedBytes: Int {
        StoredSize.bytes(body: bytes, names: chain.match.utf8.count + Int(urlBytes) + variant.utf8.count)
    }

    init(
        _ facts: VersionFacts, id: Int64, rank: Int64, home: Chain, admittedAt: Int, lastWanted: Int,
        pinnedUntil: Int = 0, head: StoredHead? = nil, demand: VersionDemand? = nil, network: UInt16? = nil
    ) {
        self.head = head
        // What was read from disk is spread evenly.
        self.network = network ?? UInt16(truncatingIfNeeded: facts.digest.part)
        self.id = id
        self.rank = rank
        self.home = home
        digest = facts.digest
        ownURL = facts.url
        urlBytes = UInt16(clamping: facts.url.utf8.count)
        name = TextHash.name(url: facts.url, variant: facts.variant)
        tag = TextHash.tag(facts.etag)
        urlHash = TextHash.url(facts.url)
        home.noteURL(facts.url)
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
        home.want(at: Self.clamped(lastWanted))
        take(demand ?? VersionDemand(lastOffered: Self.clamped(admittedAt)))
        noteContact(at: lastWanted)
    }

    /// A copy that knows its URL, for a look at it.
    init(copying other: Version, url: String) {
        head = nil
        (id, rank, digest, home) = (other.id, other.rank, other.digest, other.home)
        (ownURL, urlBytes, urlHash, etag) = (url, other.urlBytes, TextHash.url(url), other.etag)
        network = other.network
        (name, tag, variant, contentType) = (other.name, other.tag, other.variant, other.contentType)
        (maxAge, isUpstreamMatch) = (other.maxAge, other.isUpstreamMatch)
        (bytes, admittedAt) = (other.bytes, other.admittedAt)
        wanted = Atomic(other.lastWanted)
        wantedOnDisk = Atomic(other.lastWanted)
        pinned = Atomic(other.pinnedUntil)
        indexed.store(other.place, ordering: .relaxed)
        current.store(other.isCurrent, ordering: .relaxed)
        take(other.demand)
    }

    /// The version that a record says.
    init(
        _ record: VersionRecord, rest: VersionRecord.Rest?, traits: VersionTraits, home: Chain, place: Int32
    ) {
        head = nil
        (id, rank, digest, self.home) = (record.id, record.rank, record.digest, home)
        (ownURL, urlBytes, urlHash, etag) = (nil, record.urlBytes, 0, nil)
        network = rest?.network ?? UInt16(truncatingIfNeeded: record.digest.part)
        (name, tag) = (record.name, record.tag)
        (variant, contentType) = (traits.variant, traits.contentType)
        (maxAge, isUpstreamMatch) = (traits.maxAge, traits.isUpstreamMatch)
        (bytes, admittedAt) = (Int(record.bytes), Int(record.admittedAt))
        wanted = Atomic(Int(record.lastWanted))
        wantedOnDisk = Atomic(Int(record.wantedOnDisk))
        pinned = Atomic(0)
        indexed.store(place, ordering: .relaxed)
        current.store(record.flags.contains(.isCurrent), ordering: .relaxed)
        proven.store(record.flags.contains(.isProven), ordering: .relaxed)
        shared.store(record.flags.contains(.isShared), ordering: .relaxed)
        holderCount.store(record.holders, ordering: .relaxed)
        offeredAt.store(record.lastOffered, ordering: .relaxed)
        contactAt.store(record.lastContact, ordering: .relaxed)
        guard let rest else { return }
        successorRow.store(rest.successor, ordering: .relaxed)
        passedOnAt.store(rest.handedOnAt, ordering: .relaxed)
        deltaLength.store(rest.deltaBytes, ordering: .relaxed)
        firstDeltaLength.store(rest.firstDeltaBytes, ordering: .relaxed)
        sealedLength.store(rest.sealedBytes, ordering: .relaxed)
        privatePlace = rest.privatePlace
    }

    /// Whether it comes before another of its chain.
    package func isOlder(than other: Version) -> Bool { (rank, id) < (other.rank, other.id) }

    /// Whether a Link names the version, so that no limit of the store evicts it.
    package func isPinned(at now: Int) -> Bool { now < pinnedUntil }

    /// Pins the version until some second; 0 lets it go.
    func pin(until second: Int) {
        pinned.store(Self.clamped(second), ordering: .relaxed)
    }

    /// Moves `lastWanted` forward; true where that should be written to disk.
    ///
    /// At most once a minute, and the more seldom the longer the version is there: one that is told of an hour after it
    /// was admitted need not be told of again for minutes.
    func want(at now: Int) -> Bool {
        let now = Self.clamped(now)
        wanted.max(now, ordering: .relaxed)
        home.want(at: now)
        let written = wantedOnDisk.load(ordering: .relaxed)
        guard now >= written + max(60, (written - admittedAt) / 8) else { return false }
        return wantedOnDisk.compareExchange(expected: written, desired: now, ordering: .relaxed).exchanged
    }

    /// Moves `lastWanted` forward to what the disk says.
    func wasWanted(at time: Int) {
        let time = Self.clamped(time)
        wanted.max(time, ordering: .relaxed)
        wantedOnDisk.max(time, ordering: .relaxed)
    }

    /// Forgets seconds that have not come, which a clock told that was ahead; true where the disk has such a one.
    func turnBack(to now: Int) -> Bool {
        let (now, seconds) = (Self.clamped(now), Self.seconds(now))
        wanted.min(now, ordering: .relaxed)
        home.turnBack(to: now)
        offeredAt.min(seconds, ordering: .relaxed)
        contactAt.min(seconds, ordering: .relaxed)
        passedOnAt.min(seconds, ordering: .relaxed)
        return wantedOnDisk.min(now, ordering: .relaxed).oldValue > now
    }

    /// Notes whether a route of today would make it; every reader heeds it from its next look-up on.
    func setCurrent(_ isCurrent: Bool) {
        current.store(isCurrent, ordering: .relaxed)
    }
}

extension Version {
    // MARK: Holders

    /// The clients that hold it, as far as known.
    package var holders: Int { Int(holderCount.load(ordering: .relaxed)) }
    /// When it was last offered, in seconds since 1970.
    package internal(set) var lastOffered: Int {
        get { Int(offeredAt.load(ordering: .relaxed)) }
        set { offeredAt.store(Self.seconds(newValue), ordering: .relaxed) }
    }
    /// When it was last offered or advertised.
    package var lastContact: Int { Int(contactAt.load(ordering: .relaxed)) }
    /// When another was last offered to a client that had come with it.
    package internal(set) var handedOnAt: Int {
        get { Int(passedOnAt.load(ordering: .relaxed)) }
        set { passedOnAt.store(Self.seconds(newValue), ordering: .relaxed) }
    }
    /// Whether one of its holders has come back, or had before it was offered this version.
    var isProven: Bool {
        get { proven.load(ordering: .relaxed) }
        set { proven.store(newValue, ordering: .relaxed) }
    }
    /// Whether several clients have held it at a time.
    var isShared: Bool { shared.load(ordering: .relaxed) }
    /// The row of the version that was last offered to a client that had come with this one.
    var successor: Int64 {
        get { successorRow.load(ordering: .relaxed) }
        set { successorRow.store(newValue, ordering: .relaxed) }
    }
    /// Whether a body that goes to a client that has come with this version went to such a client just before, without
    /// becoming a version.
    ///
    /// Several clients get it, then: stored, it is compared and not hashed, and costs nothing to offer.
    package func isSeenAgain(_ digest: Digest) -> Bool { home.isSeenAgain(digest) }

    /// The length of the last delta over it; nil where there has been none.
    package var lastDeltaBytes: Int? {
        let bytes = deltaLength.load(ordering: .relaxed)
        return bytes > 0 ? Int(bytes) : nil
    }

    /// The length of the first delta over it: hardly any is over a fresher version for the same client.
    var firstDeltaBytes: Int? {
        let bytes = firstDeltaLength.load(ordering: .relaxed)
        return bytes > 0 ? Int(bytes) : nil
    }

    /// Notes the length of a delta over it.
    package func noteDelta(bytes: Int) {
        let length = max(UInt32(clamping: bytes), 1)
        deltaLength.store(length, ordering: .relaxed)
        let (isFirst, _) = firstDeltaLength.compareExchange(expected: 0, desired: length, ordering: .relaxed)
        if isFirst { home.noteFreshDelta(bytes: bytes) }
    }

    /// The length of a private body on disk, compressed and sealed; nil as long as it is not known.
    var sealedBytes: Int? {
        get {
            let bytes = sealedLength.load(ordering: .relaxed)
            return bytes > 0 ? Int(bytes) : nil
        }
        set { sealedLength.store(UInt32(clamping: newValue ?? 0), ordering: .relaxed) }
    }
    /// The place in `PrivateOrder`; see there.
    var privatePlace: Int32 {
        get { privatePlaced.load(ordering: .relaxed) }
        set { privatePlaced.store(newValue, ordering: .relaxed) }
    }
    /// What is known of the clients that hold it, in a word.
    var standing: Retention.Standing {
        if holders > 0 { return isProven ? .held : .newcomer }
        return isShared ? .spent : .unheld
    }
    /// What is known of its holders, as it is written to disk.
    var demand: VersionDemand {
        VersionDemand(
            holders: holderCount.load(ordering: .relaxed), isProven: isProven,
            lastOffered: offeredAt.load(ordering: .relaxed),
            lastAdvertised: contactAt.load(ordering: .relaxed))
    }

    /// Takes over what another object of its row knows of the holders.
    func take(_ other: VersionDemand) {
        holderCount.store(other.holders, ordering: .relaxed)
        if other.isProven { isProven = true }
        if other.holders > 1 { shared.store(true, ordering: .relaxed) }
        offeredAt.max(other.lastOffered, ordering: .relaxed)
        contactAt.max(max(other.lastOffered, other.lastAdvertised), ordering: .relaxed)
    }

    func noteContact(at now: Int) { contactAt.max(Self.seconds(now), ordering: .relaxed) }

    func addHolder() {
        let count = holderCount.load(ordering: .relaxed)
        holderCount.store(count &+ (count < .max ? 1 : 0), ordering: .relaxed)
        if count > 0 { shared.store(true, ordering: .relaxed) }
    }

    func removeHolder() {
        let count = holderCount.load(ordering: .relaxed)
        if count > 0 { holderCount.store(count - 1, ordering: .relaxed) }
    }

    static func seconds(_ second: Int) -> UInt32 { UInt32(clamping: second) }
}

/// What is known of the clients that hold a version.
struct VersionDemand: Sendable, Equatable {
    var holders: UInt32
    var isProven: Bool
    /// Seconds since 1970, as the next.
    var lastOffered: UInt32
    var lastAdvertised: UInt32

    /// By default what a row says that was written before holders were counted: clients hold it.
    init(holders: UInt32 = 1, isProven: Bool = true, lastOffered: UInt32 = 0, lastAdvertised: UInt32 = 0) {
        self.holders = holders
        self.isProven = isProven
        self.lastOffered = lastOffered
        self.lastAdvertised = lastAdvertised
    }

    init(lastOffered: Int) { self.init(lastOffered: UInt32(clamping: lastOffered)) }

    /// Nobody has been offered it yet.
    static let none = VersionDemand(holders: 0, isProven: false)
}

extension Version {
    fileprivate static func clamped(_ seconds: Int) -> Int { min(max(seconds, 0), secondsMax) }
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

    /// What the response that made the version said; of one whose texts are on disk alone not all of it.
    var facts: VersionFacts {
        VersionFacts(
            digest: digest, url: url, variant: variant, etag: etag, contentType: contentType, bytes: bytes,
            maxAge: maxAge, isUpstreamMatch: isUpstreamMatch)
    }

    /// The same version with the names that its row says.
    func named(_ names: VersionNames) -> Version {
        let facts = VersionFacts(
            digest: digest, url: names.url, variant: names.variant, etag: names.etag,
            contentType: names.contentType, bytes: bytes, maxAge: maxAge, isUpstreamMatch: isUpstreamMatch)
        let version = Version(
            facts, id: id, rank: rank, home: home, admittedAt: admittedAt, lastWanted: lastWanted,
            pinnedUntil: pinnedUntil, head: head, demand: demand, network: network)
        version.sealedBytes = sealedBytes
        version.setCurrent(isCurrent)
        return version
    }

    /// True where a response that says this would make no other version.
    func says(_ facts: VersionFacts) -> Bool {
        digest == facts.digest && tag == TextHash.tag(facts.etag) && contentType == facts.contentType
            && bytes == facts.bytes && maxAge == facts.maxAge && isUpstreamMatch == facts.isUpstreamMatch
            && name == TextHash.name(url: facts.url, variant: facts.variant)
    }

    /// True for the version of a URL.
    package func isFrom(_ url: String) -> Bool { name == TextHash.name(url: url, variant: variant) }

    /// True where the response had this entity tag.
    func had(etag: String?) -> Bool { tag == TextHash.tag(etag) }
}

// MARK: - At rest

extension Version {
    /// Lays down what is known of it.
    func write(to record: inout VersionRecord) {
        record.lastWanted = Self.seconds(lastWanted)
        record.wantedOnDisk = Self.seconds(wantedOnDisk.load(ordering: .relaxed))
        record.holders = holderCount.load(ordering: .relaxed)
        record.lastOffered = offeredAt.load(ordering: .relaxed)
        record.lastContact = contactAt.load(ordering: .relaxed)
        record.flags.formIntersection(.hasTwins)
        if isCurrent { record.flags.insert(.isCurrent) }
        if isProven { record.flags.insert(.isProven) }
        if isShared { record.flags.insert(.isShared) }
    }

    /// What is known of few; nil where nothing is.
    var rest: VersionRecord.Rest? {
        let rest = VersionRecord.Rest(
            successor: successor, handedOnAt: passedOnAt.load(ordering: .relaxed),
            deltaBytes: deltaLength.load(ordering: .relaxed),
            firstDeltaBytes: firstDeltaLength.load(ordering: .relaxed),
            sealedBytes: sealedLength.load(ordering: .relaxed), privatePlace: privatePlace, network: network)
        return rest.isEmpty ? nil : rest
    }
}

extension VersionRecord {
    /// The record of a version that somebody uses.
    init(_ version: Version, chain: Int32, traits: Int32) {
        digest = version.digest
        id = version.id
        rank = version.rank
        name = version.name
        tag = version.tag
        self.chain = chain
        self.traits = traits
        bytes = UInt32(clamping: version.bytes)
        admittedAt = Version.seconds(version.admittedAt)
        urlBytes = version.urlBytes
        (lastWanted, wantedOnDisk, holders, lastOffered, lastContact) = (0, 0, 0, 0, 0)
        flags = []
        version.write(to: &self)
    }

}
