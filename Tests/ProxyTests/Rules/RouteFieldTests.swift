internal import Dictionaries
internal import HTTP
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 40)
private let next = Feed.bytes(version: 1, items: 40)

/// `strip_prefix` and `headers`: the messages that the upstream and the clients get.
@Suite(.timeLimit(.minutes(40))) struct RouteFieldTests {
    private func proxy(_ answer: [UInt8], _ route: String, _ more: String = "") throws -> TestProxy {
        try TestProxy(answer, "routes: [{match: \"/api/*\", \(route)}, {match: \"/*\"}]\n\(more)")
    }

    // MARK: The prefix

    @Test(
        arguments: [
            ("/api/feed?a=1", "/feed?a=1"), ("/api", nil), ("/api/", "/"), ("/api/?q", "/?q"),
            ("/api/api/x", "/api/x"),
            ("/api//evil.test/x", "/evil.test/x"), ("/api/x/../y", "/x/../y"),
            ("/apix/feed", nil), ("/x/api/feed", nil), ("/api/a%20b", "/a%20b"),
            ("http://api.test/api/feed", "/feed"),
            ("/api/*", "/*"),
        ] as [(String, String?)])
    func `the upstream gets the path without the prefix`(target: String, expected: String?) throws {
        let prefix = try #require(PathPrefix("/api/"))
        let stripped = prefix.removed(from: try RequestTarget(target))
        let isWhole = target == "/api"
        #expect(
            stripped.map { String(decoding: $0.pathAndQuery, as: UTF8.self) } == (isWhole ? "/" : expected))
        let proxy = try proxy(json(body), "strip_prefix: /api")
        let peer = try proxy.connectHTTP2()
        _ = try proxy.fetch(target, "X-Forwarded-Prefix: /edge")
        if target.hasPrefix("/") {
            peer.request(1, target)
            #expect(peer.response(1)?.status == "200")
        }
        // The route is for what stands below /api/.
        let sent = isWhole ? target : expected ?? target
        for seen in proxy.origin.requests {
            #expect(seen.startLine == "GET \(sent) HTTP/1.1")
        }
        #expect(
            proxy.origin.requests.first?["X-Forwarded-Prefix"] == (sent == target ? "/edge" : "/edge/api"))
    }

    @Test(arguments: [
        "/", "", "api", "/a*", "/:a", "/a?b", "/a#b", "/a b", "/a/../b", "/a//b", "/.dictum/x", "/{a}",
        "/a\\b",
    ])
    func `a prefix has fixed segments`(text: String) {
        #expect(PathPrefix(text) == nil)
    }

    @Test func `dictionaries and Links go by the client's path`() throws {
        let origin = try Origin([json(body), json(next), json(next)])
        let proxy = try TestProxy(
            origin, "routes: [{match: \"/api/*\", strip_prefix: /api, dictionary: {delivery: in_band}}]")
        #expect(try proxy.fetch("/api/feed")["Use-As-Dictionary"]?.hasPrefix("match=\"/api/feed\"") == true)
        let delta = try proxy.fetch("/api/feed", over: body)
        #expect(delta.coding == "dcz")
        #expect(try delta.carriesDecoded(next, over: body))
        #expect(origin.requests.allSatisfy { $0.startLine == "GET /feed HTTP/1.1" })
        #expect(try proxy.fetch("/feed", over: body, accept: "dcz, gzip").coding == "gzip", "another path")
    }

    // MARK: Fields

    @Test func `the upstream gets the fields of the route, with its own Host`() throws {
        let proxy = try proxy(
            json(body),
            """
            headers: {request: {set: {Host: "backend.internal:81", X-Tenant: shop, Authorization: Basic eDp5}, \
            remove: [Cookie, x-secret]}}
            """)
        let fields = [
            "X-Tenant: evil", "x-tenant: evil2", "Cookie: a=1", "Cookie: b=2", "X-Secret: 1",
            "Authorization: Bearer x",
            "Connection: X-Tenant, authorization", "X-Kept: 1", "X_Tenant: evil3", "x.secret: 1",
        ]
        let client = try proxy.connect()
        client.send(request("/api/feed", fields))
        #expect(try client.receive().status == 200)
        let peer = try proxy.connectHTTP2()
        peer.request(
            1, "/api/feed",
            [
                ("x-tenant", "evil"), ("cookie", "a=1"), ("x-secret", "1"), ("x-kept", "1"),
                ("x_tenant", "evil"),
            ])
        #expect(peer.response(1)?.status == "200")
        #expect(proxy.origin.requests.count == 2)
        for seen in proxy.origin.requests {
            #expect(seen.values("Host") == ["backend.internal:81"])
            #expect(seen.values("X-Forwarded-Host") == ["api.test"])
            #expect(seen.values("X-Tenant") == ["shop"])
            #expect(seen.values("Authorization") == ["Basic eDp5"])
            #expect(seen["Cookie"] == nil && seen["X-Secret"] == nil && seen["X-Kept"] == "1")
            #expect(!seen.fields.contains { $0.name.contains("_") || $0.name.contains(".") })
        }
        _ = try proxy.fetch("/other", "X-Secret: 1")
        #expect(proxy.origin.requests.last?["X-Secret"] == "1", "another route")
    }

    @Test func `trailers have none of the fields that the route removes`() throws {
        let proxy = try proxy(
            wire("HTTP/1.1 103 Early Hints", "X-Inner: 1", "Link: </a>; rel=preload")
                + wire(
                    "HTTP/1.1 200 OK", "Content-Type: image/png", "X-Inner: 1", "Transfer-Encoding: chunked",
                    "Trailer: X-Inner, X-Sum")
                + Array("3\r\nabc\r\n0\r\nX-Inner: 1\r\nX-Sum: 7\r\n\r\n".utf8),
            "headers: {request: {remove: [X-Admin]}, response: {remove: [x-inner], set: {X-Own: a}}}")
        let client = try proxy.connect()
        client.send(
            "POST /api/x HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nX-Admin: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "1\r\na\r\n0\r\nX-Admin: 1\r\nX-Other: 1\r\n\r\n")
        let early = try client.receive()
        #expect(
            early.status == 103 && early["X-Inner"] == nil && early["X-Own"] == nil && early["Link"] != nil)
        let response = try client.receive()
        #expect(response["X-Inner"] == nil && response["X-Own"] == "a")
        #expect(!response.fields.contains { $0.value.contains("X-Inner") })
        #expect(response.trailers == ["X-Sum: 7"])
        let seen = try #require(proxy.origin.requests.first)
        #expect(seen["X-Admin"] == nil && seen.trailers == ["X-Other: 1"])
    }

    @Test func `clients get the fields of the route, in every coding and on 304`() throws {
        let origin = try Origin { request, connection in
            let isKnown = request["If-None-Match"] != nil
            connection.send(
                wire(
                    "HTTP/1.1 \(isKnown ? "304 Not Modified" : "200 OK")", "Content-Type: application/json",
                    #"ETag: "v1""#, "Server: inner", "X-Powered-By: inner", "X-Frame-Options: ALLOW",
                    body: isKnown ? nil : body))
        }
        let proxy = try TestProxy(
            origin,
            """
            routes:
            - match: /*
              headers: {response: {set: {X-Frame-Options: DENY, Strict-Transport-Security: max-age=1}, remove: [Server, x-powered-by]}}
              dictionary: {delivery: in_band}
            """)
        let responses = [
            try proxy.fetch("/feed", "Accept-Encoding: gzip"), try proxy.fetch("/feed", method: "HEAD"),
            try proxy.fetch("/feed", over: body), try proxy.fetch("/feed", #"If-None-Match: "v1""#),
        ]
        #expect(responses.map(\.status) == [200, 200, 200, 304])
        #expect(responses.map(\.coding) == ["gzip", "identity", "dcz", "identity"])
        for response in responses {
            #expect(response.values("X-Frame-Options") == ["DENY"])
            #expect(response["Server"] == nil && response["X-Powered-By"] == nil)
            #expect(response["Strict-Transport-Security"] == "max-age=1")
            let varies = response["Vary"]?.contains("Available-Dictionary") == true
            #expect(varies == (response.status == 200), "the upstream's 304 has no Vary to add to")
        }
    }

    @Test func `a removed Set-Cookie still made the body for one client`() throws {
        let answer = wire(
            "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
            "Set-Cookie: sid=1",
            body: body)
        let proxy = try TestProxy(
            answer,
            "routes: [{match: \"/*\", headers: {response: {remove: [Set-Cookie]}}, dictionary: {delivery: in_band, personal: off}}]"
        )
        let response = try proxy.fetch("/feed")
        #expect(response["Set-Cookie"] == nil)
        #expect(response["Use-As-Dictionary"] == nil)
    }

    @Test func `a credential that the upstream does not get makes nothing personal`() throws {
        let settings = { (edits: String) in
            """
            explain: on
            routes: [{match: "/*", headers: {request: {\(edits)}}, dictionary: {delivery: in_band}}]
            """
        }
        let fields = ["Cookie: sid=1", "Authorization: Bearer x", "X-Api-Key: k"]
        let answer = wire("HTTP/1.1 200 OK", "Content-Type: application/json", body: body)
        let hidden = try TestProxy(
            answer, settings("remove: [Cookie, Authorization], set: {X-Api-Key: own}"))
        for field in fields {
            #expect(
                try hidden.fetch("/feed", field)["Dictum-Explain"]?.contains("personal=") == false, "\(field)"
            )
        }
        let open = try TestProxy(answer, settings(""))
        for field in fields {
            #expect(
                try open.fetch("/feed", field)["Dictum-Explain"]?.contains("personal=") == true, "\(field)")
        }
    }

    @Test func `a route's media type and origin decide as if the upstream had sent them`() throws {
        let answer = wire("HTTP/1.1 200 OK", "Content-Type: application/octet-stream", body: body)
        let plain = try TestProxy(answer, "routes: [{match: \"/*\"}]")
        #expect(try plain.fetch("/feed", "Accept-Encoding: gzip").coding == "identity")
        let typed = try TestProxy(
            answer, "routes: [{match: \"/*\", headers: {response: {set: {Content-Type: application/json}}}}]")
        let response = try typed.fetch("/feed", "Accept-Encoding: gzip")
        #expect(response.coding == "gzip" && response.values("Content-Type") == ["application/json"])
    }

    @Test(arguments: [("*", true), ("https://page.test", true), ("https://other.test", false)])
    func `a page of another origin gets dictionaries where the route allows its origin`(
        allowed: String, isOffered: Bool
    ) throws {
        let proxy = try proxy(
            json(body), "headers: {response: {set: {Access-Control-Allow-Origin: \"\(allowed)\"}}}")
        let answer = try proxy.fetch(
            "/api/feed", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Origin: https://page.test")
        #expect(answer["Access-Control-Allow-Origin"] == allowed)
        #expect((answer["Use-As-Dictionary"] != nil) == isOffered)
    }

    // MARK: Framing

    @Test(arguments: ["request", "response"])
    func `fields of framing, of a connection and of Dictum itself are refused with words`(message: String) {
        let names = [
            "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
            "Content-Length", "content-encoding", "Available-Dictionary", "Dictionary-ID", "Via",
            "Sec-WebSocket-Key",
            "HTTP2-Settings",
        ]
        let own =
            message == "request"
            ? [
                "Accept-Encoding", "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "Expect",
                "If-None-Match", "Range",
            ]
            : ["Use-As-Dictionary", "Vary", "ETag", "Content-Range", "Digest", "Dictum-Explain", "Date"]
        for name in names + own {
            let set = mistakes("routes: [{match: /a, headers: {\(message): {set: {\(name): x}}}}]")
            #expect(set.count == 1 && set[0].contains(": expected another field"), "\(set)")
            let removed = mistakes("routes: [{match: /a, headers: {\(message): {remove: [\(name)]}}}]")
            #expect(removed.count == 1 && removed[0].contains("): expected another field"), "\(removed)")
        }
    }

    @Test(arguments: [
        #""a\r\nX-Evil: 1""#, #""a\nb""#, #""a\rb""#, #""a\0b""#, #""""#, #"" a""#, #""a ""#, #""a\tb""#,
        #""ä""#,
        #""\x7f""#, #""\u2028""#, "[a]", "{a: b}",
    ])
    func `a value that two parsers could read in two ways is refused`(value: String) {
        let found = mistakes("routes: [{match: /a, headers: {response: {set: {X-A: \(value)}}}}]")
        #expect(found.count == 1 && found[0].contains("headers.response.set.X-A"), "\(found)")
    }
}
