package import Dictionaries

/// The limits of renaming; only tests change them.
package struct LinkTerms: Sendable {
    /// The shortest time that a name lasts.
    var renameSeconds = 60
    /// The least time between two measurements of a name.
    var sampleSeconds = 1

    package init() {}
}

/// The current worth of a named version, which decides when another version should be named instead.
///
/// An old name wastes bytes, because deltas over it are longer than over a fresh version. A new name costs every
/// client another download. The name changes when the waste reaches that cost, which spends at most twice the
/// optimum. Each client counts once per interval, so that none can force a change alone.
package struct NamedWorth: Sendable {
    /// The bytes of one body in three codings.
    package struct Sample: Sendable {
        /// Over the named version.
        let named: Int
        /// Over the version before the current one, which clients of a fresh name would hold.
        let fresh: Int
        /// Without a dictionary.
        let plain: Int

        package init(named: Int, fresh: Int, plain: Int) {
            (self.named, self.fresh, self.plain) = (named, fresh, plain)
        }
    }

    /// Each early replacement doubles the least life of the next name, up to 16 minutes, so that two servers that
    /// disagree do not cause endless downloads.
    private static let doublingsMax = 4
    /// The advertised life, in multiples of the age at which the previous name was replaced.
    private static let lifePerAge = 8
    private static let lifeSecondsMin = 600

    let namedAt: Int
    /// The life that responses advertise while this name is current.
    package let lifeSeconds: Int
    private let earlyReplacements: Int
    private var holders = ClientSketch()
    private var users = ClientSketch()
    private var wastedBytes = 0
    private var measured: Digest?
    private var measuredAt: Int?
    /// The last plain size per 1,000 bytes of body.
    private(set) var plainPerMille = 200

    package init(namedAt: Int, lifeSeconds: Int, replacing former: NamedWorth? = nil) {
        self.namedAt = namedAt
        if let former { plainPerMille = former.plainPerMille }
        guard let former, namedAt - former.namedAt < former.lifeSeconds / 2 else {
            self.lifeSeconds = lifeSeconds
            earlyReplacements = 0
            return
        }
        let age = namedAt - former.namedAt
        self.lifeSeconds = min(max(Self.lifePerAge * age, Self.lifeSecondsMin), lifeSeconds)
        earlyReplacements = former.earlyReplacements + 1
    }

    package mutating func recordHolder(_ client: UInt128) { holders.insert(client) }

    package mutating func recordUser(_ client: UInt128) { users.insert(client) }

    package func isDue(with body: Digest, at now: Int, _ terms: LinkTerms) -> Bool {
        measured != body && measuredAt.map { now - $0 >= terms.sampleSeconds } ?? true
    }

    package mutating func begin(with body: Digest, at now: Int) {
        measured = body
        measuredAt = now
    }

    /// Records a measurement; returns true if another version should be named.
    package mutating func record(_ sample: Sample, of bodyBytes: Int, at now: Int, _ terms: LinkTerms) -> Bool
    {
        guard bodyBytes > 0 else { return false }
        plainPerMille = sample.plain * 1000 / bodyBytes
        // Deltas longer than the plain coding are not sent.
        let named = min(sample.named, sample.plain)
        wastedBytes += users.count * max(0, named - sample.fresh)
        users = ClientSketch()
        let isClearlyWorse = named >= 2 * sample.fresh
        let hold = terms.renameSeconds << min(earlyReplacements, Self.doublingsMax)
        return isClearlyWorse && now - namedAt >= hold
            && wastedBytes >= max(1, holders.count) * sample.plain
    }
}
