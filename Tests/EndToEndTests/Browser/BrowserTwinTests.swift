internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// The recipe of `deploy/BROWSERS.md` for pages whose users are logged in, in a real Chromium.
@Suite(.serialized, .enabled(if: Chromium.program != nil, Chromium.absence), .timeLimit(.minutes(40)))
struct BrowserTwinTests {
    /// An API for users who are logged in, in whose responses nothing lives, and a page with a strict policy.
    private enum API {
        /// The path of each Cache-Control.
        static let controls = [
            "/api/0": "private, no-cache", "/api/1": "private, max-age=0, must-revalidate",
            "/api/2": "no-cache",
            "/api/3": "",
        ]
        static let paths = controls.keys.sorted()

        /// A body that differs from user to user and from version to version.
        static func body(of user: String, _ path: String, version: Int) -> [UInt8] {
            Array(#"{"user":"\#(user)","path":"\#(path)","feed":"#.utf8)
                + Feed.bytes(version: version, items: 200)
                + Array("}".utf8)
        }

        static func page(_ attributes: String) -> [UInt8] {
            wire(
                "HTTP/1.1 200 OK", "Content-Type: text/html", "Cache-Control: no-store",
                "Content-Security-Policy: default-src 'none'; img-src data:; script-src 'self'; connect-src 'self'",
                body: Array(
                    (#"<!doctype html><link rel="icon" href="data:,">"#
                        + #"<script src="/.dictum/own.js" \#(attributes) async></script>"#).utf8))
        }

        /// A page that names itself, as a server renders it for one user.
        static func home(version: Int) -> [UInt8] {
            wire(
                "HTTP/1.1 200 OK", "Content-Type: text/html", "Cache-Control: private, no-cache",
                body: Array(
                    (#"<!doctype html><link rel="icon" href="data:,">"#
                        + #"<script src="/.dictum/own.js" data-paths="/home" async></script><pre>"#).utf8)
                    + Feed.bytes(version: version, items: 200))
        }

        static func answer(_ request: WireMessage, attributes: String) -> [UInt8] {
            let parts = request.target.split(separator: "?", maxSplits: 1).map(String.init)
            if parts[0] == "/" { return page(attributes) }
            if parts[0] == "/login" {
                return wire(
                    "HTTP/1.1 302 Found", "Location: /", "Set-Cookie: session=\(parts[1]); Path=/; HttpOnly",
                    body: [])
            }
            // A page without the script, so that its profile has no dictionary by itself.
            if parts[0] == "/bare" {
                return wire(
                    "HTTP/1.1 200 OK", "Content-Type: text/html", "Cache-Control: no-store",
                    "Set-Cookie: session=\(parts[1]); Path=/; HttpOnly", body: Array("<!doctype html>".utf8))
            }
            if parts[0] == "/logout" {
                return wire(
                    "HTTP/1.1 200 OK", "Clear-Site-Data: \"cache\"",
                    "Set-Cookie: session=; Max-Age=0; Path=/", body: [])
            }
            if parts[0] == "/home" { return home(version: parts.count > 1 ? Int(parts[1]) ?? 0 : 0) }
            let session = request["Cookie"]?.wholeMatch(of: /session=([a-z]+)/)?.output.1
            let token = request["Authorization"]?.wholeMatch(of: /Bearer ([a-z]+)/)?.output.1
            guard let user = (token ?? session).map(String.init), let control = controls[parts[0]] else {
                return wire("HTTP/1.1 401 Unauthorized", body: [])
            }
            if parts.last == "slow" { Thread.sleep(forTimeInterval: 1) }
            let version = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: seen=\(version); Path=/none"
            return wire(
                control.isEmpty ? head : head + "\r\nCache-Control: \(control)",
                body: body(of: user, parts[0], version: version))
        }
    }

    /// Dictum before the API, and one browser profile.
    private final class Visit {
        let proxy: ServedProxy
        private(set) var page: PageInspector
        /// The last version of each path: one changes little from the next.
        private var versions: [String: Int] = [:]

        init(_ first: String, attributes: String, _ settings: String = "") throws {
            let origin = try Origin { request, connection in
                connection.send(API.answer(request, attributes: attributes))
            }
            proxy = try ServedProxy(origin, in: TemporaryFolder(), settings)
            page = try PageInspector("http://localhost:\(proxy.port)\(first)", of: proxy)
            try arrive()
        }

        /// Waits for the page, and gives it the functions of the tests.
        private func arrive() throws {
            try page.until("the page is there", "document.readyState === 'complete' && !window.isOld")
            try page.value(
                "window.isOld = true; var {get, pause} = (() => { \(BrowserPage.library) return {get, pause}; })(); 0"
            )
        }

        func go(to target: String) throws {
            try page.value("location.href = '\(target)'; 0")
            try arrive()
        }

        /// Fetches new versions of a path one after the other, and expects the bodies of this user.
        func fetch(_ path: String, _ count: Int = 1, as user: String, _ options: String = "{}") throws
            -> [BrowserReport.Fetch]
        {
            try (0..<count).map { _ in
                let version = versions[path, default: 0] + 1
                versions[path] = version
                let text = try page.text("get('\(path)?\(version)', \(options)).then(JSON.stringify)")
                let fetch = try JSONDecoder().decode(BrowserReport.Fetch.self, from: Data(text.utf8))
                #expect(fetch.sha256 == Body(API.body(of: user, path, version: version)).digest.hex)
                return fetch
            }
        }

        /// The number of requests for the response that a twin URL has.
        func twins(_ path: String) -> Int { proxy.origin.requests.filter { $0.target == path }.count }

        /// Waits until the browser uses what it has fetched: it writes a dictionary to its disk behind the response.
        func untilDeltas(_ path: String, as user: String, _ options: String = "{}") throws {
            try waitUntil("a delta of \(path)") {
                try fetch(path, as: user, options).allSatisfy { $0.coding.hasPrefix("dc") }
            }
        }
    }

    private static let script = #"data-paths="\#(API.paths.joined(separator: " "))""#

    private func expectDeltas(_ fetches: [BrowserReport.Fetch]) {
        let deltas = fetches.filter { $0.coding.hasPrefix("dc") && $0.encodedBytes * 10 < $0.decodedBytes }
        #expect(fetches.count == 6 && deltas.count >= 5, "\(fetches)")
    }

    // MARK: A second visit

    @Test func `with one line on the page the fetches of a second visit are deltas, by cookie`() throws {
        let visit = try Visit("/login?ann", attributes: Self.script)
        for path in API.paths { try visit.untilDeltas(path, as: "ann") }
        try visit.go(to: "/?again")
        for path in API.paths { expectDeltas(try visit.fetch(path, 6, as: "ann")) }
        #expect(API.paths.map(visit.twins) == [1, 1, 1, 1], "once in a life")
        let errors = try visit.page.errors()
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test func `with one line in the page's script they are deltas by bearer`() throws {
        let line = try #require(
            Documentation.blocks("js", of: "deploy/BROWSERS.md", under: "## Pages whose users are logged in")
                .first)
        let visit = try Visit("/", attributes: "")
        let token = "{headers: {Authorization: 'Bearer ann'}}"
        for path in API.paths {
            try visit.page.value("var token = 'ann'; \(line.replacing("/api/inbox", with: path)); 0")
            try visit.untilDeltas(path, as: "ann", token)
        }
        try visit.go(to: "/?again")
        for path in API.paths {
            try visit.page.value("var token = 'ann'; \(line.replacing("/api/inbox", with: path)); 0")
            expectDeltas(try visit.fetch(path, 6, as: "ann", token))
        }
        #expect(API.paths.map(visit.twins) == [1, 1, 1, 1], "the browser's cache has it")
    }

    // MARK: Users

    @Test
    func
        `users who follow each other in a profile get their own bodies, and logging out drops the dictionaries`()
        throws
    {
        let visit = try Visit("/login?ann", attributes: Self.script)
        for path in API.paths { try visit.untilDeltas(path, as: "ann") }
        // Nobody has logged out, so the browser still names the dictionary of the first user.
        try visit.go(to: "/login?bob")
        for path in API.paths { expectDeltas(try visit.fetch(path, 6, as: "bob")) }
        try visit.page.value("fetch('/logout').then(() => 0)")
        try visit.go(to: "/login?eve")
        for path in API.paths {
            #expect(try visit.fetch(path, as: "eve").allSatisfy { !$0.coding.hasPrefix("dc") })
        }
    }

    @Test func `two profiles share nothing`() throws {
        let visit = try Visit("/login?ann", attributes: Self.script)
        try visit.untilDeltas("/api/0", as: "ann")
        let other = try PageInspector("http://localhost:\(visit.proxy.port)/bare?bob", of: visit)
        try other.until("the page is there", "document.readyState === 'complete'")
        let coding = try other.text(
            """
            fetch("/api/0?1").then((response) => response.text()).then((text) =>
                JSON.parse(text).user + performance.getEntriesByName(location.origin + "/api/0?1")[0].contentEncoding)
            """)
        #expect(coding.hasPrefix("bob") && !coding.contains("dc"), "\(coding)")
    }

    // MARK: The script

    /// Has the page include the script once more, for another path, after an expression.
    private func include(_ path: String, after expression: String, in visit: Visit) throws {
        try visit.page.value(
            """
            \(expression);
            new Promise((done) => {
                const script = document.createElement("script");
                script.onload = () => requestIdleCallback(() => setTimeout(done, 200));
                script.dataset.paths = "\(path)";
                script.src = "/.dictum/own.js";
                document.head.append(script);
            }).then(() => 0)
            """)
    }

    @Test func `it asks for nothing where data are to be saved, and works where storage is blocked`() throws {
        let visit = try Visit("/login?ann", attributes: "")
        let saving =
            "Object.defineProperty(navigator.connection, 'saveData', {configurable: true, get: () => true})"
        try include("/api/0", after: saving, in: visit)
        #expect(visit.twins("/api/0") == 0)
        let blocked = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('blocked') }})"
        try include("/api/1", after: "delete navigator.connection.saveData; \(blocked)", in: visit)
        try visit.untilDeltas("/api/1", as: "ann")
        #expect(visit.twins("/api/1") == 1)
    }

    @Test func `a page that names itself is a delta at the next visit, and has its dictionary renewed`()
        throws
    {
        let visit = try Visit(
            "/home", attributes: "", "routes: [{match: /*, dictionary: {own_max_age: 1m}}]")
        var version = 0
        func coding() throws -> String {
            version += 1
            try visit.go(to: "/home?\(version)")
            return try visit.page.text("performance.getEntriesByType('navigation')[0].contentEncoding ?? ''")
        }
        try waitUntil("the page is a delta") { try coding().hasPrefix("dc") }
        let before = visit.twins("/home")
        #expect(before >= 2, "the visit, and the twin URL")
        try waitUntil("the twin URL is fetched again, before its life is over", seconds: 40) {
            // Nearly nothing of the first version is left.
            version = max(version, 150)
            _ = try coding()
            return visit.twins("/home") > before
        }
    }

    @Test func `it does not take the response of a twin URL for one without its dictionary`() throws {
        let visit = try Visit(
            "/login?ann", attributes: #"data-paths="/api/0?slow""#,
            "routes: [{match: /*, dictionary: {own_max_age: 1m}}]")
        try waitUntil("the twin URL is fetched") { visit.twins("/api/0?slow") > 0 }
        try visit.page.value("pause(5000).then(() => 0)")
        #expect(visit.twins("/api/0?slow") == 1)
    }

    @Test func `it fetches again when the response says that deltas have become long`() throws {
        let visit = try Visit(
            "/login?ann", attributes: #"data-paths="/api/0""#,
            "routes: [{match: /*, dictionary: {own_max_age: 1m}}]")
        try visit.untilDeltas("/api/0", as: "ann")
        try #require(visit.twins("/api/0") == 1)
        try waitUntil("the twin URL is fetched again") {
            // Nearly nothing of the first version is left.
            try visit.page.value("get('/api/0?150').then(() => pause(100)).then(() => 0)")
            return visit.twins("/api/0") > 1
        }
    }
}
