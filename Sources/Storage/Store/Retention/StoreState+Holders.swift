/// Holder counts: what requests reveal about the clients that hold versions.
///
/// Nothing is kept per client, and each step is O(1).
extension StoreState {
    /// Records that a client has come back with a version.
    mutating func advertised(_ version: Version, now: Int) {
        guard let version = index.same(as: version), let standing = retention.standing(of: version)
        else { return }
        // With several holders it is unknown whose silence ends. The time since the last offer is the longest
        // possible.
        let since = version.holders > 1 ? version.lastOffered : version.lastContact
        // Requests that come together are one return.
        if now > since + 1 { retention.countReturn(to: version, after: now - since) }
        version.recordContact(at: now)
        demandLog?.record(version.id, contact: now)
        noteReturn(version)
        retention.renew(version, standing == .newcomer ? .held : standing)
        privateOrder.renew(version)
        pending.recordDemand(of: version.id, now: now)
    }

    /// Records that a version was requested by any client.
    mutating func touched(_ version: Version, now: Int) {
        version.recordContact(at: now)
        if let standing = retention.standing(of: version) { retention.renew(version, standing) }
        privateOrder.renew(version)
    }

    /// Records that a client was offered a version, which it holds from now on in place of the one it came
    /// with.
    ///
    /// A version passes trust on at most as often as it has holders. If a client advertises a popular digest
    /// a thousand times, most of its offers count as a newcomer's.
    mutating func offered(_ version: Version, over former: Version?, now: Int) {
        // The body may have returned since the caller found it: the object in the index counts.
        guard let version = index.same(as: version) else { return }
        version.recordContact(at: now)
        version.lastOffered = now
        if former?.id != version.id {
            if let former = former.flatMap(index.same), passOn(from: former, now: now) {
                noteReturn(version)
                former.successor = version.id
            }
            version.addHolders(1)
            demandLog?.record(version.id, holders: 1)
        }
        renew(version)
        pending.recordDemand(of: version.id, now: now)
    }

    /// Takes a holder from a version; returns false if no holder of it could have come.
    private mutating func passOn(from former: Version, now: Int) -> Bool {
        former.handedOnAt = now
        pending.recordDemand(of: former.id, now: now)
        guard former.holders == 0 else {
            former.addHolders(-1)
            demandLog?.record(former.id, holders: -1)
            renew(former)
            return true
        }
        // Its only holder is here again, so the last offer to it has not arrived.
        guard !former.isShared, let lost = index.version(row: former.successor), !lost.isShared,
            lost.holders > 0,
            lost.lastOffered == lost.lastContact
        else { return false }
        lost.addHolders(-1)
        demandLog?.record(lost.id, holders: -1)
        renew(lost)
        pending.recordDemand(of: lost.id, now: now)
        return true
    }

    /// Adds what another node says: so many holders more or fewer, and the time at which it last saw one.
    mutating func addHolders(to version: Version, _ change: Int, contact: Int, now: Int) {
        guard let version = index.same(as: version) else { return }
        version.addHolders(change)
        if contact > 0 {
            version.recordContact(at: contact)
            version.wasWanted(at: contact)
            noteReturn(version)
        }
        renew(version)
        pending.recordDemand(of: version.id, now: now)
    }

    /// Gives a version the places that its holders call for, in the order of all and in that of private ones.
    private mutating func renew(_ version: Version) {
        retention.renew(version, version.standing)
        privateOrder.renew(version)
    }

    /// The upper bound of removals per sweep, so that the lock is held briefly.
    static let removalsPerSweepMax = 64

    /// Removes versions of some chains that seem to have no holder any more; returns their number.
    mutating func evictSilent(now: Int, into evicted: inout Evicted) -> Int {
        let overdue = retention.overdue(now: now, in: index, chains: 1024, versions: Self.removalsPerSweepMax)
        for (version, standing) in overdue {
            let isHeld = standing == .held || standing == .newcomer
            remove(CollectionOfOne(version), reason: isHeld ? .silent : .unheld, into: &evicted)
        }
        return overdue.count
    }

    /// Forgets future times after the clock was ahead; no version may look wanted until then.
    mutating func turnBack(_ versions: some Sequence<Version>, to now: Int) {
        for version in versions.compactMap({ index.version(row: $0.id) }) {
            if version.turnBack(to: now) { pending.touch(version.id, lastWanted: now) }
            if version.pinnedUntil > now + StoreDemand.pinSecondsMax { unpin(version) }
            earliestExpiry = min(earliestExpiry, version.expiry)
            if let chain = index.chain(version.chainKey) {
                chain.turnBack(to: now)
                reclassify(chain)
            }
        }
    }
}
