package import Dictionaries
internal import Glibc

/// Clients that come at random: intervals are exponential.
package struct SimulatedClients {
    package struct Held {
        package let digest: Digest
        /// The second that the body is of, and its URL.
        package let second: Int
        package let page: Int
        /// Until when the client keeps it.
        package let expiry: Double
    }

    /// So many of 10,000 clients of each mean interval.
    package typealias Groups = [(count: Int, meanSeconds: Double)]
    /// Apps that poll.
    package static let pollers: Groups = [(50, 10), (500, 60), (2500, 600), (4000, 3600), (2950, 14400)]
    /// Browsers, from one that views a page every three minutes to one that comes twice a week.
    package static let viewers: Groups = [
        (200, 180), (1300, 1800), (3000, 14400), (4000, 86_400), (1500, 300_000),
    ]

    package var held: [Held?]
    private var random: Chance
    private let groups: Groups
    private let cumulated: [Double]
    private let rate: Double

    package init(_ count: Int, of kinds: Groups = pollers, seed: UInt64) {
        random = Chance(state: seed)
        groups = kinds.map { (max(1, $0.count * count / 10_000), $0.meanSeconds) }
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
    /// The random polls of many clients form one random stream, in which a client's share is proportional to its rate.
    package mutating func next() -> (seconds: Double, client: Int) {
        let seconds = -log(Double.random(in: Double.leastNonzeroMagnitude..<1, using: &random)) / rate
        let place = Double.random(in: 0..<rate, using: &random)
        var first = 0
        for (group, bound) in zip(groups, cumulated) {
            if place < bound { return (seconds, first + Int.random(in: 0..<group.count, using: &random)) }
            first += group.count
        }
        return (seconds, held.count - 1)
    }

    /// Returns true with the given probability in percent.
    package mutating func happens(percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    package mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// A generator that repeats its numbers (SplitMix), so that a simulation does too.
    private struct Chance: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }
}
