internal import Dictionaries
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let twin = "/api/feed?dictum-own"
private let sameOrigin = "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty"
private let ann = "Cookie: session=ann"

/// The second URL of a resource, whose responses a browser keeps (`TwinURL`).
@Suite(.timeLimit(.minutes(40))) struct TwinURLTests: CapabilitySuite {
    /// Returns a proxy whose upstream sends these fields, and `first`, or `second` to requests with `X-Version: 1`.
    private func proxy(_ control: String, _ settings: String = "", more: String = "X-A: 1") throws
        -> TestProxy
    {
        try TestProxy(
            Origin { request, connection in
                let fields = [control.isEmpty ? "" : "Cache-Control: \(control)", more]
                connection.send(
                    wire(
                        "HTTP/1.1 200 OK", "Content-Type: application/json",
                        fields.filter { !$0.isEmpty }.joined(separator: "\r\n"),
                        body: request["X-Version"] == nil ? first : second))
            }, settings)
    }

    private static let validators = """
        ETag: "v1"\r\nNo-Vary-Search: params\r\nLast-Modified: Tue, 24 Nov 2026 10:00:00 GMT\r\nExpires: 0\r\nPragma: no-cache\r\nAge: 7\r\n\
        Vary: Accept, Cookie\r\nSet-Cookie: session=ann2; HttpOnly
        """

    // MARK: Its response

    @Test(
        arguments: ["private, no-cache", "private, max-age=0, must-revalidate", "no-cache", ""],
        [ann, "Authorization: Bearer ann"])
    func `whatever the API says, the response of the twin URL lives, and is a dictionary for the path`(
        control: String, login: String
    ) throws {
        let proxy = try proxy(control, more: Self.validators)
        let kept = try proxy.fetch("/api/feed?x=1&dictum-own", login, sameOrigin, "X-B: 1")
        #expect(kept.status == 200 && kept.carries(first))
        #expect(kept.values("Cache-Control") == ["private, max-age=86400"])
        #expect(kept.values("CDN-Cache-Control") == ["no-store"])
        for name in ["ETag", "Last-Modified", "Expires", "Pragma", "Age", "No-Vary-Search"] {
            #expect(kept[name] == nil)
        }
        #expect(
            Set(kept.members("Vary")).isSuperset(of: ["cookie", "authorization", "dictionary-id", "accept"]))
        #expect(kept["Set-Cookie"] == "session=ann2; HttpOnly", "the upstream may have replaced the session")
        let offer = try offer(kept)
        #expect(offer.match == "/api/feed?*" && offer.matchDest == [""] && !offer.id.isEmpty)
        let seen = try #require(proxy.origin.requests.first)
        #expect(seen.target == "/api/feed?x=1" && seen["X-B"] == "1")
        for target in ["/api/feed", "/api/feed?x=2", twin] {
            let delta = try proxy.fetch(target, over: first, login, Self.next)
            #expect(delta.coding == "dcz", "\(target)")
            #expect(try delta.carriesDecoded(second, over: first))
        }
        // The path itself says what it always said.
        let plain = try proxy.fetch("/api/feed", login)
        #expect(plain["Cache-Control"] ?? "" == control && plain["ETag"] != nil)
    }

    @Test func `the life is a setting of the route`() throws {
        let proxy = try proxy("no-cache", "routes: [{match: /*, dictionary: {own_max_age: 2h}}]")
        #expect(try proxy.fetch(twin, ann)["Cache-Control"] == "private, max-age=7200")
    }

    @Test
    func `a response for everybody is a dictionary for everybody, and one for a document for documents`()
        throws
    {
        let open = try proxy("public, no-cache", "routes: [{match: /*, announce: off}]")
        let kept = try open.fetch(twin, sameOrigin)
        #expect(kept["Cache-Control"] == "private, max-age=86400")
        #expect(kept["Use-As-Dictionary"] == #"match="/api/feed?*", match-dest=("")"#)
        #expect(try open.fetch("/api/feed", over: first, Self.next).coding == "dcz")
        let page = try TestProxy(html(first, "Cache-Control: private, no-cache"))
        #expect(try offer(page.fetch("/inbox?dictum-own", ann)).matchDest.isEmpty)
    }

    @Test(
        arguments: [
            ("path", "?a=b", "/api/feed?*"), ("pattern", "?a=b", #"/api/*\?*"#),
            ("path, key: [op]", "?op=f&a=b", "/api/feed?{*&}?op=f{&*}?{&dictum-own}?"),
            ("url", "", "/api/feed?{dictum-own}?"), ("url", "?a=b:", #"/api/feed?a=b{\:}{&dictum-own}?"#),
            ("/api/<0>?a=:a", "?a=b", "/api/feed?a=:a{&dictum-own}?"),
            ("/api/<0>?a=b", "?a=b", "/api/feed?a=b{&dictum-own}?"),
        ])
    func `the offer is for the resource and for its twin URL, and for nothing more`(
        covers: String, query: String, match: String
    ) throws {
        let proxy = try proxy(
            "public, no-cache", "routes: [{match: /api/*, announce: off, dictionary: {covers: \(covers)}}]")
        let plain = "/api/feed\(query)"
        let twin = plain + (query.isEmpty ? "?" : "&") + "dictum-own"
        let offer = try #require(
            UseAsDictionary.parse(proxy.fetch(twin, sameOrigin).values("Use-As-Dictionary")))
        #expect(offer.match == match)
        let pattern = try URLPattern(match)
        for target in [plain, twin] {
            let url = PathAndQuery(target)
            #expect(pattern.matches(path: url.path, query: url.query), "\(target)")
            let delta = try proxy.fetch(target, over: first, Self.next)
            #expect(try delta.coding == "dcz" && delta.carriesDecoded(second, over: first), "\(target)")
        }
        #expect(proxy.origin.requests.allSatisfy { $0.target == plain })
        let own = try #require(UseAsDictionary.parse(proxy.fetch(plain).values("Use-As-Dictionary"))).match
        #expect(own.utf8.count < match.utf8.count && match.hasPrefix(own), "it neither replaces it nor wins")
        for query in ["c", "", "a=bdictum-own", "a=b&x"] {
            #expect(
                try pattern.matches(path: "/api/feed", query: query)
                    == URLPattern(own).matches(path: "/api/feed", query: query), "\(query)")
        }
    }

    @Test func `a body that goes out before it is complete is kept, too`() throws {
        let gate = Gate()
        let origin = try Origin { request, connection in
            if request["X-Version"] != nil {
                connection.send(json(second, "Cache-Control: private"))
                return
            }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: private, no-cache",
                    "Transfer-Encoding: chunked") + chunk(Array(first.prefix(3_000))))
            gate.wait(seconds: 50)
            connection.send(chunk(Array(first.dropFirst(3_000))) + chunk([]))
        }
        let proxy = try TestProxy(origin)
        let socket = try proxy.connect()
        socket.send(request(twin, [ann]))
        var head = try socket.receiveHead()
        gate.open()
        #expect(head["Cache-Control"] == "private, max-age=86400" && head["ETag"] == nil)
        let id = try offer(head).id
        socket.receiveBody(&head)
        #expect(head.carries(first))
        let delta = try proxy.fetch("/api/feed", over: first, ann, Self.next, "Dictionary-ID: \"\(id)\"")
        #expect(delta.coding == "dcz")
    }

    @Test(arguments: [
        wire("HTTP/1.1 404 Not Found", "Cache-Control: max-age=60", "X-A: 1", body: Array("no".utf8)),
        wire("HTTP/1.1 401 Unauthorized", "Content-Type: application/json", body: first),
        wire("HTTP/1.1 302 Found", "Location: /login", "Set-Cookie: a=b", body: []),
        wire("HTTP/1.1 204 No Content", "Cache-Control: max-age=60"),
        wire("HTTP/1.1 200 OK", "Content-Type: image/png", "ETag: \"v1\"", body: first),
        json(first, "Cache-Control: no-store"), json([0x7b, 0x7d], "Cache-Control: private, max-age=60"),
        json(first, "Vary: *"), json(first, #"Use-As-Dictionary: match="/f*""#, "Cache-Control: private"),
    ])
    func `a response that can be no dictionary passes, and nobody keeps it`(response: [UInt8]) throws {
        let proxy = try TestProxy(response)
        let answer = try proxy.fetch(twin, ann, sameOrigin)
        let plain = try proxy.fetch("/api/feed", ann)
        #expect(answer.startLine == plain.startLine && answer.body == plain.body)
        #expect(answer.values("Cache-Control") == ["no-store"])
        #expect(answer["Location"] == plain["Location"] && answer["Set-Cookie"] == plain["Set-Cookie"])
        if plain["Use-As-Dictionary"] == nil { #expect(answer["Use-As-Dictionary"] == nil) }
    }

    @Test func `conditions, ranges and upgrades of the client are not those of the resource`() throws {
        let proxy = try proxy("private, no-cache", more: #"ETag: "v1""#)
        for field in [
            #"If-None-Match: "v1""#, "If-None-Match: *", "Range: bytes=0-1", #"If-Range: "v1""#,
            "If-Modified-Since: Tue, 24 Nov 2026 10:00:00 GMT", "Upgrade: websocket\r\nConnection: upgrade",
        ] {
            let answer = try proxy.fetch(twin, ann, field)
            #expect(answer.status == 200 && answer.carries(first), "\(field)")
        }
        for request in proxy.origin.requests {
            for name in ["If-None-Match", "Range", "If-Range", "If-Modified-Since", "Upgrade"] {
                #expect(request[name] == nil)
            }
        }
    }

    // MARK: Its route

    @Test func `the route's limits, prefix, fields and upstream are those of the path`() throws {
        let other = try Origin(json(first, "Cache-Control: private"))
        let proxy = try TestProxy(
            try Origin(json(second)),
            """
            upstreams: {own: {urls: ["\(other.url)"]}}
            routes:
            - match: /api/*
              upstream: own
              strip_prefix: /api
              headers: {request: {set: {X-Set: "1"}}, response: {set: {X-Get: "1"}}}
              limits: {rate: 2/h, burst: 2}
            - {match: /*}
            """)
        let answers = try [twin, "/api/feed", twin].map {
            try proxy.fetch($0, "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https")
        }
        #expect(answers.map(\.status) == [200, 200, 429])
        #expect(answers[0]["X-Get"] == "1" && answers[0].carries(first))
        let seen = other.requests
        #expect(seen.map(\.target) == ["/feed", "/feed"] && proxy.origin.requests.isEmpty)
        #expect(seen.allSatisfy { $0["X-Set"] == "1" && $0["X-Forwarded-Prefix"] == "/api" })
    }

    @Test func `the log names the twin URL, and the route of the path`() throws {
        let proxy = try TestProxy(
            Origin(json(first, "Cache-Control: private")), "routes: [{match: /api/*}, {match: /*}]",
            isLogged: true)
        _ = try proxy.fetch("/api/feed?token=s3cret&dictum-own", ann)
        let line = try #require(proxy.lastLines().first)
        #expect(line.contains(#""target":"/api/feed?token=-&dictum-own""#), "\(line)")
        #expect(line.contains(#""route":"/api/*""#), "\(line)")
    }

    // MARK: Where there is none

    @Test(arguments: [
        "dictionaries: off", "routes: [{match: /api/*, dictionary: off}, {match: /*}]",
        "routes: [{match: /other}]", "authorities: [other.test]", "mode: observe",
    ])
    func `where dictionaries are off there is no twin URL`(settings: String) throws {
        let proxy = try proxy("private, no-cache", settings)
        let answer = try proxy.fetch(twin, ann, sameOrigin)
        #expect(answer.status == 404 && answer["Cache-Control"] == "no-store")
        #expect(proxy.origin.requests.isEmpty)
    }

    @Test func `while the switch is off there is no twin URL`() throws {
        let proxy = try proxy("private, no-cache")
        #expect(try proxy.turn("off") == 200)
        #expect(try proxy.fetch(twin, ann).status == 404)
        #expect(try proxy.turn("on") == 200)
        #expect(try proxy.fetch(twin, ann).status == 200)
    }

    @Test func `a client that the experiment holds out has no twin URL, so that it fetches nothing in vain`()
        throws
    {
        let proxy = try proxy("private, no-cache", "experiment: {holdout: 50%}")
        var heldOut = 0
        for number in 1...40 {
            let answer = try proxy.fetch(twin, ann, forwarded(for: number))
            guard answer["Use-As-Dictionary"] == nil else { continue }
            heldOut += 1
            #expect(answer.status == 404)
        }
        #expect((1..<40).contains(heldOut))
    }

    // MARK: Renewal

    @Test func `when deltas have become long the response says so, where nothing else brings a dictionary`()
        throws
    {
        let version = Guarded(0)
        let origin = try Origin { request, connection in
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json",
                    "Cache-Control: \(request["X-Control"] ?? "")",
                    body: Feed.bytes(version: version.withLock { $0 }, items: 300)))
        }
        let proxy = try TestProxy(origin)
        let kept = try proxy.fetch(twin, ann, "X-Control: private, no-cache").body
        func timing(_ number: Int, _ control: String = "private, no-cache") throws -> String? {
            version.withLock { $0 = number }
            let answer = try proxy.fetch("/api/feed", over: kept, ann, "X-Control: \(control)")
            #expect(answer.coding == "dcz")
            #expect(try answer.carriesDecoded(Feed.bytes(version: number, items: 300), over: kept))
            return answer["Server-Timing"]
        }
        #expect(try timing(1) == nil && timing(2) == nil)
        #expect(try timing(40) == "dictum-renew")
        #expect(try timing(41, "private, max-age=600") == nil, "the browser keeps this response itself")
    }

    // MARK: HTTP/2

    @Test func `in HTTP/2 it is the same`() throws {
        let proxy = try proxy("private, no-cache", more: Self.validators)
        let peer = try proxy.connectHTTP2()
        peer.request(1, twin, [("cookie", "session=ann"), ("sec-fetch-site", "same-origin")])
        let kept = try #require(peer.response(1))
        #expect(kept.status == "200" && kept.body == first && kept["etag"] == nil)
        #expect(kept["cache-control"] == "private, max-age=86400")
        let offer = try #require(kept["use-as-dictionary"].flatMap { UseAsDictionary.parse([$0]) })
        peer.request(
            3, "/api/feed",
            [
                ("cookie", "session=ann"), ("x-version", "1"), ("accept-encoding", "dcz"),
                ("available-dictionary", ":\(Digest(of: first.span).base64):"),
                ("dictionary-id", "\"\(offer.id)\""),
            ])
        #expect(peer.response(3)?["content-encoding"] == "dcz")
        #expect(proxy.origin.requests.map(\.target) == ["/api/feed", "/api/feed"])
    }
}
