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

/// The values of the label that names a counter's rows.
struct MetricRows: Sendable {
    /// The label value of requests without a route, then the text of each route's match.
    let routes: [String]
    /// The empty name, which a scrape shows as no label, then the names of upstreams.
    let upstreams: [String]

    /// The label of which a counter has a row per value.
    enum Label: String {
        case route
        case name
    }

    subscript(label: Label) -> [String] {
        switch label {
        case .route: routes
        case .name: upstreams
        }
    }
}

/// A counter that is a property of `LoopCounters`: its declaration and its counts.
protocol LoopSeries: Sendable {
    var metric: Metric { get }

    func samples(_ rows: MetricRows) -> [MetricSample]
}

/// A counter or gauge with one number per combination of its labels' values.
struct LoopCounter: LoopSeries {
    let metric: Metric
    private let labels: [MetricLabel]
    private let rowLabel: MetricRows.Label?
    private let isSparse: Bool
    private let divisor: Int
    /// The number of combinations of `labels`, which is the number of counts per row.
    private let width: Int
    private var counts: [Int]

    /// Declares a counter.
    ///
    /// - Parameters:
    ///   - rowLabel: the label of rows, before `labels`; nil for a single row.
    ///   - isSparse: true to leave out combinations that were never counted.
    ///   - divisor: the number that the counts are divided by in samples.
    init(
        _ name: String, kind: Metric.Kind = .counter, per rowLabel: MetricRows.Label? = nil,
        labels: [MetricLabel] = [], isSparse: Bool = false, divisor: Int = 1, _ help: String
    ) {
        metric = Metric(
            name: name, kind: kind, labels: [rowLabel?.rawValue].compactMap(\.self) + labels.map(\.name),
            help: help)
        self.labels = labels
        self.rowLabel = rowLabel
        self.isSparse = isSparse
        self.divisor = divisor
        width = labels.reduce(1) { $0 * $1.values.count }
        counts = Array(repeating: 0, count: width)
    }

    /// Adds to the count at a position among the combinations of labels, of which the last varies fastest.
    mutating func add(_ count: Int = 1, row: Int = 0, at index: Int = 0) {
        let cell = row * width + index
        if cell >= counts.count { counts.grow(toRows: row + 1, of: width) }
        counts[cell] += count
    }

    func samples(_ rows: MetricRows) -> [MetricSample] {
        let combinations = labels.reduce([[]]) { rows, label in
            rows.flatMap { row in label.values.map { row + [$0] } }
        }
        let names = rowLabel.map { rows[$0].map { [$0] } } ?? [[]]
        var samples: [MetricSample] = []
        for (row, name) in names.enumerated() {
            for (index, values) in combinations.enumerated() {
                let cell = row * width + index
                let count = cell < counts.count ? counts[cell] : 0
                guard count > 0 || !isSparse else { continue }
                samples.append(MetricSample(metric, name + values, count, per: divisor))
            }
        }
        return samples
    }
}

extension [Int] {
    /// Adds rows when they are needed, since a reload may bring more routes and upstreams.
    fileprivate mutating func grow(toRows rows: Int, of width: Int) {
        self += [Int](repeating: 0, count: rows * width - count)
    }
}

/// Histograms of times in microseconds, shown in seconds: one per row, once it has a time.
struct LoopHistogram: LoopSeries {
    static let bounds = [
        500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        5_000_000, 10_000_000,
    ]
    /// A row has a count per bound, that of longer times, and the sum.
    private static let width = bounds.count + 2

    let metric: Metric
    /// Nil for a histogram of one row.
    private let rowLabel: MetricRows.Label?
    private var counts: [Int] = []

    init(_ name: String, per rowLabel: MetricRows.Label? = nil, _ help: String) {
        let labels = rowLabel.map { [$0.rawValue] } ?? []
        metric = Metric(name: name, kind: .histogram, labels: labels, help: help)
        self.rowLabel = rowLabel
    }

    /// Returns the position of the bound below which a time counts; the number of bounds for a longer one.
    static func bucket(of microseconds: Int) -> Int {
        bounds.firstIndex { microseconds <= $0 } ?? bounds.count
    }

    mutating func add(microseconds: Int, row: Int = 0) {
        let start = row * Self.width
        if start >= counts.count { counts.grow(toRows: row + 1, of: Self.width) }
        counts[start + Self.bucket(of: microseconds)] += 1
        counts[start + Self.width - 1] += microseconds
    }

    func samples(_ rows: MetricRows) -> [MetricSample] {
        let labels = rowLabel.map { label in rows[label].map { [$0] } } ?? [[]]
        return zip(labels, stride(from: 0, to: counts.count, by: Self.width)).flatMap { labels, start in
            samples(labels, counts[start..<(start + Self.width)])
        }
    }

    private func samples(_ labels: [String], _ row: ArraySlice<Int>) -> [MetricSample] {
        guard let sum = row.last, row.dropLast().contains(where: { $0 > 0 }) else { return [] }
        return MetricSample.histogram(
            metric, labels, row.dropLast(), bounds: Self.bounds, sumMicroseconds: sum)
    }
}
