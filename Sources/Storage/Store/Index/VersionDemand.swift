package import Dictionaries
internal import Synchronization

/// The holder counts of a version.
///
/// The defaults stand for a row from before holders were counted, whose clients hold it.
struct VersionDemand: Sendable, Equatable {
    var holders: UInt32 = 1
    var hasReturned = true
    /// Seconds since 1970, as the next.
    var lastOffered: UInt32 = 0
    var lastAdvertised: UInt32 = 0

    /// The counts of a version that was never offered.
    static let none = VersionDemand(holders: 0, hasReturned: false)
}

extension VersionDemand {
    init(lastOffered: Int) { self.init(lastOffered: UInt32(clamping: lastOffered)) }
}

extension Version {
    /// The number of clients that hold it, as far as known.
    package var holders: Int { Int(holderCount.load(ordering: .relaxed)) }
    /// The time of the last offer, in seconds since 1970.
    package internal(set) var lastOffered: Int {
        get { Int(offeredAt.load(ordering: .relaxed)) }
        set { offeredAt.store(Self.seconds(newValue), ordering: .relaxed) }
    }
    /// The time at which it was last offered or advertised.
    package var lastContact: Int { Int(contactAt.load(ordering: .relaxed)) }
    /// The time at which another version was last offered to a client that came with it.
    package internal(set) var handedOnAt: Int {
        get { Int(handedOn.load(ordering: .relaxed)) }
        set { handedOn.store(Self.seconds(newValue), ordering: .relaxed) }
    }
    /// True if a holder has come back, or had come back before it was offered this version.
    var hasReturned: Bool {
        get { returned.load(ordering: .relaxed) }
        set { returned.store(newValue, ordering: .relaxed) }
    }
    /// True if several clients have held it at a time.
    var isShared: Bool { shared.load(ordering: .relaxed) }
    /// The row of the version that was last offered to a client that came with this one.
    var successor: Int64 {
        get { successorRow.load(ordering: .relaxed) }
        set { successorRow.store(newValue, ordering: .relaxed) }
    }
    /// Records a body that goes to a client with this version without becoming one; returns true if it was
    /// also the last.
    ///
    /// Then several clients get the same body: once it is stored, it is compared and not hashed, and offering
    /// it costs nothing.
    package func recordUnkept(_ digest: Digest) -> Bool { chain.recordUnkept(digest) }

    /// The length of the last delta over it; nil before the first.
    package var lastDeltaBytes: Int? { deltaLength.ifKnown }

    /// The length of the first delta over it; for its client, no other dictionary could be much fresher.
    var firstDeltaBytes: Int? { firstDeltaLength.ifKnown }

    package func recordDelta(bytes: Int) {
        let length = max(UInt32(clamping: bytes), 1)
        deltaLength.store(length, ordering: .relaxed)
        let (isFirst, _) = firstDeltaLength.compareExchange(expected: 0, desired: length, ordering: .relaxed)
        if isFirst { chain.recordFreshDelta(bytes: bytes) }
    }

    /// The length of a private body on disk, packed and sealed; nil while it is unknown.
    var sealedBytes: Int? {
        get { sealedLength.ifKnown }
        set { sealedLength.store(UInt32(clamping: newValue ?? 0), ordering: .relaxed) }
    }
    /// The place in `PrivateOrder`.
    var privatePlace: Int32 {
        get { privatePlaced.load(ordering: .relaxed) }
        set { privatePlaced.store(newValue, ordering: .relaxed) }
    }
    var standing: Retention.Standing {
        if holders > 0 { return hasReturned ? .held : .newcomer }
        return isShared ? .spent : .unheld
    }
    /// Its holder counts as they are written to disk.
    var demand: VersionDemand {
        VersionDemand(
            holders: holderCount.load(ordering: .relaxed), hasReturned: hasReturned,
            lastOffered: offeredAt.load(ordering: .relaxed),
            lastAdvertised: contactAt.load(ordering: .relaxed))
    }

    /// Takes over the holder counts of another object of its row.
    func take(_ other: VersionDemand) {
        holderCount.store(other.holders, ordering: .relaxed)
        if other.hasReturned { hasReturned = true }
        if other.holders > 1 { shared.store(true, ordering: .relaxed) }
        offeredAt.max(other.lastOffered, ordering: .relaxed)
        contactAt.max(max(other.lastOffered, other.lastAdvertised), ordering: .relaxed)
    }

    func recordContact(at now: Int) { contactAt.max(Self.seconds(now), ordering: .relaxed) }

    func addHolder() {
        let count = holderCount.load(ordering: .relaxed)
        holderCount.store(count &+ (count < .max ? 1 : 0), ordering: .relaxed)
        if count > 0 { shared.store(true, ordering: .relaxed) }
    }

    func removeHolder() {
        let count = holderCount.load(ordering: .relaxed)
        if count > 0 { holderCount.store(count - 1, ordering: .relaxed) }
    }

    /// Changes the count by what another node has counted.
    func addHolders(_ change: Int) {
        let count = Int(holderCount.load(ordering: .relaxed))
        holderCount.store(UInt32(clamping: count + change), ordering: .relaxed)
        if count + change > 1 { shared.store(true, ordering: .relaxed) }
    }

    static func seconds(_ second: Int) -> UInt32 { UInt32(clamping: second) }
}

extension Atomic<UInt32> {
    /// The number; nil for 0, which stands for one that is not known.
    var ifKnown: Int? {
        let number = load(ordering: .relaxed)
        return number > 0 ? Int(number) : nil
    }
}
