internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 40)

/// Sends a request with these fields, and returns it as the upstream received it.
private func forwarded(
    _ fields: String..., settings: String = "", method: String = "GET", sent: [UInt8]? = nil
) throws -> WireMessage {
    let proxy = try TestProxy(json(body), settings)
    _ = try proxy.fetch("/feed?b=1&a=%20", fields.joined(separator: "\r\n"), method: method, body: sent)
    return try #require(proxy.origin.requests.first)
}

@Suite(.timeLimit(.minutes(40))) struct UpstreamFieldTests {
    @Test func `on a route with dictionaries nothing of them reaches the upstream`() throws {
        let request = try forwarded(
            available(body), #"Dictionary-ID: "x""#, "Accept-Encoding: gzip, dcb, dcz, br")
        #expect(request["Available-Dictionary"] == nil)
        #expect(request["Dictionary-ID"] == nil)
        #expect(request["Accept-Encoding"] == "identity")
    }

    @Test func `with dictionaries off everything passes both ways`() throws {
        let delta = [UInt8]([0xff, 0x44, 0x43, 0x42]) + Noise.bytes(400, seed: 1)
        let proxy = try TestProxy(
            json(
                delta, "Content-Encoding: dcb", #"Use-As-Dictionary: match="/*""#, #"ETag: "d""#,
                "Vary: Available-Dictionary"),
            #"routes: [{match: "/*", dictionary: off}]"#)
        let answer = try proxy.fetch("/feed", over: body, #"Dictionary-ID: "x""#, accept: "gzip, dcb, dcz")
        let request = try #require(proxy.origin.requests.first)
        #expect(request["Available-Dictionary"].map { "Available-Dictionary: \($0)" } == available(body))
        #expect(request["Dictionary-ID"] == #""x""#)
        #expect(request["Accept-Encoding"] == "gzip, dcb, dcz")
        #expect(answer.carries(delta))
        #expect(answer["Content-Encoding"] == "dcb")
        #expect(answer["Use-As-Dictionary"] == #"match="/*""#)
        #expect(answer["ETag"] == #""d""#)
        #expect(answer.members("Vary").contains("available-dictionary"))
    }

    @Test func `the target, Host and end-to-end fields go as they came`() throws {
        let request = try forwarded("Accept: application/json", "X-Custom: a", "X-Custom: b")
        #expect(request.target == "/feed?b=1&a=%20")
        #expect(request["Host"] == "api.test")
        #expect(request.values("X-Custom") == ["a", "b"])
        #expect(request["Via"]?.wholeMatch(of: /1\.1 dictum-[0-9a-f]{8}/) != nil)
    }

    @Test func `an absolute target's authority replaces Host`() throws {
        let proxy = try TestProxy(json(body))
        _ = try proxy.fetch("http://real.test/feed")
        let request = try #require(proxy.origin.requests.first)
        #expect(request["Host"] == "real.test")
        #expect(request.target == "/feed")
        #expect(try proxy.fetch("/feed", over: body, host: "real.test").coding == "dcz")
        #expect(try proxy.fetch("/feed", over: Feed.bytes(version: 1, items: 40)).coding == "identity")
    }

    @Test func `hop-by-hop fields end here, both ways`() throws {
        let proxy = try TestProxy(
            json(body, "Connection: X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "Proxy-Authenticate: Basic"))
        let answer = try proxy.fetch(
            "/feed", "Connection: X-Mine", "X-Mine: 1", "Keep-Alive: 1", "Proxy-Connection: x",
            "Upgrade: h2c",
            "TE: gzip")
        let request = try #require(proxy.origin.requests.first)
        for name in ["X-Mine", "Keep-Alive", "Proxy-Connection", "Upgrade", "TE"] {
            #expect(request[name] == nil)
        }
        #expect(answer["X-Hop"] == nil)
        #expect(answer["Keep-Alive"] == nil)
    }

    @Test func `a Connection field cannot strip what the proxy itself adds or needs`() throws {
        let request = try forwarded(
            "Connection: Host, Via, X-Forwarded-For, Content-Length", "Via: 1.0 before")
        #expect(request["Host"] == "api.test")
        #expect(request["X-Forwarded-For"]?.hasSuffix("127.0.0.1") == true)
        #expect(request["Via"]?.hasPrefix("1.0 before, 1.1 dictum-") == true)
    }

    @Test func `a Connection field that a front passes on cannot strip what the front wrote`() throws {
        let fields = [
            "X-Forwarded-Proto: https", "X-Forwarded-Host: www.test", "Forwarded: for=192.0.2.7",
            "X-Forwarded-Port: 8443", "X-Forwarded-Prefix: /edge", "X-Real-IP: 192.0.2.7",
            "X-Forwarded-User: ann",
        ]
        let names = fields.map { $0.prefix { $0 != ":" } } + ["Via", "X-Forwarded-For"]
        let lines = fields + ["X-Forwarded-For: 192.0.2.7", "Via: 1.1 edge"]
        let request = try forwarded(
            (lines + ["Connection: \(names.joined(separator: ", "))"]).joined(separator: "\r\n"))
        for field in fields {
            let parts = field.split(separator: ": ")
            #expect(request.values("\(parts[0])") == ["\(parts[1])"], "\(field)")
        }
        #expect(request["X-Forwarded-For"] == "192.0.2.7, 127.0.0.1")
        #expect(request["Via"]?.hasPrefix("1.1 edge, 1.1 dictum-") == true)
    }

    @Test func `a trusted peer's forwarding fields are continued`() throws {
        let request = try forwarded(
            "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https", "X-Forwarded-Host: www.test",
            "Forwarded: for=192.0.2.7", "Via: 1.1 edge", "X-Forwarded-Port: 8443",
            "X-Forwarded-Prefix: /edge",
            "X-Real-IP: 192.0.2.7")
        #expect(request["X-Forwarded-For"] == "192.0.2.7, 127.0.0.1")
        #expect(request["X-Forwarded-Proto"] == "https")
        #expect(request["X-Forwarded-Host"] == "www.test")
        #expect(request["Forwarded"] == "for=192.0.2.7")
        #expect(request["X-Forwarded-Port"] == "8443")
        #expect(request["X-Forwarded-Prefix"] == "/edge")
        #expect(request["X-Real-IP"] == "192.0.2.7")
        #expect(request["Via"]?.hasPrefix("1.1 edge, 1.1 dictum-") == true)
    }

    @Test func `anybody else's forwarding fields are replaced, and those without a value of Dictum's go`()
        throws
    {
        let request = try forwarded(
            "X-Forwarded-For: 192.0.2.7", "X-Forwarded-For: 192.0.2.8", "X-Forwarded-Proto: https",
            "X-Forwarded-Host: www.test", "Forwarded: for=192.0.2.7", "X-Forwarded-Port: 8443",
            "x-forwarded-prefix: /evil", "X-Real-Ip: 192.0.2.7",
            settings: "trusted_proxies: [192.0.2.0/24]")
        #expect(request["X-Forwarded-For"] == "127.0.0.1")
        #expect(request["X-Forwarded-Proto"] == "http")
        #expect(request["X-Forwarded-Host"] == "api.test")
        for name in ["Forwarded", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Real-IP"] {
            #expect(request[name] == nil)
        }
    }

    @Test func `what Dictum or the route says of a stranger's request stays`() throws {
        let proxy = try TestProxy(
            json(body),
            """
            trusted_proxies: []
            routes: [{match: "/api/*", strip_prefix: /api, headers: {request: {set: {X-Real-IP: hidden}}}}]
            """)
        _ = try proxy.fetch("/api/feed", "X-Forwarded-Prefix: /evil", "X-Real-IP: 192.0.2.7")
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/api/feed", [("x-forwarded-prefix", "/evil"), ("x-real-ip", "192.0.2.7")])
        #expect(peer.response(1)?.status == "200")
        #expect(proxy.origin.requests.count == 2)
        for request in proxy.origin.requests {
            #expect(request.values("X-Forwarded-Prefix") == ["/api"])
            #expect(request.values("X-Real-IP") == ["hidden"])
        }
    }

    @Test func `a route's prefix comes behind the one that a trusted proxy has removed`() throws {
        let proxy = try TestProxy(json(body), "routes: [{match: /api/*, strip_prefix: /api}]")
        _ = try proxy.fetch("/api/feed", "X-Forwarded-Prefix: /edge/", "X-Forwarded-Prefix: /inner")
        let request = try #require(proxy.origin.requests.first)
        #expect(request.target == "/feed" && request.values("X-Forwarded-Prefix") == ["/edge/inner/api"])
    }

    @Test func `after a request that logs in its connection the next one comes on a new one`() throws {
        // Each is kept, so that none has the address of a former one.
        let connections = Guarded<[WireSocket]>([])
        let origin = try Origin { _, connection in
            let number = connections.withLock { connections in
                if !connections.contains(where: { $0 === connection }) { connections.append(connection) }
                return connections.firstIndex { $0 === connection } ?? -1
            }
            connection.send(json(body, "X-Connection: \(number)"))
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        func connection(_ fields: String...) throws -> String? {
            client.send(request("/feed", fields))
            return try client.receive()["X-Connection"]
        }
        let first = try connection()
        #expect(try connection() == first, "connections are kept")
        #expect(try connection("Authorization: NTLM TlRMTVNTUAAD") == first)
        #expect(try connection() != first)
    }

    @Test(arguments: [true, false])
    func `a request's body reaches the upstream whole`(isChunked: Bool) throws {
        let upload = Noise.bytes(300_000, seed: 5)
        let origin = try Origin { request, connection in
            connection.send(json(Array("\(request.body == upload)".utf8)))
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        let lines = "POST /feed HTTP/1.1\r\nHost: api.test"
        if isChunked {
            client.send(wire(lines, "Transfer-Encoding: chunked"))
            client.send(
                chunk(Array(upload.prefix(100_000))) + chunk(Array(upload.dropFirst(100_000))) + chunk([]))
        } else {
            client.send(wire(lines, body: upload))
        }
        #expect(try client.receive().text == "true")
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "QUERY"])
    func `a method that may have a body keeps the upstream's connection`(method: String) throws {
        let request = try forwarded("X-A: 1", method: method, sent: Array("{}".utf8))
        #expect(!request.members("Connection").contains("close") && request.text == "{}")
    }

    /// RFC 9110 section 10.1.1.
    @Test func `the upstream hears nothing of the expectation of an HTTP/1.0 client`() throws {
        let proxy = try TestProxy(json(body))
        let client = try proxy.connect()
        client.send(
            wire("POST /feed HTTP/1.0", "Host: api.test", "Expect: 100-continue", body: Array("{}".utf8)))
        #expect(try client.receive().status == 200)
        let request = try #require(proxy.origin.requests.first)
        #expect(request["Expect"] == nil && request.text == "{}")
    }

    @Test func `100-continue of the upstream reaches the client that waits for it`() throws {
        let origin = try Origin { request, connection in
            connection.send(json(request.body))
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        client.send(
            wire("POST /feed HTTP/1.1", "Host: api.test", "Expect: 100-continue", "Content-Length: 2"))
        let interim = try client.receiveHead()
        #expect(interim.status == 100)
        client.send("{}")
        #expect(try client.receive().text == "{}")
    }
}
