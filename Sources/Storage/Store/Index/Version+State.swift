package import Dictionaries
internal import Synchronization

/// The state of a version; all times are in seconds since 1970.
extension Version {
    /// The greatest duration that is kept, so that sums cannot overflow.
    static let secondsMax = (1 << 53) - 1

    static func seconds(_ second: Int) -> UInt32 { UInt32(clamping: second) }

    // MARK: Demand

    package var admittedAt: Int { Int(counters.admittedAt) }
    /// The time of the last demand.
    package var lastWanted: Int { Int(counters.lastWanted.load(ordering: .relaxed)) }
    /// The first second at which the version is expired.
    var expiry: Int { max(lastWanted + maxAge, pinnedUntil) }

    /// Moves `lastWanted` forward; returns true if that should be written to disk.
    ///
    /// That is at most once a minute, and less often for older versions: a version that is an hour old is
    /// written every few minutes.
    func want(at second: Int) -> Bool {
        let now = Self.seconds(second)
        counters.lastWanted.max(now, ordering: .relaxed)
        chain.want(at: second)
        let written = counters.wantedOnDisk.load(ordering: .relaxed)
        guard Int(now) >= Int(written) + max(60, (Int(written) - admittedAt) / 8) else { return false }
        return counters.wantedOnDisk.compareExchange(expected: written, desired: now, ordering: .relaxed)
            .exchanged
    }

    /// Moves `lastWanted` forward to the value on disk.
    func wasWanted(at second: Int) {
        counters.lastWanted.max(Self.seconds(second), ordering: .relaxed)
        counters.wantedOnDisk.max(Self.seconds(second), ordering: .relaxed)
    }

    /// Forgets future times after the clock was ahead; returns true if the disk has one.
    func turnBack(to second: Int) -> Bool {
        let now = Self.seconds(second)
        counters.lastWanted.min(now, ordering: .relaxed)
        chain.turnBack(to: second)
        counters.lastOffered.min(now, ordering: .relaxed)
        counters.lastContact.min(now, ordering: .relaxed)
        counters.handedOnAt.min(now, ordering: .relaxed)
        return counters.wantedOnDisk.min(now, ordering: .relaxed).oldValue > now
    }

    /// True if a present route would make it; otherwise it is kept, but no reader finds it.
    var isCurrent: Bool { counters[.isCurrent] }

    /// Records whether a present route would make it; readers see that from their next look-up on.
    func setCurrent(_ isCurrent: Bool) { counters[.isCurrent] = isCurrent }

    /// True once several clients have got the body by requests without a credential: it belongs to nobody.
    package internal(set) var isProvenPublic: Bool {
        get { counters[.isProvenPublic] }
        set { counters[.isProvenPublic] = newValue }
    }

    // MARK: The pin

    /// The end of its pin by Links; 0 without one.
    package var pinnedUntil: Int { Int(counters.pinnedUntil.load(ordering: .relaxed)) }

    /// True while a Link names the version, so that no limit of the store evicts it.
    package func isPinned(at now: Int) -> Bool { now < pinnedUntil }

    /// Pins the version until some second; 0 ends the pin.
    func pin(until second: Int) { counters.pinnedUntil.store(Self.seconds(second), ordering: .relaxed) }

    // MARK: Holders

    /// The number of clients that hold it, as far as known.
    package var holders: Int { Int(counters.holders.load(ordering: .relaxed)) }
    /// The time of the last offer.
    package internal(set) var lastOffered: Int {
        get { Int(counters.lastOffered.load(ordering: .relaxed)) }
        set { counters.lastOffered.store(Self.seconds(newValue), ordering: .relaxed) }
    }
    /// The time at which it was last offered or advertised.
    package var lastContact: Int { Int(counters.lastContact.load(ordering: .relaxed)) }
    /// The time at which another version was last offered to a client that came with it.
    package internal(set) var handedOnAt: Int {
        get { Int(counters.handedOnAt.load(ordering: .relaxed)) }
        set { counters.handedOnAt.store(Self.seconds(newValue), ordering: .relaxed) }
    }
    /// True if a holder has come back, or had come back before it was offered this version.
    var hasReturned: Bool {
        get { counters[.hasReturned] }
        set { counters[.hasReturned] = newValue }
    }
    /// True if several clients have held it at a time.
    var isShared: Bool { counters[.isShared] }
    /// The row of the version that was last offered to a client that came with this one.
    var successor: Int64 {
        get { counters.successor.load(ordering: .relaxed) }
        set { counters.successor.store(newValue, ordering: .relaxed) }
    }
    var standing: Retention.Standing {
        if holders > 0 { return hasReturned ? .held : .newcomer }
        return isShared ? .spent : .unheld
    }

    /// Takes over the holder counts of another object of its row.
    func takeHolders(of other: VersionState) {
        setHolders(Int(other.holders))
        counters[other.flags.intersection([.hasReturned, .isShared])] = true
        counters.lastOffered.max(other.lastOffered, ordering: .relaxed)
        counters.lastContact.max(other.lastContact, ordering: .relaxed)
    }

    func recordContact(at now: Int) { counters.lastContact.max(Self.seconds(now), ordering: .relaxed) }

    /// Changes the count; what another node has counted may be less than nothing.
    func addHolders(_ change: Int) { setHolders(holders + change) }

    private func setHolders(_ count: Int) {
        counters.holders.store(UInt32(clamping: count), ordering: .relaxed)
        if count > 1 { counters[.isShared] = true }
    }

    // MARK: Bodies

    /// Records a body that goes to a client with this version without becoming one; returns true if it was
    /// also the last.
    ///
    /// Then several clients get the same body: once it is stored, it is compared and not hashed, and offering
    /// it costs nothing.
    package func recordUnkept(_ digest: Digest) -> Bool { chain.recordUnkept(digest) }

    /// The length of the last delta over it; nil before the first.
    package var lastDeltaBytes: Int? { counters.deltaBytes.ifKnown }

    /// The length of the first delta over it; for its client, no other dictionary could be much fresher.
    var firstDeltaBytes: Int? { counters.firstDeltaBytes.ifKnown }

    package func recordDelta(bytes: Int) {
        let length = max(UInt32(clamping: bytes), 1)
        counters.deltaBytes.store(length, ordering: .relaxed)
        let (isFirst, _) = counters.firstDeltaBytes.compareExchange(
            expected: 0, desired: length, ordering: .relaxed)
        if isFirst { chain.recordFreshDelta(bytes: bytes) }
    }

    // MARK: Private versions

    /// The length of a private body on disk, packed and sealed; nil while it is unknown.
    var sealedBytes: Int? {
        get { counters.sealedBytes.ifKnown }
        set { counters.sealedBytes.store(UInt32(clamping: newValue ?? 0), ordering: .relaxed) }
    }
    /// The place in `PrivateOrder`.
    var privatePlace: Int32 {
        get { counters.privatePlace.load(ordering: .relaxed) }
        set { counters.privatePlace.store(newValue, ordering: .relaxed) }
    }
    /// The number of the client network that it was made for; networks may share one, see `PrivateOrder`.
    ///
    /// Versions read from disk are spread evenly over the numbers.
    var network: UInt16 { counters.network ?? UInt16(truncatingIfNeeded: digest.part) }
}

extension Atomic<UInt32> {
    /// The number; nil for 0, which stands for one that is not known.
    var ifKnown: Int? {
        let number = load(ordering: .relaxed)
        return number > 0 ? Int(number) : nil
    }
}
