/// The declaration of a metric.
///
/// A metric is declared once: on a loop as a property of `LoopCounters`, elsewhere as a `MetricReading` of its source.
struct Metric: Sendable, Equatable {
    /// The metric types of the Prometheus text format.
    enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// The name, with its unit; counters end in `_total`.
    let name: String
    let kind: Kind
    /// The names of the labels, in the order of a sample's values.
    let labels: [String]
    let help: String
}

struct MetricSample: Sendable, Equatable {
    let metric: Metric
    let labels: [String]
    /// The value as a whole number of `1 / divisor`.
    let count: Int
    let divisor: Int
    /// The end of the name in a histogram: `_bucket` (whose last label is `le`), `_sum` or `_count`.
    let suffix: String

    /// The value; exact up to 2^53.
    var value: Double { Double(count) / Double(divisor) }

    init(_ metric: Metric, _ labels: [String], _ count: Int, per divisor: Int = 1, suffix: String = "") {
        self.metric = metric
        self.labels = labels
        self.count = count
        self.divisor = divisor
        self.suffix = suffix
    }

    /// Returns the samples of a histogram of times.
    ///
    /// - Parameter counts: The number of times between each bound and the one before it, then the number beyond the last bound.
    ///   Bounds are in microseconds.
    static func histogram(
        _ metric: Metric, _ labels: [String], _ counts: some Sequence<Int>, bounds: [Int],
        sumMicroseconds: Int
    ) -> [MetricSample] {
        var samples: [MetricSample] = []
        var total = 0
        for (index, count) in counts.enumerated() {
            total += count
            let bound = index < bounds.count ? String(Double(bounds[index]) / 1e6) : "+Inf"
            samples.append(MetricSample(metric, labels + [bound], total, suffix: "_bucket"))
        }
        samples.append(MetricSample(metric, labels, sumMicroseconds, per: 1_000_000, suffix: "_sum"))
        return samples + [MetricSample(metric, labels, total, suffix: "_count")]
    }

    /// Returns one sample per series, in the order of their first appearance.
    static func summed(_ samples: [MetricSample]) -> [MetricSample] {
        var sums: [MetricSample] = []
        var indexes: [[String]: Int] = [:]
        for sample in samples {
            let series = [sample.metric.name + sample.suffix] + sample.labels
            if let index = indexes[series] {
                let sum = sums[index].count + sample.count
                sums[index] = MetricSample(
                    sample.metric, sample.labels, sum, per: sample.divisor, suffix: sample.suffix)
            } else {
                indexes[series] = sums.count
                sums.append(sample)
            }
        }
        return sums
    }
}

// MARK: - The text format

extension MetricSample {
    /// The media type of the Prometheus text format, version 0.0.4.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Returns the samples in the Prometheus text format, grouped by metric in the order of their first appearance.
    static func text(_ samples: [MetricSample]) -> String {
        var metrics: [Metric] = []
        var groups: [String: [MetricSample]] = [:]
        for sample in samples {
            if groups[sample.metric.name] == nil { metrics.append(sample.metric) }
            groups[sample.metric.name, default: []].append(sample)
        }
        var text = ""
        for metric in metrics {
            text += "# HELP \(metric.name) \(escaped(metric.help, quote: false))\n"
            text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
            for sample in groups[metric.name] ?? [] { text += sample.line }
        }
        return text
    }

    private var line: String {
        let names = metric.labels + (suffix == "_bucket" ? ["le"] : [])
        // An empty label is the same as none.
        let pairs = zip(names, labels).filter { !$1.isEmpty }.map {
            "\($0)=\"\(Self.escaped($1, quote: true))\""
        }
        let labels = pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
        // Whole numbers have no fraction and no exponent, as long as they are exact.
        let number = Int(exactly: value).map(String.init) ?? String(value)
        return "\(metric.name)\(suffix)\(labels) \(number)\n"
    }

    private static func escaped(_ text: String, quote: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quote: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
