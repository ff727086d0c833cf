/// What the version that Links name saves, as far as it was measured: when it is time for another.
///
/// The gain is the share that the delta of the current body over the named version saves of the same body's plain coding.
/// When it was named it was that body itself and saved all; so its gain has halved once it saves at most half. One that
/// has replaced another early has to show what is possible here: there it is half of the first measurement, and a name
/// that saved little from the start stays. A value without clock.
package struct NamedGain: Equatable, Sendable {
    /// The least time between two measurements.
    static let intervalSeconds = 1
    /// A name that saved less from the start, in thousandths, is not worth another.
    static let perMilleMin = 100
    /// How long a name that has replaced another stays at least; each in a row twice as long as the one before.
    static let holdSeconds = 60

    /// When the version was named, in seconds since 1970.
    private let namedAt: Int
    /// How often in a row a name of this chain and variant was replaced early.
    private let replacements: Int
    private var referencePerMille: Int?
    private var measuredAt: Int?
    private var measured: Digest?

    /// A version named now; `former` is the name that it replaces early.
    package init(namedAt: Int, replacing former: NamedGain? = nil) {
        self.namedAt = namedAt
        replacements = former.map { $0.replacements + 1 } ?? 0
        referencePerMille = former == nil ? 1000 : nil
    }

    /// Whether it should be measured with this body, which is not the one of the last time.
    package func isDue(with body: Digest, at now: Int) -> Bool {
        measured != body && measuredAt.map { now - $0 >= Self.intervalSeconds } ?? true
    }

    /// Notes that it is being measured.
    package mutating func begin(with body: Digest, at now: Int) {
        measured = body
        measuredAt = now
    }

    /// Notes a measurement; true when the gain has halved and another version should be named.
    package mutating func note(deltaBytes: Int, plainBytes: Int, at now: Int) -> Bool {
        guard plainBytes > 0 else { return false }
        let perMille = Int(Double(max(0, plainBytes - deltaBytes)) * 1000 / Double(plainBytes))
        guard let reference = referencePerMille else {
            referencePerMille = perMille
            return false
        }
        return reference >= Self.perMilleMin && perMille <= reference / 2 && now - namedAt >= hold
    }

    /// Two servers that disagree must not have clients fetch dictionaries without end.
    private var hold: Int {
        replacements == 0 ? 0 : Self.holdSeconds << min(replacements - 1, 10)
    }
}
