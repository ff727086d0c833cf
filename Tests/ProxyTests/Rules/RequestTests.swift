internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 40)

@Suite(.timeLimit(.minutes(40))) struct RequestTests {
    @Test(arguments: ["-9223372036854775808", "-1", "+1", "99999999999999999999", "x", ""])
    func `a Max-Forwards that is no plain number does no harm`(value: String) throws {
        let proxy = try TestProxy(json(body))
        let answer = try proxy.fetch("/", "Max-Forwards: \(value)", method: "OPTIONS")
        #expect(answer.startLine.contains(" 200 "))
        #expect(try proxy.fetch("/").carries(body), "the proxy lives on")
    }

    /// RFC 9110 section 7.6.2.
    @Test(
        arguments: [
            ("0", nil), ("1", "0"), ("5", "4"), ("010", "9"), ("999999999", "999999998"),
            ("1000000000000", "999999999"),
        ] as [(String, String?)])
    func `OPTIONS goes as many hops as its Max-Forwards says, and ends here with 0`(
        value: String, forwarded: String?
    ) throws {
        let proxy = try TestProxy(json(body))
        let answer = try proxy.fetch("/", "Max-Forwards: \(value)", method: "OPTIONS")
        #expect(answer.status == 200)
        #expect(proxy.origin.requests.count == (forwarded == nil ? 0 : 1))
        #expect(proxy.origin.requests.first?["Max-Forwards"] == forwarded)
        #expect(
            (answer["Allow"] == "GET, HEAD, QUERY, POST, PUT, DELETE, OPTIONS, PATCH") == (forwarded == nil))
        #expect(
            try proxy.fetch("/", "Max-Forwards: \(value)").carries(body), "of other methods it says nothing")
        #expect(proxy.origin.requests.last?["Max-Forwards"] == value)
    }

    @Test(arguments: [
        ("http://api.test", "*"), ("http://api.test/", "/"), ("http://api.test?a", "/?a"), ("*", "*"),
        ("/a", "/a"),
    ])
    func `OPTIONS for a whole server reaches the upstream as such`(target: String, forwarded: String) throws {
        let proxy = try TestProxy(json(body))
        #expect(try proxy.fetch(target, method: "OPTIONS").status == 200)
        #expect(proxy.origin.requests.first?.target == forwarded)
    }

    @Test func `a request's body that drips is given up, upstream too, and counted`() throws {
        let origin = try Origin { _, _ in }
        let proxy = try TestProxy(origin, upstream: "idle_timeout: 300ms", "limits: {body_rate: 1KiB}")
        let client = try proxy.connect()
        client.send(wire("POST /feed HTTP/1.1", "Host: api.test", "Content-Length: 100000"))
        var sent = 0
        while sent < 1000, client.isQuiet(milliseconds: 20) {
            client.send("x")
            sent += 1
        }
        #expect(sent < 1000)
        #expect(try proxy.metric(#"dictum_rejected_requests_total{reason="body-timeout"}"#) == 1)
        #expect(origin.requests.isEmpty, "no upstream takes it for whole")
    }

    @Test(arguments: ["the-unexpected", "100-continue, x"])
    func `an expectation that is not known gets 417`(value: String) throws {
        let proxy = try TestProxy(json(body))
        let answer = try proxy.fetch("/feed", "Expect: \(value)", method: "POST", body: [])
        #expect(answer.startLine.contains(" 417 "))
    }

    /// RFC 9111 section 3.2: the fields of a 304 replace those that the client holds.
    @Test func `a 304 varies as its 200 does, and leaves a Vary alone that it does not name`() throws {
        let origin = try Origin { request, connection in
            let vary = request.target.hasSuffix("?silent") ? [] : ["Vary: Origin"]
            let lines = ["HTTP/1.1 304 Not Modified", #"ETag: "v1""#, "Cache-Control: public"] + vary
            connection.send(wire(lines.joined(separator: "\r\n")))
        }
        let proxy = try TestProxy(
            origin,
            """
            routes:
              - match: /off
                dictionary: off
              - match: /on
            """)
        #expect(try proxy.fetch("/off").members("Vary") == ["accept-encoding", "origin"])
        #expect(
            try proxy.fetch("/on").members("Vary") == ["accept-encoding", "available-dictionary", "origin"])
        #expect(try proxy.fetch("/none").members("Vary") == ["accept-encoding", "origin"])
        #expect(try proxy.fetch("/on?silent")["Vary"] == nil)
    }

    @Test func `X-Forwarded-Proto follows the Forwarded of a trusted peer`() throws {
        let proxy = try TestProxy(json(body))
        _ = try proxy.fetch("/feed", "Forwarded: for=192.0.2.1;proto=https")
        let request = try #require(proxy.origin.requests.last)
        #expect(request.values("X-Forwarded-Proto") == ["https"])
    }

    @Test func `X-Forwarded-For begins with the client that a trusted peer names by Forwarded`() throws {
        let proxy = try TestProxy(json(body))
        _ = try proxy.fetch("/feed", "Forwarded: for=192.0.2.7")
        let request = try #require(proxy.origin.requests.last)
        #expect(request.values("X-Forwarded-For") == ["192.0.2.7, 127.0.0.1"])
    }

    /// RFC 9110 section 10.1.1.
    @Test func `a 100 reaches no client that does not wait for it`() throws {
        let proxy = try TestProxy(wire("HTTP/1.1 100 Continue") + json(body))
        let answer = try proxy.fetch("/feed", method: "POST", body: Array("{}".utf8))
        #expect(answer.status == 200 && answer.carries(body))
    }

    @Test func `what answers hold that nobody reads is given back when their clients go`() throws {
        let large = Feed.bytes(version: 0, items: 14_000)
        let proxy = try TestProxy(
            json(large),
            """
            memory: {total: \(large.count * 300), coding: 1%, store: 0.1%}
            """)
        let readers = try (0..<6).map { _ in try proxy.connect(receiveBytes: 4096) }
        for reader in readers { reader.send(request("/feed", [])) }
        for reader in readers {
            let head = try reader.receiveHead()
            #expect(head.startLine.contains(" 200 "))
        }
        for reader in readers { reader.finish() }
        #expect(try proxy.fetch("/feed").carries(large), "what they held has been given back")
    }
}
