internal import Dictionaries
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let link = #"routes: [{match: "/*", dictionary: {delivery: link}}]"#
private let auto = #"routes: [{match: "/*", dictionary: {delivery: auto}}]"#

/// The value of a Link to a body of api.test's /feed.
private func linkField(to body: [UInt8], host: String = "api.test", match: String = "/feed") -> String {
    let chain = ChainKey(authority: host, match: match).name
    return "</.dictum/\(chain)/\(Digest(of: body.span).base64URL)>; rel=\"compression-dictionary\""
}

/// `delivery: link` and `auto`: which answers carry a Link, and to what.
@Suite(.timeLimit(.minutes(10))) struct LinkTests {
    @Test func `a Link names the first body for as long as its life, whatever comes after`() throws {
        let proxy = try TestProxy(Origin([json(first), json(second)]), link)
        for body in [first, second, second] {
            let answer = try proxy.fetch("/feed?page=1")
            #expect(answer.carries(body))
            #expect(answer.values("Link") == [linkField(to: first)])
            #expect(answer["Use-As-Dictionary"] == nil, "one or the other")
        }
    }

    @Test(arguments: [
        ("public, max-age=59", true), ("public, max-age=60", false), ("s-maxage=600", true),
        ("public, max-age=0", true), ("public, no-cache", true), ("public", true),
        ("public, max-age=59, stale-while-revalidate=1", false),
        ("public, max-age=58, stale-while-revalidate=1", true),
    ])
    func `auto takes a Link where a public answer is dropped within a minute`(control: String, isLink: Bool)
        throws
    {
        let proxy = try TestProxy(json(first, "Cache-Control: \(control)"), auto)
        let answer = try proxy.fetch("/feed")
        #expect(answer["Link"] == (isLink ? linkField(to: first) : nil))
        #expect(answer["Use-As-Dictionary"] == (isLink ? nil : #"match="/feed""#))
    }

    @Test(arguments: ["max-age=0", "no-cache", "max-age=59, immutable"])
    func `auto stays in band where a response does not say that it is for everybody`(control: String) throws {
        let answer = try TestProxy(json(first, "Cache-Control: \(control)"), auto).fetch("/feed")
        #expect(answer["Link"] == nil)
        #expect(answer["Use-As-Dictionary"]?.hasPrefix(#"match="/feed", id=""#) == true)
    }

    @Test(arguments: [
        ("Fri, 01 Jan 2021 00:00:59 GMT", "Expires", true),
        ("Fri, 01 Jan 2021 00:01:00 GMT", "Expires", false),
        ("Thu, 31 Dec 2020 23:50:10 GMT", "Last-Modified", true),
        ("Thu, 31 Dec 2020 23:50:00 GMT", "Last-Modified", false),
    ])
    func `auto heeds Expires, and the heuristic of a tenth since Last-Modified`(
        date: String, field: String, isLink: Bool
    ) throws {
        let proxy = try TestProxy(
            json(first, "Cache-Control: public", "Date: Fri, 01 Jan 2021 00:00:00 GMT", "\(field): \(date)"),
            auto)
        #expect(try (proxy.fetch("/feed")["Link"] != nil) == isLink)
    }

    @Test(arguments: [
        ("ttl: 60s", #"match="/feed", ttl=60"#), ("ttl: 59s", nil),
        ("cache_control: max-age=60", #"match="/feed""#),
        ("cache_control: max-age=59", nil),
    ])
    func `auto stays in band where a ttl or a Cache-Control of the route helps`(
        setting: String, field: String?
    ) throws {
        let proxy = try TestProxy(
            json(first, "Cache-Control: public, no-cache"),
            #"routes: [{match: "/*", dictionary: {\#(setting)}}]"#)
        let answer = try proxy.fetch("/feed")
        #expect(answer["Use-As-Dictionary"] == field)
        #expect(answer["Link"] == (field == nil ? linkField(to: first) : nil))
    }

    @Test func `the implied route stays in band`() throws {
        let proxy = try TestProxy(json(first, "Cache-Control: public, no-cache"))
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] == #"match="/feed""#)
    }

    @Test(arguments: [
        "Use-As-Dictionary: match=\"/own\"", "Link: </own>; rel=\"compression-dictionary\"",
        "Link: </style>; rel=preload, </own>; rel=compression-dictionary",
    ])
    func `an upstream that offers a dictionary itself gets none of ours beside it`(own: String) throws {
        for settings in [link, #"routes: [{match: "/*", dictionary: {delivery: in_band}}]"#] {
            let proxy = try TestProxy(json(first, own), settings)
            let answer = try proxy.fetch("/feed")
            #expect(answer.values("Use-As-Dictionary").count + answer.values("Link").count == 1)
            #expect(answer.fields.contains { "\($0.name): \($0.value)" == own })
        }
    }

    @Test func `other Links of the upstream stay`() throws {
        let proxy = try TestProxy(json(first, "Link: </style>; rel=preload"), link)
        #expect(try proxy.fetch("/feed").values("Link") == ["</style>; rel=preload", linkField(to: first)])
    }

    @Test(arguments: [
        ("", "Cache-Control: no-store"), ("Vary: *", ""), ("", "X-Forwarded-Proto: http"),
        ("", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors"),
    ])
    func `what must not be offered gets no Link, and is not named`(field: String, asked: String) throws {
        let answer = field.isEmpty ? json(first) : json(first, field)
        let proxy = try TestProxy(Origin([answer, answer, json(second)]), link)
        for _ in 1...2 {
            let answer = try asked.isEmpty ? proxy.fetch("/feed") : proxy.fetch("/feed", asked)
            #expect(answer.values("Link").isEmpty && answer["Use-As-Dictionary"] == nil)
        }
    }

    @Test(arguments: ["POST", "HEAD"])
    func `only GET has a Link`(method: String) throws {
        let origin = try Origin { request, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(first.count)")
            connection.send(request.method == "HEAD" ? head : head + first)
        }
        let proxy = try TestProxy(origin, link)
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed", method: method, body: [])["Link"] == nil)
    }

    @Test func `a 304 has the Link, too`() throws {
        let origin = try Origin { request, connection in
            connection.send(
                request["If-None-Match"] == nil
                    ? json(first, #"ETag: "v1""#) : wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#))
        }
        let proxy = try TestProxy(origin, link)
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", #"If-None-Match: "v1""#)
        #expect(answer.status == 304)
        #expect(answer["Link"] == linkField(to: first))
        #expect(answer["Use-As-Dictionary"] == nil)
    }

    @Test func `a body that goes through piece by piece is named for the next answer`() throws {
        let large = Feed.bytes(version: 0, items: 850)
        let origin = try Origin { _, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public",
                "Transfer-Encoding: chunked")
            connection.send(head + chunk(Array(large.prefix(100_000))))
            pauseBeyondTheHold()
            connection.send(chunk(Array(large.dropFirst(100_000))) + chunk([]))
        }
        let proxy = try TestProxy(origin, link)
        let answer = try proxy.fetch("/feed")
        #expect(answer.carries(large))
        #expect(answer["Link"] == nil && answer["Use-As-Dictionary"] == nil, "there is none yet")
        #expect(try proxy.fetch("/feed")["Link"] == linkField(to: large))
    }

    @Test func `each variant and each authority has a name of its own`() throws {
        let origin = try Origin { request, connection in
            let isGerman = request["Accept-Language"] == "de"
            connection.send(json(isGerman ? second : first, "Vary: Accept-Language"))
        }
        let proxy = try TestProxy(origin, link)
        #expect(try proxy.fetch("/feed", "Accept-Language: en")["Link"] == linkField(to: first))
        #expect(try proxy.fetch("/feed", "Accept-Language: de")["Link"] == linkField(to: second))
        #expect(
            try proxy.fetch("/feed", "Accept-Language: de", host: "b.test")["Link"]
                == linkField(to: second, host: "b.test"))
    }

    @Test(arguments: ["dictionaries: off", #"routes: [{match: "/*", dictionary: off}]"#])
    func `switched off, there is no Link`(settings: String) throws {
        let proxy = try TestProxy(json(first), settings)
        #expect(try proxy.fetch("/feed")["Link"] == nil)
    }

    @Test func `the name survives a restart`() throws {
        let folder = try TestFolder()
        let before = try TestProxy(Origin(json(first)), link, store: folder.file("store.sqlite"))
        #expect(try before.fetch("/feed")["Link"] == linkField(to: first))
        before.stop()
        let after = try TestProxy(Origin(json(second)), link, store: folder.file("store.sqlite"))
        #expect(try after.fetch("/feed")["Link"] == linkField(to: first))
    }

    @Test func `a version whose gain has halved is replaced, one that still saves is not`() throws {
        // Nothing in common with the first, but easy to compress by itself.
        let other = Array("0123456789".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 9_000)
        let origin = try Origin([json(first), json(second), json(second), json(other)])
        let proxy = try TestProxy(origin, link)
        for _ in 1...3 { #expect(try proxy.fetch("/feed")["Link"] == linkField(to: first)) }
        // Measured beside the loop, at the earliest a second after the second body was: the test's time limit is the end.
        while try proxy.fetch("/feed")["Link"] == linkField(to: first) { pauseBeyondTheHold() }
        #expect(try proxy.fetch("/feed")["Link"] == linkField(to: other))
        #expect(
            try proxy.fetch("/feed", over: first).coding.hasPrefix("dc"),
            "what was named before is still a dictionary")
    }
}
