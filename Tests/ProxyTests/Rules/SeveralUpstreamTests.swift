internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let shopBody = Feed.bytes(version: 0, items: 40)
private let nextShopBody = Feed.bytes(version: 1, items: 40)
private let apiBody = Feed.bytes(version: 7, items: 40)

/// Routes that lead to several upstreams, by name and by host.
@Suite(.timeLimit(.minutes(40))) struct SeveralUpstreamTests {
    /// Returns the settings of a host for each of two backends; `api` is the upstream without a name.
    private static func hosts(_ shop: Origin, dictionary: String = "{delivery: in_band}") -> String {
        """
        upstreams: {shop: {urls: ["\(shop.url)"], response_timeout: 20s}}
        routes:
        - {match: /*, host: shop.test, upstream: shop, dictionary: \(dictionary)}
        - {match: /*, host: [api.test, "*.api.test"], dictionary: \(dictionary)}
        """
    }

    @Test func `each host goes to its own backend, over HTTP/1.1 and HTTP/2`() throws {
        let (api, shop) = (try Origin(json(apiBody)), try Origin(json(shopBody)))
        defer { shop.stop() }
        let proxy = try TestProxy(api, Self.hosts(shop))
        #expect(try proxy.fetch("/feed", host: "shop.test").carries(shopBody))
        #expect(try proxy.fetch("/feed", host: "SHOP.Test.:8443").carries(shopBody))
        #expect(try proxy.fetch("/feed", host: "api.test").carries(apiBody))
        #expect(try proxy.fetch("/feed", host: "v1.eu.api.test").carries(apiBody))
        #expect(
            try proxy.fetch("/feed", host: "elsewhere.test").carries(apiBody), "the upstream without a name")
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/feed", [], authority: "shop.test")
        #expect(peer.response(1)?.body == shopBody)
        peer.request(3, "/feed", [], authority: "x.api.test")
        #expect(peer.response(3)?.body == apiBody)
        #expect(shop.requests.count == 3)
        #expect(shop.requests.map { $0["Host"] } == ["shop.test", "SHOP.Test.:8443", "shop.test"])
        #expect(try proxy.metric(#"dictum_upstream_connect_seconds_count{name="shop"}"#) >= 1)
        #expect(try proxy.metric(#"dictum_upstream_head_seconds_count{name="shop"}"#) == 3)
    }

    @Test func `the target's own host counts, not the Host field beside it`() throws {
        let (api, shop) = (try Origin(json(apiBody)), try Origin(json(shopBody)))
        defer { shop.stop() }
        let proxy = try TestProxy(api, Self.hosts(shop))
        #expect(try proxy.fetch("http://shop.test/feed", host: "api.test").carries(shopBody))
        #expect(shop.requests.first?["Host"] == "shop.test")
    }

    @Test func `a dictionary of one host is unknown to the others`() throws {
        let (api, shop) = (try Origin(json(nextShopBody)), try Origin([json(shopBody), json(nextShopBody)]))
        defer { shop.stop() }
        let proxy = try TestProxy(api, Self.hosts(shop) + "\nexplain: on")
        #expect(try proxy.fetch("/feed", host: "shop.test")["Use-As-Dictionary"] != nil)
        #expect(try proxy.fetch("/feed", over: shopBody, host: "shop.test").coding == "dcz")
        let other = try proxy.fetch("/feed", over: shopBody, accept: "dcz, gzip", host: "api.test")
        #expect(other.coding == "gzip")
        #expect(other["Dictum-Explain"]?.contains("dictionary-unknown") == true)
    }

    @Test func `two hosts of one backend do not share their dictionaries`() throws {
        let proxy = try TestProxy(
            try Origin(json(shopBody)),
            """
            upstreams: {both: {urls: ["http://127.0.0.1:1"]}}
            routes: [{match: /*, host: [a.test, b.test], dictionary: {delivery: in_band}}]
            """)
        _ = try proxy.fetch("/feed", host: "a.test")
        #expect(
            try proxy.fetch("/feed", over: shopBody, accept: "dcz, gzip", host: "b.test").coding == "gzip")
        #expect(try proxy.fetch("/feed", over: shopBody, accept: "dcz, gzip", host: "a.test").coding == "dcz")
    }

    @Test func `a page announces the dictionaries of its own host`() throws {
        let page = wire(
            "HTTP/1.1 200 OK", "Content-Type: text/html", "Cache-Control: public, max-age=60",
            body: Array("<p>hello</p>".utf8))
        let feed = wire(
            "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
            body: shopBody)
        let script: Origin.Script = { request, connection in
            connection.send(request.startLine.contains("/feed") ? feed : page)
        }
        let (api, shop) = (try Origin(script), try Origin(script))
        defer { shop.stop() }
        let proxy = try TestProxy(
            api,
            """
            upstreams: {shop: {urls: ["\(shop.url)"]}}
            secure_transport: assume
            routes:
            - {match: /feed, host: shop.test, upstream: shop}
            - {match: /*, announce: [/feed], dictionary: {delivery: in_band}}
            """)
        try proxy.prove("/feed", host: "shop.test")
        try waitUntil("the page of the host names the feed") {
            try proxy.fetch("/", "Sec-Fetch-Dest: document", host: "shop.test")["Link"] != nil
        }
        let link = try #require(
            try proxy.fetch("/", "Sec-Fetch-Dest: document", host: "shop.test")["Link"])
        let path = String(link.dropFirst().prefix { $0 != ">" })
        #expect(try proxy.fetch("/", "Sec-Fetch-Dest: document", host: "api.test")["Link"] == nil)
        #expect(try proxy.fetch(path, host: "shop.test").status == 200)
        #expect(try proxy.fetch(path, host: "api.test").status == 404)
    }

    @Test func `without an upstream for it a request gets 404, and no backend sees it`() throws {
        let (api, shop) = (try Origin(json(apiBody)), try Origin(json(shopBody)))
        defer { shop.stop() }
        let proxy = try TestProxy(
            api,
            """
            upstreams: {shop: {urls: ["\(shop.url)"]}}
            routes: [{match: "/shop/*", host: shop.test, upstream: shop}]
            """, change: { $0.upstream.urls = [] })
        #expect(try proxy.fetch("/shop/x", host: "shop.test").status == 200)
        #expect(try proxy.fetch("/other", host: "shop.test").status == 404)
        #expect(try proxy.fetch("/shop/x", host: "other.test").status == 404)
        #expect(try proxy.fetch("*", method: "OPTIONS").status == 200)
        #expect(try proxy.metric(#"dictum_rejected_requests_total{reason="no-route"}"#) == 2)
        #expect(api.requests.isEmpty && shop.requests.count == 1)
    }

    @Test func `log and metrics name the upstream`() throws {
        let (api, shop) = (try Origin(json(apiBody)), try Origin(json(shopBody)))
        defer { shop.stop() }
        let proxy = try TestProxy(api, Self.hosts(shop), isLogged: true)
        _ = try proxy.fetch("/feed", host: "shop.test")
        _ = try proxy.fetch("/feed", host: "api.test")
        // Each loop writes its own lines, in either order.
        let lines = (0..<2).compactMap { _ in proxy.log?.next() }
        let line = try #require(lines.first { $0.contains(#""route":"shop.test/*""#) })
        #expect(line.contains(#""upstream":"\#(shop.url)","upstream_name":"shop""#))
        #expect(lines.filter { $0.contains("upstream_name") } == [line])
        let address = "127.0.0.1:\(shop.port)"
        let labels = #"upstream="\#(shop.url)",address="\#(address)",name="shop""#
        #expect(try proxy.metric("dictum_upstream_healthy{\(labels)}") == 1)
        #expect(try proxy.metric(#"dictum_connections_total{side="upstream"}"#) == 2)
    }

    @Test func `an upstream that fails takes no other with it`() throws {
        let (api, gone) = (try Origin(json(apiBody)), try Origin([UInt8]()))
        gone.stop()
        let proxy = try TestProxy(
            api,
            """
            upstreams: {gone: {urls: ["\(gone.url)"], health: {interval: 100ms}}}
            routes: [{match: "/gone/*", upstream: gone}, {match: "/*"}]
            """)
        for _ in 0..<4 { #expect(try proxy.fetch("/gone/x").status == 502) }
        #expect(try proxy.fetch("/feed").carries(apiBody))
        let errors = try proxy.metric(#"dictum_upstream_errors_total{name="gone",kind="connect"}"#)
        #expect(errors >= 4)
        #expect(try proxy.metric(#"dictum_upstream_errors_total{kind="connect"}"#) == 0)
        try waitUntil("the health check has failed") {
            try proxy.metric(
                #"dictum_upstream_healthy{upstream="\#(gone.url)",address="127.0.0.1:\#(gone.port)",name="gone"}"#
            )
                == 0
        }
        #expect(try proxy.admin("GET /readyz HTTP/1.1", "Host: localhost").status == 200)
        #expect(
            proxy.events.withLock { $0 }.contains { "\($0)".contains("upstream gone at \(gone.url)") })
    }

    @Test func `each upstream has its own time-outs`() throws {
        let slow = try Origin { _, _ in }
        let proxy = try TestProxy(
            try Origin(json(apiBody)),
            """
            upstreams: {slow: {urls: ["\(slow.url)"], response_timeout: 50ms}}
            routes: [{match: /slow, upstream: slow}, {match: "/*"}]
            """)
        defer { slow.stop() }
        #expect(try proxy.fetch("/slow").status == 504)
        #expect(try proxy.fetch("/fast").status == 200)
    }

    // MARK: Reload

    @Test func `upstreams come and go at run time, and requests under way end with theirs`() throws {
        let (asked, gate) = (Gate(), Gate())
        let api = try Origin(json(apiBody))
        let shop = try Origin { request, connection in
            if request.startLine.contains("/slow") {
                asked.open()
                gate.wait()
            }
            connection.send(json(shopBody))
        }
        let new = try Origin(json(nextShopBody))
        defer {
            shop.stop()
            new.stop()
        }
        let proxy = try TestProxy(api, Self.hosts(shop))
        _ = try proxy.fetch("/feed", host: "shop.test")
        let client = try proxy.connect()
        client.send(request("/slow", [], host: "shop.test"))
        asked.wait()
        try proxy.reload(
            """
            upstreams: {new: {urls: ["\(new.url)"]}}
            routes: [{match: "/*", host: shop.test, upstream: new}, {match: "/*"}]
            """)
        #expect(try proxy.fetch("/feed", host: "shop.test").carries(nextShopBody))
        gate.open()
        #expect(try client.receive().carries(shopBody))
        #expect(try proxy.fetch("/feed", host: "api.test").carries(apiBody))
        let (active, idle) = (
            #"dictum_connections{side="upstream",state="active"}"#,
            #"dictum_connections{side="upstream",state="idle"}"#
        )
        try waitUntil("only the connections of the two upstreams that are left are kept") {
            try proxy.metric(active) == 0 && proxy.metric(idle) == 2
        }
        // A further reload forgets what is gone, and counts go on.
        let total = #"dictum_connections_total{side="upstream"}"#
        let opened = try proxy.metric(total)
        try proxy.reload("")
        #expect(try proxy.metric(total) == opened)
        #expect(try proxy.fetch("/feed", host: "shop.test").carries(apiBody))
    }

    @Test func `a stored response is not confirmed by another backend that uses the same tag`() throws {
        @Sendable func backend(_ body: [UInt8]) throws -> Origin {
            try Origin { request, connection in
                let isKnown = request["If-None-Match"] == #""v1""#
                let status = isKnown ? "304 Not Modified" : "200 OK"
                connection.send(
                    wire(
                        "HTTP/1.1 \(status)", "Content-Type: application/json", #"ETag: "v1""#,
                        "Cache-Control: public, max-age=60", body: isKnown ? nil : body))
            }
        }
        let (blue, green) = (try backend(shopBody), try backend(nextShopBody))
        defer { green.stop() }
        let upstreams = """
            upstreams: {blue: {urls: ["\(blue.url)"]}, green: {urls: ["\(green.url)"]}}

            """
        let route = { (name: String) in
            upstreams + "routes: [{match: \"/*\", upstream: \(name), dictionary: {revalidate: on}}]"
        }
        let proxy = try TestProxy(blue, route("blue"))
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed").carries(shopBody))
        #expect(blue.requests.last?["If-None-Match"] == #""v1""#, "it was asked about the stored response")
        try proxy.reload(route("green"))
        #expect(try proxy.fetch("/feed").carries(nextShopBody))
        #expect(green.requests.first?["If-None-Match"] == nil)
        #expect(try proxy.fetch("/feed").carries(nextShopBody))
        #expect(green.requests.last?["If-None-Match"] == #""v1""#)
    }

    @Test(arguments: [("5s", "50s"), ("50s", "5s")])
    func `a client may be silent for as long as the most patient upstream`(one: String, other: String) throws
    {
        let proxy = try TestProxy(
            try Origin(json(apiBody)), upstream: "idle_timeout: \(one)",
            """
            upstreams: {other: {urls: ["http://127.0.0.1:1"], idle_timeout: \(other)}}
            routes: [{match: /other, upstream: other}, {match: /*}]
            """)
        let context = proxy.server.context
        let settings = ServerSettings(context.configuration.listeners[0], in: context)
        #expect(settings.idleTimeout == 50_000)
    }

    @Test func `a listener has each of its other times from its own setting`() throws {
        let proxy = try TestProxy(
            try Origin(json(apiBody)),
            "limits: {head_timeout: 11s, keepalive_timeout: 12s, tunnel_timeout: 13s, keepalive_requests: 14}",
            listener: { $0.keepAlive = 15_000 })
        let context = proxy.server.context
        let settings = ServerSettings(context.configuration.listeners[0], in: context)
        #expect(settings.headTimeout == 11_000 && settings.keepAliveTimeout == 12_000)
        #expect(settings.tunnelTimeout == 13_000 && settings.requestsMax == 14)
        #expect(settings.probeSeconds == 15)
    }
}
