/// Writes samples in the Prometheus text format, version 0.0.4.
package enum MetricsRenderer {
    /// The media type of the text.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The text of the samples, grouped by metric in the order of the table.
    package static func render(_ samples: [MetricSample]) -> String {
        let groups = Dictionary(grouping: samples, by: \.metric.name)
        var text = ""
        for metric in MetricsTable.all {
            guard let group = groups[metric.name] else { continue }
            text += "# HELP \(metric.name) \(escaped(metric.help, quote: false))\n"
            text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
            for sample in group { text += line(of: sample) }
        }
        return text
    }

    private static func line(of sample: MetricSample) -> String {
        let names = sample.metric.labels + (sample.suffix == "_bucket" ? ["le"] : [])
        let pairs = zip(names, sample.labels).map { "\($0)=\"\(escaped($1, quote: true))\"" }
        let labels = pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
        return "\(sample.metric.name)\(sample.suffix)\(labels) \(number(sample.value))\n"
    }

    /// Whole numbers without a fraction or an exponent, as long as they are exact.
    private static func number(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? String(value)
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
