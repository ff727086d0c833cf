internal import Testing

@testable internal import dictum

/// The texts of `dictum estimate` for given figures, without measuring any.
struct EstimateTextTests {
    private static func delta(_ bytes: Int) -> DeltaCost {
        DeltaCost(
            bytes: bytes, firstBytes: 7, firstCpuMicroseconds: 5_000, indexedCpuMicroseconds: 40,
            strongestBytes: nil)
    }

    private static func deltas(_ dcz: Int) -> [DeltaCosts] {
        [DeltaCosts(versionsBack: 1, pairs: 1, plainBytes: 500, dcz: delta(dcz), dcb: delta(600))]
    }

    private static func resource(
        url: String? = nil, sentBytes: Int? = nil, dcz: Int = 100, obstacle: String? = nil,
        browser: ResourceEstimate.Browser? = nil
    ) -> ResourceEstimate {
        let plain = ResourceEstimate.Plain(
            gzip: CodingCost(bytes: 2_000, cpuMicroseconds: 999),
            br: CodingCost(bytes: 1_000, cpuMicroseconds: 1_000),
            zstd: CodingCost(bytes: 1_500, cpuMicroseconds: 5))
        return ResourceEstimate(
            name: "feed", url: url, responses: 3, versions: 1, seconds: 60, unchangedShare: nil,
            periodSeconds: 90, changesEachTime: false, bodyBytes: 9_000, sentBytes: sentBytes, plain: plain,
            deltas: deltas(dcz), obstacle: obstacle, personal: nil, browser: browser)
    }

    // MARK: Resources

    @Test func `the period of a folder is assumed, and that of a URL is not`() {
        #expect(
            EstimateText.summary(of: Self.resource())
                == "3 responses, 1 version, a new version every 90 s (assumed: --every), 9,000 bytes each")
        #expect(
            EstimateText.summary(of: Self.resource(url: "https://api.test/feed", sentBytes: 2_500))
                == "3 responses, 1 version, a new version every 90 s, 9,000 bytes each, sent as 2,500")
    }

    @Test func `plain codings are compared with the best of them, and deltas with that of the same bodies`() {
        let rows = EstimateText.rows(of: Self.resource()).map { $0.joined(separator: "|") }
        let expected = """
            coding|dictionary|bytes|CPU|against br
            gzip|none|2,000|999 µs|+100.0 %
            br|none|1,000|1.0 ms|
            zstd|none|1,500|5 µs|+50.0 %
            dcz|the version before|100|40 µs|-80.0 %
            dcb|the version before|600|40 µs|+20.0 %
            """
        #expect(rows.joined(separator: "\n") == expected)
    }

    @Test func `a delta that is larger than the best other coding saves nothing, and costs nothing`() {
        #expect(Self.resource().savedShare == 0.8)
        #expect(Self.resource(dcz: 700).savedShare == 0)
    }

    @Test func `only a response that can be a dictionary, and that Chromium keeps, is good`() {
        func lines(_ seconds: Int, obstacle: String? = nil) -> String {
            let finding = DoctorReport.Entry("short-life", .warning, "short")
            let browser = ResourceEstimate.Browser(keepsSeconds: seconds, findings: [finding])
            let resource = Self.resource(obstacle: obstacle, browser: browser)
            return EstimateText.browserLines(of: resource).joined(separator: "\n")
        }
        let good = lines(1)
        #expect(
            good.hasPrefix("good: Chromium keeps the response as a dictionary for 1.0 s: ")
                && good.hasSuffix("\nwarning: short"), "\(good)")
        #expect(lines(0) == "warning: short")
        #expect(lines(600, obstacle: "no-store") == "warning: short")
        #expect(EstimateText.browserLines(of: Self.resource()).first?.hasPrefix("Browsers: unknown") == true)
    }

    @Test func `clients are told with the response as it is, and then with dictionaries of a day`() throws {
        let mix = try #require(ClientMix(argument: "10s:100%"))
        let sizes = try #require(
            MeasuredSizes(
                Self.deltas(100), plainBytes: 1_000, sameBytes: 60, secondsPerVersion: 20))
        let plan = ClientPlan(clients: 20, mix: mix, seconds: 300)
        func outcome(_ life: Int) throws -> ClientOutcome {
            try #require(
                ClientOutcome(sizes, plan: plan, periodSeconds: 20, lifeSeconds: life, isPersonal: false))
        }
        let (asIs, day) = (try outcome(1), try outcome(86_400))
        #expect(asIs.holderShare < day.holderShare && day.bytesPerDay < day.plainBytesPerDay)
        var resource = Self.resource()
        resource.clients = ResourceEstimate.Clients(count: 20, mix: mix.name, asIs: asIs, day: day)
        let lines = EstimateText.clientLines(of: resource)
        try #require(lines.count == 2)
        let shares = [asIs, day].map { EstimateText.percent($0.holderShare) }
        #expect(lines[0].hasPrefix("20 clients (10s:100%), response as it is: \(shares[0]) "), "\(lines)")
        #expect(
            lines[1].hasPrefix("20 clients (10s:100%), dictionaries that live for a day: \(shares[1]) "),
            "\(lines)")
        let sums = [day.bytesPerDay, day.plainBytesPerDay].map(EstimateText.size)
        #expect(lines[1].hasSuffix("; \(sums[0]) per day instead of \(sums[1])"), "\(lines)")
        resource.clients = ResourceEstimate.Clients(count: 1, mix: "apps", asIs: asIs)
        #expect(EstimateText.clientLines(of: resource).first?.hasPrefix("1 client (apps), ") == true)
    }

    // MARK: Routes

    @Test func `a route of a host says which, and one of a folder does not`() {
        let suggestions = ["", "https://api.test"].map {
            EstimateReport.Routes(origin: $0, routes: [], yaml: "routes:\n")
        }
        #expect(
            EstimateText.text(of: suggestions, otherwise: "none")
                == "Suggested routes:\n\nroutes:\n\nSuggested routes for https://api.test:\n\nroutes:\n")
    }

    @Test func `first responses over a built dictionary are compared with those without`() {
        func cells(_ built: Int?, _ download: Int?, _ pays: Int?) -> String {
            let first = EstimateReport.FirstResponses(
                origin: "", match: "/feed", heldOut: 8, plainBytes: 1_000, builtBytes: built,
                downloadBytes: download, paysAfterResponses: pays)
            return EstimateText.firstCells(first).joined(separator: "|")
        }
        #expect(cells(250, 4_000, 6) == "/feed|1,000|250|-75.0 %|4,000|6 responses")
        #expect(cells(nil, nil, nil) == "/feed|1,000|none pays|||")
    }

    // MARK: Values

    @Test func `values have the unit and the rounding that fit them`() {
        #expect(EstimateText.percent(0.9999) == "99.9 %" && EstimateText.percent(1) == "100.0 %")
        #expect(EstimateText.time(999) == "999 µs" && EstimateText.time(1_000) == "1.0 ms")
        #expect(EstimateText.duration(9.5) == "9.5 s" && EstimateText.duration(10) == "10 s")
        #expect(EstimateText.change(saved: 0) == "0.0 % less")
        #expect(EstimateText.change(saved: -0.25) == "25.0 % more")
        #expect(EstimateText.ratio(1, 0).isEmpty)
    }

    @Test func `quotes and backslashes are escaped once in YAML`() {
        #expect(EstimateText.quoted(#"a"\b"#) == #""a\"\\b""#)
    }
}
