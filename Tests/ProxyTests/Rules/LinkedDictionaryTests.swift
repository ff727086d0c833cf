internal import Dictionaries
internal import Dispatch
internal import TestSupport
internal import Testing

@testable import Proxy
@testable import Storage

private let first = Feed.bytes(version: 0, items: 80)
private let second = Feed.bytes(version: 1, items: 80)
private let link = #"routes: [{match: "/*", dictionary: {delivery: link, ttl: 7d, match_dest: [document]}}]"#
private let feed = ChainKey(authority: "api.test", match: "/feed", matchDest: ["document"])

private func path(of body: [UInt8], in chain: ChainKey = feed) -> String {
    DictionaryPath(chainName: chain.name, digest: Digest(of: body.span)).text
}

/// The URL that a Link gives to a dictionary.
@Suite(.timeLimit(.minutes(40))) struct LinkedDictionaryTests {
    /// A proxy that has named the first body, with the second in the chain, too.
    private func named(_ settings: String = link, store: String = ":memory:") throws -> TestProxy {
        let open = { (body: [UInt8]) in html(body, "Cache-Control: public") }
        let proxy = try TestProxy(
            Origin(Array(repeating: open(first), count: 3) + [open(second)]), settings, store: store)
        try proxy.prove("/feed")
        _ = try proxy.fetch("/feed")
        return proxy
    }

    @Test func `it answers with the body and all that keeps it harmless`() throws {
        let proxy = try named()
        let answer = try proxy.fetch(path(of: first))
        #expect(answer.status == 200)
        #expect(answer.carries(first))
        #expect(answer["Content-Type"] == "application/octet-stream")
        #expect(answer["Content-Length"] == "\(first.count)")
        #expect(answer["Use-As-Dictionary"] == #"match="/feed", match-dest=("document"), ttl=604800"#)
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        #expect(answer["Content-Security-Policy"] == "sandbox; default-src 'none'")
        #expect(answer["Content-Disposition"] == #"attachment; filename="dictionary""#)
        #expect(answer["Cross-Origin-Resource-Policy"] == "same-origin")
        #expect(answer.members("Vary") == ["accept-encoding", "available-dictionary"])
        #expect(answer["ETag"]?.hasPrefix("\"") == true)
        #expect(answer["Link"] == nil && answer["Accept-Ranges"] == nil && answer["Date"] != nil)
        #expect(proxy.origin.requests.count == 4, "the upstream is not asked")
    }

    @Test func `a disk that hangs costs two seconds, and then it is unavailable, not gone`() throws {
        let folder = try TemporaryFolder()
        let store = folder.path + "/store"
        let former = try named(store: store)
        former.stop()
        let proxy = try TestProxy(Origin([json(second)]), link, store: store)
        let disk = proxy.server.context.store.loader.queue
        disk.suspend()
        let url = path(of: first)
        let answer = Result { try proxy.fetch(url) }
        disk.resume()
        #expect(try answer.get().status == 503 && answer.get()["Retry-After"] == "1")
        #expect(try proxy.fetch(url).carries(first))
    }

    @Test func `it may be cached for what is left of its life`() throws {
        let proxy = try named()
        let control = try #require(try proxy.fetch(path(of: first))["Cache-Control"])
        let match = try #require(control.wholeMatch(of: /public, max-age=([0-9]+), immutable/))
        let life = try #require(Int(match.output.1))
        #expect(86_340...86_400 ~= life)
        #expect(try proxy.fetch(path(of: second)).status == 404, "of the chain, but not named")
    }

    @Test(arguments: ["gzip", "br", "zstd", "identity"])
    func `it comes in the best plain coding`(coding: String) throws {
        let answer = try named().fetch(path(of: first), "Accept-Encoding: \(coding)")
        #expect(answer.coding == coding)
        #expect(try answer.carriesDecoded(first))
        #expect(answer["ETag"]?.hasPrefix("W/") == (coding != "identity"))
    }

    @Test(arguments: ["dcz", "dcb"])
    func `it is a delta over another of its chain that the client has`(coding: String) throws {
        let proxy = try named()
        let answer = try proxy.fetch(path(of: first), over: second, accept: coding)
        #expect(answer.coding == coding)
        #expect(try answer.carriesDecoded(first, over: second))
        #expect(answer.body.count * 10 < first.count)
        #expect(answer["CDN-Cache-Control"] == "no-store")
    }

    @Test(arguments: [
        "X-Forwarded-Proto: http", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\nOrigin: https://x",
        "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors",
    ])
    func `no delta and no offer without a secure transport, or across origins`(fields: String) throws {
        let answer = try named().fetch(path(of: first), over: second, fields, accept: "dcz, gzip")
        #expect(answer.coding == "gzip")
        #expect(try answer.carriesDecoded(first))
        #expect(answer["Use-As-Dictionary"] == nil)
    }

    @Test func `a digest of another chain is of no use`() throws {
        let origin = try Origin { request, connection in
            connection.send(html(request.target == "/feed" ? first : second, "Cache-Control: public"))
        }
        let proxy = try TestProxy(origin, link)
        for target in ["/feed", "/other"] { try proxy.prove(target) }
        let answer = try proxy.fetch(path(of: first), over: second, accept: "dcz, gzip")
        #expect(answer.coding == "gzip")
        #expect(try answer.carriesDecoded(first))
        let series = #"dictum_requests_total{route="/*",coding="gzip",reason="dictionary-unknown"}"#
        #expect(try proxy.metric(series) == 1)
    }

    @Test func `HEAD has the fields of GET and no body`() throws {
        let proxy = try named()
        for accept in ["identity", "br"] {
            let get = try proxy.fetch(path(of: first), "Accept-Encoding: \(accept)")
            let head = try proxy.fetch(path(of: first), "Accept-Encoding: \(accept)", method: "HEAD")
            for name in ["ETag", "Vary", "Content-Type", "Content-Encoding", "Use-As-Dictionary"] {
                #expect(head[name] == get[name])
            }
            #expect(head["Content-Length"] == (accept == "br" ? nil : "\(first.count)"))
        }
    }

    @Test(arguments: ["", "W/"])
    func `If-None-Match is answered 304, in whichever form the client holds it`(form: String) throws {
        let proxy = try named()
        let tag = try #require(try proxy.fetch(path(of: first))["ETag"])
        let answer = try proxy.fetch(path(of: first), "If-None-Match: \(form)\(tag)")
        #expect(answer.status == 304)
        #expect(answer["ETag"] == form + tag)
        #expect(answer["Cache-Control"]?.hasSuffix("immutable") == true)
        #expect(answer.members("Vary") == ["accept-encoding", "available-dictionary"])
        #expect(answer["Content-Length"] == nil && answer["Content-Type"] == nil)
        #expect(try proxy.fetch(path(of: first), #"If-None-Match: "other""#).carries(first))
    }

    @Test func `Range is ignored`() throws {
        let answer = try named().fetch(path(of: first), "Range: bytes=0-9", "Accept-Encoding: gzip")
        #expect(answer.status == 200)
        #expect(answer.carries(first))
        #expect(answer["Content-Range"] == nil)
    }

    @Test func `cookies and credentials change nothing: the body is public`() throws {
        let answer = try named().fetch(
            path(of: first), over: second, "Cookie: a=b", "Authorization: Bearer x", accept: "dcz")
        #expect(try answer.carriesDecoded(first, over: second))
    }

    @Test(arguments: [
        ("GET", "\(path(of: first))?x=1", "api.test"), ("GET", "\(path(of: first))/", "api.test"),
        ("GET", path(of: first), "b.test"), ("GET", path(of: first), "api.test:81"),
        ("GET", path(of: Array("none".utf8)), "api.test"), ("POST", path(of: first), "api.test"),
        ("DELETE", path(of: first), "api.test"), ("OPTIONS", path(of: first), "api.test"),
        (
            "GET", path(of: first, in: ChainKey(authority: "api.test", match: "/other")), "api.test"
        ),
        ("GET", "/.dictum/", "api.test"), ("GET", "/.dictum", "api.test"), ("PUT", "/.dictum/x", "api.test"),
    ])
    func `anything else under the folder is 404 with no-store, and never proxied`(
        method: String, target: String, host: String
    ) throws {
        let proxy = try named()
        let answer = try proxy.fetch(target, method: method, host: host, body: method == "GET" ? nil : [])
        #expect(answer.status == 404)
        #expect(answer["Cache-Control"] == "no-store")
        #expect(answer["Use-As-Dictionary"] == nil)
        #expect(proxy.origin.requests.map(\.target) == Array(repeating: "/feed", count: 4))
    }

    @Test(arguments: [
        "dictionaries: off", #"routes: [{match: "/*", dictionary: off}]"#,
        #"routes: [{match: "/*", announce: off, dictionary: {delivery: in_band, match_dest: [document]}}]"#,
    ])
    func `where Links are switched off there is no dictionary either`(settings: String) throws {
        let folder = try TemporaryFolder()
        try named(store: folder.file("s.sqlite")).stop()
        let proxy = try TestProxy(Origin(json(first)), settings, store: folder.file("s.sqlite"))
        #expect(try proxy.fetch(path(of: first)).status == 404)
        #expect(proxy.origin.requests.isEmpty)
    }

    @Test(arguments: [
        ("text/html", "", nil), ("application/json", "", #"("")"#),
        ("application/json", "match_dest: [script]", #"("script")"#), ("text/css", "", #"("")"#),
    ])
    func `unless it is a document's, it is for fetch() alone, whose destination is empty`(
        type: String, setting: String, destinations: String?
    ) throws {
        let proxy = try TestProxy(
            wire("HTTP/1.1 200 OK", "Content-Type: \(type)", "Cache-Control: public", body: first),
            #"routes: [{match: "/*", dictionary: {delivery: link, \#(setting)}}]"#
                .replacing(", }", with: "}"))
        let link = try #require(try proxy.prove("/feed").last?["Link"])
        let path = try #require(link.firstMatch(of: /<([^>]+)>/)?.output.1)
        let offer = try #require(try proxy.fetch(String(path))["Use-As-Dictionary"])
        let expected = destinations.map { ", match-dest=" + $0 } ?? ""
        #expect(offer == #"match="/feed""# + expected)
    }

    @Test func `a chain of which nothing is named is not reachable`() throws {
        let proxy = try TestProxy(
            json(first, "Cache-Control: max-age=60"),
            #"routes: [{match: "/*", dictionary: {delivery: auto, match_dest: [document]}}]"#)
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] != nil)
        #expect(try proxy.fetch(path(of: first)).status == 404)
    }

    @Test(arguments: ["dcz", "dcb"])
    func `after a restart it is read from disk, the delta too`(coding: String) throws {
        let folder = try TemporaryFolder()
        try named(store: folder.file("s.sqlite")).stop()
        let proxy = try TestProxy(Origin(json(first)), link, store: folder.file("s.sqlite"))
        #expect(try proxy.fetch(path(of: first)).carries(first))
        // A dictionary that is not read in time is left out of the response, and is there for a later one.
        try waitUntil("the response is a delta") { () throws -> Bool in
            let answer = try proxy.fetch(path(of: first), over: second, accept: coding)
            #expect(try answer.carriesDecoded(first, over: second))
            return answer.coding == coding
        }
        #expect(proxy.origin.requests.isEmpty)
    }

    @Test func `a large one is worked on beside the loop, and goes out as fast as the client takes it`()
        throws
    {
        let large = Feed.bytes(version: 0, items: 9_000)
        let proxy = try TestProxy(html(large, "Cache-Control: public"), link)
        try proxy.prove("/feed")
        let target = path(of: large)
        #expect(try proxy.fetch(target, "Accept-Encoding: br").carriesDecoded(large))
        let slow = try proxy.connect(receiveBytes: 4096)
        slow.send(request(target, []))
        pauseBeyondTheHold()
        #expect(try slow.receive().carries(large))
    }

    @Test func `a request with a body is answered, and the connection goes on`() throws {
        let proxy = try named()
        let client = try proxy.connect()
        for _ in 1...2 {
            client.send(request(path(of: first), ["Content-Length: 4"], body: nil) + Array("body".utf8))
            #expect(try client.receive().carries(first))
        }
    }

    @Test func `it counts as an offer, and under the route of its chain`() throws {
        let proxy = try named()
        _ = try proxy.fetch(path(of: first), over: second, accept: "dcz")
        let metrics = try proxy.metrics()
        #expect(metrics.contains("dictum_offers_total 5\n"))
        #expect(metrics.contains(#"dictum_requests_total{route="/*",coding="dcz",reason="delta"} 1"#))
        // The two offers in band, before the body was proven to be public, have no life; the dictionary's own has.
        #expect(metrics.contains(#"dictum_unkept_offers_total{route="/*",reason="etag-only"} 2"#))
    }
}
