/// A label of a counter, with the closed list of its values; routes are an open list instead.
struct MetricLabel: Sendable {
    let name: String
    let values: [String]

    init(_ name: String, _ values: [String]) {
        (self.name, self.values) = (name, values)
    }

    init<Value: CaseIterable & RawRepresentable<String>>(_ name: String, _: Value.Type) {
        self.init(name, Value.allCases.map(\.rawValue))
    }
}

/// A counter that is a property of `LoopCounters`: its declaration and its counts.
protocol LoopSeries: Sendable {
    var metric: Metric { get }

    /// Returns the counts as samples.
    ///
    /// - Parameter routes: the label value of requests without a route, then the text of each route's match.
    func samples(routes: [String]) -> [MetricSample]
}

/// A counter or gauge with one number per combination of its labels' values.
struct LoopCounter: LoopSeries {
    let metric: Metric
    private let labels: [MetricLabel]
    private let isPerRoute: Bool
    private let isSparse: Bool
    private let divisor: Int
    /// The number of combinations of `labels`, which is the number of counts per route.
    private let width: Int
    private var counts: [Int]

    /// Declares a counter.
    ///
    /// - Parameters:
    ///   - isPerRoute: true to count per route too, with `route` as the first label.
    ///   - isSparse: true to leave out combinations that were never counted.
    ///   - divisor: the number that the counts are divided by in samples.
    init(
        _ name: String, kind: Metric.Kind = .counter, isPerRoute: Bool = false, labels: [MetricLabel] = [],
        isSparse: Bool = false, divisor: Int = 1, _ help: String
    ) {
        metric = Metric(
            name: name, kind: kind, labels: (isPerRoute ? ["route"] : []) + labels.map(\.name), help: help)
        self.labels = labels
        self.isPerRoute = isPerRoute
        self.isSparse = isSparse
        self.divisor = divisor
        width = labels.reduce(1) { $0 * $1.values.count }
        counts = Array(repeating: 0, count: width)
    }

    /// Adds to the count at a position among the combinations of labels, of which the last varies fastest.
    mutating func add(_ count: Int = 1, at index: Int = 0) {
        counts[index] += count
    }

    /// Adds to a count of a route; requests without a route are row 0.
    mutating func add(_ count: Int = 1, route: Int, at index: Int = 0) {
        let cell = route * width + index
        // Rows are added when they are needed, since a reload may bring more routes.
        if cell >= counts.count {
            counts += [Int](repeating: 0, count: (route + 1) * width - counts.count)
        }
        counts[cell] += count
    }

    func samples(routes: [String]) -> [MetricSample] {
        let combinations = labels.reduce([[]]) { rows, label in
            rows.flatMap { row in label.values.map { row + [$0] } }
        }
        let rows = isPerRoute ? routes.map { [$0] } : [[]]
        var samples: [MetricSample] = []
        for (row, route) in rows.enumerated() {
            for (index, values) in combinations.enumerated() {
                let cell = row * width + index
                let count = cell < counts.count ? counts[cell] : 0
                guard count > 0 || !isSparse else { continue }
                samples.append(MetricSample(metric, route + values, count, per: divisor))
            }
        }
        return samples
    }
}

/// A counter per upstream and kind, for rare events.
///
/// The upstream without a name has the empty name, which a scrape shows as no label.
struct UpstreamCounter: LoopSeries {
    /// The bound over all reloads; upstreams of further names count as the one without a name.
    private static let namesMax = 1_000

    let metric: Metric
    private let label: MetricLabel
    private var counts: [String: [Int]]

    init(_ name: String, _ label: MetricLabel, _ help: String) {
        metric = Metric(name: name, kind: .counter, labels: [label.name, "name"], help: help)
        self.label = label
        counts = ["": Array(repeating: 0, count: label.values.count)]
    }

    /// Counts an event of an upstream at a position among the label's values.
    mutating func add(_ upstream: String, at place: Int) {
        let name = counts[upstream] != nil || counts.count < Self.namesMax ? upstream : ""
        counts[name, default: Array(repeating: 0, count: label.values.count)][place] += 1
    }

    func samples(routes: [String]) -> [MetricSample] {
        counts.sorted { $0.key < $1.key }.flatMap { name, counts in
            zip(label.values, counts).map { MetricSample(metric, [$0, name], $1) }
        }
    }
}

/// A histogram of times in microseconds, shown in seconds.
struct LoopHistogram: LoopSeries {
    private static let bounds = [
        500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        5_000_000, 10_000_000,
    ]

    let metric: Metric
    private var counts = [Int](repeating: 0, count: bounds.count + 1)
    private var sum = 0

    init(_ name: String, _ help: String) {
        metric = Metric(name: name, kind: .histogram, labels: [], help: help)
    }

    mutating func add(microseconds: Int) {
        counts[Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count] += 1
        sum += microseconds
    }

    func samples(routes: [String]) -> [MetricSample] {
        var samples: [MetricSample] = []
        var count = 0
        for (index, own) in counts.enumerated() {
            count += own
            let bound = index < Self.bounds.count ? String(Double(Self.bounds[index]) / 1e6) : "+Inf"
            samples.append(MetricSample(metric, [bound], count, suffix: "_bucket"))
        }
        samples.append(MetricSample(metric, [], sum, per: 1_000_000, suffix: "_sum"))
        samples.append(MetricSample(metric, [], count, suffix: "_count"))
        return samples
    }
}
