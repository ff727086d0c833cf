/// The description of a metric.
package struct Metric: Sendable, Equatable {
    /// The metric types of the Prometheus text format.
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// The name, with its unit and, for counters, `_total` at the end.
    package let name: String
    package let kind: Kind
    /// The names of the labels, in the order in which a sample gives their values.
    package let labels: [String]
    /// The description, in a sentence.
    package let help: String

    package init(_ name: String, _ kind: Kind, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}
