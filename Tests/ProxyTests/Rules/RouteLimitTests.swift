internal import HTTP
internal import TestSupport
internal import Testing

@testable import Proxy

private let answer = json(Array("{}".utf8))

/// `routes[].limits`: the rate per client and the size of request bodies on one route.
@Suite(.timeLimit(.minutes(40))) struct RouteLimitTests {
    private static let settings = """
        limits: {request_body: 100}
        routes:
        - {match: /login, limits: {rate: 2/h, burst: 2, request_body: 10}}
        - {match: /search, limits: {rate: 1/h}}
        - {match: /upload, limits: {request_body: 1KiB}}
        - {match: /*}
        """

    private func status(_ proxy: TestProxy, _ target: String, _ client: String, _ body: Int? = nil) throws
        -> Int
    {
        try proxy.fetch(
            target, "X-Forwarded-For: \(client)", method: body == nil ? "GET" : "POST",
            body: body.map { Array(repeating: 0x61, count: $0) }
        ).status
    }

    @Test func `a client has a bucket per route, and other routes have no limit`() throws {
        let proxy = try TestProxy(answer, Self.settings)
        #expect(try (0..<3).map { _ in try status(proxy, "/login", "192.0.2.1") } == [200, 200, 429])
        #expect(try (0..<2).map { _ in try status(proxy, "/search", "192.0.2.1") } == [200, 429])
        #expect(try (0..<5).allSatisfy { _ in try status(proxy, "/other", "192.0.2.1") == 200 })
        #expect(try status(proxy, "/login", "192.0.2.2") == 200)
        let refusal = try proxy.fetch("/login", "X-Forwarded-For: 192.0.2.1")
        let seconds = try #require(refusal["Retry-After"].flatMap { Int($0) })
        #expect(1...1800 ~= seconds && seconds > 900)
        #expect(try proxy.metric(#"dictum_rejected_requests_total{reason="route-rate"}"#) == 3)
        #expect(try proxy.metric(#"dictum_rejected_requests_total{reason="client-rate"}"#) == 0)
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/login", [("x-forwarded-for", "192.0.2.1")])
        #expect(peer.response(1)?.status == "429")
    }

    @Test func `the general rate counts besides`() throws {
        let proxy = try TestProxy(
            answer,
            """
            limits: {client: {rate: 3/h, burst: 3}}
            routes: [{match: /login, limits: {rate: 1/h}}, {match: /*}]
            """)
        let targets = ["/login", "/login", "/other", "/other"]
        #expect(try targets.map { try status(proxy, $0, "192.0.2.1") } == [200, 429, 200, 429])
    }

    @Test func `a reload keeps what a client has used up on a route`() throws {
        let proxy = try TestProxy(answer, Self.settings)
        #expect(try status(proxy, "/search", "192.0.2.1") == 200)
        try proxy.reload(Self.settings)
        #expect(try status(proxy, "/search", "192.0.2.1") == 429)
    }

    @Test func `request bodies have the limit of their route, at its byte`() throws {
        let proxy = try TestProxy(answer, Self.settings)
        let cases = [
            ("/login", 10, 200), ("/login", 11, 413), ("/other", 100, 200), ("/other", 101, 413),
            ("/upload", 1024, 200), ("/upload", 1025, 413),
        ]
        for (index, (target, count, expected)) in cases.enumerated() {
            #expect(try status(proxy, target, "192.0.2.\(index)", count) == expected, "\(target) \(count)")
        }
        // The length is not told beforehand.
        let client = try proxy.connect()
        client.send(
            "POST /login HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.99\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "b\r\nabcdefghijk\r\n0\r\n\r\n")
        #expect(try client.receive().status == 413)
    }

    @Test func `the table of buckets is bounded, over all routes`() throws {
        let rates = ClientRates(clientsMax: 1_000)
        let limits = try (0..<10).map { number in
            var settings = RouteConfiguration.Limits()
            settings.rate = Configuration.Rate("1/h")
            return try #require(RateLimit(settings, of: "/r\(number)", ipv6Prefix: 64))
        }
        let loopback = try #require(IPAddress("192.0.2.1"))
        let peer = ClientPeer(.ip(loopback, port: 1), trusting: [])
        let clients = limits.compactMap { $0.client(Headers(), peer) }
        #expect(Set(clients).count == 10, "one client has a bucket per route")
        #expect(clients.allSatisfy { rates.take($0, limits[0].bucket, now: 0) == nil })
        #expect(clients.allSatisfy { rates.take($0, limits[0].bucket, now: 0) != nil })
        for number in 0..<10_000 { _ = rates.take(UInt128(number), limits[0].bucket, now: 0) }
        #expect(rates.count <= 1_000)
    }
}
