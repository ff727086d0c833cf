/// The decision to offer a client a new body as a dictionary.
///
/// An offer costs a version and a write. A client without a usable dictionary always gains. A client with one
/// gains once its dictionary is about to expire or its deltas have become long.
package struct Renewal: Sendable, Equatable {
    /// The factor by which a delta over the client's version is longer than one over a fresh version before it
    /// counts as long.
    package static let longFactor = 2
    /// The bytes that any response takes, so that the shortest deltas are not compared.
    private static let slackBytes = 64
    /// The seconds for which a client gets no second offer, since parallel requests advertise the same dictionary.
    private static let restSeconds = 2

    /// The seconds since the client's dictionary was last offered.
    package var ageSeconds: Int
    /// The seconds for which a client keeps a dictionary; nil if no field says so.
    package var lifeSeconds: Int?
    /// The length of the delta over the client's dictionary; nil if not known yet.
    package var deltaBytes: Int?
    /// The approximate length of a delta over a fresh version; nil if there has been none.
    package var freshDeltaBytes: Int?
    /// The seconds since all its holders were offered another; nil if not all were.
    package var restedSeconds: Int?
}

extension Renewal {
    /// Returns true if a client is to be offered the body: it has come with nothing, or gains by another version.
    package static func isDue(of held: Version?, lifeSeconds: Int?, deltaBytes: Int?, now: Int) -> Bool {
        held.map { Renewal(of: $0, lifeSeconds: lifeSeconds, deltaBytes: deltaBytes, now: now).isDue } ?? true
    }

    package init(of version: Version, lifeSeconds: Int?, deltaBytes: Int?, now: Int) {
        self.init(
            ageSeconds: max(0, now - version.lastOffered), lifeSeconds: lifeSeconds, deltaBytes: deltaBytes,
            freshDeltaBytes: Self.freshDeltaBytes(over: version),
            restedSeconds: version.holders == 0 ? max(0, now - version.handedOnAt) : nil)
    }

    /// Returns the length of a delta over a fresh version, by the deltas over this version and the others of its
    /// chain.
    ///
    /// The first delta over a person's first version may come after many changes, so a long first delta is no
    /// evidence.
    private static func freshDeltaBytes(over version: Version) -> Int? {
        let known = [version.firstDeltaBytes, version.chain.freshDeltaBytes].compactMap(\.self).min()
        guard case .personal = version.chainKey.scope, !version.chain.isFreshDeltaInherited else {
            return known
        }
        return known.flatMap { $0 > version.bytes / longShare ? nil : $0 }
    }

    /// The share of the body above which a delta is long if no other length is known.
    private static let longShare = 16

    /// True if the client is to be offered the body.
    package var isDue: Bool {
        if let restedSeconds, restedSeconds < Self.restSeconds { return false }
        if let lifeSeconds, 2 * ageSeconds >= lifeSeconds { return true }
        guard let deltaBytes else { return false }
        guard let freshDeltaBytes else { return true }
        return deltaBytes > Self.longFactor * freshDeltaBytes + Self.slackBytes
    }
}
