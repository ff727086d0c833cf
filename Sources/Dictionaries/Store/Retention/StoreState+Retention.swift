/// What requests tell of the clients that hold versions; nothing is kept per client, and each step is O(1).
extension StoreState {
    /// Notes that a client has come back with a version.
    mutating func advertised(_ version: Version, now: Int) {
        guard let standing = retention.standing(of: version) else { return }
        // Among several holders it is not known whose silence ends: that of the last offer is the longest it can be.
        let since = version.holders > 1 ? version.lastOffered : version.lastContact
        // Requests that come together are one return.
        if now > since + 1 { retention.noteReturn(to: version, after: now - since) }
        version.noteContact(at: now)
        prove(version)
        retention.renew(version, standing == .newcomer ? .held : standing)
        privateOrder.renew(version)
        pending.note(version, now: now)
    }

    /// Notes that a version was asked for, by whomever.
    mutating func touched(_ version: Version, now: Int) {
        version.noteContact(at: now)
        if let standing = retention.standing(of: version) { retention.renew(version, standing) }
        privateOrder.renew(version)
    }

    /// Notes that a client was offered a version, which it holds from now on in place of the one it came with.
    ///
    /// A version is passed on from at most as often as it has holders: what a client that names a popular digest a
    /// thousand times is offered counts as a newcomer's.
    mutating func offered(_ version: Version, over former: Version?, now: Int) {
        guard retention.standing(of: version) != nil else { return }
        version.noteContact(at: now)
        version.lastOffered = now
        if former?.id != version.id {
            if let former, passOn(from: former, now: now) {
                prove(version)
                former.successor = version.id
            }
            version.addHolder()
        }
        retention.renew(version, version.standing)
        privateOrder.renew(version)
        pending.note(version, now: now)
    }

    /// Takes a holder from a version; false where it has none that could have come.
    private mutating func passOn(from former: Version, now: Int) -> Bool {
        guard retention.standing(of: former) != nil else { return false }
        former.handedOnAt = now
        pending.note(former, now: now)
        guard former.holders == 0 else {
            former.removeHolder()
            retention.renew(former, former.standing)
            privateOrder.renew(former)
            return true
        }
        // Its only holder is here again: what it was offered last time has not arrived.
        guard !former.isShared, let lost = index.version(row: former.successor), !lost.isShared,
            lost.holders > 0,
            lost.lastOffered == lost.lastContact
        else { return false }
        lost.removeHolder()
        retention.renew(lost, lost.standing)
        privateOrder.renew(lost)
        pending.note(lost, now: now)
        return true
    }

    /// Removes versions that nobody seems to hold any more, of some chains; returns how many.
    mutating func removeOverdue(now: Int, into evicted: inout Evicted) -> Int {
        let overdue = retention.overdue(now: now, in: index, chains: 1024, versions: Self.overdueMax)
        for (version, standing) in overdue {
            let isHeld = standing == .held || standing == .newcomer
            remove(CollectionOfOne(version), reason: isHeld ? .silent : .unheld, into: &evicted)
        }
        return overdue.count
    }

    /// Forgets seconds that have not come, as the clock was ahead: nothing may look wanted until then.
    mutating func turnBack(_ versions: some Sequence<Version>, to now: Int) {
        for version in versions.compactMap({ index.version(row: $0.id) }) {
            if version.turnBack(to: now) { pending.touch(version.id, lastWanted: now) }
            if version.pinnedUntil > now + DictionaryStore.pinSecondsMax { unpin(version) }
            earliestExpiry = min(earliestExpiry, version.expiry)
            if let chain = index.chain(version.chain) {
                chain.turnBack(to: now)
                setPlace(of: chain)
            }
        }
    }

    /// How many versions go at a time: the lock is never held for long.
    static let overdueMax = 64
}
