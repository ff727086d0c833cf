internal import Glibc

/// The mean of a quantity per request, over units that are independent of each other; a value.
///
/// A unit is a group of clients, drawn by their keyed hash. Requests of one client resemble each other, so they are no
/// independent samples, but units are. The mean is the ratio of two sums over units. Its variance is that of the delta
/// method: with sums `b` and counts `n` per unit, `k` units and the ratio `r`, it is `k / (k - 1) * sum((b - r n)^2) / sum(n)^2`.
struct RatioEstimate: Sendable, Equatable {
    let mean: Double
    /// The variance of the mean, divided by its square.
    let relativeVariance: Double
    /// The units with any requests.
    let units: Int
    let requests: Double

    /// Returns the estimate; nil with fewer than two units, or for a mean of 0.
    init?(_ values: [(count: Double, sum: Double)]) {
        let units = values.filter { $0.count > 0 }
        let (count, sum) = units.reduce((0, 0)) { ($0.0 + $1.count, $0.1 + $1.sum) }
        guard units.count > 1, sum > 0 else { return nil }
        let mean = sum / count
        let squares = units.reduce(0) { total, unit in
            let residual = unit.sum - mean * unit.count
            return total + residual * residual
        }
        let k = Double(units.count)
        self.mean = mean
        relativeVariance = k / (k - 1) * squares / (sum * sum)
        self.units = units.count
        requests = count
    }

    /// Returns the ratio of this mean to another one, with an interval that has the true ratio in 95 of 100 cases.
    ///
    /// The logarithm of a ratio is closer to a normal distribution than the ratio. Student's t stands for the few units of
    /// a short experiment, with the degrees of freedom of Welch.
    func ratio(to other: RatioEstimate) -> (value: Double, low: Double, high: Double) {
        let variance = relativeVariance + other.relativeVariance
        let value = mean / other.mean
        guard variance > 0 else { return (value, value, value) }
        let parts =
            relativeVariance * relativeVariance / Double(units - 1)
            + other.relativeVariance * other.relativeVariance / Double(other.units - 1)
        let width = Self.quantile(degrees: variance * variance / parts) * variance.squareRoot()
        return (value, value * exp(-width), value * exp(width))
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
