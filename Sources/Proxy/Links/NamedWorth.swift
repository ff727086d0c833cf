package import Dictionaries

/// The limits of renaming; others than these are for tests.
package struct LinkTerms: Sendable {
    /// The shortest time that a name stays.
    package var renameSeconds = 60
    /// The least time between two measurements of a name.
    package var sampleSeconds = 1

    /// The limits in use.
    package init() {}
}

/// What a named version is still worth, and when another should be named in its place.
///
/// To keep an old name wastes bytes: each delta over it is longer than one over a fresh version. To change it costs every
/// client another download. The name changes when the waste has reached that cost, which spends at most twice what the
/// best choice would have. Clients count once an interval, so that none can force a change alone. A value without clock.
package struct NamedWorth: Sendable {
    /// The bytes of one body in three codings.
    package struct Sample: Sendable {
        /// Over the named version.
        let named: Int
        /// Over the version before the current one, which a client with a fresh name would hold.
        let fresh: Int
        /// Without a dictionary.
        let plain: Int

        package init(named: Int, fresh: Int, plain: Int) {
            (self.named, self.fresh, self.plain) = (named, fresh, plain)
        }
    }

    /// Each name in a row that is replaced early stays at least twice as long, up to 16 minutes: two servers that disagree must
    /// not have clients download dictionaries without end.
    private static let doublingsMax = 4
    /// A name is advertised for so many times the age at which its predecessor had to go.
    private static let lifePerAge = 8
    private static let lifeSecondsMin = 600

    let namedAt: Int
    /// For how long responses advertise it from any moment on while it is named.
    package let lifeSeconds: Int
    private let earlyReplacements: Int
    private var holders = ClientSketch()
    private var users = ClientSketch()
    private var wastedBytes = 0
    private var measured: Digest?
    private var measuredAt: Int?
    /// The last plain size for each 1,000 bytes of body.
    private(set) var plainPerMille = 200

    /// A version that is named now for at most `lifeSeconds`; `former` is the name that it replaces.
    package init(namedAt: Int, lifeSeconds: Int, replacing former: NamedWorth? = nil) {
        self.namedAt = namedAt
        guard let former, namedAt - former.namedAt < former.lifeSeconds / 2 else {
            self.lifeSeconds = lifeSeconds
            earlyReplacements = 0
            return
        }
        let age = namedAt - former.namedAt
        self.lifeSeconds = min(max(Self.lifePerAge * age, Self.lifeSecondsMin), lifeSeconds)
        earlyReplacements = former.earlyReplacements + 1
        plainPerMille = former.plainPerMille
    }

    /// Notes a client that downloaded the dictionary.
    package mutating func noteHolder(_ client: UInt128) { holders.insert(client) }

    /// Notes a client that advertised the dictionary.
    package mutating func noteUser(_ client: UInt128) { users.insert(client) }

    /// Returns true if it should be measured with this body, which is not the one of the last time.
    package func isDue(with body: Digest, at now: Int, _ terms: LinkTerms) -> Bool {
        measured != body && measuredAt.map { now - $0 >= terms.sampleSeconds } ?? true
    }

    /// Notes that it is being measured.
    package mutating func begin(with body: Digest, at now: Int) {
        measured = body
        measuredAt = now
    }

    /// Notes a measurement; true if another version should be named.
    package mutating func note(_ sample: Sample, of bodyBytes: Int, at now: Int, _ terms: LinkTerms) -> Bool {
        guard bodyBytes > 0 else { return false }
        plainPerMille = sample.plain * 1000 / bodyBytes
        // A delta longer than plain coding is not sent.
        let named = min(sample.named, sample.plain)
        wastedBytes += users.count * max(0, named - sample.fresh)
        users = ClientSketch()
        let isClearlyWorse = named >= 2 * sample.fresh
        let hold = terms.renameSeconds << min(earlyReplacements, Self.doublingsMax)
        return isClearlyWorse && now - namedAt >= hold
            && wastedBytes >= max(1, holders.count) * sample.plain
    }
}
