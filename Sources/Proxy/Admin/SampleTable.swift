/// The samples of a scrape, for look-ups by metric and labels.
///
/// Reports are made of the same samples as `/metrics`, so that their numbers agree.
struct SampleTable: Sendable {
    private let samples: [String: [MetricSample]]

    init(_ samples: [MetricSample]) {
        self.samples = Dictionary(grouping: samples, by: \.metric.name)
    }

    subscript(name: String) -> [MetricSample] { samples[name] ?? [] }

    /// Returns the whole number of the series with these first labels, or their sum; 0 without a sample.
    func count(_ name: String, _ labels: String...) -> Int {
        self[name].reduce(0) { $1.labels.starts(with: labels) ? $0 + $1.count / $1.divisor : $0 }
    }

    /// Returns the value of a metric that may be missing.
    func value(_ name: String) -> Int? { self[name].first.map { $0.count / $0.divisor } }

    /// Returns the numbers of a metric by its last label; zeros are left out.
    func counts(_ name: String) -> [String: Int] {
        self[name].reduce(into: [:]) { counts, sample in
            guard let label = sample.labels.last, sample.count != 0 else { return }
            counts[label, default: 0] += sample.count / sample.divisor
        }
    }
}
