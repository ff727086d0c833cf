/// The whole estimate, for people and as JSON.
struct EstimateReport: Encodable, Sendable {
    struct Routes: Encodable, Sendable {
        let origin: String
        let routes: [RouteSuggestion]
        /// The routes as YAML, to be pasted into the configuration.
        let yaml: String

        /// Groups routes by their origins, in the order in which `serve` is to try them.
        static func all(of routes: [RouteSuggestion]) -> [Routes] {
            Dictionary(grouping: routes, by: \.origin).sorted { $0.key < $1.key }.map {
                let routes = $0.value.exactFirst
                return Routes(origin: $0.key, routes: routes, yaml: RouteSuggestion.yaml(routes))
            }
        }
    }

    /// The responses of a route to clients that have no version of their URLs, and what a built dictionary makes of them.
    struct FirstResponses: Encodable, Sendable {
        let origin: String
        let match: String
        /// The number of responses by which the figures were measured.
        let heldOut: Int
        /// The average bytes in the best coding without a dictionary.
        let plainBytes: Int
        /// The average bytes of dcb over the best dictionary of `dictum train`; nil if none pays, as are the next two.
        let builtBytes: Int?
        let downloadBytes: Int?
        let paysAfterResponses: Int?
    }

    let resources: [ResourceEstimate]
    let firstResponses: [FirstResponses]
    let suggestions: [Routes]
    let warnings: [String]

    init(
        _ collection: HistoryCollection, _ estimator: Estimator, firstResponses: [FirstResponses],
        progress: ProgressBar
    ) {
        self.firstResponses = firstResponses
        var items: [(history: ResourceHistory, estimate: ResourceEstimate)] = []
        for (number, history) in collection.histories.enumerated() {
            progress.show(number, of: collection.histories.count, "measuring \(history.name)")
            items.append((history, estimator.estimate(history)))
        }
        progress.end()
        resources = items.map(\.estimate)
        suggestions = Routes.all(of: RouteSuggestion.all(of: items, estimator.measurement))
        warnings = collection.warnings.map(OutputFormat.plain)
    }
}
