/// The whole estimate, for people and as JSON.
struct EstimateReport: Encodable, Sendable {
    /// The suggested routes of one origin.
    struct Routes: Encodable, Sendable {
        let origin: String
        let routes: [RouteSuggestion]
        /// The routes as YAML, to be pasted into the configuration.
        let yaml: String
    }

    let resources: [ResourceEstimate]
    let suggestions: [Routes]
    let warnings: [String]

    init(_ collection: HistoryCollection, _ estimator: Estimator, progress: ProgressBar) {
        var items: [(history: ResourceHistory, estimate: ResourceEstimate)] = []
        for (number, history) in collection.histories.enumerated() {
            progress.show(number, of: collection.histories.count, "measuring \(history.name)")
            items.append((history, estimator.estimate(history)))
        }
        progress.end()
        resources = items.map(\.estimate)
        let routes = RouteSuggestion.all(of: items, estimator.measurement)
        suggestions = Dictionary(grouping: routes, by: \.origin).sorted { $0.key < $1.key }.map {
            Routes(origin: $0.key, routes: $0.value, yaml: RouteSuggestion.yaml($0.value))
        }
        warnings = collection.warnings.map(OutputFormat.plain)
    }

    /// A JSON object on one line.
    var json: String { OutputFormat.json(self) }
}
