internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// The recipes of `deploy/BROWSERS.md` for deltas in `fetch()`, in a real Chromium.
@Suite(.serialized, .enabled(if: Chromium.program != nil, Chromium.absence), .timeLimit(.minutes(40)))
struct BrowserAnnounceTests {
    private static let document = "deploy/BROWSERS.md"
    private static let section = "## Deltas for `fetch()`"

    /// The recipes of the document as written: the page announces, and the responses have a long life.
    private static func recipe(_ number: Int) throws -> String {
        try Documentation.blocks("yaml", of: document, under: section)[number]
    }

    private static let learned = """
        routes:
          - {match: /api/feed}
          - {match: /}
        """
    private static let off = """
        routes:
          - {match: /api/feed}
          - {match: /, announce: off}
        """

    private static func body(_ version: Int) -> [UInt8] { Feed.bytes(version: version, items: 200) }

    /// A page that fetches a feed four times, each time another body, and is visited five times.
    private static let page = BrowserPage.html(
        """
        const view = Number(sessionStorage.view || 0) + 1;
        sessionStorage.view = view;
        const fetches = [];
        for (let number = 0; number < 4; number++) {
            fetches.push(await get("/api/feed?v=" + (view * 10 + number)));
            await pause(50);
        }
        await report({fetches, more: view < 5});
        while (await (await fetch("/go")).text() !== "go") await pause(20);
        if (view < 5) location.href = "/?view=" + (view + 1);
        """)

    /// A page that polls one URL at intervals longer than its responses are fresh, once `/go` says so.
    private static let poll = BrowserPage.html(
        """
        const fetches = [];
        while (await (await fetch("/go")).text() !== "go") await pause(20);
        for (let number = 0; number < 8; number++) {
            fetches.push(await get("/api/feed"));
            await pause(1300);
        }
        await report({fetches});
        """)

    private let mayGo = Guarded(false)

    /// An origin with the page and the feed, before which Dictum is.
    private func visit(
        _ settings: String, _ control: String, isTLS: Bool = false, page: [UInt8] = page
    ) throws -> BrowserVisit {
        let (mayGo, polled) = (mayGo, Guarded(0))
        return try BrowserVisit(isTLS: isTLS, settings) { target in
            if target == "/go" {
                let text = mayGo.withLock { $0 } ? "go" : "wait"
                return wire(
                    "HTTP/1.1 200 OK", "Content-Type: text/plain", "Cache-Control: no-store",
                    body: Array(text.utf8))
            }
            if target == "/" || target.hasPrefix("/?") { return BrowserPage.answer(page) }
            guard target.hasPrefix("/api/feed") else { return nil }
            let named = target.split(separator: "=").dropFirst().first.flatMap { Int($0) }
            let version =
                named
                ?? polled.withLock { polled in
                    polled += 1
                    return polled
                }
            let fields = control.isEmpty ? [] : ["Cache-Control: \(control)"]
            return wire(
                (["HTTP/1.1 200 OK", "Content-Type: application/json"] + fields).joined(separator: "\r\n"),
                body: Self.body(version))
        }
    }

    /// The fetches of the page from its second visit on, and how many of a hundred came as deltas.
    private func returning(_ visit: BrowserVisit, isAnnounced: Bool) throws -> (
        fetches: [BrowserReport.Fetch], percent: Int
    ) {
        try visit.open("/")
        // The browser fetches the dictionary when it is idle.
        if isAnnounced { _ = try visit.proxy.process.waitFor("/.dictum/") }
        mayGo.withLock { $0 = true }
        let reports = try visit.reports()
        for (view, report) in zip(1..., reports) {
            let bodies = (0..<4).map { Self.body(view * 10 + $0) }
            #expect(report.fetches.map(\.sha256) == bodies.map { Body($0).digest.hex })
        }
        let fetches = reports.dropFirst().flatMap(\.fetches)
        try #require(fetches.count == 16)
        let deltas = fetches.filter { $0.coding.hasPrefix("dc") && $0.encodedBytes * 5 < $0.decodedBytes }
        return (fetches, deltas.count * 100 / fetches.count)
    }

    /// Has other clients visit the page until it announces: visits are weighed when the proxy has time.
    private func learn(_ visit: BrowserVisit) throws {
        let page = "\(visit.proxy.scheme)://localhost:\(visit.proxy.port)/"
        let deadline = Date(timeIntervalSinceNow: 120)
        repeat {
            try #require(deadline.timeIntervalSinceNow > 0, "no announcement after 120 s of visits")
            try visit.proxy.prove("/", host: "localhost", fields: ["Sec-Fetch-Dest: document"])
            try visit.proxy.prove(
                "/api/feed?v=0", host: "localhost",
                fields: [
                    "Sec-Fetch-Dest: empty", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors",
                    "Referer: \(page)",
                ])
        } while try !visit.proxy.announces("/", host: "localhost")
    }

    @Test(
        arguments: [
            ("public, max-age=10", false), ("public, no-cache", false), ("public, max-age=0", false),
            ("public, no-cache", true),
        ])
    func `a page that announces its API's dictionary gets deltas, whatever the responses' own freshness`(
        control: String, isTLS: Bool
    ) throws {
        let visit = try visit(Self.recipe(0), control, isTLS: isTLS)
        try visit.proxy.prove("/api/feed?v=0", host: "localhost")
        let (fetches, percent) = try returning(visit, isAnnounced: true)
        #expect(percent >= 60, "\(fetches)")
    }

    @Test(
        arguments: [
            ("public, max-age=10", false), ("public, no-cache", false), ("public, max-age=0", false),
            ("public, max-age=0", true),
        ])
    func `after a few visits of others a page announces by itself what its script fetches`(
        control: String, isTLS: Bool
    ) throws {
        let visit = try visit(Self.learned, control, isTLS: isTLS)
        try learn(visit)
        let (fetches, percent) = try returning(visit, isAnnounced: true)
        #expect(percent >= 60, "\(fetches)")
    }

    @Test(arguments: ["public, no-cache", "public, max-age=0", ""])
    func `without an announcement the same responses are no dictionaries for a browser`(control: String)
        throws
    {
        let visit = try visit(Self.off, control)
        try visit.proxy.prove("/api/feed?v=0", host: "localhost")
        let (fetches, percent) = try returning(visit, isAnnounced: false)
        #expect(percent == 0, "\(fetches)")
    }

    @Test(arguments: ["", "private, max-age=10", "max-age=0"])
    func `what does not say public is announced to nobody`(control: String) throws {
        let visit = try visit(Self.recipe(0), control)
        try visit.proxy.prove("/api/feed?v=0", host: "localhost")
        _ = try returning(visit, isAnnounced: false)
        #expect(try visit.log(of: "/.dictum/").isEmpty)
    }

    @Test func `an operator's cache_control makes up for an API that says nothing`() throws {
        let settings = """
            routes:
              - {match: /, announce: [/api/feed], dictionary: off}
              - {match: /api/feed, dictionary: {cache_control: "public, no-cache"}}
            """
        let visit = try visit(settings, "")
        try visit.proxy.prove("/api/feed?v=0", host: "localhost")
        let (fetches, percent) = try returning(visit, isAnnounced: true)
        #expect(percent >= 60, "\(fetches)")
    }

    @Test(arguments: [true, false])
    func `offers in band with a short life neither replace nor outrank the announced dictionary`(
        isAnnounced: Bool
    ) throws {
        let visit = try visit(
            isAnnounced ? Self.recipe(0) : Self.off, "public, max-age=1", page: Self.poll)
        try visit.proxy.prove("/api/feed?v=0", host: "localhost")
        try visit.open("/")
        if isAnnounced { _ = try visit.proxy.process.waitFor("/.dictum/") }
        mayGo.withLock { $0 = true }
        let fetches = try #require(try visit.reports().first).fetches
        try #require(fetches.count == 8 && Set(fetches.map(\.sha256)).count == 8, "\(fetches)")
        let deltas = fetches.filter { $0.coding.hasPrefix("dc") }
        // The browser needs a moment to register a fetched dictionary.
        #expect(isAnnounced ? deltas.count >= 7 : deltas.isEmpty, "\(fetches)")
    }

    /// A page whose fetches revalidate and get a new body each time.
    private static let validating = BrowserPage.html(
        """
        const fetches = [];
        for (let number = 0; number < 8; number++) {
            fetches.push(await get("/api/feed", {cache: "no-cache"}));
            await pause(300);
        }
        await report({fetches});
        """)

    @Test(arguments: [false, true])
    func `cache_control with a long life, and a fetch that validates, gives deltas in band`(isTLS: Bool)
        throws
    {
        let script = try Documentation.blocks("js", of: Self.document, under: Self.section)[0]
        #expect(script.contains(#"fetch("/api/feed", {cache: "no-cache"})"#))
        let visit = try visit(Self.recipe(1), "no-cache", isTLS: isTLS, page: Self.validating)
        try visit.open("/")
        let fetches = try #require(try visit.reports().first).fetches
        try #require(fetches.count == 8 && Set(fetches.map(\.sha256)).count == 8, "\(fetches)")
        BrowserVisit.expectDeltas("dcz", in: fetches)
    }
}
