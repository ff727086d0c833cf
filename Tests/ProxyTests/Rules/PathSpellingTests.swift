internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 40)

/// No spelling of a path passes its route by (`RouteChoice`).
@Suite(.timeLimit(.minutes(40))) struct PathSpellingTests {
    /// A setting that guards a route, and how its effect shows.
    enum Guard: String, CaseIterable {
        case limits, requestFields, responseFields, upstream

        var setting: String {
            switch self {
            case .limits: "limits: {request_body: 1}"
            case .requestFields: "headers: {request: {set: {X-Guard: \"1\"}, remove: [X-Role]}}"
            case .responseFields: "headers: {response: {set: {X-Guard: \"1\"}}}"
            case .upstream: "upstream: own"
            }
        }
    }

    /// The result of one request.
    private struct Result: Equatable {
        let status: Int
        /// True if the route had its effect; nil where nothing was forwarded.
        var isGuarded: Bool?
        /// The path that an upstream got.
        var forwarded: String?
    }

    /// A proxy with a second upstream, asked over both versions of HTTP.
    private struct Front {
        let proxy: TestProxy
        let own: Origin
        let guarding: Guard
        var host = "api.test"

        /// Returns a proxy with a guarded route before `/*`.
        init(_ guarding: Guard, match: String, more: String = "") throws {
            let own = try Origin(json(body))
            self.own = own
            self.guarding = guarding
            proxy = try TestProxy(
                try Origin(json(body)),
                """
                upstreams: {own: {urls: ["\(own.url)"]}}
                routes: [{match: \(match), \(guarding.setting)\(more)}, {match: /*}]
                """)
        }

        func ask(_ path: String, overHTTP2: Bool) throws -> Result {
            let (all, own) = (proxy.origin.requests.count, own.requests.count)
            let method = guarding == .limits ? "POST" : "GET"
            let upload = guarding == .limits ? Array("ab".utf8) : nil
            let (status, hasField) =
                try overHTTP2 ? askHTTP2(path, method, upload) : askHTTP1(path, method, upload)
            let isOwn = self.own.requests.count > own
            let isForwarded = isOwn || proxy.origin.requests.count > all
            guard isForwarded || status == 413 else { return Result(status: status) }
            let request = isOwn ? self.own.requests.last : proxy.origin.requests.last
            let isGuarded =
                switch guarding {
                case .limits: status == 413
                case .requestFields: request?["X-Guard"] == "1" && request?["X-Role"] == nil
                case .responseFields: hasField
                case .upstream: isOwn
                }
            return Result(
                status: status, isGuarded: isGuarded, forwarded: isForwarded ? request?.target : nil)
        }

        private func askHTTP1(_ path: String, _ method: String, _ upload: [UInt8]?) throws -> (Int, Bool) {
            let response = try proxy.fetch(path, "X-Role: admin", method: method, host: host, body: upload)
            return (response.status, response["X-Guard"] == "1")
        }

        private func askHTTP2(_ path: String, _ method: String, _ upload: [UInt8]?) throws -> (Int, Bool) {
            let peer = try proxy.connectHTTP2()
            peer.request(
                1, path, method: method, [("x-role", "admin")], authority: host, endsStream: upload == nil)
            if let upload { peer.data(1, upload, endsStream: true) }
            let response = try #require(peer.response(1), "\(path)")
            return (Int(response.status ?? "") ?? 0, response.fields.contains("x-guard: 1"))
        }
    }

    /// Spellings that nginx takes for `/login`.
    private static let same = [
        "/login", "/%6Cogin", "/%6c%6F%67%69%6e", "//login", "///login", "/./login", "/x/../login",
        "/x/%2e%2E/login", "/.//%6Cogin", "/../login",
    ]
    /// Spellings that some applications take for `/login`, and others do not.
    private static let unclear = [
        "/login/.", "/login/x/..", "/login%2F", "/login%2f", "/login%5C", "/login\\", "/%2Flogin", "/\\login",
        "/x%2F..%2Flogin", "/x%2F../login", "/x\\..\\login", "/x%5C..%5Clogin", "/login%2F.", "/login/%2e",
        "/..;/login", "/x/..;a=b/login", "/x/%2e%2e%3Ba/login", "/.;/login", "/login/.;x",
    ]
    /// Other paths.
    private static let others = [
        "/login/", "//login/", "/loginx", "/Login", "/", "/x/../y", "/a%2Fb", "/y/.",
    ]

    private func walk(_ front: Front, guarded: [String], refused: [String], passed: [String]) throws {
        for overHTTP2 in [false, true] {
            for path in guarded {
                let result = try front.ask(path, overHTTP2: overHTTP2)
                let expected =
                    front.guarding == .limits
                    ? Result(status: 413, isGuarded: true)
                    : Result(status: 200, isGuarded: true, forwarded: path)
                #expect(result == expected, "\(path) \(overHTTP2)")
            }
            for path in refused {
                #expect(
                    try front.ask(path, overHTTP2: overHTTP2) == Result(status: 400), "\(path) \(overHTTP2)")
            }
            for path in passed {
                let result = try front.ask(path, overHTTP2: overHTTP2)
                #expect(
                    result == Result(status: 200, isGuarded: false, forwarded: path), "\(path) \(overHTTP2)")
            }
        }
        let count = try front.proxy.metric(#"dictum_rejected_requests_total{reason="ambiguous-path"}"#)
        #expect(count == 2 * refused.count)
    }

    @Test(arguments: Guard.allCases)
    func `a spelling of a guarded path has its route, or is refused`(guarding: Guard) throws {
        try walk(
            try Front(guarding, match: "/login"), guarded: Self.same, refused: Self.unclear,
            passed: Self.others)
    }

    @Test(arguments: Guard.allCases)
    func `below a guarded path every spelling has its route, or is refused`(guarding: Guard) throws {
        try walk(
            try Front(guarding, match: "/admin/*"),
            guarded: [
                "/admin/x", "/%61dmin/x", "//admin//x", "/x/../admin/x", "/admin/./x", "/admin/a/../b",
                "/admin/%7Ex", "/admin/x%20y",
            ],
            refused: [
                "/admin%2Fx", "/admin\\x", "/admin%5cx", "/admin/a%2Fb", "/admin/a\\b", "/x%2F..%2Fadmin/x",
                "/admin/../x", "/admin/%2e%2e/x", "/%61dmin/../x", "/admin%2F..%2Fx", "/admin/..%2Fx",
            ],
            passed: ["/administrator", "/x/admin/y", "/x%2Fy", "/a/../x"])
    }

    @Test(arguments: Guard.allCases)
    func `characters that need no encoding are refused encoded where that changes the route`(guarding: Guard)
        throws
    {
        try walk(
            try Front(guarding, match: "\"/@user\""), guarded: ["/@user", "//@user"], refused: ["/%40user"],
            passed: ["/%40other", "/user"])
        try walk(
            try Front(guarding, match: "\"/caf\u{E9}/*\""),
            guarded: ["/caf%C3%A9/x", "/caf%c3%a9/x", "/%63af%c3%a9/x"], refused: ["/caf%C3%A9%2Fx"],
            passed: ["/cafe/x", "/caf%C3%A8/x"])
        try walk(
            try Front(guarding, match: "\"/a^b\""), guarded: ["/a^b", "/a%5Eb", "/a%5eb"], refused: [],
            passed: ["/ab"])
    }

    @Test(arguments: Guard.allCases)
    func `on a route for all paths encoded slashes pass`(guarding: Guard) throws {
        try walk(
            try Front(guarding, match: "/*"),
            guarded: ["/projects/group%2Fname", "/a\\b", "/a%5Cb", "//a", "/x/../y", "/x/."], refused: [],
            passed: [])
    }

    @Test(arguments: Guard.allCases)
    func `a route of one host guards nothing of others`(guarding: Guard) throws {
        var front = try Front(guarding, match: "/login", more: ", host: guarded.test")
        try walk(front, guarded: [], refused: [], passed: Self.same + Self.unclear + Self.others)
        front.host = "guarded.test"
        try walk(front, guarded: Self.same, refused: Self.unclear, passed: Self.others)
    }

    @Test func `all spellings of a path share the rate of its route`() throws {
        let proxy = try TestProxy(
            json(body), "routes: [{match: \"/login{/}?\", limits: {rate: 2/h, burst: 2}}, {match: /*}]")
        let paths = ["//login", "/login/"] + Self.same
        var statuses: [Int] = []
        for path in paths {
            statuses.append(try proxy.fetch(path, "X-Forwarded-For: 192.0.2.1").status)
        }
        #expect(statuses == [200, 200] + Self.same.map { _ in 429 })
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/x/../login/", [("x-forwarded-for", "192.0.2.1")])
        #expect(peer.response(1)?.status == "429")
        #expect(try proxy.fetch("/login/.", "X-Forwarded-For: 192.0.2.1").status == 429)
    }

    // MARK: The prefix

    @Test(
        arguments: [
            ("/api/x", "/x"), ("//api/x", "/x"), ("/%61pi/x", "/x"), ("/api//x", "/x"),
            ("/%61%70%69//x", "/x"),
            ("/api/x/../y", "/x/../y"), ("/api/./x", "/./x"), ("/api/x/%2e%2e/y", "/x/%2e%2e/y"),
            ("/api/%7Ex", "/%7Ex"), ("/api/x//y/", "/x//y/"), ("/api/", "/"),
            ("/api/x?a=/../../b", "/x?a=/../../b"),
            ("/apix/y", "/apix/y"), ("/api", "/api"), ("/x/../y", "/x/../y"), ("//apix", "//apix"),
            // Refused.
            ("/api/../login", nil), ("/api/%2e%2e/login", nil), ("/%61pi/../login", nil),
            ("/api/x/../../login", nil),
            ("/api/x/%2E%2E/%2e./api/x", nil), ("/x/../api/y", nil), ("/./api/x", nil), ("/../api/x", nil),
            ("/api/../api/x", nil), ("/api%2Fx", nil), ("/api\\x", nil), ("/api/a%2Fb", nil),
            ("/api/..%2Flogin", nil),
            ("/api/..\\login", nil), ("/api/..", nil), ("/api/../", nil), ("/api/..;/login", nil),
            ("/api/..%3Bx/login", nil),
        ] as [(String, String?)])
    func `the prefix goes as it is spelled, and dots that leave it are refused`(
        path: String, expected: String?
    ) throws {
        let proxy = try TestProxy(
            json(body), "routes: [{match: \"/api/*\", strip_prefix: /api}, {match: /*}]")
        #expect(try proxy.fetch(path).status == (expected == nil ? 400 : 200))
        let peer = try proxy.connectHTTP2()
        peer.request(1, path)
        #expect(peer.response(1)?.status == (expected == nil ? "400" : "200"))
        #expect(proxy.origin.requests.map(\.target) == (expected.map { [$0, $0] } ?? []))
    }

    // MARK: What guards nothing

    @Test func `where a route guards nothing all spellings pass as they are`() throws {
        let proxy = try TestProxy(
            json(body), "routes: [{match: /login, dictionary: off}, {match: /*, dictionary: {covers: path}}]")
        let paths = Self.same + Self.unclear + Self.others
        for path in paths { #expect(try proxy.fetch(path).status == 200, "\(path)") }
        for path in paths {
            let peer = try proxy.connectHTTP2()
            peer.request(1, path)
            #expect(peer.response(1)?.status == "200", "\(path)")
        }
        #expect(proxy.origin.requests.map(\.target) == paths + paths)
    }

    @Test func `another spelling of a path without dictionaries has none either`() throws {
        let proxy = try TestProxy(
            json(body),
            """
            explain: on
            routes: [{match: "/@user", dictionary: off}, {match: /*, dictionary: {delivery: in_band}}]
            """)
        #expect(try proxy.fetch("/other")["Use-As-Dictionary"] != nil)
        for path in ["/@user", "/%40user", "//@user"] {
            #expect(try proxy.fetch(path)["Use-As-Dictionary"] == nil, "\(path)")
        }
        #expect(try proxy.fetch("/%40other")["Use-As-Dictionary"] != nil)
    }

    @Test(arguments: ["live", "observe"])
    func `no spelling of a private path has its query logged`(mode: String) throws {
        let proxy = try TestProxy(
            try Origin(json(body)),
            """
            mode: \(mode)
            routes:
            - {match: /account, dictionary: {scope: private, identity: authorization}}
            - {match: /*}
            """, isLogged: true)
        let spelled = ["/account", "//account", "/%61ccount", "/x/../account", "/account/.", "/account%2F"]
        for path in spelled { _ = try proxy.fetch(path + "?q=s3cret") }
        _ = try proxy.fetch("/other?q=plain")
        let lines = proxy.lastLines()
        #expect(lines.count == spelled.count + 1)
        #expect(!lines.joined().contains("s3cret") && lines.joined().contains("q=plain"))
    }

    @Test(arguments: [
        "/.dictum/x", "/%2Edictum/x", "//.dictum/x", "/x/../.dictum/x", "/.dictum", "/.dictum/../x",
        "/.%64ictum/",
        "/.dictum%2Fx", "/.dictum\\x", "/x%2F..%2F.dictum/x",
    ])
    func `no spelling of Dictum's own paths reaches an upstream`(path: String) throws {
        let proxy = try TestProxy(json(body), "routes: [{match: /*}]")
        #expect(try proxy.fetch(path).status == 404)
        let peer = try proxy.connectHTTP2()
        peer.request(1, path)
        #expect(peer.response(1)?.status == "404")
        #expect(proxy.origin.requests.isEmpty)
    }

    @Test func `the refusal is a problem that says what to do`() throws {
        let proxy = try TestProxy(
            try Origin(json(body)), "routes: [{match: /login, limits: {rate: 1/h}}, {match: /*}]",
            isLogged: true)
        let response = try proxy.fetch("/login%2F", "Accept: application/json")
        #expect(response.status == 400 && response["Content-Type"] == "application/problem+json")
        #expect(response["Cache-Control"] == "no-store" && response.text.contains("two ways"))
        #expect(proxy.lastLines().joined().contains("ambiguous-path"))
    }
}
