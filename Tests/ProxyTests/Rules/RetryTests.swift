internal import Dictionaries
internal import Glibc
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let well = wire("HTTP/1.1 200 OK", body: [UInt8]("well".utf8))

@Suite(.timeLimit(.minutes(40))) struct RetryTests {
    // MARK: Requests without a retry

    @Test(
        arguments: [
            ("POST", nil), ("POST", [1, 2, 3]), ("PATCH", nil), ("PUT", [1, 2, 3]),
        ] as [(String, [UInt8]?)])
    func `what is not idempotent, or has a body, is never sent twice`(method: String, body: [UInt8]?) throws {
        let (one, two) = (try MoodyOrigin(.closing), try MoodyOrigin())
        let proxy = try TestProxy([one, two])
        let answer = try proxy.fetch("/", method: method, body: body)
        #expect(answer.status == 502)
        #expect([one.count, two.count] == [1, 0])
        #expect(try proxy.metric(#"dictum_upstream_retries_total{reason="no-answer"}"#) == 0)
    }

    @Test func `nothing is sent again once a byte of an answer has come`() throws {
        let one = try Origin { _, connection in
            connection.send("H")
            connection.finish()
        }
        let two = try MoodyOrigin()
        let proxy = try TestProxy(one, urls: ["http://127.0.0.1:\(one.port)", two.url])
        #expect(try proxy.fetch("/").status == 502)
        #expect([one.requests.count, two.count] == [1, 0])
    }

    @Test func `an answer that breaks off is cut, not asked for again`() throws {
        let one = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 9000\r\n\r\nhalf")
            // By then the head has gone out.
            pauseBeyondTheHold()
            connection.finish()
        }
        let two = try MoodyOrigin()
        let proxy = try TestProxy(one, urls: ["http://127.0.0.1:\(one.port)", two.url])
        let client = try proxy.connect()
        client.send(request("/", []))
        #expect((try? client.receive())?.isWhole != true)
        #expect([one.requests.count, two.count] == [1, 0])
    }

    // MARK: Retried requests

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "DELETE"])
    func `an idempotent request without a body goes to another upstream`(method: String) throws {
        let (one, two) = (try MoodyOrigin(.closing), try MoodyOrigin())
        let proxy = try TestProxy([one, two])
        #expect(try proxy.fetch("/a?b", "X-Y: 1", method: method).status == 200)
        #expect([one.count, two.count] == [1, 1])
        let (first, second) = (one.origin.requests[0], two.origin.requests[0])
        #expect(first.startLine == second.startLine)
        #expect(first.fields.map(\.value) == second.fields.map(\.value))
        #expect(try proxy.metric(#"dictum_upstream_retries_total{reason="no-answer"}"#) == 1)
    }

    @Test func `an only upstream is asked again itself`() throws {
        let isFirst = Guarded(true)
        let origin = try Origin { _, connection in
            let closes = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if closes { connection.finish() } else { connection.send(well) }
        }
        let proxy = try TestProxy(origin)
        #expect(try proxy.fetch("/").text == "well")
        #expect(origin.requests.count == 2)
    }

    @Test(arguments: [0, 1, 2])
    func `a request is sent again as often as is set, and no upstream gets it twice`(retries: Int) throws {
        let all = try (0..<4).map { _ in try MoodyOrigin(.closing) }
        let proxy = try TestProxy(all, upstream: "retries: \(retries)")
        #expect(try proxy.fetch("/").status == 502)
        let counts = all.map(\.count)
        #expect(counts.reduce(0, +) == 1 + retries)
        #expect(counts.allSatisfy { $0 <= 1 })
    }

    @Test(arguments: [0, 1])
    func `the time of an upstream's response is that of the last try`(failures: Int) throws {
        let one = try Origin { _, connection in
            pauseBeyondTheHold()
            connection.finish()
        }
        let two = try MoodyOrigin()
        let failing = Array(repeating: "http://127.0.0.1:\(one.port)", count: failures)
        let proxy = try TestProxy(one, urls: failing + [two.url])
        #expect(try proxy.fetch("/").text == "well")
        #expect(one.requests.count == failures && two.count == 1)
        try waitUntil("it is counted") {
            try proxy.metric(#"dictum_responses_total{route="/*",status="2xx"}"#) == 1
        }
        func seconds(_ series: String) throws -> Double {
            let line = try #require(
                try proxy.metrics().split(separator: "\n").first { $0.hasPrefix(series + " ") })
            return try #require(Double(line.dropFirst(series.count + 1)))
        }
        let whole = try seconds(#"dictum_response_head_seconds_sum{route="/*"}"#)
        let last = try seconds("dictum_upstream_head_seconds_sum")
        #expect(whole - last >= 0.49 * Double(failures), "without the half second of the first")
    }

    @Test func `an outage does not double its load: retries have a budget`() throws {
        let origin = try MoodyOrigin(.closing)
        let proxy = try TestProxy([origin], upstream: "retries: 1")
        var asked = 0
        let client = try proxy.connect()
        while try proxy.metric("dictum_upstream_retries_over_budget_total") < 20, asked < 1_000 {
            client.send(request("/", []))
            #expect(try client.receive().status == 502)
            asked += 1
        }
        let retried = try proxy.metric(#"dictum_upstream_retries_total{reason="no-answer"}"#)
        #expect(asked < 1_000)
        #expect(retried + 20 == asked)
        #expect(retried > RetryBudget.retriesMin, "a share of the requests comes on top")
        #expect(origin.count == asked + retried)
    }

    @Test(arguments: [(MoodyOrigin.Mood.closing, 0), (MoodyOrigin.Mood.silent, 1)])
    func `a request that cannot go on takes nothing of the budget`(
        mood: MoodyOrigin.Mood, retries: Int
    ) throws {
        let origin = try MoodyOrigin(mood)
        let proxy = try TestProxy([origin], upstream: "response_timeout: 50ms\n  retries: \(retries)")
        let client = try proxy.connect()
        for _ in 0..<20 {
            client.send(request("/", []))
            #expect(try client.receive().status >= 502)
        }
        #expect(try proxy.metric("dictum_upstream_retries_over_budget_total") == 0)
    }

    @Test func `the last upstream that is left takes nothing of the budget when it fails, too`() throws {
        let both = [try MoodyOrigin(.silent), try MoodyOrigin(.silent)]
        let proxy = try TestProxy(
            both, upstream: "{retries: 5, max_failures: 0, response_timeout: 50ms}".unbraced)
        let client = try proxy.connect()
        // Eleven requests may be sent again once each, and not twice.
        for _ in 0..<11 {
            client.send(request("/", []))
            #expect(try client.receive().status >= 502)
        }
        #expect(try proxy.metric("dictum_upstream_retries_over_budget_total") == 0)
    }

    @Test func `of several upstreams each is asked once, and an only one as often as is set`() throws {
        let both = [try MoodyOrigin(.closing), try MoodyOrigin(.closing)]
        let proxy = try TestProxy(both, upstream: "{retries: 5, max_failures: 0}".unbraced)
        #expect(try proxy.fetch("/").status == 502)
        #expect(both.allSatisfy { $0.count == 1 })
        let alone = try MoodyOrigin(.closing)
        #expect(try TestProxy([alone], upstream: "retries: 3").fetch("/").status == 502)
        #expect(alone.count == 4)
    }

    @Test func `with retries 0 a request goes no further than to an upstream that is unreachable`() throws {
        let (alive, dead) = (try MoodyOrigin(), try deadURL())
        let proxy = try TestProxy(
            alive.origin, upstream: "{retries: 0, max_failures: 0}".unbraced, urls: [dead, alive.url])
        let client = try proxy.connect()
        var statuses: [Int] = []
        for _ in 0..<4 {
            client.send(request("/", []))
            statuses.append(try client.receive().status)
        }
        #expect(statuses.count { $0 == 502 } == 2)
        #expect(alive.count == 2)
    }

    // MARK: Kept connections

    @Test(arguments: [(1, 1), (3, 2), (256, 128)])
    func `the connections to keep are shared by two loops, and one that is set is not none`(
        set: Int, perLoop: Int
    ) throws {
        let proxy = try TestProxy([try MoodyOrigin()], upstream: "keepalive: \(set)")
        #expect(proxy.server.context.upstreams.all.map(\.connections.keepAliveMax) == [perLoop])
    }

    /// Returns an upstream that responds to the first request of a connection and closes at the second.
    private static func fickle() throws -> Origin {
        let served = Guarded<Set<ObjectIdentifier>>([])
        return try Origin { _, connection in
            let name = ObjectIdentifier(connection)
            let isFirst = served.withLock { $0.insert(name).inserted }
            if isFirst { return _ = connection.send(well) }
            // The next connection may be given the same name.
            _ = served.withLock { $0.remove(name) }
            connection.finish()
        }
    }

    @Test func `a kept connection that proves closed is replaced, at no charge`() throws {
        let origin = try Self.fickle()
        let proxy = try TestProxy(origin, upstream: "{retries: 0, max_failures: 1}".unbraced)
        let client = try proxy.connect()
        for _ in 0..<40 {
            client.send(request("/", []))
            #expect(try client.receive().text == "well")
        }
        #expect(try proxy.metric(#"dictum_upstream_retries_total{reason="stale"}"#) >= 30)
        #expect(try proxy.metric(#"dictum_upstream_errors_total{kind="reset"}"#) == 0)
        #expect(try proxy.isHealthy("http://127.0.0.1:\(origin.port)"))
    }

    @Test func `a POST that went out on a connection that proves closed is not sent again`() throws {
        let origin = try Self.fickle()
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        for expected in [200, 502, 200, 502] {
            client.send(request("/", [], method: "POST", body: [1]))
            #expect(try client.receive().status == expected)
        }
        #expect(origin.requests.count == 4)
    }

    @Test(arguments: [0, 3, 40_000])
    func `a POST of which nothing has gone out goes on another connection`(bodyBytes: Int) throws {
        let kept = Guarded<WireSocket?>(nil)
        let origin = try Origin { request, connection in
            kept.withLock { $0 = connection }
            connection.send(well)
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        let body = [UInt8](repeating: 7, count: bodyBytes)
        client.send(request("/", []))
        #expect(try client.receive().text == "well")
        // Both come in one batch of events, the request first: every loop waits until they are there.
        let (halted, gate) = (Gate(), Gate())
        for part in proxy.server.parts {
            part.loop.execute { _ in
                halted.open()
                gate.wait(seconds: 50)
            }
        }
        for _ in proxy.server.parts { halted.wait() }
        client.send(request("/", [], method: "POST", body: body))
        let connection = try #require(kept.withLock { $0 })
        connection.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
        connection.finish()
        for _ in proxy.server.parts { gate.open() }
        let answer = try client.receive()
        #expect(answer.status == 200)
        #expect(answer.text == "well")
        #expect(origin.requests.map(\.method) == ["GET", "POST"])
        let isWhole = origin.requests.last?.body == body
        #expect(isWhole)
    }
}
