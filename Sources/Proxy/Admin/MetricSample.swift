/// One value of a metric at the time of a scrape.
package struct MetricSample: Sendable, Equatable {
    /// What was measured.
    package let metric: Metric
    /// The values of the metric's labels, in its order.
    package let labels: [String]
    /// The value; exact up to 2^53.
    package let value: Double
    /// What a histogram's series has after the name: `_bucket` (with the label `le` last), `_sum` or `_count`.
    package let suffix: String

    /// Makes a sample.
    package init(_ metric: Metric, _ labels: [String] = [], _ value: Double, suffix: String = "") {
        self.metric = metric
        self.labels = labels
        self.value = value
        self.suffix = suffix
    }

    /// Makes a sample of a whole number.
    package init(_ metric: Metric, _ labels: [String] = [], _ value: Int) {
        self.init(metric, labels, Double(value))
    }
}
