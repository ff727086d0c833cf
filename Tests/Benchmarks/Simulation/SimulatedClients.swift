import Dictionaries
import Glibc
import TestSupport

/// Clients that poll at random: intervals are exponential, their means from ten seconds to four hours.
struct SimulatedClients {
    /// What a client holds.
    struct Held {
        let digest: Digest
        /// The second that the body is of, and its URL.
        let second: Int
        let page: Int
        /// Until when the client keeps it.
        let expiry: Double
    }

    /// So many of 10,000 clients of each mean interval.
    private static let groups: [(count: Int, meanSeconds: Double)] = [
        (50, 10), (500, 60), (2500, 600), (4000, 3600), (2950, 14400),
    ]

    var held: [Held?]
    private var random: SplitMix
    private let groups: [(count: Int, meanSeconds: Double)]
    private let cumulated: [Double]
    private let rate: Double

    init(_ count: Int, seed: UInt64) {
        random = SplitMix(seed: seed)
        groups = Self.groups.map { (max(1, $0.count * count / 10_000), $0.meanSeconds) }
        held = Array(repeating: nil, count: groups.reduce(0) { $0 + $1.count })
        var sum = 0.0
        cumulated = groups.map { group in
            sum += Double(group.count) / group.meanSeconds
            return sum
        }
        rate = sum
    }

    /// The seconds until the next visit of any client, and which one it is.
    ///
    /// Random polls of many clients are one random stream, in which a client's share is that of its rate.
    mutating func next() -> (seconds: Double, client: Int) {
        let seconds = -log(Double.random(in: Double.leastNonzeroMagnitude..<1, using: &random)) / rate
        let place = Double.random(in: 0..<rate, using: &random)
        var first = 0
        for (group, bound) in zip(groups, cumulated) {
            if place < bound { return (seconds, first + Int.random(in: 0..<group.count, using: &random)) }
            first += group.count
        }
        return (seconds, held.count - 1)
    }

    /// Whether something happens that does so in so many of a hundred cases.
    mutating func happens(percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// A number of a range.
    mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
}
