internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let token = "0123456789abcdef"

/// A proxy with some traffic behind it, whose admin page a browser opens.
private struct Administered {
    let proxy: ServedProxy

    /// Starts the proxy and has curl ask for a feed twice, with a delta, and for a path that is never one.
    init(more route: String? = nil, admin: String = #"address: "127.0.0.1:0""#) throws {
        let count = Counter()
        let origin = try Origin { request, connection in
            let isFirst = request.target == "/api/feed" && count.next() == 1
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public",
                    body: isFirst ? first : second))
        }
        let routes = ["{match: /api/*}", "{match: /plain/*, dictionary: off}", route].compactMap(\.self)
        proxy = try ServedProxy(
            origin, in: TemporaryFolder(), "routes: [\(routes.joined(separator: ", "))]", admin: "{\(admin)}")
        let plain = try proxy.curl("/api/feed", "-H", "Accept-Encoding: gzip")
        try #require(plain.code == 0)
        try proxy.folder.write(first, to: "dictionary")
        let delta = try proxy.curl("/api/feed", "dcz, gzip", over: "dictionary")
        try #require(delta.head["Content-Encoding"] == "dcz")
        _ = try proxy.curl("/plain/<b>", "-H", "Accept-Encoding: gzip")
    }

    /// Opens the page and waits for the first numbers.
    func open(width: Int = 1280, isDark: Bool = false) throws -> PageInspector {
        let page = try PageInspector(proxy.adminURL("localhost"), of: proxy, width: width, isDark: isDark)
        try page.until("the numbers are there", "document.body.dataset.polls > 0")
        return page
    }
}

/// Counts the requests of a feed.
private final class Counter: Sendable {
    private let count = Guarded(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// The admin page in a real Chromium.
@Suite(.serialized, .enabled(if: Chromium.program != nil, Chromium.absence), .timeLimit(.minutes(40)))
struct AdminPageTests {
    private func expectNoErrors(_ page: PageInspector) throws {
        let errors = try page.errors()
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test func `the page shows the numbers of the metrics, and why the rest are no deltas`() throws {
        let administered = try Administered()
        let proxy = administered.proxy
        try waitUntil("the delta was sampled") {
            try proxy.metrics().contains(#"dictum_gain_samples_total{route="/api/*"} 1"#)
        }
        let page = try administered.open()
        func cell(_ route: Int, _ column: Int) -> String {
            "#routes tbody tr:nth-child(\(route)) > :nth-child(\(column))"
        }
        #expect(try page.texts(cell(1, 1)) == ["/api/*"])
        #expect(try page.texts(cell(1, 2)) == ["2"])
        #expect(try page.texts(cell(1, 3)) == ["1"])
        #expect(try page.texts(cell(1, 4)) == ["50 %"])
        #expect(try page.texts(cell(2, 1)) == ["/plain/*\ndictionaries off"])
        let sent = try proxy.metric("dictum_body_bytes_total", where: #"route="/api/*",stage="after""#)
        let deltas = try proxy.metric("dictum_gain_bytes_total", where: #"route="/api/*",stage="delta""#)
        let plain = try proxy.metric("dictum_gain_bytes_total", where: #"route="/api/*",stage="plain""#)
        func title(_ column: Int) throws -> String {
            try page.text("document.querySelector('\(cell(1, column))').title.replaceAll(',', '')")
        }
        #expect(try title(5) == "\(Int(sent)) bytes")
        #expect(try title(6) == "\(Int(sent - deltas + plain)) bytes sampled rough")
        let basis = try page.text("document.querySelector('#basis').textContent")
        #expect(basis.hasSuffix(" 1 delta was sampled, fewer than ten of some route: the figure is rough."))
        #expect(try title(7) == "\(Int(plain - deltas)) bytes")
        #expect(try page.texts("\(cell(1, 8)) summary") == ["client-new: 1"])
        #expect(try page.texts("#chains tbody tr > :nth-child(2)") == ["/api/feed"])
        // The store may have removed the version that the only client has left.
        #expect(try [["1"], ["2"]].contains(page.texts("#chains tbody tr > :nth-child(3)")))
        #expect(try page.texts("#upstreams tbody td:nth-child(4)") == ["up"])
        #expect(try page.texts("#slowest tbody tr").count == 3)
        #expect(try page.texts("table > caption").allSatisfy { !$0.isEmpty })
        try expectNoErrors(page)
    }

    @Test(arguments: [1280, 390], [false, true])
    func `every text has contrast, and a narrow screen needs no scrolling sideways`(
        width: Int, isDark: Bool
    ) throws {
        let page = try Administered().open(width: width, isDark: isDark)
        try page.value("for (const details of document.querySelectorAll('details')) details.open = true")
        try page.until(
            "the configuration is there", "document.querySelector('#config').textContent.length > 100")
        let weak = try page.value(contrastScript) as? [String]
        #expect(weak == [], "contrast below 4.5")
        // The test would see a weak text.
        try page.value(
            "document.querySelector('h1').style.color = getComputedStyle(document.body).backgroundColor")
        #expect((try page.value(contrastScript) as? [String])?.count == 1)
        try page.value("document.querySelector('h1').style.color = ''")
        #expect(try page.value("document.documentElement.scrollWidth <= innerWidth") as? Bool == true)
        let isDarkNow =
            try page.text("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        #expect(isDarkNow == isDark)
        if width == 390 {
            let wide = try page.value(
                """
                [...document.querySelectorAll("main *")].filter((node) => node.id !== "config" && !node.closest("svg, thead")
                    && node.getBoundingClientRect().right > innerWidth + 1).map((node) => node.outerHTML.slice(0, 80))
                """)
            #expect(wide as? [String] == [])
        }
        if let folder = ProcessInfo.processInfo.environment["DICTUM_PICTURES"] {
            try page.value("for (const details of document.querySelectorAll('details')) details.open = false")
            try page.takePicture("\(folder)/admin-\(width)-\(isDark ? "dark" : "light").png")
        }
    }

    @Test func `the page loads nothing from elsewhere, and its policy stops everything else`() throws {
        let administered = try Administered()
        let page = try administered.open()
        try expectNoErrors(page)
        let origin = try administered.proxy.adminURL("localhost")
        #expect(page.requests.count > 3)
        #expect(
            page.requests.allSatisfy { $0.hasPrefix(origin) || $0.hasPrefix("data:") }, "\(page.requests)")
        // The test would see a breach of the policy.
        try page.value("document.body.setAttribute('style', 'color: red')")
        let isStopped = try page.value(
            "(() => { try { document.body.innerHTML = '<b>'; return false } catch (error) { return true } })()"
        )
        #expect(isStopped as? Bool == true)
        #expect(try !page.errors().isEmpty)
    }

    @Test func `details stay open and the focus stays over the next numbers`() throws {
        let administered = try Administered()
        let page = try administered.open()
        try page.value("document.querySelector('#routes summary').focus()")
        try page.pressEnter()
        try page.until("Enter opens the reasons", "document.querySelector('#routes details').open")
        _ = try administered.proxy.curl("/api/feed")
        try page.until(
            "the page shows the next request", "document.querySelector('#routes tbody td').innerText === '3'")
        #expect(
            try page.value("document.querySelector('#routes details').open") as? Bool == true)
        #expect(
            try page.value("document.activeElement === document.querySelector('#routes summary')") as? Bool
                == true)
    }

    @Test func `an observed route shows what dictionaries would save there`() throws {
        let administered = try Administered(more: "{match: /seen/*, mode: observe}")
        for _ in 1...3 { _ = try administered.proxy.curl("/seen/feed", "-H", "Accept-Encoding: dcz, gzip") }
        let page = try administered.open()
        try page.until(
            "the report has all responses",
            "document.querySelector('#report tbody td')?.innerText === '3'")
        #expect(try page.texts("#report tbody th") == ["/seen/*"])
        #expect(try page.value("document.querySelector('#report-section').hidden") as? Bool == false)
        #expect(try page.texts("#routes tbody tr:nth-child(3) th") == ["/seen/*\nobserved"])
        try expectNoErrors(page)
    }

    @Test func `the log level and the switch change from the page`() throws {
        let administered = try Administered()
        let page = try administered.open()
        try page.value("byId('level').value = 'debug'; byId('level').dispatchEvent(new Event('change')); 0")
        _ = try administered.proxy.process.waitFor("log.level is debug")
        try page.value("window.confirm = () => true; byId('switch').click(); 0")
        try page.until("the switch is off", "byId('switch').innerText === 'Switch dictionaries on'")
        #expect(try administered.proxy.metric("dictum_dictionaries_on") == 0)
        try page.until(
            "the warning is there", "byId('warnings').innerText.includes('dictionaries are switched off')")
        #expect(try page.text("document.title").hasPrefix("("))
    }

    @Test func `a hidden page asks nothing, and a lost connection is said`() throws {
        let administered = try Administered()
        let page = try administered.open()
        try page.value(
            """
            Object.defineProperty(document, "hidden", {configurable: true, get: () => true});
            document.dispatchEvent(new Event("visibilitychange")); 0
            """)
        #expect(try page.texts("#link") == ["paused"])
        let polls = try page.text("document.body.dataset.polls")
        try page.value("poll()")
        #expect(try page.text("document.body.dataset.polls") == polls)
        try page.value(
            """
            Object.defineProperty(document, "hidden", {configurable: true, get: () => false});
            document.dispatchEvent(new Event("visibilitychange")); 0
            """)
        try page.until("the page goes on", "document.body.dataset.polls > \(polls)")
        _ = try administered.proxy.process.terminate()
        try page.until("the loss is said", "byId('link').className === 'link lost'")
        #expect(try page.texts("#link") == ["connection lost; trying again"])
        #expect(try page.texts("#routes tbody th span").first == "/api/*", "the last numbers stay")
    }

    @Test func `under another name the page asks for the token, and keeps it out of the URL`() throws {
        let administered = try Administered(admin: #"address: "127.0.0.1:0", token: \#(token)"#)
        let url = try administered.proxy.adminURL("node7.test")
        let page = try PageInspector(url, of: administered.proxy)
        try page.until("the page asks for a token", "byId('login').open")
        #expect(try page.texts("#routes tbody tr") == [])
        func signIn(_ token: String) throws {
            try page.value("byId('token').value = '\(token)'; byId('login-form').requestSubmit(); 0")
        }
        try signIn("\(token)x")
        try page.until(
            "a wrong token is refused", "byId('login').open && byId('login').innerText.includes('not valid')")
        // A pasted token may have a character that no field can carry.
        try page.value("setText(byId('login-text'), ''); 0")
        try signIn("\(token)–")
        try page.until(
            "such a token is refused", "byId('login').open && byId('login').innerText.includes('not valid')")
        try signIn(token)
        try page.until("the numbers are there", "document.body.dataset.polls > 0")
        #expect(try page.texts("#routes tbody th span").first == "/api/*")
        #expect(try page.text("location.href") == url)
        _ = try page.errors()
        #expect(page.requests.allSatisfy { !$0.contains(token) })
        #expect(try page.value("document.cookie + Object.keys(localStorage).length") as? String == "0")
    }
}

/// Returns the texts whose contrast with what is behind them is below 4.5.
private let contrastScript = """
    (() => {
      const parse = (color) => color.match(/[\\d.]+/g).map(Number);
      const linear = (value) => value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
      const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
      const ground = (node) => {
        for (let one = node; one; one = one.parentElement) {
          const color = parse(getComputedStyle(one).backgroundColor);
          if (color.length === 3 || color[3] === 1) return color;
        }
        return [255, 255, 255];
      };
      const texts = [...document.querySelectorAll("body *")].filter((node) => node.getClientRects().length > 0
        && !node.closest("script, style, noscript, :disabled")
        && [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim() !== ""));
      return texts.filter((node) => {
        const style = getComputedStyle(node);
        const color = parse(node.closest("svg") ? style.fill : style.color);
        const [one, other] = [luminance(color), luminance(ground(node))];
        return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) < 4.5;
      }).map((node) => node.outerHTML.slice(0, 120));
    })()
    """
