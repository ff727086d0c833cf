internal import Proxy

/// The routes that an observing proxy suggests, by what it has seen.
struct ObservedSuggestions: Encodable {
    private enum CodingKeys: CodingKey { case suggestions }

    let suggestions: [EstimateReport.Routes]
    /// The reason why there may be none.
    private let lack: String

    init(_ report: SavingsReport) {
        // The rest of a route has no pattern of its own, and a list of patterns is no single one.
        let isObserving = report.routes.contains { $0.mode == "observe" }
        lack =
            isObserving
            ? "no URL had two different bodies yet; observe for longer"
            : "the proxy observes nothing: set mode: observe in its configuration, and reload it"
        let groups = report.routes.flatMap(\.groups).filter { !$0.match.isEmpty && !$0.match.contains(", ") }
        let routes = groups.compactMap { RouteSuggestion(Self.evidence($0)) }
        suggestions = EstimateReport.Routes.all(of: routes)
    }

    private static func evidence(_ group: SavingsReport.Group) -> RouteSuggestion.Evidence {
        let observed = group.observed
        var evidence = RouteSuggestion.Evidence(
            origin: group.authority, match: group.match, urls: max(1, observed.urls))
        // Personal responses are compared with their client's former ones only.
        evidence.own = observed.own.count > 0 ? observed.own : observed.measured
        evidence.others = observed.across
        evidence.isOnePath = observed.paths <= 1
        evidence.lives = observed.lifeSeconds.map { [$0] } ?? []
        evidence.findings = Set(ReportAdvice.findings(observed).map(\.name))
        return evidence
    }

    var text: String {
        EstimateText.text(of: suggestions, otherwise: lack)
    }
}
