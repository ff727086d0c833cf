internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let small = Feed.bytes(version: 0, items: 40)

@Suite(.timeLimit(.minutes(40))) struct OfferTests {
    @Test func `an admitted answer offers itself for its own path`() throws {
        let proxy = try TestProxy(json(small))
        #expect(try proxy.fetch("/feed?page=2")["Use-As-Dictionary"] == #"match="/feed""#)
    }

    @Test(arguments: [
        "HTTP/1.1 404 Not Found", "HTTP/1.1 500 Internal Server Error", "HTTP/1.1 201 Created",
        "HTTP/1.1 302 Found\r\nLocation: /other",
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-99/200",
        "HTTP/1.1 200 OK\r\nContent-Range: bytes 0-99/200", "HTTP/1.1 200 OK\r\nSet-Cookie: a=b",
        "HTTP/1.1 200 OK\r\nCache-Control: private",
        "HTTP/1.1 200 OK\r\nCache-Control: private=\"x\", public",
        "HTTP/1.1 200 OK\r\nCache-Control: no-store", "HTTP/1.1 200 OK\r\nVary: *",
        "HTTP/1.1 200 OK\r\nVary: X-Api-Key",
        "HTTP/1.1 200 OK\r\nContent-Encoding: compress", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, br",
    ])
    func `what must not be a dictionary is not offered, and is none`(head: String) throws {
        let proxy = try TestProxy(wire(head, "Content-Type: application/json", body: small), "personal: off")
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] == nil)
        let second = try proxy.fetch("/feed", over: small)
        #expect(second["Use-As-Dictionary"] == nil)
        #expect(!second.coding.hasPrefix("dc"), "its digest is unknown")
    }

    @Test(arguments: [
        "Authorization: Bearer x", "Cookie: session=1", "X-Api-Key: k", "X-Auth-Request-User: u",
        "Cache-Control: no-store",
    ])
    func `a personal request's answer is not offered, and is none`(field: String) throws {
        let proxy = try TestProxy(json(small, "Cache-Control: max-age=60"), "personal: off")
        #expect(try proxy.fetch("/feed", field)["Use-As-Dictionary"] == nil)
        #expect(try !proxy.fetch("/feed", over: small).coding.hasPrefix("dc"))
    }

    @Test(arguments: ["Vary: Cookie", "Vary: Accept, Cookie", "Vary: Cookie, Authorization"])
    func `the anonymous variant is offered, with cookies that do not count as without any`(vary: String)
        throws
    {
        let proxy = try TestProxy(json(small, vary), "personal: off")
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] == #"match="/feed""#)
        #expect(try proxy.fetch("/feed", over: small).coding == "dcz")
        #expect(
            try proxy.fetch("/feed", over: small, "Cookie: _ga=GA1.2.3.4; _gid=GA1.2.3.4").coding == "dcz")
        #expect(proxy.server.context.store.statistics.versions == 1, "one variant")
        for cookie in ["sessionid=1", "_ga=GA1.2.3.4; sessionid=1", "_ga_session=BAh7"] {
            let personal = try proxy.fetch("/feed", over: small, "Cookie: \(cookie)")
            #expect(personal.coding == "identity")
            #expect(personal["Use-As-Dictionary"] == nil)
        }
    }

    @Test func `the cookies that do not count are a setting`() throws {
        let proxy = try TestProxy(
            json(small, "Cache-Control: max-age=60"), "personal: off\nignore_cookies: [theme, \"x_*=v#\"]")
        #expect(try proxy.fetch("/feed", "Cookie: theme=dark; x_1=v2")["Use-As-Dictionary"] != nil)
        #expect(try proxy.fetch("/feed", "Cookie: theme=dark; x_1=w2")["Use-As-Dictionary"] == nil)
        #expect(try proxy.fetch("/feed", "Cookie: _ga=GA1.2.3.4")["Use-As-Dictionary"] == nil)
    }

    @Test(arguments: ["/feed?token=1", "/feed?a=b&sig=x", "/a/../feed", "/a//feed", "/%66eed", "/a%2Ffeed"])
    func `a personal query or a path outside the normal form has no offer`(target: String) throws {
        let proxy = try TestProxy(json(small, "Cache-Control: max-age=60"), "personal: off")
        #expect(try proxy.fetch(target)["Use-As-Dictionary"] == nil)
        #expect(proxy.origin.requests.map(\.target) == [target], "it is forwarded untouched")
    }

    @Test(arguments: ["public", "s-maxage=60", "PUBLIC, max-age=60"])
    func `an answer that says it is for all is offered in spite of the request's fields`(control: String)
        throws
    {
        let proxy = try TestProxy(json(small, "Cache-Control: \(control)"))
        let answer = try proxy.fetch(
            "/feed?token=1", "Authorization: Bearer x", "Cookie: a=b", "X-Api-Key: k")
        #expect(answer["Use-As-Dictionary"] == #"match="/feed""#)
    }

    @Test(arguments: ["POST", "HEAD", "PUT", "DELETE", "OPTIONS"])
    func `only GET has an offer`(method: String) throws {
        let proxy = try TestProxy(
            try Origin { request, connection in
                let head = wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(small.count)")
                connection.send(request.method == "HEAD" ? head : head + small)
            })
        #expect(try proxy.fetch("/feed", method: method, body: [])["Use-As-Dictionary"] == nil)
    }

    @Test(arguments: [
        ("image/png", small.count), ("application/octet-stream", small.count),
        ("text/event-stream", small.count),
        ("application/json", 255),
    ])
    func `a type or size outside the settings has no offer`(type: String, count: Int) throws {
        let proxy = try TestProxy(
            wire("HTTP/1.1 200 OK", "Content-Type: \(type)", body: Array(small.prefix(count))))
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] == nil)
    }

    @Test func `min_size and max_body are the bounds of what is offered`() throws {
        let settings = """
            compression: {min_size: 1000}
            routes: [{match: "/*", dictionary: {max_body: 2000, delivery: in_band}}]
            """
        let offers = try [999, 1000, 2000, 2001].map { count in
            let proxy = try TestProxy(json(Array(small.prefix(count))), settings)
            return try proxy.fetch("/feed")["Use-As-Dictionary"] != nil
        }
        #expect(offers == [false, true, true, false])
    }

    @Test func `special characters of a path are escaped in the match`() throws {
        let proxy = try TestProxy(json(small))
        let fields = try ["/a:b", "/a*b", "/a+(c)", "/a$b"].map { try proxy.fetch($0)["Use-As-Dictionary"] }
        // The second backslash is the structured field's (RFC 9651 section 4.1.6).
        #expect(
            fields == [
                #"match="/a{\\:}b""#, #"match="/a\\*b""#, #"match="/a\\+\\(c\\)""#, #"match="/a$b""#,
            ])
        #expect(
            try proxy.fetch("/a*b", over: small).coding == "dcz", "and the match means what it was made from")
        #expect(try proxy.fetch("/aXb", over: small, host: "other.test").coding != "dcz")
    }

    @Test func `match-dest and a template are sent as the route has them`() throws {
        let settings = """
            routes:
              - match: /app/:name.:hash.js
                dictionary: {covers: /app/<name>.*.js, match_dest: [script], delivery: in_band}
            """
        let script = wire(
            "HTTP/1.1 200 OK", "Content-Type: text/javascript", "Cache-Control: public", body: small)
        let proxy = try TestProxy(script, settings)
        #expect(
            try proxy.fetch("/app/main.1a2b.js")["Use-As-Dictionary"]
                == #"match="/app/main.*.js", match-dest=("script")"#)
        #expect(try proxy.fetch("/app/main.3c4d.js", over: small).coding == "dcz")
        #expect(try !proxy.fetch("/app/vendor.5e6f.js", over: small).coding.hasPrefix("dc"))
        #expect(try proxy.fetch("/elsewhere")["Use-As-Dictionary"] == nil, "no route, no dictionary")
    }

    @Test func `an upstream's own offer is kept alone, and its match counts`() throws {
        let own = #"match="/items/*", id="v1""#
        let proxy = try TestProxy(json(small, "Use-As-Dictionary: \(own)"))
        #expect(try proxy.fetch("/items/1").values("Use-As-Dictionary") == [own])
        #expect(try proxy.fetch("/items/2", over: small).coding == "dcz")
        #expect(try !proxy.fetch("/elsewhere", over: small).coding.hasPrefix("dc"))
    }

    /// RFC 9842 section 2.1.1.
    @Test(arguments: [
        "item-*", "./item-*", "/shop/item-*", "http://api.test/shop/item-*", "https://API.test/shop/item-*",
        "{item-*}",
    ])
    func `an upstream's own match counts relative to the URL of its response`(match: String) throws {
        let proxy = try TestProxy(json(small, "Use-As-Dictionary: match=\"\(match)\""))
        _ = try proxy.fetch("/shop/item-1")
        #expect(try proxy.fetch("/shop/item-2", over: small).coding.hasPrefix("dc"))
        for path in ["/item-2", "/other/item-2", "/shop/list"] {
            #expect(try !proxy.fetch(path, over: small).coding.hasPrefix("dc"))
        }
    }

    @Test func `an upstream's own match for another origin makes no dictionary`() throws {
        let proxy = try TestProxy(json(small, #"Use-As-Dictionary: match="https://other.test/*""#))
        _ = try proxy.fetch("/feed")
        #expect(try !proxy.fetch("/feed", over: small).coding.hasPrefix("dc"))
        #expect(proxy.server.context.store.statistics.versions == 0)
    }

    @Test func `an upstream's own offer that no client could read makes no dictionary`() throws {
        let proxy = try TestProxy(json(small, "Use-As-Dictionary: match=/feed"))
        #expect(try proxy.fetch("/feed").values("Use-As-Dictionary") == ["match=/feed"])
        #expect(try !proxy.fetch("/feed", over: small).coding.hasPrefix("dc"))
    }

    @Test func `a 304 offers the body that the client holds, if it is in the chain`() throws {
        let origin = try Origin { request, connection in
            let isHeld = request["If-None-Match"]?.contains(#""v1""#) == true
            let isForeign = request["If-None-Match"]?.contains(#""v9""#) == true
            connection.send(
                isHeld || isForeign
                    ? wire("HTTP/1.1 304 Not Modified", "ETag: \(isHeld ? #""v1""# : #""v9""#)")
                    : json(small, #"ETag: "v1""#))
        }
        let proxy = try TestProxy(origin)
        #expect(try proxy.fetch("/feed", #"If-None-Match: "v9""#)["Use-As-Dictionary"] == nil)
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", #"If-None-Match: "v1""#)
        #expect(answer.status == 304)
        #expect(answer["Use-As-Dictionary"] == #"match="/feed""#)
        #expect(
            answer.members("Vary") == ["accept-encoding", "available-dictionary"],
            "the version is known to vary by nothing else")
        #expect(try proxy.fetch("/feed", #"If-None-Match: "v9""#)["Use-As-Dictionary"] == nil)
        #expect(
            try proxy.fetch("/feed", #"If-None-Match: "v1""#, "Cookie: a=b")["Use-As-Dictionary"] == nil,
            "a personal request has no offer")
    }

    @Test func `a client that is offered its version by a 304 is one of its holders`() throws {
        let origin = try Origin { request, connection in
            connection.send(
                request["If-None-Match"] == nil
                    ? json(small, #"ETag: "v1""#) : wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#))
        }
        let proxy = try TestProxy(origin, "routes: [{match: \"/*\", dictionary: {delivery: in_band}}]")
        _ = try proxy.fetch("/feed")
        let reader = proxy.server.context.store.reader()
        let version = try #require(
            reader.find(
                digest: Digest(of: small.span), authority: "api.test", url: PathAndQuery("/feed")))
        let before = version.holders
        for _ in 0..<2 {
            #expect(try proxy.fetch("/feed", #"If-None-Match: "v1""#)["Use-As-Dictionary"] != nil)
        }
        #expect(version.holders == before + 2)
    }

    @Test func `a client whose response has no offer holds no version, and loses none`() throws {
        let large = Feed.bytes(version: 1, items: 40)
        let origin = try Origin { request, connection in
            let body = request["X-Large"] == nil ? small : large
            connection.send(json(body, "Cache-Control: public, max-age=60"))
        }
        let proxy = try TestProxy(origin, "routes: [{match: \"/*\", dictionary: {delivery: in_band}}]")
        func holders(of body: [UInt8]) throws -> Int {
            let version = proxy.server.context.store.reader().find(
                digest: Digest(of: body.span), authority: "api.test", url: PathAndQuery("/feed"))
            return try #require(version).holders
        }
        let foreign = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\nOrigin: https://other.test"
        for _ in 0..<2 {
            #expect(try proxy.fetch("/feed", foreign)["Use-As-Dictionary"] == nil)
            #expect(try holders(of: small) == 0)
        }
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] != nil)
        #expect(try holders(of: small) == 1)
        // The second time it is wanted by more than one.
        for _ in 0..<2 {
            #expect(try proxy.fetch("/feed", over: small, foreign, "X-Large: 1")["Use-As-Dictionary"] == nil)
        }
        #expect(try holders(of: large) == 0)
        #expect(try holders(of: small) == 1, "the client has its version still")
    }

    @Test func `an offer on a 304 without fields of freshness counts as that of the whole response`() throws {
        let origin = try Origin { request, connection in
            connection.send(
                request["If-None-Match"] == nil
                    ? json(small, #"ETag: "v1""#, "Cache-Control: public, max-age=60")
                    : wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#, request["X-Says"] ?? "X-Other: 1"))
        }
        let proxy = try TestProxy(origin)
        _ = try proxy.fetch("/feed")
        let silent = try proxy.fetch("/feed", #"If-None-Match: "v1""#)
        #expect(silent.status == 304 && silent["Use-As-Dictionary"] != nil)
        #expect(try !proxy.metrics().contains("dictum_unkept_offers_total{"))
        _ = try proxy.fetch("/feed", #"If-None-Match: "v1""#, "X-Says: Cache-Control: public, no-cache")
        #expect(try proxy.metric(#"dictum_unkept_offers_total{route="/*",reason="no-cache"}"#) == 1)
    }

    @Test func `ignored cookies bar neither offer nor use`() throws {
        let settings = """
            personal: off
            routes: [{match: "/*", dictionary: {ignore_set_cookie: [lb], cookies: ignore, delivery: in_band}}]
            """
        let proxy = try TestProxy(json(small, "Set-Cookie: lb=1; Path=/"), settings)
        #expect(try proxy.fetch("/feed", "Cookie: a=b")["Use-As-Dictionary"] == #"match="/feed""#)
        let barred = try TestProxy(json(small, "Set-Cookie: lb=1", "Set-Cookie: other=1"), settings)
        #expect(try barred.fetch("/feed")["Use-As-Dictionary"] == nil)
    }

    @Test(arguments: ["dictionaries: off", #"routes: [{match: "/*", dictionary: off}]"#])
    func `switched off, nothing is offered`(settings: String) throws {
        let proxy = try TestProxy(json(small), settings)
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] == nil)
        #expect(try !proxy.fetch("/feed", over: small).coding.hasPrefix("dc"))
    }

    @Test func `a body that went through piece by piece is offered and becomes a dictionary`() throws {
        let large = Feed.bytes(version: 0, items: 850)
        let origin = try Origin { _, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public",
                "Transfer-Encoding: chunked")
            connection.send(head + chunk(Array(large.prefix(100_000))))
            pauseBeyondTheHold()
            connection.send(chunk(Array(large.dropFirst(100_000))) + chunk([]))
        }
        let proxy = try TestProxy(origin)
        let answer = try proxy.fetch("/feed")
        #expect(answer.carries(large))
        #expect(answer["Use-As-Dictionary"] == #"match="/feed""#)
        #expect(try proxy.fetch("/feed", over: large, accept: "dcz").coding == "dcz")
    }

    @Test(arguments: ["gzip", "identity"])
    func `a coded body of which little has come is as long as it declares`(accept: String) throws {
        let coded = try Codec.encode(small.span, .gzip)
        let origin = try Origin { _, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public",
                "Content-Encoding: gzip", "Content-Length: \(coded.count)")
            connection.send(head + coded.prefix(20))
            pauseBeyondTheHold()
            connection.send(Array(coded.dropFirst(20)))
        }
        let proxy = try TestProxy(origin)
        let answer = try proxy.fetch("/feed", "Accept-Encoding: \(accept)")
        #expect(answer.coding == accept)
        #expect(try answer.carriesDecoded(small))
        #expect(answer["Use-As-Dictionary"] == #"match="/feed""#)
    }
}
