internal import Proxy

/// The routes that an observing proxy suggests, by what it has seen.
struct ObservedSuggestions: Encodable {
    let suggestions: [EstimateReport.Routes]

    init(_ report: SavingsReport) {
        let routes = report.routes.flatMap(\.groups).compactMap { group -> RouteSuggestion? in
            // The rest of a route has no pattern of its own, and a list of patterns is no single one.
            guard !group.match.isEmpty, !group.match.contains(", ") else { return nil }
            return RouteSuggestion(Self.evidence(group))
        }.exactFirst
        suggestions = Dictionary(grouping: routes, by: \.origin).sorted { $0.key < $1.key }.map {
            EstimateReport.Routes(origin: $0.key, routes: $0.value, yaml: RouteSuggestion.yaml($0.value))
        }
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

    /// The suggestions for people.
    var text: String {
        guard !suggestions.isEmpty else {
            return "No route is suggested: no URL had two different bodies yet; observe for longer\n"
        }
        return suggestions.map { "Suggested routes for \(OutputFormat.plain($0.origin)):\n\n" + $0.yaml }
            .joined(separator: "\n")
    }
}
