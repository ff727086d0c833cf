/// One line of the table of metrics: a name, what it counts and by which labels.
package struct Metric: Sendable, Equatable {
    /// The types of the Prometheus text format that are used.
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// The name, with its unit and, for counters, `_total` at the end.
    package let name: String
    /// How the value behaves.
    package let kind: Kind
    /// The names of the labels, in the order in which a sample gives their values.
    package let labels: [String]
    /// What is counted, in a sentence.
    package let help: String

    /// Describes a metric.
    package init(_ name: String, _ kind: Kind, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}
