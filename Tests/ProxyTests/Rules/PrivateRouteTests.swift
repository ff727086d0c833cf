internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let third = Feed.bytes(version: 2, items: 40)

private let ann = "Authorization: Bearer ann-s3cret"
private let bob = "Authorization: Bearer bob-s3cret"

/// A route for everything, private by Authorization, and the reasons to be seen.
private let byAuthorization = """
    explain: true
    routes: [{match: /*, dictionary: {scope: private, identity: authorization}}]
    """

/// Returns a proxy whose upstream sends every client the version that X-Version selects, with these fields.
private func proxy(
    _ settings: String = byAuthorization, store: String = ":memory:", isLogged: Bool = false,
    _ fields: String...
) throws -> TestProxy {
    let origin = try Origin { request, connection in
        let version = request["X-Version"].flatMap { Int($0) } ?? 0
        let head = (["HTTP/1.1 200 OK", "Content-Type: application/json"] + fields).joined(separator: "\r\n")
        connection.send(wire(head, body: [first, second, third][version]))
    }
    return try TestProxy(origin, settings, store: store, isLogged: isLogged)
}

extension WireMessage {
    fileprivate var reason: String? {
        self["Dictum-Explain"]?.split(separator: ";").dropFirst().first.map { String($0.dropFirst(7)) }
    }
}

@Suite(.timeLimit(.minutes(40))) struct PrivateRouteTests {
    @Test(arguments: ["dcz", "dcb"])
    func `an answer is a dictionary for later ones to the same identity`(coding: String) throws {
        let proxy = try proxy()
        let plain = try proxy.fetch("/feed", ann)
        #expect(plain.carries(first))
        #expect(plain["Use-As-Dictionary"]?.hasPrefix(#"match="/feed", id=""#) == true)
        #expect(plain["Link"] == nil)
        let delta = try proxy.fetch("/feed", over: first, ann, "X-Version: 1", accept: coding)
        #expect(delta.coding == coding)
        #expect(try delta.carriesDecoded(second, over: first))
        #expect(delta["CDN-Cache-Control"] == "no-store")
        #expect(delta.members("Vary") == ["accept-encoding", "available-dictionary", "dictionary-id"])
    }

    @Test(arguments: ["dcz", "dcb"])
    func `one that names another's digest gets what one gets who names nobody's`(coding: String) throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/feed", ann)
        let named = try proxy.fetch("/feed", over: first, bob, "X-Version: 1", accept: coding)
        let unknown = try proxy.fetch(
            "/feed", over: Noise.bytes(1000, seed: 1), bob, "X-Version: 1", accept: coding)
        for answer in [named, unknown] {
            #expect(answer.reason == "dictionary-unknown")
            #expect(answer.carries(second))
        }
        let nobody = try proxy.fetch("/feed", over: first, "X-Version: 1", accept: coding)
        #expect(nobody.reason == "identity-incomplete")
        #expect(nobody.carries(second))
        #expect(nobody["Use-As-Dictionary"] == nil)
    }

    @Test func `two identities with the same body each have their own`() throws {
        let proxy = try proxy()
        for user in [ann, bob] {
            _ = try proxy.fetch("/feed", user)
            for coding in ["dcz", "dcb"] {
                let delta = try proxy.fetch("/feed", over: first, user, "X-Version: 0", accept: coding)
                #expect(delta.coding == coding)
                #expect(try delta.carriesDecoded(first, over: first))
                let stranger = "Authorization: Bearer none of \(user) \(coding)"
                #expect(try proxy.fetch("/feed", over: first, stranger, accept: coding).coding == "identity")
            }
        }
        #expect(proxy.server.context.store.statistics.chains == 6, "the strangers' by asking")
    }

    @Test func `two hosts with one path are two identities' chains`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/feed", ann, host: "one.test")
        for coding in ["dcz", "dcb"] {
            let other = try proxy.fetch(
                "/feed", over: first, ann, "X-Version: 1", accept: coding, host: "two.test")
            #expect(other.reason == "dictionary-unknown")
        }
        let own = try proxy.fetch("/feed", over: first, ann, "X-Version: 1", host: "one.test")
        #expect(own.coding == "dcz")
    }

    @Test(arguments: ["dcz", "dcb"])
    func `a public chain and a private one never serve each other`(coding: String) throws {
        // The upstream's own match would let each be used for the other.
        let settings = """
            explain: true
            routes:
              - {match: "/mine/*", dictionary: {scope: private, identity: authorization, private_versions: 9}}
              - {match: "/*", dictionary: {}}
            """
        let proxy = try proxy(settings, #"Use-As-Dictionary: match="/*""#, "Cache-Control: public")
        _ = try proxy.fetch("/mine/feed", ann)
        for fields in [["X-Version: 1"], ["X-Version: 1", ann]] {
            let client = try proxy.connect()
            client.send(request("/feed", ["Accept-Encoding: \(coding)", available(first)] + fields))
            #expect(try client.receive().reason == "dictionary-unknown")
        }
        // The second version is in the public chain now.
        #expect(try proxy.fetch("/feed", over: second, accept: coding).coding == coding)
        let across = try proxy.fetch("/mine/feed", over: second, ann, "X-Version: 2", accept: coding)
        #expect(across.reason == "dictionary-unknown")
        // That match has no id, so that the private response was none.
        let own = try proxy.fetch("/mine/feed", over: first, ann, "X-Version: 2", accept: coding)
        #expect(own.reason == "dictionary-unknown")
    }

    @Test(arguments: [
        (nil, true), ("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false),
        ("nonsense", false),
    ])
    func `a private dictionary is used and offered within its origin only`(site: String?, isUsed: Bool) throws
    {
        let proxy = try proxy(
            String(byAuthorization.dropLast(3)) + ", private_versions: 2}}]",
            "Access-Control-Allow-Origin: https://page.test")
        for version in 0...1 { _ = try proxy.fetch("/feed", ann, "X-Version: \(version)") }
        let sent =
            site.map { ["Sec-Fetch-Site: \($0)", "Sec-Fetch-Mode: cors", "Origin: https://page.test"] } ?? []
        let answer = try proxy.fetch(
            "/feed", over: first, ann, "X-Version: 1",
            sent.isEmpty ? "X-A: 1" : sent.joined(separator: "\r\n"))
        #expect(answer.reason == (isUsed ? "delta" : "cross-origin"))
        #expect((answer["Use-As-Dictionary"] != nil) == isUsed)
    }

    @Test(arguments: [
        "Cache-Control: private", "Cache-Control: max-age=6\r\nVary: Cookie", "Vary: Authorization",
        "Cache-Control: max-age=60",
    ])
    func `what is personal on a public route is what a private one is for`(field: String) throws {
        let proxy = try proxy(byAuthorization, field)
        _ = try proxy.fetch("/feed", ann)
        #expect(try proxy.fetch("/feed", over: first, ann, "X-Version: 1").coding == "dcz")
        let plain = try TestProxy(Origin(json(first, field)), "explain: true\npersonal: off")
        _ = try plain.fetch("/feed", ann)
        #expect(try plain.fetch("/feed", over: first, ann).reason == "personal")
    }

    @Test(arguments: [
        ("Cache-Control: no-store", []), ("Vary: *", []),
        ("X-A: 1", ["Cookie: a=1"]),
        ("X-A: 1", ["Cache-Control: no-store"]), ("X-A: 1", [ann]), ("X-A: 1", ["Connection: authorization"]),
    ])
    func `every other rule of admission holds, and the identity must be whole`(field: String, sent: [String])
        throws
    {
        let proxy = try proxy(byAuthorization, field)
        let client = try proxy.connect()
        client.send(request("/feed", [ann] + sent))
        #expect(try client.receive()["Use-As-Dictionary"] == nil)
        #expect(proxy.server.context.store.statistics.versions == 0)
        #expect(try proxy.fetch("/feed", over: first, ann, "X-Version: 1").coding == "identity")
    }

    @Test func `neither a cookie that is set nor one that does not count bars the user's own response`()
        throws
    {
        let proxy = try proxy(byAuthorization, "Set-Cookie: rolling=1")
        let analytics = "Cookie: _ga=GA1.2.3.4; _ga_ABC=GS1.1.2.3"
        #expect(try proxy.fetch("/feed", ann, analytics)["Use-As-Dictionary"] != nil)
        let answer = try proxy.fetch("/feed", over: first, ann, analytics, "X-Version: 1")
        #expect(answer.coding == "dcz")
        #expect(answer.values("Set-Cookie") == ["rolling=1"])
    }

    @Test func `one past answer is kept, or as many as private_versions says`() throws {
        for (count, codings) in [(1, ["identity", "dcz"]), (2, ["dcz", "dcz"])] {
            let proxy = try proxy(
                """
                routes: [{match: /*, dictionary: {scope: private, identity: authorization, private_versions: \(count)}}]
                """)
            _ = try proxy.fetch("/feed", ann)
            _ = try proxy.fetch("/feed", ann, "X-Version: 1")
            let found = try [first, second].map {
                try proxy.fetch("/feed", over: $0, ann, "X-Version: 1").coding
            }
            #expect(found == codings)
        }
    }

    @Test func `a cookie names the user, and others on the way are passed over where the route says so`()
        throws
    {
        for (cookies, coding) in [("personal", "identity"), ("ignore", "dcz")] {
            let proxy = try proxy(
                """
                routes: [{match: /*, dictionary: {scope: private, identity: "cookie:sid", cookies: \(cookies)}}]
                """)
            _ = try proxy.fetch("/feed", "Cookie: sid=ann; theme=dark")
            let answer = try proxy.fetch("/feed", over: first, "Cookie: theme=light; sid=ann", "X-Version: 1")
            #expect(answer.coding == coding)
            #expect(
                try proxy.fetch("/feed", over: first, "Cookie: theme=light; sid=bob", "X-Version: 1").coding
                    == "identity")
        }
    }

    @Test(arguments: ["dcz", "dcb"])
    func `a delta that was made for one is made again for another, and for the public`(coding: String) throws
    {
        let proxy = try proxy(
            """
            explain: true
            routes:
              - {match: "/mine/*", dictionary: {scope: private, identity: authorization, private_versions: 4}}
              - {match: "/*", dictionary: {}}
            """, "Cache-Control: public")
        let eve = "Authorization: Bearer eve-s3cret"
        for (path, user) in [
            ("/mine/feed", ann), ("/mine/feed", bob), ("/feed", "X-A: 1"), ("/mine/feed", eve),
        ] {
            _ = try proxy.fetch(path, user)
            let reasons = try (0..<2).map { _ in
                let delta = try proxy.fetch(path, over: first, user, "X-Version: 1", accept: coding)
                #expect(try delta.carriesDecoded(second, over: first))
                return delta.reason
            }
            #expect(reasons == ["delta", "delta-cached"], "\(path) \(user)")
        }
    }

    @Test func `a private answer is never named in a Link, and its body has no URL`() throws {
        // On a public route this response gets a Link, since clients drop it at once.
        let proxy = try proxy(byAuthorization, "Cache-Control: public, max-age=0")
        for _ in 0..<2 {
            let answer = try proxy.fetch("/feed", ann)
            #expect(answer["Link"] == nil)
            #expect(answer["Use-As-Dictionary"] != nil)
        }
        let digest = Digest(of: first.span).base64URL
        let name = ChainKey(authority: "api.test", match: "/feed").name
        for user in [ann, bob, "X-A: 1"] {
            #expect(try proxy.fetch("/.dictum/\(name)/\(digest)", user).status == 404)
        }
    }

    @Test func `a body that returns is the same version still`() throws {
        let proxy = try proxy(byAuthorization, #"ETag: "a""#)
        for _ in 0..<3 { _ = try proxy.fetch("/feed", ann) }
        let statistics = proxy.server.context.store.statistics
        #expect(statistics.versions == 1)
        #expect(statistics.admissions == 1)
        #expect(statistics.returns == 0, "compared, and only touched")
    }

    @Test func `a large body goes through piece by piece, and is a dictionary for the next`() throws {
        let (old, new) = (Feed.bytes(version: 0, items: 8000), Feed.bytes(version: 1, items: 8000))
        let proxy = try TestProxy(
            Origin([json(old), json(new), json(new)]),
            """
            routes: [{match: /*, dictionary: {scope: private, identity: authorization}}]
            """)
        #expect(try proxy.fetch("/feed", ann).carries(old))
        let delta = try proxy.fetch("/feed", over: old, ann)
        #expect(delta.coding == "dcz")
        #expect(try delta.carriesDecoded(new, over: old))
        #expect(try proxy.fetch("/feed", over: old, bob).coding == "identity")
    }

    @Test func `neither the log nor the metrics tell who asked, what for, or which body it was`() throws {
        let proxy = try proxy(byAuthorization, isLogged: true)
        _ = try proxy.fetch("/feed?account=zaphod", ann)
        let delta = try proxy.fetch("/feed?account=zaphod", over: first, ann, "X-Version: 1")
        #expect(delta.coding == "dcz")
        let metrics = try proxy.metrics()
        let log = proxy.lastLines()
        #expect(metrics.contains("dictum_admissions_total"))
        #expect(log.count == 2)
        #expect(log.allSatisfy { $0.contains(#""target":"/feed?-""#) })
        for body in [first, second] {
            let digest = Digest(of: body.span)
            for text in [digest.base64, digest.base64URL, digest.hex, "s3cret", "zaphod"] {
                #expect(!metrics.contains(text))
                #expect(!log.contains { $0.contains(text) })
            }
        }
    }
}
