/// Whether a client gains by being offered a body that is no version yet.
///
/// It costs a version, and a write. A client that has no usable dictionary always gains; one that has gains when its own
/// will soon be of no use: by its age, or since its deltas have become long.
package struct Renewal: Sendable, Equatable {
    /// So many times the length of a delta over a fresh version is long.
    package static let longFactor = 2
    /// What one response takes in any case, so that the shortest deltas need not be compared.
    private static let slackBytes = 64
    /// For how long a client that was offered another is left alone: parallel requests come with the same dictionary.
    private static let restSeconds = 2

    /// Seconds since the client's dictionary was last offered.
    package var ageSeconds: Int
    /// Seconds for which a client keeps what it is offered; nil where nothing says so.
    package var lifeSeconds: Int?
    /// The length of the delta over it; nil where it is not known yet.
    package var deltaBytes: Int?
    /// About the length of a delta over a fresh version; nil where there has been none.
    package var freshDeltaBytes: Int?
    /// Seconds since all who held it were offered another; nil where not all were.
    package var restedSeconds: Int?

    /// Describes the dictionary that a client has come with, and the delta over it.
    package init(
        ageSeconds: Int, lifeSeconds: Int? = nil, deltaBytes: Int? = nil, freshDeltaBytes: Int? = nil,
        restedSeconds: Int? = nil
    ) {
        self.ageSeconds = ageSeconds
        self.lifeSeconds = lifeSeconds
        self.deltaBytes = deltaBytes
        self.freshDeltaBytes = freshDeltaBytes
        self.restedSeconds = restedSeconds
    }

    /// The same, of a version as the store knows it.
    package init(of version: Version, lifeSeconds: Int?, deltaBytes: Int?, now: Int) {
        self.init(
            ageSeconds: max(0, now - version.lastOffered), lifeSeconds: lifeSeconds, deltaBytes: deltaBytes,
            freshDeltaBytes: Self.freshDeltaBytes(over: version),
            restedSeconds: version.holders == 0 ? max(0, now - version.handedOnAt) : nil)
    }

    /// What a delta over a fresh version takes, as far as deltas over this one and the others of its chain tell.
    ///
    /// Over the first version of a person there may have been none before much had changed: a long one tells nothing then.
    private static func freshDeltaBytes(over version: Version) -> Int? {
        let known = [version.firstDeltaBytes, version.home.freshDeltaBytes].compactMap(\.self).min()
        guard case .personal = version.chain.scope, !version.home.isFreshDeltaInherited else { return known }
        return known.flatMap { $0 > version.bytes / longShare ? nil : $0 }
    }

    /// A delta that has more than this part of the body is long where nothing else is known.
    private static let longShare = 16

    /// Whether the client is to be offered the body.
    package var isDue: Bool {
        if let restedSeconds, restedSeconds < Self.restSeconds { return false }
        if let lifeSeconds, 2 * ageSeconds >= lifeSeconds { return true }
        guard let deltaBytes else { return false }
        guard let freshDeltaBytes else { return true }
        return deltaBytes > Self.longFactor * freshDeltaBytes + Self.slackBytes
    }
}
