internal import Primitives

/// The responses to both sides, by units of clients; safe from any thread.
///
/// Memory is fixed, and nothing tells one client from another.
final class ExperimentTotals: Sendable {
    struct Unit: Sendable {
        var requests = 0
        var bytes = 0
        var microseconds = 0
    }

    struct Arm: Sendable {
        var units = [Unit](repeating: Unit(), count: ExperimentPlace.unitCount)
        var durations = [Int](repeating: 0, count: LoopHistogram.bounds.count + 1)

        func sum(_ path: KeyPath<Unit, Int>) -> Int { units.reduce(0) { $0 + $1[keyPath: path] } }

        func estimate(_ path: KeyPath<Unit, Int>) -> RatioEstimate? {
            RatioEstimate(units.map { (Double($0.requests), Double($0[keyPath: path])) })
        }

        /// Returns the ratio of the means of a quantity on both sides; nil with too few clients.
        func ratio(of path: KeyPath<Unit, Int>, to other: Arm) -> SavingsReport.Ratio? {
            guard let own = estimate(path), let others = other.estimate(path) else { return nil }
            return own.ratio(to: others)
        }
    }

    let settings: Configuration.Experiment
    private let sides = Guarded<[Arm]>(ExperimentArm.allCases.map { _ in Arm() })

    init(_ settings: Configuration.Experiment) { self.settings = settings }

    func count(_ arm: ExperimentArm, unit: Int, bytes: Int, microseconds: Int) {
        let bucket = LoopHistogram.bucket(of: microseconds)
        sides.withLock { sides in
            sides[arm.index].units[unit].requests += 1
            sides[arm.index].units[unit].bytes += bytes
            sides[arm.index].units[unit].microseconds += microseconds
            sides[arm.index].durations[bucket] += 1
        }
    }

    subscript(arm: ExperimentArm) -> Arm { sides.withLock { $0[arm.index] } }

    static let requests = Metric(
        name: "dictum_experiment_requests_total", kind: .counter, labels: ["arm"],
        help: "Complete responses on routes with dictionaries, by the side of the experiment.")
    static let bytes = Metric(
        name: "dictum_experiment_wire_bytes_total", kind: .counter, labels: ["arm"],
        help: "Bytes of these responses, heads and framing included.")
    static let durations = Metric(
        name: "dictum_experiment_request_duration_seconds", kind: .histogram, labels: ["arm"],
        help: "Time from a request's head to the last byte of its response, by the side of the experiment.")

    var samples: [MetricSample] {
        let arms = ExperimentArm.allCases.map { ($0.rawValue, self[$0]) }
        return arms.map { MetricSample(Self.requests, [$0], $1.sum(\.requests)) }
            + arms.map { MetricSample(Self.bytes, [$0], $1.sum(\.bytes)) }
            + arms.flatMap {
                MetricSample.histogram(
                    Self.durations, [$0], $1.durations, bounds: LoopHistogram.bounds,
                    sumMicroseconds: $1.sum(\.microseconds))
            }
    }
}

extension SavingsReport {
    /// The comparison of clients with dictionaries and clients without.
    package struct Experiment: Codable, Sendable {
        package var holdout: Double
        package var treated: Arm
        package var heldOut: Arm
        /// The means of the treated side divided by those of the other, with intervals of 95 %; nil with too few clients.
        package var bytes: Ratio?
        package var duration: Ratio?
    }

    package struct Arm: Codable, Sendable {
        package var requests: Int
        /// The groups of clients that have asked.
        package var units: Int
        package var bytesPerRequest: Double?
        package var secondsPerRequest: Double?
    }

    /// A ratio with the interval that has the true one in 95 of 100 cases.
    package struct Ratio: Codable, Sendable {
        package var value: Double
        package var low: Double
        package var high: Double
    }
}

extension SavingsReport.Experiment {
    init(_ totals: ExperimentTotals) {
        let (treated, heldOut) = (totals[.treated], totals[.heldOut])
        self.init(
            holdout: totals.settings.holdout, treated: .init(treated), heldOut: .init(heldOut),
            bytes: treated.ratio(of: \.bytes, to: heldOut),
            duration: treated.ratio(of: \.microseconds, to: heldOut))
    }
}

extension SavingsReport.Arm {
    fileprivate init(_ arm: ExperimentTotals.Arm) {
        let requests = arm.sum(\.requests)
        self.init(requests: requests, units: arm.units.count { $0.requests > 0 })
        guard requests > 0 else { return }
        bytesPerRequest = Double(arm.sum(\.bytes)) / Double(requests)
        secondsPerRequest = Double(arm.sum(\.microseconds)) / 1e6 / Double(requests)
    }
}
