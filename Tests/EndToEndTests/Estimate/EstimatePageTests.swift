internal import Dictionaries
internal import Foundation
internal import HTTP
internal import TestSupport
internal import Testing

@testable internal import dictum

/// The HTML report of `dictum estimate` on given responses, and its plots of given figures.
@Suite(.timeLimit(.minutes(40))) struct EstimatePageTests {
    /// A URL of api.test with the bodies of its versions, a minute apart.
    private struct Polled {
        let path: String
        let bodies: [[UInt8]]
        var cacheControl = "public, max-age=600"
    }

    /// Returns versions of a feed that each have so many new bytes besides.
    private static func versions(newBytes: Int) -> [[UInt8]] {
        (0..<3).map {
            Feed.bytes(version: $0, items: 40) + Noise.bytes(newBytes, seed: UInt64(newBytes + $0))
        }
    }

    private static func report(
        _ all: [Polled], firstResponses: [EstimateReport.FirstResponses] = []
    ) throws -> EstimateReport {
        var collection = HistoryCollection()
        for polled in all {
            let url = try FetchURL("https://api.test\(polled.path)")
            var headers = Headers()
            headers.append(.cacheControl, polled.cacheControl)
            for (number, bytes) in polled.bodies.enumerated() {
                let response = ResourceHistory.Response(
                    seconds: Double(number) * 60, body: Body(bytes), headers: headers)
                collection.add(response, to: url.text) {
                    var history = ResourceHistory(url: url, name: url.text)
                    history.mediaType = "application/json"
                    return history
                }
            }
        }
        let mix = try #require(ClientMix(argument: "10s:100%"))
        return EstimateReport(
            collection, Estimator(plan: ClientPlan(clients: 20, mix: mix, seconds: 300)),
            firstResponses: firstResponses, progress: ProgressBar(isWanted: false))
    }

    // MARK: The page

    @Test func `what saves most comes first, and what is behind the first 24 URLs is in a table`() throws {
        let single = (0..<25).map { Polled(path: "/single\($0)", bodies: [Array("[\($0)]".utf8)]) }
        let page = EstimatePage.html(
            of: try Self.report(single + [Polled(path: "/best", bodies: Self.versions(newBytes: 0))]))
        let titles = page.matches(of: /<section><h2>(https[^<]*)<\/h2>/).map { String($0.output.1) }
        #expect(titles.first == "https://api.test/best")
        #expect(titles.count == 24)
        let rows = page.matches(of: /<tr><td>(https[^<]*)<\/td>/).map { String($0.output.1) }
        #expect(Set(titles + rows).count == 26 && rows.count == 2, "\(rows)")
        #expect(page.contains("<h3>https://api.test</h3><pre>routes:\n"))
    }

    @Test func `the first sentence promises the largest saving of what can be a dictionary`() throws {
        let first = EstimateReport.FirstResponses(
            origin: "", match: "/first", heldOut: 8, plainBytes: 1_000, builtBytes: 250, downloadBytes: 4_000,
            paysAfterResponses: 6)
        let report = try Self.report(
            [
                Polled(path: "/least", bodies: Self.versions(newBytes: 6_000)),
                Polled(path: "/best", bodies: Self.versions(newBytes: 1_000)),
                Polled(
                    path: "/forbidden", bodies: Self.versions(newBytes: 0), cacheControl: "no-store"),
            ], firstResponses: [first])
        let shares = report.resources.compactMap(\.savedShare)
        try #require(shares.count == 3 && shares[0] < shares[1] && shares[1] < shares[2])
        let page = EstimatePage.html(of: report)
        #expect(page.contains("only the difference: up to \(EstimateText.percent(shares[1])) less than "))
        let obstacle = "<p class=\"problem\">Dictum makes no dictionary of it: no-store</p>"
        #expect(page.components(separatedBy: obstacle).count == 2)
        #expect(page.contains("<tr><td>/first</td><td>1,000</td><td>250</td><td>-75.0 %</td>"))
    }

    @Test(arguments: [
        ("no-store", 3, "no response can be a dictionary"),
        ("max-age=600", 1, "no URL had two different bodies; poll for longer, or give more versions"),
    ])
    func `where nothing can be promised, the first sentence says why`(
        cacheControl: String, count: Int, reason: String
    ) throws {
        let bodies = Array(Self.versions(newBytes: 0).prefix(count))
        let page = EstimatePage.html(
            of: try Self.report([Polled(path: "/feed", bodies: bodies, cacheControl: cacheControl)]))
        #expect(page.contains("<p class=\"lead\">Nothing can be said about savings yet: \(reason).</p>"))
    }

    @Test func `the tiles have the sums of all URLs, as they are and for dictionaries of a day`() throws {
        let report = try Self.report([
            Polled(path: "/long", bodies: Self.versions(newBytes: 0)),
            Polled(
                path: "/short", bodies: Self.versions(newBytes: 1_000),
                cacheControl: "private, max-age=5"),
        ])
        let clients = report.resources.compactMap(\.clients)
        let page = EstimatePage.html(of: report)
        let (asIs, day) = (clients.compactMap(\.asIs), clients.compactMap(\.day))
        try #require(asIs.count == 2 && day.count == 2)
        let parts = page.components(separatedBy: "<h2>If dictionaries live for a day</h2>")
        try #require(parts.count == 2)
        #expect(parts[0].contains("<h2>With the responses as they are</h2>"))
        for (outcomes, part) in [(asIs, parts[0]), (day, parts[1])] {
            let with = outcomes.reduce(0) { $0 + $1.bytesPerDay }
            let without = outcomes.reduce(0) { $0 + $1.plainBytesPerDay }
            let share = outcomes.reduce(0) { $0 + $1.holderShare } / 2
            try #require(with < without)
            let saved = EstimateText.percent(1 - Double(with) / Double(without))
            #expect(part.contains("<strong>\(saved)</strong><span>fewer bytes of bodies</span>"))
            let sum = "<strong>\(EstimateText.size(with)) per day</strong>"
            let former = "<span>instead of \(EstimateText.size(without)), for 20 clients</span>"
            #expect(part.contains(sum + former))
            #expect(part.contains("<strong>\(EstimateText.percent(share))</strong><span>of the requests of "))
        }
        #expect(asIs[1].holderShare < day[1].holderShare)
    }

    @Test func `a page marks what is good and what is not, and says what is personal`() throws {
        let page = EstimatePage.html(
            of: try Self.report([
                Polled(
                    path: "/own", bodies: Self.versions(newBytes: 0), cacheControl: "private, max-age=5"),
                Polled(path: "/all", bodies: Self.versions(newBytes: 0)),
            ]))
        #expect(page.components(separatedBy: "<li class=\"good\">good: Chromium keeps ").count == 3)
        #expect(!page.matches(of: /<li class="(?:warning|problem)">(?:warning|problem): [^<]/).isEmpty)
        #expect(page.components(separatedBy: "<p>The response is personal: ").count == 2)
    }

    // MARK: Plots

    @Test func `the longest bar has the room beside the titles, and the others are in proportion`() {
        func bars(_ title: String) -> String {
            EstimatePlots.bars(
                [
                    .init(title: title, value: 100, text: "100 B", isDelta: false),
                    .init(title: "dcz", value: 25, text: "25 B", isDelta: true),
                    .init(title: "dcb", value: 0, text: "0 B", isDelta: true),
                ], label: "Bytes & more")
        }
        let short = bars("gzip")
        #expect(short.contains(#"viewBox="0 0 460.0 94.0""#) && short.contains(#""Bytes &amp; more""#))
        for bar in [
            #"<rect class="plain" x="58.0" y="5.0" width="310.0""#,
            #"<rect class="delta" x="58.0" y="35.0" width="77.5""#,
            #"<rect class="delta" x="58.0" y="65.0" width="1.5""#,
        ] {
            #expect(short.contains(bar), "\(bar) in \(short)")
        }
        // 20 characters take 166 points.
        let long = bars("a title of many more")
        #expect(long.contains(#"<rect class="plain" x="166.0" y="5.0" width="202.0""#), "\(long)")
    }

    @Test func `lines have logarithmic axes that hold all sizes, and no label covers another`() {
        let points = [(versionsBack: 1, bytes: 100), (versionsBack: 10, bytes: 1_000)]
        let plot = EstimatePlots.lines(
            [.init(coding: "dcz", points: points), .init(coding: "dcb", points: points)], plainBytes: 1_000,
            plainTitle: "br", label: "Bytes")
        for mark in [
            #"<polyline class="dcz" points="58.0,178.0 386.0,14.0"/>"#,
            // Those of the sizes end before the plot begins.
            #"<text class="label" x="50.0" y="182.0" text-anchor="end">100 B</text>"#,
            #"<text class="label" x="50.0" y="18.0" text-anchor="end">1 KB</text>"#,
            #"<circle class="dcb" cx="386.0" cy="14.0" r="3.5"><title>1,000 bytes</title></circle>"#,
            #"<text class="label" x="394.0" y="18.0" text-anchor="start">br</text>"#,
            #"<text class="of-dcz" x="394.0" y="32.0" text-anchor="start">dcz</text>"#,
            #"<text class="of-dcb" x="394.0" y="46.0" text-anchor="start">dcb</text>"#,
        ] {
            #expect(plot.contains(mark), "\(mark) in \(plot)")
        }
        #expect(plot.components(separatedBy: #"<line class="grid""#).count == 3, "of 100 and 1,000 bytes")
        let middle = [1, 10, 100].map { (versionsBack: $0, bytes: 100) }
        let larger = EstimatePlots.lines(
            [.init(coding: "dcz", points: middle)], plainBytes: 10_000, plainTitle: "br", label: "Bytes")
        #expect(larger.contains(#"points="58.0,178.0 222.0,178.0 386.0,178.0""#), "\(larger)")
        #expect(larger.contains(#"<line class="none" x1="58.0" y1="14.0""#), "\(larger)")
    }
}
