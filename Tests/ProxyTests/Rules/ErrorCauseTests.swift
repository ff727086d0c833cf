internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// Tests the access log, the log and the metrics for requests without an upstream response.
@Suite(.timeLimit(.minutes(40))) struct ErrorCauseTests {
    @Test func `a 502 names its upstream and its cause in the access log, and once a minute in the log`()
        throws
    {
        let dead = try deadURL()
        let proxy = try TestProxy(Origin([UInt8]()), isLogged: true, urls: [dead])
        for _ in 0..<2 { #expect(try proxy.fetch("/").status == 502) }
        for _ in 0..<2 {
            let line = try #require(proxy.log?.next())
            #expect(
                line.contains(#""upstream":"\#(dead)""#) && line.contains(#""error":"connection refused""#))
        }
        let told = proxy.told(of: dead).map { "\($0)" }
        #expect(
            told.count == 1 && told[0].contains("connection refused") && told[0].contains("502"), "\(told)")
    }

    @Test func `where there is only one upstream nobody is told that others are asked before it`() throws {
        let dead = try deadURL()
        let proxy = try TestProxy(Origin([UInt8]()), urls: [dead])
        for _ in 0..<3 { #expect(try proxy.fetch("/").status == 502) }
        let told = proxy.told(of: dead).map { "\($0)" }
        #expect(told.count == 2 && told[1].contains("3 times in a row"), "\(told)")
        #expect(!told.contains { $0.contains("others") })
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 502, "malformed response: "),
        ("", 502, "closed the connection before a response"),
    ])
    func `each cause has its words`(bytes: String, status: Int, error: String) throws {
        let origin = try Origin { _, connection in
            connection.send(bytes)
            connection.closeWriting()
        }
        let proxy = try TestProxy(origin, isLogged: true)
        #expect(try proxy.fetch("/").status == status)
        let line = try #require(proxy.log?.next())
        #expect(line.contains(#""error":"\#(error)"#), "\(line)")
    }

    @Test func `a 504 names the setting whose time is over`() throws {
        let gate = Gate()
        let origin = try Origin { _, _ in gate.wait() }
        let proxy = try TestProxy(origin, upstream: "response_timeout: 50ms", isLogged: true)
        #expect(try proxy.fetch("/").status == 504)
        let line = try #require(proxy.log?.next())
        #expect(line.contains(#""error":"no response within upstream.response_timeout""#), "\(line)")
        gate.open()
    }

    @Test func `a response that is cut off has its cause in the access log, and a whole one has none`() throws
    {
        let body = Feed.bytes(version: 0, items: 850)
        let origin = try Origin { request, connection in
            guard request.target == "/cut" else { return _ = connection.send(json(body)) }
            connection.send(wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Content-Length: 9000"))
            connection.send(Array(body.prefix(1000)))
            pauseBeyondTheHold()
            connection.finish()
        }
        let proxy = try TestProxy(origin, isLogged: true)
        _ = try? proxy.fetch("/cut")
        let cut = try #require(proxy.log?.next())
        #expect(
            cut.contains("before the end of the response") && cut.contains(#""complete":false"#), "\(cut)")
        #expect(try proxy.fetch("/whole").status == 200)
        let whole = try #require(proxy.log?.next())
        #expect(!whole.contains("error") && whole.contains(#""upstream":"http://127.0.0.1:"#))
    }

    @Test func `a body that is not in its coding is the upstream's fault, in the log and in the metric`()
        throws
    {
        let bytes = Array(try Codec.encode(Feed.bytes(version: 0, items: 850).span, .gzip).dropLast(100))
        let proxy = try TestProxy(Origin(json(bytes, "Content-Encoding: gzip")), isLogged: true)
        _ = try? proxy.fetch("/feed")
        let line = try #require(proxy.log?.next())
        #expect(line.contains(#""error":"the response's body is not in its content coding""#), "\(line)")
        #expect(try proxy.metric(#"dictum_upstream_errors_total{kind="malformed"}"#) == 1)
    }

    @Test func `it is the upstream's fault also where its own bytes go out`() throws {
        let first = Feed.bytes(version: 0, items: 850)
        let bytes = Array(
            try Codec.encode(Feed.bytes(version: 1, items: 850).span, .gzip).dropLast(100))
        let proxy = try TestProxy(Origin([json(first), json(bytes, "Content-Encoding: gzip")]))
        _ = try proxy.fetch("/feed")
        var (count, isCarried) = (0, false)
        // On a busy machine the hold may end before the body. One of several requests must be in time.
        while count < 5, !isCarried {
            count += 1
            let answer = try? proxy.fetch("/feed", over: first, accept: "dcz, gzip")
            isCarried = answer?.coding == "gzip" && answer?.carries(bytes) == true
        }
        #expect(isCarried)
        #expect(try proxy.metric(#"dictum_upstream_errors_total{kind="malformed"}"#) == count)
    }

    @Test func `a request that the end of the proxy cuts off is named`() throws {
        let gate = Gate()
        let origin = try Origin { _, _ in gate.wait() }
        let proxy = try TestProxy(origin, isLogged: true)
        let client = try proxy.connect()
        client.send(request("/slow", []))
        try waitUntil("the request is under way") { !origin.requests.isEmpty }
        let lines = proxy.lastLines()
        #expect(lines.count == 1)
        #expect(
            lines.first?.contains(#""error":"stopped before the end of the response""#) == true, "\(lines)")
        gate.open()
    }

    @Test func `a client that leaves, and a request that is refused, are named too`() throws {
        let gate = Gate()
        let origin = try Origin { _, _ in gate.wait() }
        let proxy = try TestProxy(origin, "limits: {request_body: 1KiB}", isLogged: true)
        #expect(
            try proxy.fetch("/a", method: "POST", body: [UInt8](repeating: 1, count: 1_025)).status == 413)
        let refused = try #require(proxy.log?.next())
        #expect(
            refused.contains(#""status":413"#) && refused.contains(#""error":"body-too-large""#), "\(refused)"
        )
        do {
            let client = try proxy.connect()
            client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try client.receive().status == 400)
        }
        let malformed = try #require(proxy.log?.next())
        #expect(malformed.contains(#""error":"malformed""#), "\(malformed)")
        do {
            let client = try proxy.connect()
            client.send(request("/left", []))
            try waitUntil("the request is under way") { !origin.requests.isEmpty }
        }
        let left = try #require(proxy.log?.next())
        #expect(left.contains(#""error":"client closed the connection or reset the stream""#), "\(left)")
        gate.open()
    }
}
