internal import Dictionaries
internal import Primitives
internal import Storage
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

/// A 200 of JSON that says that it is for everybody.
private func open(_ body: [UInt8], _ fields: String...) -> [UInt8] {
    json(body, (["Cache-Control: public"] + fields).joined(separator: "\r\n"))
}

/// Tests which responses carry a Link, and its target, with `delivery: link` and `auto`.
@Suite(.timeLimit(.minutes(40))) struct LinkTests {
    @Test func `a Link names the first proven body for as long as its life, whatever comes after`() throws {
        let proxy = try TestProxy(Origin(Array(repeating: open(first), count: 3) + [open(second)]), link)
        let proving = try proxy.prove("/feed?page=1")
        #expect(proving.map { $0["Link"] } == [nil, nil, linkField(to: first)])
        #expect(proving.map { $0["Use-As-Dictionary"] } == [#"match="/feed""#, #"match="/feed""#, nil])
        for _ in 1...2 {
            let answer = try proxy.fetch("/feed?page=1")
            #expect(answer.carries(second))
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
        let proxy = try TestProxy(html(first, "Cache-Control: \(control)"), auto)
        let answer = try #require(try proxy.prove("/feed").last)
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
            html(first, "Cache-Control: public", "Date: Fri, 01 Jan 2021 00:00:00 GMT", "\(field): \(date)"),
            auto)
        #expect(try (proxy.prove("/feed").last?["Link"] != nil) == isLink)
    }

    @Test(arguments: [
        // Browsers ignore it.
        ("ttl: 7d", nil),
        ("cache_control: max-age=60", #"match="/feed""#),
        ("cache_control: max-age=59", nil), ("cache_control: \"public, max-age=59\"", nil),
    ])
    func `auto stays in band where a Cache-Control of the route helps`(
        setting: String, field: String?
    ) throws {
        let proxy = try TestProxy(
            html(first, "Cache-Control: public, no-cache"),
            #"routes: [{match: "/*", dictionary: {\#(setting)}}]"#)
        let answer = try #require(try proxy.prove("/feed").last)
        #expect(answer["Use-As-Dictionary"] == field)
        #expect(answer["Link"] == (field == nil ? linkField(to: first) : nil))
    }

    @Test func `the implied route stays in band`() throws {
        let proxy = try TestProxy(html(first, "Cache-Control: public, no-cache"))
        #expect(try proxy.prove("/feed").last?["Use-As-Dictionary"] == #"match="/feed""#)
    }

    @Test(arguments: [
        ("text/html", "", true), ("application/xhtml+xml; charset=utf-8", "", true),
        ("application/json", "", false), ("text/html", "empty", false), ("text/html", "document", true),
        ("application/json", "document", true), ("text/html", "iframe", true), ("text/css", "style", false),
    ])
    func `auto takes a Link only on a document, where browsers follow it`(
        type: String, destination: String, isLink: Bool
    ) throws {
        let proxy = try TestProxy(
            wire(
                "HTTP/1.1 200 OK", "Content-Type: \(type)", "Cache-Control: public, max-age=0", body: first),
            "compression: {types: [\"*/*\"]}\n" + auto)
        let field = destination.isEmpty ? "Accept: */*" : "Sec-Fetch-Dest: \(destination)"
        let answer = try #require(try proxy.prove("/feed", field).last)
        #expect(answer["Link"] == (isLink ? linkField(to: first) : nil))
        #expect((answer["Use-As-Dictionary"] == nil) == isLink)
    }

    @Test func `a Link on what is no document is counted, and one warning an hour names the route`() throws {
        let proxy = try TestProxy(open(first), link)
        for _ in 1...2 { try proxy.prove("/feed") }
        #expect(try proxy.metric(#"dictum_unfollowed_links_total{route="/*"}"#) == 4)
        let said = proxy.events.withLock { $0 }.filter { "\($0)".contains("where no browser follows them") }
        #expect(said.count == 1)
    }

    @Test func `a Link on a document is followed, and no reason to say anything`() throws {
        let proxy = try TestProxy(html(first, "Cache-Control: public, max-age=60"), link)
        #expect(try proxy.prove("/feed").last?["Link"] != nil)
        #expect(try proxy.metric(#"dictum_unfollowed_links_total{route="/*"}"#) == 0)
        #expect(proxy.events.withLock { $0 }.isEmpty)
    }

    @Test(arguments: [
        "Use-As-Dictionary: match=\"/own\"", "Link: </own>; rel=\"compression-dictionary\"",
        "Link: </style>; rel=preload, </own>; rel=compression-dictionary",
    ])
    func `an upstream that offers a dictionary itself gets none of ours beside it`(own: String) throws {
        for settings in [link, #"routes: [{match: "/*", dictionary: {delivery: in_band}}]"#] {
            let proxy = try TestProxy(open(first, own), settings)
            let answer = try #require(try proxy.prove("/feed").last)
            #expect(answer.values("Use-As-Dictionary").count + answer.values("Link").count == 1)
            #expect(answer.fields.contains { "\($0.name): \($0.value)" == own })
        }
    }

    @Test func `other Links of the upstream stay`() throws {
        let proxy = try TestProxy(open(first, "Link: </style>; rel=preload"), link)
        #expect(
            try proxy.prove("/feed").last?.values("Link") == ["</style>; rel=preload", linkField(to: first)])
    }

    @Test(arguments: [
        ("", "Cache-Control: no-store"), ("Vary: *", ""),
        ("", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors"),
    ])
    func `what must not be offered gets no Link, and is not named`(field: String, asked: String) throws {
        let proxy = try TestProxy(field.isEmpty ? open(first) : json(first, field), link)
        for _ in 1...2 {
            for answer in try proxy.prove("/feed", asked.isEmpty ? "Accept: */*" : asked) {
                #expect(answer.values("Link").isEmpty)
            }
        }
    }

    @Test func `without a secure transport there is no Link`() throws {
        let proxy = try TestProxy(open(first), "secure_transport: never\n" + link)
        #expect(try proxy.prove("/feed").last?["Link"] == nil)
    }

    @Test func `a page that announces its own path names its dictionary once`() throws {
        let proxy = try TestProxy(
            html(first, "Cache-Control: public"),
            #"routes: [{match: "/*", announce: [/feed], dictionary: {delivery: link}}]"#)
        try proxy.prove("/feed")
        #expect(try proxy.fetch("/feed").values("Link").count == 1)
    }

    @Test(arguments: ["POST", "HEAD"])
    func `only GET has a Link`(method: String) throws {
        let origin = try Origin { request, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public",
                "Content-Length: \(first.count)")
            connection.send(request.method == "HEAD" ? head : head + first)
        }
        let proxy = try TestProxy(origin, link)
        try proxy.prove("/feed")
        #expect(try proxy.fetch("/feed")["Link"] != nil)
        #expect(try proxy.fetch("/feed", method: method, body: [])["Link"] == nil)
    }

    @Test(arguments: [true, false])
    func `a 304 has the Link, too, unless the answer has others that it would replace`(hasOthers: Bool) throws
    {
        let own = hasOthers ? "Link: </a>; rel=preload" : "X-None: 1"
        let origin = try Origin { request, connection in
            connection.send(
                request["If-None-Match"] == nil
                    ? open(first, #"ETag: "v1""#, own) : wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#))
        }
        let proxy = try TestProxy(origin, link)
        try proxy.prove("/feed")
        let answer = try proxy.fetch("/feed", #"If-None-Match: "v1""#)
        #expect(answer.status == 304)
        #expect(answer["Link"] == (hasOthers ? nil : linkField(to: first)))
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
        for answer in try proxy.prove("/feed") {
            #expect(answer.carries(large))
            #expect(answer["Link"] == nil, "there is none yet")
        }
        #expect(try proxy.fetch("/feed")["Link"] == linkField(to: large))
    }

    @Test func `each variant and each authority has a name of its own`() throws {
        let origin = try Origin { request, connection in
            let isGerman = request["Accept-Language"] == "de"
            connection.send(open(isGerman ? second : first, "Vary: Accept-Language"))
        }
        let proxy = try TestProxy(origin, link)
        #expect(try proxy.prove("/feed", "Accept-Language: en").last?["Link"] == linkField(to: first))
        #expect(try proxy.prove("/feed", "Accept-Language: de").last?["Link"] == linkField(to: second))
        #expect(
            try proxy.prove("/feed", "Accept-Language: de", host: "b.test").last?["Link"]
                == linkField(to: second, host: "b.test"))
    }

    @Test(arguments: ["dictionaries: off", #"routes: [{match: "/*", dictionary: off}]"#])
    func `switched off, there is no Link`(settings: String) throws {
        let proxy = try TestProxy(html(first, "Cache-Control: public"), settings)
        #expect(try proxy.prove("/feed").last?["Link"] == nil)
    }

    @Test func `the name survives a restart`() throws {
        let folder = try TemporaryFolder()
        let before = try TestProxy(Origin(open(first)), link, store: folder.file("store.sqlite"))
        #expect(try before.prove("/feed").last?["Link"] == linkField(to: first))
        before.stop()
        let after = try TestProxy(Origin(open(second)), link, store: folder.file("store.sqlite"))
        #expect(try after.fetch("/feed")["Link"] == linkField(to: first))
    }

    @Test func `a name whose deltas waste little stays, however often that is measured`() throws {
        let version = Guarded(0)
        let origin = try Origin { _, connection in
            connection.send(open(Feed.bytes(version: version.withLock { $0 }, items: 40)))
        }
        var terms = LinkTerms()
        (terms.renameSeconds, terms.sampleSeconds) = (0, 0)
        let proxy = try TestProxy(origin, link, links: terms)
        #expect(try proxy.prove("/feed").last?["Link"] == linkField(to: first))
        let worker = proxy.server.context.learned.worker
        for _ in 1...3 {
            version.withLock { $0 += 1 }
            try proxy.prove("/feed", available(first), "Accept-Encoding: dcz")
            #expect(worker.finish(), "the savings are measured")
            #expect(try proxy.fetch("/feed")["Link"] == linkField(to: first))
        }
    }

    @Test func `a name whose deltas waste more than another download gives way to a fresh one`() throws {
        let version = Guarded(0)
        let origin = try Origin { _, connection in
            // These bodies have nothing in common with the first three, and each differs little from the one before.
            let (number, seed) = version.withLock { ($0, $0 < 1 ? 900 : 0) }
            connection.send(open(Feed.bytes(version: seed + number, items: 40)))
        }
        var terms = LinkTerms()
        (terms.renameSeconds, terms.sampleSeconds) = (0, 0)
        let proxy = try TestProxy(origin, link, links: terms)
        let old = Feed.bytes(version: 900, items: 40)
        #expect(try proxy.prove("/feed").last?["Link"] == linkField(to: old))
        var link: String?
        try waitUntil("the savings are measured beside the loop, and the Link names a newer version") {
            version.withLock { $0 += 1 }
            try proxy.prove("/feed", available(old), "Accept-Encoding: dcz")
            link = try proxy.fetch("/feed")["Link"]
            return link != linkField(to: old)
        }
        #expect(link?.contains("/.dictum/") == true)
        #expect(try proxy.fetch("/feed", over: old).coding.hasPrefix("dc"), "it is still a dictionary")
        let path = DictionaryPath(
            chainName: ChainKey(authority: "api.test", match: "/feed").name, digest: Digest(of: old.span))
        let answer = try proxy.fetch(path.text)
        #expect(answer.carries(old), "and its URL still works")
        #expect(answer["Cache-Control"] == "public, max-age=86400, immutable")
    }
}
