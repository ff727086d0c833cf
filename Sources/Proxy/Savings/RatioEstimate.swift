internal import Glibc

/// The mean of a quantity per request, over units that are independent of each other; a value.
///
/// A unit is a group of clients, drawn by their keyed hash. Requests of one client resemble each other, so they are no
/// independent samples, but units are. The mean is the ratio of two sums over units. The variance of its logarithm is
/// that of the jackknife, which leaves out one unit at a time: the delta method takes it for too small where a few units
/// have most requests.
struct RatioEstimate: Sendable, Equatable {
    /// With fewer units the interval would be much too narrow or say nothing.
    static let unitsMin = 10

    let mean: Double
    /// The variance of the mean's logarithm.
    let variance: Double
    /// The units with any requests.
    let units: Int

    /// Returns the estimate; nil with too few units, or if one of them has the whole sum.
    init?(_ values: [(count: Double, sum: Double)]) {
        let units = values.filter { $0.count > 0 }
        guard units.count >= Self.unitsMin else { return nil }
        let (count, sum) = units.reduce((0, 0)) { ($0.0 + $1.count, $0.1 + $1.sum) }
        let others = units.map { log((sum - $0.sum) / (count - $0.count)) }
        let k = Double(units.count)
        let middle = others.reduce(0, +) / k
        mean = sum / count
        variance = (k - 1) / k * others.reduce(0) { $0 + ($1 - middle) * ($1 - middle) }
        self.units = units.count
        // The logarithm of nothing is infinite.
        guard variance.isFinite else { return nil }
    }

    /// Returns the ratio of this mean to another one, with an interval that has the true ratio in 95 of 100 cases.
    ///
    /// The logarithm of a ratio is closer to a normal distribution than the ratio. Student's t stands for the few units of
    /// a short experiment, with the degrees of freedom of Welch.
    func ratio(to other: RatioEstimate) -> SavingsReport.Ratio {
        let sum = variance + other.variance
        let value = mean / other.mean
        guard sum > 0 else { return .init(value: value, low: value, high: value) }
        let parts =
            variance * variance / Double(units - 1) + other.variance * other.variance
            / Double(other.units - 1)
        let width = Self.quantile(degrees: sum * sum / parts) * sum.squareRoot()
        return .init(value: value, low: value * exp(-width), high: value * exp(width))
    }

    /// Returns the quantile 97.5 % of Student's t by the expansion of Cornish and Fisher; exact to 1 % from 4 degrees on.
    static func quantile(degrees: Double) -> Double {
        let z = 1.959964
        let (z3, z5, z7) = (pow(z, 3), pow(z, 5), pow(z, 7))
        let n = max(degrees, 2)
        return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n)
            + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n)
    }
}
