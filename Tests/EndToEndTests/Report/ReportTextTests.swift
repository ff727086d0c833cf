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

    private static func text(_ report: SavingsReport) -> String {
        ReportText.text(of: RunningReport(savings: report, firstResponses: []))
    }

    @Test func `the most frequent reason comes first, and equal ones by their names`() {
        var report = Self.report(mode: "live")
        var live = SavingsReport.Live()
        live.requests = 5
        live.reasons = ["client-new": 1, "no-store": 3, "ineligible-type": 1]
        report.routes[0].live = live
        let text = Self.text(report)
        let names = text.matches(of: /not over a dictionary, ([a-z-]+)/).map { String($0.output.1) }
        #expect(names == ["no-store", "client-new", "ineligible-type"], "\(text)")
    }

    @Test func `deltas are listed by the ages of their dictionaries, up to 100 versions`() {
        var report = Self.report(mode: "observe")
        var observed = SavingsReport.Observed()
        for back in [0, 1, 3, 10, 100, 101] {
            observed.add(deltaBytes: 100, plainBytes: 1_000, versionsBack: back)
        }
        report.routes[0].observed = observed
        let text = Self.text(report)
        let ages = text.split(separator: "\n").filter { $0.hasSuffix(" 1,000") }.compactMap {
            $0.split(separator: "  ").first.map { String($0) }
        }
        #expect(ages == ["0", "1", "2 to 3", "4 to 10", "11 to 100", "more"], "\(text)")
    }

    @Test func `an experiment says what each side got, and what dictionaries change`() {
        var report = Self.report(mode: "live")
        report.experiment = SavingsReport.Experiment(
            holdout: 0.05,
            treated: SavingsReport.Arm(
                requests: 1_200, units: 40, bytesPerRequest: 1_500, secondsPerRequest: 0.012),
            heldOut: SavingsReport.Arm(
                requests: 60, units: 20, bytesPerRequest: 6_000, secondsPerRequest: 0.01),
            bytes: SavingsReport.Ratio(value: 0.25, low: 0.125, high: 0.375),
            duration: SavingsReport.Ratio(value: 1.25, low: 1.125, high: 1.5))
        let text = Self.text(report)
        let expected = """
            Experiment, 5.0 % of the clients without dictionaries
              with: 1200 responses to 40 groups of clients, 1,500 bytes and 12.0 ms each
              without: 60 responses to 20 groups of clients, 6,000 bytes and 10.0 ms each
              bytes: -75.0 % with dictionaries (95 % interval: -87.5 % to -62.5 %)
              time: +25.0 % with dictionaries (95 % interval: +12.5 % to +50.0 %)

            """
        #expect(text.contains(expected), "\(text)")
    }

    @Test(arguments: [true, false])
    func `the last lines tell the store, and that dictionaries are off`(isOn: Bool) {
        var report = Self.report(mode: "live")
        report.store = SavingsReport.Store(versions: 2, chains: 1, memoryBytes: 1_024, diskBytes: 2_048)
        report.dictionariesOn = isOn
        let text = Self.text(report)
        let store = "Store: 2 versions in 1 chain, 2.0 KiB on disk, 1.0 KiB in memory\n"
        #expect(text.hasSuffix(store + (isOn ? "" : "Dictionaries are switched off.\n")), "\(text)")
    }

    @Test(arguments: [nil, 5] as [Int?])
    func `a live route tells its bytes, and the gain of its deltas by samples`(margin: Int?) {
        var report = Self.report(mode: "live")
        var live = SavingsReport.Live()
        (live.requests, live.deltas, live.deltaBytes) = (10, 4, 1_000)
        (live.bodyBytes, live.sentBytes) = (9_000_000, 1_000_000)
        (live.deltaPlainBytes, live.deltaPlainMargin) = (4_000, margin)
        live.sampled = DeltaSizes(count: 3, deltaBytes: 1, plainBytes: 1)
        live.reasons = ["not-modified": 2]
        report.routes[0].live = live
        let rough = margin == nil ? ": too few, so this is rough" : ""
        let expected = """
            /* (live)
              10 responses, 2 of them 304, 50.0 % of the others over a dictionary; bodies of 9.0 MB sent as 1.0 MB
              250 bytes per delta instead of 1,000 in the best other coding, 75.0 % less (by 3 samples\(rough))

            """
        #expect(Self.text(report).hasPrefix(expected), "\(Self.text(report))")
    }

    @Test func `an observed route tells what was seen, in this order`() {
        var report = Self.report(mode: "observe")
        var observed = SavingsReport.Observed()
        (observed.responses, observed.versions, observed.urls, observed.skipped) = (5, 3, 2, 1)
        (observed.returns, observed.deltas, observed.firsts) = (4, 1, 1)
        observed.lacks = ["expired": 2, "evicted": 1]
        report.routes[0].observed = observed
        let expected = """
            /* (observe)
              5 responses, 3 versions, 2 URLs, 1 not measured
              25.0 % of the requests of returning clients (4) would have got a delta
              1 first response, to clients that had no version of the path
              1 return without a dictionary: the store has no longer the version; see store.max_size
              2 returns without a dictionary: the response was no longer fresh; a longer max-age or stale-while-revalidate keeps it

            """
        #expect(Self.text(report).hasPrefix(expected), "\(Self.text(report))")
    }

    @Test func `what was observed before a route went live is told as such, and not by the day`() {
        var observed = SavingsReport.Observed()
        observed.add(deltaBytes: 100, plainBytes: 1_000, versionsBack: 1)
        for mode in ["observe", "live"] {
            var report = Self.report(mode: mode)
            report.routes[0].observed = observed
            let text = Self.text(report)
            #expect(text.contains("observed before:") == (mode == "live"), "\(text)")
            #expect(text.contains("per day") == (mode == "observe"), "\(text)")
        }
    }

    @Test(arguments: [("off", "dictionaries are off"), ("live", "no responses yet")])
    func `a route without figures says why, and what went live once is not told of one that is off`(
        mode: String, line: String
    ) {
        var report = Self.report(mode: mode)
        #expect(Self.text(report).hasPrefix("/* (\(mode))\n  \(line)\n"))
        report.routes[0].live = SavingsReport.Live()
        #expect(Self.text(report).contains(line) == (mode == "off"))
    }

    @Test func `eight reasons are enough, and observing has a cost`() {
        var report = Self.report(mode: "observe")
        var observed = SavingsReport.Observed()
        for number in 1...9 { observed.obstacles["reason\(number)"] = number }
        report.routes[0].observed = observed
        report.observing = SavingsReport.Observing(
            cpuAllowed: 0.25, cpuUsed: 0.125, cpuSeconds: 1, clientShare: 0.5)
        let text = Self.text(report)
        let names = text.matches(of: /a dictionary, (reason[0-9])\n/).map { String($0.output.1) }
        #expect(names.joined() == (2...9).reversed().map { "reason\($0)" }.joined(), "\(text)")
        #expect(text.hasSuffix("\nObserving: 12.5 % of a core (25.0 % allowed), 50.0 % of the clients\n"))
    }

    @Test(arguments: [(1, "path"), (2, "pattern")])
    func `what was observed of other URLs decides whether a route's URLs share dictionaries`(
        paths: Int, use: String
    ) {
        var observed = SavingsReport.Observed()
        observed.own.add(deltaBytes: 100, plainBytes: 1_000)
        observed.across.add(deltaBytes: 150, plainBytes: 1_000)
        observed.paths = paths
        let group = SavingsReport.Group(authority: "api.test", match: "/:id", observed: observed)
        let route = ObservedSuggestions(Self.report(mode: "observe", [group])).suggestions.first?.routes.first
        #expect(route?.use.rawValue == use && route?.reasons.count == 3)
    }

    @Test(arguments: [(5, false), (6, true)])
    func `responses are of one user each if most of the requests have credentials`(
        credentials: Int, isFound: Bool
    ) {
        var observed = SavingsReport.Observed()
        (observed.responses, observed.credentials) = (10, credentials)
        observed.fields = ["cache-control": "no-cache"]
        let names = ReportAdvice.findings(observed).map(\.name)
        #expect(names.contains("needs-twin") == isFound, "\(names)")
    }

    @Test func `a route is suggested by the deltas over the version before, where there are some`() {
        var observed = SavingsReport.Observed()
        observed.own.add(deltaBytes: 100, plainBytes: 1_000)
        observed.add(deltaBytes: 950, plainBytes: 1_000, versionsBack: 3)
        let group = SavingsReport.Group(authority: "api.test", match: "/feed", observed: observed)
        let text = ObservedSuggestions(Self.report(mode: "observe", [group])).text
        #expect(text.contains("100 bytes (dcz) instead of 1,000"), "\(text)")
    }

    @Test(arguments: ["", "/a, /b"])
    func `the rest of a route, and a list of patterns, are no route to suggest`(match: String) {
        var observed = SavingsReport.Observed()
        observed.add(deltaBytes: 100, plainBytes: 1_000, versionsBack: 1)
        let group = SavingsReport.Group(authority: "", match: match, observed: observed)
        let text = ObservedSuggestions(Self.report(mode: "observe", [group])).text
        #expect(text.hasPrefix("No route is suggested: "), "\(text)")
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
