internal import HTTP
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy

private let answer = json(Array("{}".utf8))

/// Tests `limits.client`: the rate of requests and the number of connections per client.
@Suite(.timeLimit(.minutes(40))) struct ClientLimitTests {
    /// Three requests at once, and then one per twenty minutes, which is longer than any test.
    private static let three = "limits: {client: {rate: 3/h, burst: 3}}"

    private func statuses(_ proxy: TestProxy, _ fields: [String]) throws -> [Int] {
        try fields.map { try proxy.fetch("/a", $0).status }
    }

    private func from(_ client: String, _ count: Int = 1) -> [String] {
        Array(repeating: "X-Forwarded-For: \(client)", count: count)
    }

    @Test func `a client may ask so often, and once more gets 429 with the time to wait`() throws {
        let proxy = try TestProxy(answer, Self.three)
        let begin = SystemClock.monotonicNanoseconds
        #expect(try statuses(proxy, from("192.0.2.1", 4)) == [200, 200, 200, 429])
        let refusal = try proxy.fetch("/a", "X-Forwarded-For: 192.0.2.1", "Accept: application/json")
        #expect(refusal.status == 429)
        let seconds = try #require(refusal["Retry-After"].flatMap { Int($0) })
        #expect(1...1200 ~= seconds && seconds > 600)
        let elapsed = Double(SystemClock.monotonicNanoseconds - begin) / 1e9
        #expect(
            Double(seconds) >= 1200 - elapsed, "RFC 9110 section 10.2.3 has whole seconds: never too short")
        #expect(refusal["Content-Type"] == "application/problem+json")
        #expect(refusal["Cache-Control"] == "no-store")
        #expect(try proxy.metric(#"dictum_rejected_requests_total{reason="client-rate"}"#) == 2)
        #expect(proxy.origin.requests.count == 3)
        #expect(try statuses(proxy, from("192.0.2.2", 3)) == [200, 200, 200], "each has a bucket of its own")
    }

    @Test func `a connection goes on behind a 429`() throws {
        let proxy = try TestProxy(answer, "limits: {client: {rate: 1/h, burst: 1}}")
        let client = try proxy.connect()
        for status in [200, 429, 429] {
            client.send("GET /a HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
            #expect(try client.receive().status == status)
        }
    }

    @Test func `an IPv6 client is its network, an IPv4 client its address`() throws {
        let proxy = try TestProxy(answer, "limits: {client: {rate: 1/h, burst: 1}}")
        let clients = ["2001:db8::1", "2001:db8:0:ffff:ffff::2", "2001:db8:1::1", "192.0.2.1", "192.0.2.2"]
        #expect(try statuses(proxy, clients.flatMap { from($0) }) == [200, 429, 200, 200, 200])
        let exact = try TestProxy(answer, "limits: {client: {rate: 1/h, burst: 1, ipv6_prefix: 128}}")
        #expect(try statuses(exact, clients.flatMap { from($0) }) == [200, 200, 200, 200, 200])
    }

    @Test func `what a client says of itself does not make it another`() throws {
        let settings = "trusted_proxies: [loopback, 10.0.0.0/8]\nlimits: {client: {rate: 1/h, burst: 1}}"
        let proxy = try TestProxy(answer, settings)
        let fields = [
            "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 8.8.8.8, 192.0.2.1",
            "X-Forwarded-For: 192.0.2.1, 10.1.2.3",
            "X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-For: 192.0.2.1:4711",
            "X-Forwarded-For: 192.0.2.1, 192.0.2.9",
            #"Forwarded: for=8.8.8.8, for="[2001:db8::1]:80";proto=http"#,
            #"Forwarded: for=9.9.9.9, for="[2001:db8::2]";proto=http"#,
        ]
        #expect(try statuses(proxy, fields) == [200, 429, 429, 429, 200, 200, 429])
    }

    @Test func `a trusted peer that names nobody is not limited, and anybody else is by its own address`()
        throws
    {
        let proxy = try TestProxy(answer, Self.three)
        #expect(try statuses(proxy, Array(repeating: "X-Other: 1", count: 5)).allSatisfy { $0 == 200 })
        #expect(try statuses(proxy, from("10.0.0.1, unknown", 5)).allSatisfy { $0 == 200 })
        let open = try TestProxy(answer, "trusted_proxies: []\n" + Self.three)
        let fields = (1...4).map { "X-Forwarded-For: 192.0.2.\($0)" }
        #expect(try statuses(open, fields) == [200, 200, 200, 429])
    }

    @Test func `by a field each value is a client, and requests without it go by address`() throws {
        let proxy = try TestProxy(
            answer, "limits: {client: {rate: 1/h, burst: 1, by: \"header:X-Api-Key\"}}")
        let fields = [
            "X-Api-Key: a", "x-api-key: a", "X-Api-Key: b", "X-Api-Key: a\r\nX-Api-Key: b",
            "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.1",
            "X-Api-Key: c\r\nX-Forwarded-For: 192.0.2.1",
        ]
        #expect(try statuses(proxy, fields) == [200, 429, 200, 200, 200, 429, 200])
    }

    @Test func `a reload changes the limits, and what a client has used up stays so`() throws {
        let proxy = try TestProxy(answer, Self.three)
        #expect(try statuses(proxy, from("192.0.2.1", 4)) == [200, 200, 200, 429])
        try proxy.reload("")
        #expect(try statuses(proxy, from("192.0.2.1", 4)) == [200, 200, 200, 200])
        try proxy.reload(Self.three)
        #expect(try statuses(proxy, from("192.0.2.1")) == [429])
    }

    @Test func `one connection too many of a client gets 503, and a place that is free is given again`()
        throws
    {
        let proxy = try TestProxy(answer, "trusted_proxies: []\nlimits: {client: {connections: 2}}")
        var served = [try proxy.connect(), try proxy.connect()]
        for client in served {
            client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.receive().status == 200)
        }
        let refused = try proxy.connect()
        #expect(try refused.receive().status == 503)
        #expect(refused.receiveAll().isEmpty && refused.ending == .closed)
        #expect(try proxy.metric(#"dictum_rejected_requests_total{reason="client-connections"}"#) == 1)
        for client in served {
            client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.receive().status == 200, "those that were there go on")
        }
        served.removeLast()
        // The place is free once the proxy has noticed.
        try waitUntil("its place is given again") { try proxy.fetch("/a").status == 200 }
        served = []
        try waitUntil("no client is counted") {
            proxy.server.context.shared.clientConnections.clientCount == 0
        }
    }

    @Test func `one client leaves as many connections to all others as it has`() throws {
        let proxy = try TestProxy(
            try Origin(answer), "limits: {connections: 20}", listener: { $0.proxyProtocol = true })
        func connect(_ client: String) throws -> WireSocket {
            let socket = try proxy.connect()
            socket.send("PROXY TCP4 \(client) 192.0.2.99 1000 80\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n")
            return socket
        }
        let greedy = try (0..<12).map { _ in
            let socket = try connect("192.0.2.1")
            return (socket, try socket.receive().status)
        }
        #expect(greedy.map(\.1) == Array(repeating: 200, count: 10) + [503, 503])
        let others = try (2..<7).map { try connect("192.0.2.\($0)") }
        for socket in others { #expect(try socket.receive().status == 200) }
        withExtendedLifetime(greedy) {}
    }

    @Test func `connections count by who is behind the PROXY protocol, and trusted peers' own do not`() throws
    {
        let proxy = try TestProxy(
            try Origin(answer), "limits: {client: {connections: 1}}", listener: { $0.proxyProtocol = true })
        func connect(_ client: String) throws -> WireSocket {
            let socket = try proxy.connect()
            socket.send("PROXY TCP4 \(client) 192.0.2.99 1000 80\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n")
            return socket
        }
        let first = try connect("192.0.2.1")
        #expect(try first.receive().status == 200)
        #expect(try connect("192.0.2.1").receive().status == 503)
        #expect(try connect("192.0.2.2").receive().status == 200)
        let own = try (0..<3).map { _ in try connect("127.0.0.1") }
        for socket in own { #expect(try socket.receive().status == 200) }
        withExtendedLifetime(first) {}
    }
}

struct ClientRateTests {
    @Test(arguments: ["1/h", "1000000/s", "1/s", "1000000/h"])
    func `the largest burst at any rate is within the numbers`(text: String) throws {
        var settings = Configuration.ClientLimits()
        settings.rate = Configuration.Rate(text)
        settings.burst = 1_000_000
        let limit = try #require(RateLimit(settings))
        var bucket = TokenBucket()
        for _ in 0..<1_000_000 { #expect(bucket.take(at: limit.bucket, now: 1 << 60) == nil) }
        #expect(bucket.take(at: limit.bucket, now: 1 << 60) != nil)
    }

    @Test func `the client of a field is all its lines, and otherwise the peer`() throws {
        var settings = Configuration.ClientLimits()
        settings.rate = Configuration.Rate("7/s")
        settings.by = .header("X-Key")
        let limit = try #require(RateLimit(settings))
        let name = try #require(HeaderName("X-Key"))
        let address = try #require(IPAddress("192.0.2.1"))
        let peer = ClientPeer(.ip(address, port: 1), trusting: [])
        func client(_ values: [String]) -> UInt128? {
            var headers = Headers()
            for value in values { headers.append(name, value) }
            return limit.client(headers, peer)
        }
        #expect(client(["ab", "c"]) == client(["ab", "c"]))
        #expect(client(["ab", "c"]) != client(["a", "bc"]))
        #expect(client([]) == peer.clientAddress(Headers()))
        var bucket = TokenBucket()
        let isFree = (0..<8).map { _ in bucket.take(at: limit.bucket, now: 1 << 60) == nil }
        #expect(isFree.count { $0 } == 7 && !isFree[7], "the requests of a second")
    }

    @Test(arguments: [
        "", "5", "/s", "5/", "5/d", "0/s", "1000001/s", "-1/s", "5/s/s", "5 /s", "5/S", "1.5/s",
    ])
    func `a rate is a number in a second, a minute or an hour`(text: String) {
        #expect(Configuration.Rate(text) == nil)
    }

    @Test func `of more clients than there are places those of long ago are forgotten, and nobody of now is`()
    {
        let rates = ClientRates(clientsMax: 1_024)
        let bucket = TokenBucket.Shape(interval: 1_000_000, burst: 1)
        #expect(rates.take(0, bucket, now: 0) == nil)
        for client in 1..<100_000 {
            #expect(rates.take(UInt128(client), bucket, now: 0) == nil)
            #expect(rates.take(0, bucket, now: 0) != nil, "who asks on is remembered")
        }
        #expect(rates.count <= 1_024)
        #expect(rates.take(1, bucket, now: 0) == nil)
    }
}
