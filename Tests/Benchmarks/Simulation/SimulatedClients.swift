import Dictionaries
import Glibc
import TestSupport

/// Ten thousand clients that poll at random: intervals are exponential, their means from ten seconds to four hours.
struct SimulatedClients {
    /// What a client holds.
    struct Held {
        let digest: Digest
        /// The second that the body is of.
        let second: Int
        /// Until when the client keeps it.
        let expiry: Double
    }

    /// So many clients of each mean interval.
    private static let groups: [(count: Int, meanSeconds: Double)] = [
        (50, 10), (500, 60), (2500, 600), (4000, 3600), (2950, 14400),
    ]
    /// How long a client keeps a dictionary: a day, so that it comes back with those that were evicted, too.
    static let keptSeconds = 86_400.0

    var held: [Held?]
    private var random: SplitMix
    private let cumulated: [Double]
    private let rate: Double

    init(seed: UInt64) {
        random = SplitMix(seed: seed)
        held = Array(repeating: nil, count: Self.groups.reduce(0) { $0 + $1.count })
        var sum = 0.0
        cumulated = Self.groups.map { group in
            sum += Double(group.count) / group.meanSeconds
            return sum
        }
        rate = sum
    }

    /// The seconds until the next request of any client, and which one it is.
    ///
    /// Random polls of many clients are one random stream, in which a client's share is that of its rate.
    mutating func next() -> (seconds: Double, client: Int) {
        let seconds = -log(Double.random(in: Double.leastNonzeroMagnitude..<1, using: &random)) / rate
        let place = Double.random(in: 0..<rate, using: &random)
        var first = 0
        for (group, bound) in zip(Self.groups, cumulated) {
            if place < bound { return (seconds, first + Int.random(in: 0..<group.count, using: &random)) }
            first += group.count
        }
        return (seconds, held.count - 1)
    }
}
