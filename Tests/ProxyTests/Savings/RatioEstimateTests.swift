internal import Foundation
internal import TestSupport
internal import Testing

@testable import Proxy

/// The interval of a ratio has the true ratio as often as it says.
@Suite struct RatioEstimateTests {
    /// Clients of very different habits: most ask seldom, a few very often, and each gets bodies of its own size.
    private struct Crowd {
        var random: SplitMix

        private mutating func uniform() -> Double { Double(random.next() >> 11) * 0x1p-53 }

        private mutating func normal() -> Double {
            (-2 * log(max(uniform(), 1e-300))).squareRoot() * cos(2 * .pi * uniform())
        }

        /// The totals of one client.
        mutating func client(scale: Double) -> (count: Double, sum: Double) {
            let count = max(1, exp(1 + normal()).rounded())
            // The client's own size, and the deviation of the mean of its responses.
            let size = scale * exp(0.5 * normal()) * max(0.1, 1 + 0.8 * normal() / count.squareRoot())
            return (count, size * count)
        }

        /// The totals by units, to which clients belong at random.
        mutating func arm(clients: Int, scale: Double) -> [(count: Double, sum: Double)] {
            var units = [(count: Double, sum: Double)](
                repeating: (0, 0), count: ExperimentPlace.unitCount)
            for _ in 0..<clients {
                let unit = Int(random.next() % UInt64(units.count))
                let client = client(scale: scale)
                units[unit] = (units[unit].count + client.count, units[unit].sum + client.sum)
            }
            return units
        }
    }

    @Test(arguments: [(2000, 100), (19_000, 1000), (400, 40), (240, 12)])
    func `of 1,000 experiments about 950 have the true ratio in their interval`(treated: Int, heldOut: Int)
        throws
    {
        // The same seed in every run.
        var crowd = Crowd(random: SplitMix(seed: 20_261_123))
        let truth = 0.2
        var hits = 0
        let trials = treated > 10_000 ? 200 : 1000
        for _ in 0..<trials {
            let one = try #require(RatioEstimate(crowd.arm(clients: treated, scale: 1000 * truth)))
            let other = try #require(RatioEstimate(crowd.arm(clients: heldOut, scale: 1000)))
            let ratio = one.ratio(to: other)
            if ratio.low...ratio.high ~= truth { hits += 1 }
        }
        let share = Double(hits) / Double(trials)
        // Few clients of such different habits are the hardest case.
        #expect((heldOut > 12 ? 0.92 : 0.9)...0.98 ~= share, "\(share)")
    }

    @Test(arguments: [(4.0, 2.776), (9, 2.262), (30, 2.042), (1000, 1.962)])
    func `the quantile is Student's`(degrees: Double, expected: Double) {
        #expect(abs(RatioEstimate.quantile(degrees: degrees) / expected - 1) < 0.01)
    }

    @Test func `a ratio the other way round has the interval the other way round`() throws {
        var crowd = Crowd(random: SplitMix(seed: 5))
        // Ten units on one side, so that what their number says weighs.
        let one = try #require(RatioEstimate((0..<10).map { _ in crowd.client(scale: 200) }))
        let other = try #require(RatioEstimate((0..<60).map { _ in crowd.client(scale: 1000) }))
        let (there, back) = (one.ratio(to: other), other.ratio(to: one))
        #expect(there.low < there.value && there.value < there.high)
        #expect(abs(there.low * back.high - 1) < 1e-9 && abs(there.high * back.low - 1) < 1e-9)
    }

    @Test func `equal units have no interval, and too few no estimate`() throws {
        let few = Array(repeating: (count: 2.0, sum: 200.0), count: 9)
        let one = try #require(RatioEstimate(few + [(1, 100), (0, 0)]))
        let other = try #require(RatioEstimate(few.map { ($0.count, $0.sum / 2) } + [(4, 200)]))
        let ratio = one.ratio(to: other)
        let (value, low, high) = (ratio.value, ratio.low, ratio.high)
        #expect(value == 2 && abs(low - 2) < 1e-9 && abs(high - 2) < 1e-9)
        #expect(one.units == 10)
        #expect(RatioEstimate(few + [(0, 0)]) == nil)
        #expect(RatioEstimate(few.map { ($0.count, 0) } + [(1, 0)]) == nil)
        #expect(
            RatioEstimate(few.map { ($0.count, 0) } + [(1, 100)]) == nil, "nothing is known of the others")
    }
}
