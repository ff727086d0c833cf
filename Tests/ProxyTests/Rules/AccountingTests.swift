internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)

@Suite(.timeLimit(.minutes(40))) struct AccountingTests {
    /// Returns the access-log lines that `work` causes.
    private func lines(
        _ origin: Origin, upstream: String = "", _ settings: String = "", of work: (TestProxy) throws -> Void
    ) throws -> [String] {
        let proxy = try TestProxy(origin, upstream: upstream, settings, isLogged: true)
        try work(proxy)
        return proxy.lastLines()
    }

    @Test func `each request is one line with what became of it`() throws {
        let lines = try lines(Origin([json(first), json(second)])) { proxy in
            _ = try proxy.fetch("/feed?page=1&token=secret", "Cache-Control: max-age=0")
            _ = try proxy.fetch("/feed")
            _ = try proxy.fetch("/feed", over: second)
            _ = try proxy.fetch("/feed", method: "HEAD")
        }
        try #require(lines.count == 4)
        #expect(lines.filter { $0.contains(#""coding":"dcz","reason":"delta","route":"/*""#) }.count == 1)
        #expect(lines.filter { $0.contains(#""method":"HEAD""#) }.count == 1)
        #expect(lines.allSatisfy { $0.contains(#""complete":true"#) && $0.contains(#""status":200"#) })
        #expect(!lines.joined().contains("secret"))
    }

    @Test(arguments: [
        ("nonsense\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/9.9\r\nHost: a\r\n\r\n", 505),
    ])
    func `what never became a request is a line too`(bytes: String, status: Int) throws {
        let lines = try lines(Origin(json(first))) { proxy in
            let client = try proxy.connect()
            client.send(bytes)
            let answer = try client.receive()
            #expect(answer.status == status)
        }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""status":\#(status)"#) == true)
    }

    @Test func `502 and 504 are one line each`() throws {
        let origin = try Origin { request, connection in
            if request.target == "/broken" { connection.finish() }
        }
        // So long that a busy machine's end of the first connection does not come too late.
        let lines = try lines(origin, upstream: "response_timeout: 2s") { proxy in
            let statuses = [try proxy.fetch("/broken").status, try proxy.fetch("/late").status]
            #expect(statuses == [502, 504])
        }
        #expect(lines.count == 2)
        #expect(lines.filter { $0.contains(#""status":502"#) }.count == 1)
        #expect(lines.filter { $0.contains(#""status":504"#) }.count == 1)
    }

    @Test func `a request whose client goes away is one line that says so`() throws {
        let gate = Gate()
        let origin = try Origin { _, _ in gate.wait() }
        let proxy = try TestProxy(origin, isLogged: true)
        do {
            let client = try proxy.connect()
            client.send(request("/feed", []))
            // The request is under way before its client goes.
            try waitUntil("the request is under way") { !origin.requests.isEmpty }
        }
        let line = try #require(proxy.log?.next())
        #expect(line.contains(#""complete":false"#))
        #expect(line.contains(#""target":"/feed""#))
        gate.open()
    }

    @Test func `an answer that breaks off is one line that says so`() throws {
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Content-Length: 100") + [1, 2, 3])
            // By then the head has gone out.
            pauseBeyondTheHold()
            connection.finish()
        }
        let lines = try lines(origin) { proxy in
            let answer = try? proxy.fetch("/feed")
            #expect(answer?.isWhole != true)
        }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""complete":false"#) == true)
    }

    @Test func `an upload that turns out malformed is one line`() throws {
        let lines = try lines(Origin(json(first))) { proxy in
            let client = try proxy.connect()
            client.send(wire("POST /feed HTTP/1.1", "Host: a", "Transfer-Encoding: chunked"))
            client.send("zz\r\n")
            let answer = try client.receive()
            #expect(answer.status == 400)
        }
        #expect(lines.count == 1)
    }

    @Test func `requests count by route, coding and reason`() throws {
        let settings =
            #"routes: [{match: /feed, dictionary: {delivery: in_band}}, {match: "/*", dictionary: off}]"#
        let proxy = try TestProxy(Origin([json(first), json(second)]), settings)
        _ = try proxy.fetch("/feed")
        for field in ["X-A: 1", "Sec-Fetch-Site: same-origin", "X-A: 1"] {
            _ = try proxy.fetch("/feed", over: first, field)
        }
        _ = try proxy.fetch("/other", "Accept-Encoding: gzip")
        let metrics = try proxy.metrics()
        for line in [
            #"dictum_requests_total{route="/feed",coding="dcz",reason="delta"} 1"#,
            #"dictum_requests_total{route="/feed",coding="dcz",reason="delta-cached"} 2"#,
            #"dictum_requests_total{route="/*",coding="gzip",reason="route-off"} 1"#,
            #"dictum_responses_total{route="/feed",status="2xx"} 4"#, "dictum_admissions_total 2",
            "dictum_offers_total 3",
            "dictum_store_versions 2", "dictum_store_chains 1",
            #"dictum_body_bytes_total{route="/feed",stage="before"} \#(first.count + 3 * second.count)"#,
            #"dictum_requests_by_client_total{client="browser",delta="yes"} 1"#,
            #"dictum_requests_by_client_total{client="browser",delta="no"} 0"#,
            #"dictum_requests_by_client_total{client="other",delta="yes"} 2"#,
            #"dictum_requests_by_client_total{client="other",delta="no"} 2"#,
            #"dictum_delta_body_bytes_total{route="/feed",stage="before"} \#(3 * second.count)"#,
        ] {
            #expect(metrics.contains(line + "\n"), "\(line)")
        }
    }

    @Test(arguments: [[], [#"ETag: "v1""#]])
    func `the body of a response that becomes a 304 counts as neither sent nor saved`(fields: [String]) throws
    {
        let answer = wire(
            (["HTTP/1.1 200 OK", "Content-Type: application/json"] + fields).joined(separator: "\r\n"),
            body: first)
        var tag = ""
        let lines = try lines(Origin(answer)) { proxy in
            tag = try #require(try proxy.fetch("/feed")["ETag"])
            #expect(try proxy.fetch("/feed", "If-None-Match: \(tag)").status == 304)
            try waitUntil("both are counted") {
                try proxy.metric(#"dictum_responses_total{route="/*",status="3xx"}"#) == 1
            }
            for stage in ["before", "after"] {
                let bytes = try proxy.metric(#"dictum_body_bytes_total{route="/*",stage="\#(stage)"}"#)
                #expect(bytes == first.count, "\(stage)")
            }
        }
        // Each loop writes its lines by itself.
        let line = try #require(lines.first { $0.contains(#""status":304,"#) })
        #expect(line.contains(#""body_bytes":0,"sent_body_bytes":0,"#), "\(line)")
    }

    @Test func `a slow response that becomes a 304 counts nothing of its body`() throws {
        let origin = try Origin { _, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked",
                #"ETag: "v1""#)
            connection.send(head + chunk(first))
            pauseBeyondTheHold()
            connection.send(chunk(second) + chunk([]))
        }
        let lines = try lines(origin) { proxy in
            let answer = try proxy.fetch("/feed", #"If-None-Match: "v1""#)
            #expect(answer.status == 304)
        }
        #expect(lines.first?.contains(#""body_bytes":0,"sent_body_bytes":0,"#) == true, "\(lines)")
    }

    @Test func `HEAD is no delta, although its head says what GET would have`() throws {
        let origin = try Origin { request, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(first.count)")
            connection.send(request.method == "HEAD" ? head : head + first)
        }
        let lines = try lines(origin) { proxy in
            _ = try proxy.fetch("/feed")
            let head = try proxy.fetch("/feed", over: first, method: "HEAD")
            #expect(head.coding == "dcz" || head.coding == "dcb")
            try waitUntil("both are counted") {
                try proxy.metric(#"dictum_responses_total{route="/*",status="2xx"}"#) == 2
            }
            #expect(try proxy.report().routes[0].live?.deltas == 0)
            #expect(try proxy.metric(#"dictum_requests_by_client_total{client="other",delta="yes"}"#) == 0)
        }
        let line = try #require(lines.first { $0.contains(#""method":"HEAD""#) })
        #expect(line.contains(#""coding":"identity""#) && !line.contains(#""reason""#), "\(line)")
    }

    @Test func `the report has a delta by its coding, and each other response by its reason`() throws {
        let proxy = try TestProxy(Origin([json(first), json(first), json(second)]))
        let codings = [
            try proxy.fetch("/feed"), try proxy.fetch("/feed", "Accept-Encoding: gzip"),
            try proxy.fetch("/feed", over: first),
        ].map(\.coding)
        try waitUntil("all are counted") {
            try proxy.metric(#"dictum_responses_total{route="/*",status="2xx"}"#) == 3
        }
        let live = try #require(try proxy.report().routes[0].live)
        #expect(codings.last == "dcz" && live.requests == 3 && live.deltas == 1)
        #expect(live.codings.values.reduce(0, +) == 3 && live.codings["dcz"] == 1)
        #expect(live.reasons.values.reduce(0, +) == 2 && live.reasons["delta"] == nil, "\(live.reasons)")
    }

    @Test func `the report has the size of the store as the metrics have it`() throws {
        let folder = try TemporaryFolder()
        let proxy = try TestProxy(Origin(json(first)), store: folder.file("store.sqlite"))
        _ = try proxy.fetch("/feed")
        try waitUntil("the version is on disk") {
            try proxy.metric(#"dictum_store_bytes{place="disk"}"#) > 0
                && proxy.metric(#"dictum_store_body_bytes_total{form="whole"}"#) > 0
        }
        let store = try proxy.report().store
        #expect(store.diskBytes == (try proxy.metric(#"dictum_store_bytes{place="disk"}"#)))
        #expect(store.memoryBytes == (try proxy.metric(#"dictum_store_bytes{place="memory"}"#)))
        #expect(store.versions == 1 && store.chains == 1 && store.diskBytes != store.memoryBytes)
    }

    @Test func `bytes on the wire include heads and framing`() throws {
        var head = 0
        let lines = try lines(Origin(json(first))) { proxy in
            let client = try proxy.connect()
            client.send(request("/feed", ["Connection: close"]))
            head = client.receiveAll().count
        }
        #expect(lines.first?.contains(#""wire_bytes":\#(head),"#) == true)
        #expect(lines.first?.contains(#""sent_body_bytes":\#(first.count),"#) == true)
    }

    @Test(arguments: [
        ("GET /feed HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "malformed"),
        ("GET /feed HTTP/2.0\r\n\r\n", 505, "unsupported"),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501, "unsupported"),
        ("GET /\(String(repeating: "x", count: 64 << 10)) HTTP/1.1\r\n\r\n", 414, "head-too-large"),
        (
            "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: 1\r\n", count: 1_000))\r\n", 431,
            "head-too-large"
        ),
    ])
    func `the answer to what is no request counts on the wire as any other, under its reason`(
        text: String, status: Int, reason: String
    ) throws {
        var (wire, body) = (0, 0)
        let lines = try lines(Origin(json(first))) { proxy in
            let client = try proxy.connect()
            client.send(text)
            let answer = client.receiveAll()
            wire = answer.count
            let end = try #require(answer.firstRange(of: Array("\r\n\r\n".utf8))).upperBound
            body = answer.count - end
        }
        #expect(lines.count == 1 && wire > body && body > 0)
        #expect(lines.first?.contains(#""status":\#(status),"#) == true, "\(lines)")
        #expect(
            lines.first?.contains(#""body_bytes":\#(body),"sent_body_bytes":\#(body),"wire_bytes":\#(wire),"#)
                == true)
        #expect(lines.first?.contains(#""error":"\#(reason)""#) == true, "\(lines)")
    }

    @Test func `a client's connection is active during a request, and idle between two`() throws {
        let gate = Gate()
        let origin = try Origin { request, connection in
            if request.target == "/slow" { gate.wait() }
            connection.send(json(first))
        }
        let proxy = try TestProxy(origin)
        let (active, idle) = (
            #"dictum_connections{side="client",state="active"}"#,
            #"dictum_connections{side="client",state="idle"}"#
        )
        let (busy, resting) = (try proxy.connect(), try proxy.connect())
        busy.send(request("/slow", []))
        try waitUntil("the slow request is under way") { !origin.requests.isEmpty }
        resting.send(request("/feed", []))
        #expect(try resting.receive().carries(first))
        try waitUntil("the fast response is counted") { try proxy.metric(active) == 1 }
        #expect(try proxy.metric(idle) == 1)
        gate.open()
        #expect(try busy.receive().carries(first))
        try waitUntil("the slow response is counted") { try proxy.metric(active) == 0 }
        #expect(try proxy.metric(idle) == 2)
    }
}
