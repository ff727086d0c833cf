internal import Dictionaries
internal import Foundation
internal import HTTP
internal import Primitives
internal import Proxy
internal import TestSupport
internal import Testing

@testable internal import dictum

/// A response, and for how long Chromium uses it as a dictionary: one table for doctor and a real browser.
struct FreshnessCase: Sendable, CustomTestStringConvertible {
    /// Returns the fields, given the time at which they are sent.
    let fields: @Sendable (Date) -> [String]
    /// The seconds for which Chromium keeps the dictionary.
    let seconds: Int64
    /// The `dictionary` of its route.
    let route: String
    /// True if Dictum offers it.
    let isOffered: Bool
    let testDescription: String

    /// True if later fetches come as deltas.
    var isUsed: Bool { isOffered && seconds > 0 }

    init(
        _ fields: String..., seconds: Int64, route: String = "{delivery: in_band}", isOffered: Bool = true
    ) {
        self.init(
            named: fields.joined(separator: "; "), seconds: seconds, route: route, isOffered: isOffered
        ) { _ in fields }
    }

    init(
        named name: String, seconds: Int64, route: String = "{delivery: in_band}", isOffered: Bool = true,
        fields: @escaping @Sendable (Date) -> [String]
    ) {
        (self.fields, self.seconds, self.route, self.isOffered) = (fields, seconds, route, isOffered)
        testDescription = "\(name) \(route)"
    }

    static let all = [
        FreshnessCase("Cache-Control: max-age=600", seconds: 600),
        FreshnessCase("Cache-Control: public, max-age=600", seconds: 600),
        FreshnessCase("Cache-Control: max-age=60, immutable", seconds: 60),
        FreshnessCase("Cache-Control: MAX-AGE=600", seconds: 600),
        FreshnessCase("Cache-Control: max-age=0", seconds: 0),
        FreshnessCase("Cache-Control: public, max-age=0", seconds: 0),
        FreshnessCase("Cache-Control: no-cache", seconds: 0),
        FreshnessCase("Cache-Control: public, no-cache", seconds: 0),
        FreshnessCase("Cache-Control: no-cache, max-age=600", seconds: 0),
        FreshnessCase("Cache-Control: no-store", seconds: 0, isOffered: false),
        FreshnessCase("Cache-Control: private, max-age=600", seconds: 600),
        FreshnessCase("Cache-Control: s-maxage=600", seconds: 0),
        FreshnessCase("Cache-Control: public", seconds: 0),
        FreshnessCase("X-None: 1", seconds: 0),
        FreshnessCase("Cache-Control: max-age=0, stale-while-revalidate=600", seconds: 600),
        FreshnessCase("Cache-Control: max-age=0, stale-while-revalidate=600, must-revalidate", seconds: 0),
        FreshnessCase("Cache-Control: max-age=600, must-revalidate", seconds: 600),
        FreshnessCase("Cache-Control: max-age=600", "Pragma: no-cache", seconds: 0),
        FreshnessCase("Cache-Control: max-age=600", "Age: 100", seconds: 500),
        FreshnessCase("Cache-Control: max-age=600", "Age: 600", seconds: 0),
        FreshnessCase("Cache-Control: max-age=600", "Vary: *", seconds: 600, isOffered: false),
        FreshnessCase("Expires: 0", seconds: 0),
        FreshnessCase(named: "Expires in ten minutes", seconds: 600) { now in ["Expires: \(date(now + 600))"]
        },
        FreshnessCase(named: "Expires ten minutes ago", seconds: 0) { now in ["Expires: \(date(now - 600))"]
        },
        FreshnessCase(named: "Last-Modified a day ago", seconds: 8640) { now in
            ["Last-Modified: \(date(now - 86_400))"]
        },
        FreshnessCase(named: "Last-Modified a day ago, must-revalidate", seconds: 0) { now in
            ["Last-Modified: \(date(now - 86_400))", "Cache-Control: must-revalidate"]
        },
        FreshnessCase("Cache-Control: public, max-age=0", seconds: 0, route: "{delivery: in_band, ttl: 7d}"),
        FreshnessCase(
            "Cache-Control: public, no-cache", seconds: 600,
            route: #"{delivery: in_band, cache_control: "public, max-age=600"}"#),
        // One client alone proves no body to be public, so the offer stays in-band.
        FreshnessCase("Cache-Control: public, max-age=600", seconds: 600, route: "{delivery: link}"),
        FreshnessCase("Cache-Control: public, max-age=600", seconds: 0, route: "off", isOffered: false),
    ]

    static func date(_ date: Date) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: date)
    }
}

/// The table as seen by the rules, by doctor, and by a real Chromium.
@Suite(.serialized, .timeLimit(.minutes(40))) struct FreshnessCaseTests {
    /// Serves each case as a feed that changes with each request.
    private static func served(_ certificates: TestCertificates? = nil) throws -> ServedProxy {
        let number = Guarded(0)
        let origin = try Origin { request, connection in
            if request.target == "/" { return _ = connection.send(BrowserPage.answer(page)) }
            guard request.target != "/report" else {
                return _ = connection.send(wire("HTTP/1.1 204 No Content"))
            }
            guard let place = request.target.firstMatch(of: /^\/case\/([0-9]+)/).flatMap({ Int($0.output.1) })
            else {
                return _ = connection.send(wire("HTTP/1.1 404 Not Found", body: []))
            }
            let version = number.withLock { number in
                number += 1
                return number
            }
            let fields = FreshnessCase.all[place].fields(Date())
            connection.send(
                wire(
                    (["HTTP/1.1 200 OK", "Content-Type: application/json"] + fields).joined(
                        separator: "\r\n"),
                    body: Feed.bytes(version: version, items: 100)))
        }
        let routes = FreshnessCase.all.enumerated().map {
            "  - {match: /case/\($0), dictionary: \($1.route)}"
        }
        return try ServedProxy(
            origin, in: TemporaryFolder(),
            "routes:\n" + routes.joined(separator: "\n") + "\n  - {match: \"/*\", dictionary: off}",
            listener: certificates?.settings() ?? "")
    }

    /// Fetches each case past the browser's own cache, until a delta has come or certainly will not come.
    private static let page = BrowserPage.html(
        """
        const fetches = [];
        for (let place = 0; place < \(FreshnessCase.all.count); place++) {
            for (let turn = 0; turn < 5; turn++) {
                fetches.push(await get("/case/" + place, {cache: "no-cache"}));
                if (fetches.at(-1).coding.startsWith("dc")) break;
                await pause(turn < 2 ? 50 : 250);
            }
        }
        await report({fetches});
        """)

    @Test(arguments: FreshnessCase.all)
    func `Chromium's rules give each row its life`(row: FreshnessCase) throws {
        try #require(row.route.contains("delivery") || !row.isUsed)
        guard row.route == "{delivery: in_band}" else { return }
        let now = Date()
        var headers = Headers()
        for field in row.fields(now) {
            let parts = field.split(separator: ":", maxSplits: 1)
            headers.append(
                try #require(HeaderName(String(parts[0]))), parts[1].trimmingCharacters(in: .whitespaces))
        }
        let receivedAt = Int64(now.timeIntervalSince1970)
        let freshness = BrowserFreshness(
            headers, CacheControl(headers.values(.cacheControl)), receivedAt: receivedAt)
        // A lifetime that ended before the response came is negative.
        #expect(max(0, freshness.remainingSeconds) == row.seconds)
        #expect((freshness.obstacle == nil) == row.isUsed)
    }

    @Test func `doctor says that dictionaries work in exactly the rows that have a life`() throws {
        let proxy = try Self.served()
        for (place, row) in FreshnessCase.all.enumerated() {
            let report = try Consultation.of(proxy.url("/case/\(place)"))
            #expect(report.works == row.isUsed, "\(row.testDescription): \(report.names)")
        }
    }

    @Test(.enabled(if: Chromium.program != nil, Chromium.absence))
    func `a real Chromium gets deltas in exactly the same rows`() throws {
        let proxy = try Self.served()
        let browser = try Chromium("http://localhost:\(proxy.port)/")
        var report: BrowserReport?
        try waitUntil("the browser's report") {
            report = try proxy.origin.requests.first { $0.target == "/report" }.map {
                try JSONDecoder().decode(BrowserReport.self, from: Data($0.body))
            }
            return report != nil
        }
        _ = try browser.process.terminate()
        let fetches = try #require(report?.fetches)
        #expect(report?.error == nil)
        for (place, row) in FreshnessCase.all.enumerated() {
            let own = fetches.filter { $0.url.hasSuffix("/case/\(place)") }
            let hasDelta = own.contains { $0.coding.hasPrefix("dc") }
            #expect(!own.isEmpty && hasDelta == row.isUsed, "\(row.testDescription): \(own)")
        }
    }

    @Test(.enabled(if: Chromium.program != nil, Chromium.absence))
    func `doctor with a browser has a row for each fetch, and believes the browser`() throws {
        let proxy = try Self.served()
        let url = "http://localhost:\(proxy.port)"
        let good = try Consultation.of(
            "\(url)/case/0", "--browser", "--fetches", "4", "--page", "\(url)/none")
        #expect(good.works && good.names.contains("browser-used"), "\(good.names) \(good.browser)")
        #expect(good.browser.map(\.number) == [1, 2, 3, 4] && good.browser.allSatisfy { $0.status == 200 })
        #expect(good.browser.first?.advertised == false && good.browser.last?.advertised == true)
        let delta = try #require(good.browser.last)
        #expect(["dcz", "dcb"].contains(delta.coding) && delta.wire_bytes * 4 < delta.body_bytes, "\(delta)")
        let bad = try Consultation.of("\(url)/case/4", "--browser", "--fetches", "3", "--page", "\(url)/none")
        bad.expect("browser-no-delta")
        #expect(bad.browser.count == 3 && bad.browser.allSatisfy { !$0.advertised })
        let text = try RunningProcess.run([
            "doctor", "\(url)/case/0", "--browser", "--fetches", "2", "--page", "\(url)/none",
        ]).text
        #expect(text.contains("fetch  status  advertised"))
    }

    @Test(.enabled(if: Chromium.program != nil, Chromium.absence))
    func `the doctor's browser sends the cookies that are given, whatever is in their values`() throws {
        let proxy = try Self.served()
        let url = "http://localhost:\(proxy.port)"
        let cookies = "sid=YWJj=d==; theme=dark"
        _ = try Consultation.of(
            "\(url)/case/0", "--browser", "--fetches", "2", "--page", "\(url)/none", "-H",
            "Cookie: \(cookies)")
        let own = proxy.origin.requests.filter {
            $0.target == "/case/0" && $0["User-Agent"]?.contains("Chrome/") == true
        }
        #expect(own.count == 2 && own.allSatisfy { $0["Cookie"] == cookies }, "\(own.map { $0["Cookie"] })")
    }

    @Test(.enabled(if: Chromium.program != nil, Chromium.absence))
    func `the doctor's browser sends a credential with the fetches alone, not with what the page loads`()
        throws
    {
        let page = Guarded("")
        let other = try Origin(wire("HTTP/1.1 200 OK", "Content-Type: text/javascript", body: []))
        let origin = try Origin { request, connection in
            let isPage = request.target == "/"
            let body = isPage ? page.withLock { $0 } : "[]"
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: \(isPage ? "text/html" : "application/json")",
                    body: Array(body.utf8)))
        }
        page.withLock { $0 = "<!doctype html><script src='\(other.url)/part.js'></script>" }
        _ = try Consultation.of(
            "http://localhost:\(origin.port)/feed", "--browser", "--fetches", "2", "-H",
            "Authorization: Bearer x")
        let fetches = origin.requests.filter {
            $0.target == "/feed" && $0["User-Agent"]?.contains("Chrome/") == true
        }
        #expect(fetches.map { $0["Authorization"] } == ["Bearer x", "Bearer x"])
        #expect(other.requests.map { $0["Authorization"] } == [nil])
    }

    @Test(.enabled(if: Chromium.program != nil, Chromium.absence))
    func `the doctor's browser takes the certificate that the doctor has checked, and no other`() throws {
        let certificates = try TestCertificates()
        let proxy = try Self.served(certificates)
        let url = "https://localhost:\(proxy.port)"
        let arguments = ["--browser", "--fetches", "4", "--page", "\(url)/none"]
        let authority = ["--ca", certificates.file("ca.pem")]
        let good = try Consultation.of("\(url)/case/0", arguments + authority)
        #expect(good.works && good.names.contains("browser-used"), "\(good.findings) \(good.browser)")
        let bad = try Consultation.of("\(url)/case/4", arguments + authority)
        bad.expect("browser-no-delta")
        let stranger = try Consultation.of("\(url)/case/0", arguments)
        #expect(!stranger.works && stranger.browser.isEmpty, "\(stranger.findings)")
    }
}
