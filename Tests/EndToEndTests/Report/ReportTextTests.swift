internal import Testing

@testable internal import Proxy
@testable internal import dictum

/// The texts of `dictum report` and `dictum check --admin`, without a proxy.
struct ReportTextTests {
    private static func report(mode: String, _ groups: [SavingsReport.Group] = []) -> SavingsReport {
        SavingsReport(
            seconds: 60, dictionariesOn: true,
            routes: [SavingsReport.Route(route: "/*", mode: mode, groups: groups)],
            store: SavingsReport.Store(versions: 0, chains: 0, memoryBytes: 0, diskBytes: 0))
    }

    @Test func `a day is extrapolated from an hour, and not from seconds`() {
        var observed = SavingsReport.Observed()
        observed.add(deltaBytes: 100, plainBytes: 1_000_100, versionsBack: 1)
        observed.deltasOfAll = 1
        observed.seconds = 3.3
        #expect(ReportText.perDay(observed).hasPrefix("no figure per day yet: observed for 3.3 s"))
        observed.seconds = 3599
        #expect(ReportText.perDay(observed).hasPrefix("no figure"))
        observed.seconds = 3600
        #expect(ReportText.perDay(observed).hasPrefix("about 24.0 MB per day would be saved"))
        observed.add(deltaBytes: 3_000_100, plainBytes: 100, versionsBack: 1)
        observed.deltasOfAll = 2
        #expect(ReportText.perDay(observed).hasPrefix("about 48.0 MB per day more would be sent"))
    }

    @Test func `deltas that are larger are more bytes, and not none less`() throws {
        var evidence = RouteSuggestion.Evidence(origin: "", match: "/feed", urls: 1)
        evidence.own.add(deltaBytes: 300, plainBytes: 100)
        let reason = try #require(RouteSuggestion(evidence)?.reasons.first)
        #expect(reason.hasSuffix(", 200.0 % more"), "\(reason)")
        #expect(
            [(50, 100), (100, 100), (300, 100)].map(EstimateText.ratio) == ["-50.0 %", "0.0 %", "+200.0 %"])
    }

    @Test func `the reasons for which no browser keeps a response are in the text`() {
        var report = Self.report(mode: "observe")
        var observed = SavingsReport.Observed()
        observed.unkept = ["expired": 3]
        report.routes[0].observed = observed
        let text = ReportText.text(of: RunningReport(savings: report, firstResponses: []))
        #expect(text.contains("3 responses that no browser keeps, expired"), "\(text)")
    }

    @Test(arguments: [
        ("live", "set mode: observe"), ("off", "set mode: observe"), ("observe", "observe for longer"),
    ])
    func `without a suggestion the mode of the proxy decides what to do`(mode: String, remedy: String) {
        let text = ObservedSuggestions(Self.report(mode: mode)).text
        #expect(text.hasPrefix("No route is suggested: ") && text.contains(remedy), "\(text)")
    }

    @Test(arguments: [(4, 0, true), (3, 0, false), (0, 0, false), (4, 1, false)])
    func `every response has another body if URLs that come again always have one`(
        revisits: Int, unchanged: Int, isFound: Bool
    ) {
        var observed = SavingsReport.Observed()
        (observed.responses, observed.versions) = (9, 9)
        (observed.revisits, observed.unchanged) = (revisits, unchanged)
        observed.fields = ["cache-control": "public, max-age=600"]
        #expect(ReportAdvice.findings(observed).contains(.changesEachTime) == isFound)
    }

    @Test func `an observed route of one user's responses names the script for its page, and never public`() {
        var observed = SavingsReport.Observed()
        (observed.responses, observed.credentials, observed.revisits, observed.lifeSeconds) = (9, 9, 8, 0)
        observed.fields = ["cache-control": "no-cache"]
        observed.add(deltaBytes: 100, plainBytes: 1_000, versionsBack: 1)
        #expect(ReportAdvice.findings(observed).map(\.name) == ["needs-twin"])
        let group = SavingsReport.Group(authority: "api.test", match: "/inbox", observed: observed)
        let text = ObservedSuggestions(Self.report(mode: "observe", [group])).text
        #expect(text.contains(#"data-paths="/inbox""#) && !text.contains("public"), "\(text)")
    }
}
