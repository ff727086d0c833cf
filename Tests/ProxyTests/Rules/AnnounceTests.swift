internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let page = Array("<!doctype html><title>Page</title>".utf8) + [UInt8](repeating: 0x20, count: 400)

/// `announce`: documents name the dictionaries of the paths that their scripts fetch.
@Suite(.timeLimit(.minutes(40))) struct AnnounceTests {
    private static let given = """
        routes:
          - {match: /, announce: [/api/feed, "/api/list?page=1"], dictionary: off}
          - {match: "/app/*", announce: off}
          - {match: "/api/private", dictionary: {scope: private, identity: authorization}}
          - {match: "/api/*"}
        """
    private static let learning = """
        routes:
          - {match: "/api/*"}
          - {match: "/*"}
        """

    private static func body(_ target: String) -> [UInt8] {
        Feed.bytes(version: target.utf8.reduce(0) { ($0 + Int($1)) % 500 }, items: 40)
    }

    /// An origin with pages, and an API that says this of its responses.
    private func origin(_ control: String = "public, max-age=10") throws -> Origin {
        try Origin { request, connection in
            let isAPI = request.target.hasPrefix("/api/")
            if request["X-Missing"] != nil {
                return _ = connection.send(
                    wire("HTTP/1.1 404 Not Found", "Content-Type: text/html", body: page))
            }
            connection.send(
                isAPI
                    ? json(Self.body(request.target), "Cache-Control: \(control)")
                    : html(page, #"ETag: "page""#))
        }
    }

    private func link(to target: String, match: String? = nil) -> String {
        let match = match ?? String(target.prefix { $0 != "?" })
        let chain = ChainKey(authority: "api.test", match: match).name
        let path = DictionaryPath(chainName: chain, digest: Digest(of: Self.body(target).span))
        return LinkField.dictionary(path.text)
    }

    /// Has three clients fetch a target by a script of a page.
    private func visit(_ proxy: TestProxy, _ target: String, from page: String = "/", clients: Int = 3) throws
    {
        for client in 1...clients {
            _ = try proxy.fetch(page, forwarded(for: client), "Sec-Fetch-Dest: document")
            _ = try proxy.fetch(
                target, forwarded(for: client), "Sec-Fetch-Dest: empty", "Sec-Fetch-Site: same-origin",
                "Sec-Fetch-Mode: cors", "Referer: https://api.test\(page)")
        }
    }

    // MARK: Given

    @Test func `a document announces the named versions of the paths that its route gives`() throws {
        let proxy = try TestProxy(origin(), Self.given)
        #expect(try proxy.fetch("/").values("Link").isEmpty, "nothing is proven")
        try proxy.prove("/api/feed")
        #expect(try proxy.fetch("/").values("Link") == [link(to: "/api/feed")])
        try proxy.prove("/api/list?page=1")
        let links = [link(to: "/api/feed"), link(to: "/api/list?page=1")]
        #expect(try proxy.fetch("/").values("Link") == links)
        #expect(try proxy.metric(#"dictum_announced_dictionaries_total{route="/"}"#) == 3)
        #expect(try proxy.fetch("/api/feed")["Use-As-Dictionary"] == #"match="/api/feed""#, "in band as well")
        #expect(try proxy.fetch("/api/feed")["Link"] == nil, "never both for one chain")
    }

    @Test func `the announced dictionary is for fetch() alone, and deltas come over it`() throws {
        let proxy = try TestProxy(origin(), Self.given)
        try proxy.prove("/api/feed")
        let link = try #require(try proxy.fetch("/")["Link"])
        let path = try #require(link.firstMatch(of: /<([^>]+)>/)?.output.1)
        let dictionary = try proxy.fetch(String(path), "Accept-Encoding: br")
        #expect(dictionary["Use-As-Dictionary"] == #"match="/api/feed", match-dest=("")"#)
        #expect(dictionary.coding == "br")
        #expect(dictionary["Cache-Control"] == "public, max-age=86400, immutable")
        let answer = try proxy.fetch("/api/feed?other", over: Self.body("/api/feed"))
        #expect(answer.coding == "dcz")
    }

    @Test(arguments: ["iframe", "document", ""])
    func `documents and frames announce`(destination: String) throws {
        let proxy = try TestProxy(origin(), Self.given)
        try proxy.prove("/api/feed")
        let field = destination.isEmpty ? "Accept: */*" : "Sec-Fetch-Dest: \(destination)"
        #expect(try proxy.fetch("/", field).values("Link") == [link(to: "/api/feed")])
    }

    @Test(arguments: ["empty", "script", "style", "image"])
    func `nothing else announces`(destination: String) throws {
        let proxy = try TestProxy(origin(), Self.given)
        try proxy.prove("/api/feed")
        #expect(try proxy.fetch("/", "Sec-Fetch-Dest: \(destination)").values("Link").isEmpty)
        #expect(try proxy.fetch("/app/x").values("Link").isEmpty, "announce: off")
        #expect(try proxy.fetch("/", "X-Missing: 1").values("Link").isEmpty, "a page of an error")
        for method in ["HEAD", "POST"] {
            #expect(try proxy.fetch("/", method: method).values("Link").isEmpty)
        }
    }

    /// RFC 9111 section 3.2: the fields of a 304 replace those that the client holds.
    @Test(arguments: [(false, false, true), (true, false, false), (true, true, true), (false, true, true)])
    func `a 304 announces where none of the page's own Links is lost by it`(
        isOnPage: Bool, isOn304: Bool, announces: Bool
    ) throws {
        let own = "Link: </a.css>; rel=preload"
        let origin = try Origin { request, connection in
            let isHeld = request["If-None-Match"] != nil
            let lines =
                [
                    "HTTP/1.1 \(isHeld ? "304 Not Modified" : "200 OK")", "Content-Type: text/html",
                    #"ETag: "p""#,
                ]
                + ((isHeld ? isOn304 : isOnPage) ? [own] : [])
            let document = wire(lines.joined(separator: "\r\n"), body: isHeld ? nil : page)
            let isAPI = request.target.hasPrefix("/api/")
            connection.send(
                isAPI ? json(Self.body(request.target), "Cache-Control: public, max-age=10") : document)
        }
        let proxy = try TestProxy(origin, Self.given)
        try proxy.prove("/api/feed")
        func links() throws -> [String] {
            let answer = try proxy.fetch("/", #"If-None-Match: "p""#, "Sec-Fetch-Dest: document")
            #expect(answer.status == 304)
            return answer.values("Link").filter { !$0.contains("preload") }
        }
        #expect(try links() == (isOn304 ? [link(to: "/api/feed")] : []), "nothing is known of the page")
        _ = try proxy.fetch("/", "Sec-Fetch-Dest: document")
        #expect(try links() == (announces ? [link(to: "/api/feed")] : []))
    }

    @Test func `whether a page has Links of its own is known of each query by itself`() throws {
        let origin = try Origin { request, connection in
            guard !request.target.hasPrefix("/api/") else {
                return _ = connection.send(
                    json(Self.body(request.target), "Cache-Control: public, max-age=10"))
            }
            guard request["If-None-Match"] == nil else {
                return _ = connection.send(wire("HTTP/1.1 304 Not Modified", #"ETag: "p""#))
            }
            let own = request.target == "/?own" ? ["Link: </a.css>; rel=preload"] : []
            connection.send(html(page, ([#"ETag: "p""#] + own).joined(separator: "\r\n")))
        }
        let proxy = try TestProxy(origin, Self.given)
        try proxy.prove("/api/feed")
        for target in ["/?own", "/?none"] { _ = try proxy.fetch(target, "Sec-Fetch-Dest: document") }
        for (target, links) in [("/?own", []), ("/?none", [link(to: "/api/feed")]), ("/", [])] {
            let answer = try proxy.fetch(target, #"If-None-Match: "p""#, "Sec-Fetch-Dest: document")
            #expect(answer.status == 304)
            #expect(answer.values("Link") == links, "\(target)")
        }
    }

    @Test func `without a secure transport, and switched off, nothing is announced`() throws {
        let proxy = try TestProxy(origin(), Self.given)
        try proxy.prove("/api/feed")
        #expect(try proxy.fetch("/", "X-Forwarded-Proto: http").values("Link").isEmpty)
        _ = try proxy.turn("off")
        #expect(try proxy.fetch("/").values("Link").isEmpty)
    }

    @Test(arguments: ["private, max-age=10", "max-age=10", "no-store, public"])
    func `what is not public is never announced`(control: String) throws {
        let proxy = try TestProxy(origin(control), Self.given)
        try proxy.prove("/api/feed")
        #expect(try proxy.fetch("/").values("Link").isEmpty)
    }

    @Test(arguments: [("max-age=86399", true), ("max-age=86400", false), ("max-age=0", true)])
    func `what lasts as long in band is not announced`(life: String, isAnnounced: Bool) throws {
        let proxy = try TestProxy(origin("public, \(life)"), Self.given)
        try proxy.prove("/api/feed")
        #expect(try proxy.fetch("/").values("Link").isEmpty == !isAnnounced)
    }

    @Test func `a page announces four dictionaries at most`() throws {
        let targets = (1...6).map { "/api/\($0)" }
        let proxy = try TestProxy(
            origin(),
            """
            routes:
              - {match: /, announce: [\(targets.joined(separator: ", "))]}
              - {match: "/api/*"}
            """)
        for target in targets { try proxy.prove(target) }
        #expect(try proxy.fetch("/").values("Link") == targets.prefix(4).map { link(to: $0) })
    }

    @Test func `a document announces the variant that its client would be sent`() throws {
        let origin = try Origin { request, connection in
            let feed = Self.body(request["Accept-Language"] ?? "")
            let fields = "Cache-Control: public, max-age=10\r\nVary: Accept-Language"
            connection.send(request.target == "/" ? html(page) : json(feed, fields))
        }
        let proxy = try TestProxy(origin, Self.given)
        for language in ["de", "en"] { try proxy.prove("/api/feed", "Accept-Language: \(language)") }
        for language in ["de", "en"] {
            let path = DictionaryPath(
                chainName: ChainKey(authority: "api.test", match: "/api/feed").name,
                digest: Digest(of: Self.body(language).span))
            let links = try proxy.fetch("/", "Accept-Language: \(language)").values("Link")
            #expect(links == [LinkField.dictionary(path.text)], "\(language)")
        }
    }

    // MARK: Learned

    @Test func `a document announces what its clients fetch afterwards`() throws {
        let proxy = try TestProxy(origin(), Self.learning)
        try visit(proxy, "/api/feed", clients: 2)
        #expect(try proxy.fetch("/").values("Link").isEmpty)
        try visit(proxy, "/api/feed")
        #expect(try proxy.fetch("/").values("Link") == [link(to: "/api/feed")])
        #expect(try proxy.fetch("/other").values("Link").isEmpty, "each page by itself")
    }

    @Test(arguments: [
        ("Sec-Fetch-Site: cross-site", "https://api.test/"),
        ("Sec-Fetch-Site: same-site", "https://api.test/"),
        ("Sec-Fetch-Site: same-origin", "https://evil.test/"), ("Accept: */*", "https://api.test/"),
        ("Sec-Fetch-Site: same-origin", "https://api.test.evil/"),
    ])
    func `only fetches of the same origin teach`(field: String, referer: String) throws {
        let proxy = try TestProxy(origin(), Self.learning)
        try proxy.prove("/api/feed")
        for client in 1...5 {
            _ = try proxy.fetch(
                "/api/feed", forwarded(for: client), field, "Sec-Fetch-Dest: empty", "Sec-Fetch-Mode: cors",
                "Referer: \(referer)", "Origin: https://api.test")
        }
        #expect(try proxy.fetch("/").values("Link").isEmpty)
    }

    @Test func `what only one client fetches is not learned`() throws {
        let proxy = try TestProxy(origin(), Self.learning)
        try proxy.prove("/api/feed")
        for _ in 1...20 { try visit(proxy, "/api/feed", clients: 1) }
        #expect(try proxy.fetch("/").values("Link").isEmpty)
    }

    @Test func `a household with many networks brings nothing about`() throws {
        let proxy = try TestProxy(origin(), Self.learning)
        try visit(proxy, "/api/feed", clients: 4)
        for network in 0..<60 {
            _ = try proxy.fetch(
                "/api/export?\(network % 4)", "X-Forwarded-For: 2001:db8:7:1\(String(network, radix: 16))::1",
                "X-Forwarded-Proto: https", "Sec-Fetch-Dest: empty", "Sec-Fetch-Site: same-origin",
                "Sec-Fetch-Mode: cors", "Referer: https://api.test/")
        }
        #expect(try proxy.fetch("/").values("Link") == [link(to: "/api/feed")])
    }

    @Test func `without credit a page announces nothing, until others fetch again`() throws {
        let proxy = try TestProxy(origin(), Self.learning)
        // Ten clients fetch the feed in gzip, and pay for twice as many bytes of downloads.
        var credit = 0
        for client in 1...10 {
            credit +=
                try 2
                * proxy.fetch(
                    "/api/feed", forwarded(for: client), "Accept-Encoding: gzip", "Sec-Fetch-Dest: empty",
                    "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", "Referer: https://api.test/"
                ).body.count
        }
        let announced = try #require(try proxy.fetch("/").values("Link").first)
        let path = String(announced.dropFirst().prefix { $0 != ">" })
        var downloads = 0
        // Further viewers would be more than half of the page's clients.
        for client in 101...108 {
            let isAnnounced = try !proxy.fetch("/", forwarded(for: client)).values("Link").isEmpty
            #expect(isAnnounced == (credit > 0), "\(downloads)")
            guard isAnnounced else { break }
            credit -= try proxy.fetch(path, forwarded(for: client)).body.count
            downloads += 1
        }
        #expect(credit <= 0 && downloads < 8, "\(downloads)")
        try visit(proxy, "/api/feed", clients: 20)
        #expect(try proxy.fetch("/").values("Link") == [announced])
    }

    @Test(arguments: [true, false])
    func `a fetch gives credit for what its client has taken, and not for what waits for a window`(
        isOpen: Bool
    )
        throws
    {
        let proxy = try TestProxy(origin(), Self.learning)
        try proxy.prove("/api/feed")
        // A window of one byte: the response ends, and all but that byte waits.
        let peers = try (1...4).map { client in
            let peer = try proxy.connectHTTP2(settings: isOpen ? [] : [(4, 1)])
            peer.request(
                1, "/api/feed",
                [
                    ("x-forwarded-for", "203.0.113.\(client)"), ("x-forwarded-proto", "https"),
                    ("sec-fetch-dest", "empty"), ("sec-fetch-site", "same-origin"),
                    ("sec-fetch-mode", "cors"),
                    ("referer", "https://api.test/"),
                ])
            return peer
        }
        let count = Self.body("/api/feed").count
        if isOpen {
            for peer in peers { #expect(peer.response(1)?.body.count == count) }
        } else {
            try waitUntil("all responses have ended") {
                proxy.server.context.shared.coding.memory.takenBytes == 4 * (count - 1)
            }
        }
        var announced = ""
        // The credit comes a moment after the bytes.
        try waitUntil("it is announced") {
            announced = try proxy.fetch("/").values("Link").first ?? ""
            return !announced.isEmpty
        }
        let path = String(announced.dropFirst().prefix { $0 != ">" })
        _ = try proxy.fetch(path, forwarded(for: 101))
        #expect(try proxy.fetch("/").values("Link") == (isOpen ? [announced] : []), "the download has a cost")
    }

    @Test(arguments: ["max-age=10", "private"])
    func `what is not public is not learned`(control: String) throws {
        let proxy = try TestProxy(origin(control), Self.learning)
        for _ in 1...2 { try visit(proxy, "/api/feed") }
        #expect(try proxy.fetch("/").values("Link").isEmpty)
    }

    @Test func `the pages of one chain are one page`() throws {
        let proxy = try TestProxy(
            origin(), #"routes: [{match: "/api/*"}, {match: "/item/*", dictionary: {covers: pattern}}]"#)
        for client in 1...3 {
            _ = try proxy.fetch(
                "/api/feed", forwarded(for: client), "Sec-Fetch-Dest: empty", "Sec-Fetch-Site: same-origin",
                "Sec-Fetch-Mode: cors", "Referer: https://api.test/item/\(client)")
        }
        #expect(try proxy.fetch("/item/77").values("Link") == [link(to: "/api/feed")])
    }

    @Test(arguments: [
        "routes: [{match: \"/api/*\"}, {match: \"/*\", announce: off}]",
        "routes: [{match: \"/api/*\"}, {match: \"/*\", dictionary: off}]",
    ])
    func `nothing is learned where the route says off`(settings: String) throws {
        let proxy = try TestProxy(origin(), settings)
        for _ in 1...2 { try visit(proxy, "/api/feed") }
        #expect(try proxy.fetch("/").values("Link").isEmpty)
    }

    @Test func `the implied route announces nothing`() throws {
        let proxy = try TestProxy(origin())
        for _ in 1...2 { try visit(proxy, "/api/feed") }
        #expect(try proxy.fetch("/").values("Link").isEmpty)
    }

    // MARK: Configuration

    @Test(arguments: [
        ("announce: sometimes", "expected auto, off, or a list"), ("announce: [feed]", "expected a path"),
        ("announce: [/a/../b]", "expected a path"), ("announce: [/.dictum/x]", "expected a path"),
        ("announce: {a: b}", "expected auto, off, or a list"),
    ])
    func `a wrong announcement is told`(text: String, mistake: String) throws {
        let text = "upstream: {urls: [\"http://u\"]}\nroutes: [{match: /a, \(text)}]"
        let error = #expect(throws: ConfigurationError.self) { try Configuration.parse(Array(text.utf8)) }
        #expect(
            error?.problems.contains { $0.text.contains(mistake) } == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("/b", "no route matches it"), ("/off", "dictionaries are off on route /off"),
        ("/me", "route /me is private"), ("/a", nil),
    ])
    func `an announced path that never becomes a public dictionary is a warning`(path: String, why: String?)
        throws
    {
        let text = """
            upstream: {urls: ["http://u"]}
            routes:
              - {match: /a, announce: [\(path)]}
              - {match: /off, dictionary: off}
              - {match: /me, dictionary: {scope: private, identity: authorization}}
            """
        let warnings = try Configuration.parse(Array(text.utf8)).warningLines(file: "f")
        #expect(warnings.count == (why == nil ? 0 : 1))
        if let why {
            #expect(warnings.first?.hasSuffix("which is never announced: \(why)") == true, "\(warnings)")
        }
    }
}
