internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let annsBody = Feed.bytes(version: 0, items: 40)
private let bobsBody = Feed.bytes(version: 9, items: 40)
private let twin = "/api/feed?dictum-own"

/// Nobody gets more by a twin URL than by the path itself.
@Suite(.timeLimit(.minutes(40))) struct TwinAttackTests {
    private func proxy(_ settings: String = "") throws -> TestProxy {
        try TestProxy(
            Origin { request, connection in
                let cookie = request["Cookie"] ?? ""
                let body = cookie == "session=ann" ? annsBody : cookie == "session=bob" ? bobsBody : []
                connection.send(
                    body.isEmpty
                        ? wire("HTTP/1.1 401 Unauthorized", body: [])
                        : json(body, "Cache-Control: private, no-cache"))
            }, settings)
    }

    /// Asks in both versions of HTTP; expects the same status.
    private func status(
        _ proxy: TestProxy, _ target: String, _ field: (String, String)?, method: String = "GET"
    ) throws
        -> Int
    {
        let fields = [("cookie", "session=ann")] + (field.map { [$0] } ?? [])
        let client = try proxy.connect()
        client.send(request(target, fields.map { "\($0): \($1)" }, method: method))
        let one = try client.receive(isBodiless: method == "HEAD").status
        let peer = try proxy.connectHTTP2()
        peer.request(1, target, method: method, fields)
        let two = try #require(peer.response(1)).status
        #expect(two == String(one), "\(method) \(target)")
        return one
    }

    @Test(arguments: [
        ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Site", ""),
        ("Sec-Fetch-Site", "Same-Origin"), ("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Dest", "script"),
        ("Sec-Fetch-Dest", "serviceworker"), ("Sec-Fetch-Dest", "iframe"), ("Sec-Fetch-Dest", ""),
        ("X-Forwarded-Proto", "http"),
    ])
    func `it is for scripts of the same origin over a secure transport`(name: String, value: String) throws {
        let proxy = try proxy()
        #expect(try status(proxy, twin, (name.lowercased(), value)) == 404)
        #expect(proxy.origin.requests.isEmpty)
        for fine in [
            nil, ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "none"), ("sec-fetch-dest", "empty"),
        ] {
            #expect(try status(proxy, twin, fine) == 200)
        }
    }

    @Test(arguments: ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
    func `only GET asks for it`(method: String) throws {
        let proxy = try proxy()
        #expect(try status(proxy, twin, nil, method: method) == 404)
        #expect(proxy.origin.requests.isEmpty)
    }

    @Test(arguments: [
        "/.dictum/own", "/.dictum/own/", "/.dictum/own/api/feed", "/.dictum/own?dictum-own",
        "/.dictum/own/api/feed?dictum-own", "/.dictum/own.js?dictum-own", "/%2Edictum/own.js?dictum-own",
        "/x/../.dictum/own.js?dictum-own", "/api/feed?dictum-own&dictum-own",
        "/api/feed?x=1&dictum-own&dictum-own", "/x/../api/feed?dictum-own", "/./api/feed?dictum-own",
        "//api/feed?dictum-own", "/api//feed?dictum-own", "/%61pi/feed?dictum-own",
        "/api%2Ffeed?dictum-own", "/api\\feed?dictum-own", "/api/..?dictum-own", "/api/..;x/feed?dictum-own",
    ])
    func `a path of Dictum's, a twin of a twin, and another spelling of a path have none`(target: String)
        throws
    {
        let proxy = try proxy("routes: [{match: /own.js, dictionary: off}, {match: /*}]")
        #expect(try status(proxy, target, nil) == 404)
        #expect(proxy.origin.requests.isEmpty)
    }

    @Test(arguments: [
        "/api/feed?dictum-own=", "/api/feed?dictum-own=1", "/api/feed?dictum-own&x=1",
        "/api/feed?dictum-own&",
        "/api/feed?x=dictum-own", "/api/feed?xdictum-own", "/api/feed?x;dictum-own", "/api/feed?x?dictum-own",
        "/api/feed??dictum-own", "/api/feed?dictum%2Down", "/api/feed?x%26dictum-own", "/api/feed?Dictum-Own",
        "/api/feed&dictum-own", "/api/feed/dictum-own", "/dictum-own",
    ])
    func `what only resembles the parameter is the upstream's, as it came`(target: String) throws {
        let proxy = try proxy()
        #expect(try status(proxy, target, nil) == 200)
        #expect(proxy.origin.requests.map(\.target) == [target, target])
        #expect(try proxy.fetch(target, "Cookie: session=ann")["Cache-Control"] == "private, no-cache")
    }

    @Test(arguments: [
        (twin, "/api/feed"), ("/api/feed?x=1&dictum-own", "/api/feed?x=1"), ("/?dictum-own", "/"),
        ("/api/feed?&dictum-own", "/api/feed?"), ("/api/feed?a?b&dictum-own", "/api/feed?a?b"),
    ])
    func `the upstream sees the resource`(target: String, resource: String) throws {
        let proxy = try proxy()
        #expect(try status(proxy, target, nil) == 200)
        #expect(proxy.origin.requests.map(\.target) == [resource, resource])
    }

    @Test func `an absolute target has none`() throws {
        let proxy = try proxy()
        #expect(try proxy.fetch("http://api.test\(twin)", "Cookie: session=ann").status == 404)
        #expect(proxy.origin.requests.isEmpty)
    }

    @Test func `a path that a guarded route is for is guarded`() throws {
        let proxy = try proxy(
            #"routes: [{match: /api/*, headers: {request: {set: {X-Guard: "1"}}}}, {match: /*}]"#)
        for target in [
            "/%61pi/feed?dictum-own", "//api/feed?dictum-own", "/x/../api/feed?dictum-own",
            "/api%2Ffeed?dictum-own",
        ] {
            #expect(try status(proxy, target, nil) == 404, "\(target)")
        }
        #expect(proxy.origin.requests.isEmpty)
        #expect(try status(proxy, twin, nil) == 200)
        #expect(proxy.origin.requests.map { $0["X-Guard"] } == ["1", "1"])
    }

    @Test func `made-up paths leave nothing in the store, and no login sees no body`() throws {
        let proxy = try proxy()
        for number in 0..<20 { #expect(try proxy.fetch("/\(number)?dictum-own").status == 401) }
        #expect(proxy.server.context.store.statistics.versions == 0)
    }

    @Test func `of two users each gets the own body, and an id is good for the body that it came with`()
        throws
    {
        let proxy = try proxy()
        let ann = try proxy.fetch(twin, "Cookie: session=ann")
        let bob = try proxy.fetch(twin, "Cookie: session=bob")
        #expect(ann.carries(annsBody) && bob.carries(bobsBody))
        let ids = try [ann, bob].map {
            try #require(UseAsDictionary.parse($0.values("Use-As-Dictionary"))).id
        }
        #expect(ids[0] != ids[1])
        // The second user's requests name the dictionary of the first user.
        for target in ["/api/feed", twin] {
            for (id, coding) in [(ids[0], "dcz"), (ids[1], "identity")] {
                let answer = try proxy.fetch(
                    target, over: annsBody, "Cookie: session=bob", "Dictionary-ID: \"\(id)\"")
                #expect(answer.coding == coding)
                #expect(try answer.carriesDecoded(bobsBody, over: annsBody))
            }
        }
        for other in ["/api/other", "/api/other?dictum-own"] {
            let answer = try proxy.fetch(
                other, over: annsBody, "Cookie: session=bob", "Dictionary-ID: \"\(ids[0])\"")
            #expect(answer.coding == "identity", "\(other)")
        }
    }

    @Test func `with an identity the dictionary of another session is refused`() throws {
        let proxy = try proxy(
            #"routes: [{match: /api/*, dictionary: {scope: private, identity: "cookie:session"}}, {match: /*}]"#
        )
        let ann = try proxy.fetch(twin, "Cookie: session=ann")
        let id = try #require(UseAsDictionary.parse(ann.values("Use-As-Dictionary"))).id
        let own = try proxy.fetch(
            "/api/feed", over: annsBody, "Cookie: session=ann", "Dictionary-ID: \"\(id)\"")
        #expect(own.coding == "dcz")
        for target in ["/api/feed", twin] {
            let answer = try proxy.fetch(
                target, over: annsBody, "Cookie: session=bob", "Dictionary-ID: \"\(id)\"")
            #expect(answer.coding == "identity" && answer.carries(bobsBody))
        }
    }
}
