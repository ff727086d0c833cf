/// A metric that a scrape reads from a source other than the loops' counters: its declaration and how to read it.
struct MetricReading<Source>: Sendable {
    let metric: Metric
    let divisor: Int
    let read: @Sendable (Source) -> [(labels: [String], count: Int)]

    private init(
        _ name: String, _ kind: Metric.Kind, _ labels: [String], _ help: String, divisor: Int = 1,
        _ read: @escaping @Sendable (Source) -> [(labels: [String], count: Int)]
    ) {
        metric = Metric(name: name, kind: kind, labels: labels, help: help)
        self.divisor = divisor
        self.read = read
    }

    /// Declares a metric without labels; it is left out while its value is nil.
    static func one(
        _ name: String, kind: Metric.Kind = .counter, divisor: Int = 1, _ help: String,
        _ read: @escaping @Sendable (Source) -> Int?
    ) -> MetricReading {
        MetricReading(name, kind, [], help, divisor: divisor) { source in
            read(source).map { [([], $0)] } ?? []
        }
    }

    static func each(
        _ name: String, kind: Metric.Kind = .counter, by label: String, _ help: String,
        _ read: @escaping @Sendable (Source) -> [(String, Int)]
    ) -> MetricReading {
        MetricReading(name, kind, [label], help) { source in read(source).map { ([$0.0], $0.1) } }
    }

    static func each(
        _ name: String, kind: Metric.Kind = .counter, by labels: [String], _ help: String,
        _ read: @escaping @Sendable (Source) -> [([String], Int)]
    ) -> MetricReading {
        MetricReading(name, kind, labels, help) { source in read(source).map { ($0.0, $0.1) } }
    }
}

protocol MetricSource {
    static var readings: [MetricReading<Self>] { get }
}

extension MetricSource {
    var samples: [MetricSample] {
        Self.readings.flatMap { reading in
            reading.read(self).map { MetricSample(reading.metric, $0.labels, $0.count, per: reading.divisor) }
        }
    }
}
