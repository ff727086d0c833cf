internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// An upstream with an adjustable status of `/healthz`, and status 200 for all other targets.
private final class CheckedOrigin: Sendable {
    let origin: Origin
    private let status: Guarded<Int?>

    /// Without a status it does not respond to checks.
    init(_ status: Int?) throws {
        let current = Guarded(status)
        self.status = current
        origin = try Origin { request, connection in
            guard request.target == "/healthz" else {
                return _ = connection.send(wire("HTTP/1.1 200 OK", body: [UInt8]("well".utf8)))
            }
            guard let status = current.withLock({ $0 }) else { return _ = connection.receiveAll() }
            connection.send(wire("HTTP/1.1 \(status) It", body: []))
        }
    }

    deinit { origin.stop() }

    func become(_ status: Int?) { self.status.withLock { $0 = status } }

    var url: String { "http://127.0.0.1:\(origin.port)" }
    var requests: [WireMessage] { origin.requests.filter { $0.target != "/healthz" } }
    var checks: [WireMessage] { origin.requests.filter { $0.target == "/healthz" } }
}

private let health = "health: {path: /healthz, interval: 100ms}"

extension TestProxy {
    fileprivate convenience init(
        _ origins: [CheckedOrigin], upstream: String = health, loops: Int = 2
    ) throws {
        try self.init(origins[0].origin, upstream: upstream, loops: loops, urls: origins.map(\.url))
    }

    fileprivate func untilHealthy(_ isHealthy: Bool, _ origin: CheckedOrigin) throws {
        try waitUntil("\(origin.url) is \(isHealthy ? "healthy" : "unhealthy")") {
            try self.isHealthy(origin.url) == isHealthy
        }
    }

    fileprivate func readiness() throws -> WireMessage { try admin("GET /readyz HTTP/1.1", "Host: admin") }
}

@Suite(.timeLimit(.minutes(40))) struct HealthCheckTests {
    @Test(arguments: [503, 404, 302, nil])
    func `an upstream that does not pass gets no requests, and comes back when it does`(status: Int?) throws {
        let (sick, well) = (try CheckedOrigin(status), try CheckedOrigin(204))
        let proxy = try TestProxy(
            [sick, well], upstream: "health: {path: /healthz, interval: 100ms, timeout: 3s}")
        try proxy.untilHealthy(false, sick)
        for _ in 0..<8 { #expect(try proxy.fetch("/").text == "well") }
        #expect(sick.requests.isEmpty)
        #expect(try proxy.readiness().status == 200)
        sick.become(200)
        try proxy.untilHealthy(true, sick)
        try waitUntil("it gets requests again") { () throws -> Bool in
            #expect(try proxy.fetch("/").text == "well")
            return !sick.requests.isEmpty
        }
        // The state changes before it is told.
        try waitUntil("its return is told") { proxy.told(of: sick.url).count >= 2 }
        #expect(
            proxy.told(of: sick.url).map { "\($0)".contains("passes its health check") } == [false, true],
            "out and in again are told once each")
        #expect(proxy.told(of: well.url).isEmpty)
    }

    @Test func `where none passes the proxy is not ready, and asks all the same`() throws {
        let both = [try CheckedOrigin(500), try CheckedOrigin(500)]
        let proxy = try TestProxy(both)
        for origin in both { try proxy.untilHealthy(false, origin) }
        let answer = try proxy.readiness()
        #expect(answer.status == 503)
        #expect(answer.text.contains("no upstream passes its health check"))
        let warnings = try proxy.read("/status").list("warnings").compactMap { $0.text("text") }
        let advice = " is down: it gets requests only if no other one is up"
        #expect(warnings.count { $0.hasSuffix(advice) } == 2)
        #expect(try proxy.admin("GET /healthz HTTP/1.1", "Host: admin").status == 200)
        #expect(try proxy.fetch("/").text == "well")
        both[1].become(200)
        try proxy.untilHealthy(true, both[1])
        #expect(try proxy.readiness().status == 200)
    }

    @Test(arguments: [1, 2])
    func `a check is a GET of its own for every upstream, by one loop alone`(loops: Int) throws {
        let origin = try CheckedOrigin(200)
        let proxy = try TestProxy([origin], upstream: "health: {path: /healthz, interval: 1h}", loops: loops)
        try waitUntil("the upstream is checked") { !origin.checks.isEmpty }
        let check = origin.checks[0]
        #expect(check.startLine == "GET /healthz HTTP/1.1")
        #expect(check["Host"] == "127.0.0.1:\(origin.origin.port)")
        #expect(check["Connection"] == "close")
        #expect(check["User-Agent"] == "dictum-health", "so that an operator can tell it from clients")
        #expect(try proxy.fetch("/").text == "well")
        #expect(origin.checks.count == 1)
    }

    @Test func `the statuses that pass are as they are set`() throws {
        let (moved, well) = (try CheckedOrigin(302), try CheckedOrigin(200))
        let proxy = try TestProxy(
            [moved, well], upstream: "health: {path: /healthz, interval: 100ms, status: 302}")
        try proxy.untilHealthy(false, well)
        #expect(try proxy.isHealthy(moved.url))
    }

    @Test(
        arguments: [
            ("204", [204], [203, 205]), ("2xx", [200, 299], [199, 300]), ("5xx", [500, 599], [499, 600]),
            ("200-399", [200, 399], [199, 400]), ("200-201", [200, 201], [199, 202]),
        ] as [(String, [Int], [Int])])
    func `a status, a class and a range have the statuses that they name, and no others`(
        text: String, passing: [Int], others: [Int]
    ) throws {
        let file = "upstream: {urls: [http://u], health: {status: \(text)}}"
        let expected = try #require(Configuration.parse(Array(file.utf8)).upstream.health).status
        #expect(passing.allSatisfy { expected.contains($0) } && !others.contains { expected.contains($0) })
        #expect(expected.description == text)
    }

    @Test(arguments: [
        "", "1xx", "6xx", "2x", "2xxx", "xxx", "199", "600", "+200", "٢00", "399-200", "200-", "-200",
        "200-600", "200-300-400",
    ])
    func `what is no final status names none`(text: String) {
        #expect(ExpectedStatus(text) == nil)
    }

    @Test func `a check reads no more than 64 KiB of a body, and does not wait for its end`() throws {
        let origin = try Origin { _, connection in
            let body = chunk([UInt8](repeating: 0x61, count: 64 * 1024 + 1))
            connection.send(wire("HTTP/1.1 200 OK", "Transfer-Encoding: chunked") + body)
            _ = connection.receiveAll()
        }
        let settings = "health: {path: /healthz, interval: 100ms, timeout: 10m}"
        try withExtendedLifetime(TestProxy(origin, upstream: settings)) {
            try waitUntil("the next check comes") { origin.requests.count >= 2 }
        }
    }

    @Test(arguments: [200, 503])
    func `a check whose time is over counts by its head, if that has come`(status: Int) throws {
        let origin = try Origin { _, connection in
            connection.send(wire("HTTP/1.1 \(status) It", "Transfer-Encoding: chunked") + chunk([0x61]))
            _ = connection.receiveAll()
        }
        let proxy = try TestProxy(
            origin, upstream: "health: {path: /healthz, interval: 100ms, timeout: 300ms}")
        try waitUntil("two checks have ended") { origin.requests.count >= 3 }
        // A head that was late once counts against the server only until the next check.
        try waitUntil("its health is known") {
            try proxy.isHealthy("http://127.0.0.1:\(origin.port)") == (status == 200)
        }
    }

    @Test func `a reload without an upstream ends its checks, and those of others go on`() throws {
        let (kept, gone) = (try CheckedOrigin(200), try CheckedOrigin(200))
        let proxy = try TestProxy(
            kept.origin, upstream: health, "upstreams: {gone: {urls: [\"\(gone.url)\"], \(health)}}")
        try waitUntil("both are checked") { !kept.checks.isEmpty && !gone.checks.isEmpty }
        try proxy.reload("", upstream: health)
        let (former, count) = (kept.checks.count, gone.checks.count)
        try waitUntil("the other is checked further") { kept.checks.count >= former + 10 }
        #expect(gone.checks.count <= count + 2, "one may have been under way, and one before the loop knew")
    }

    @Test func `an address that a reload brings is checked at once, and no other`() throws {
        let (old, new) = (try CheckedOrigin(200), try CheckedOrigin(500))
        let settings = "health: {path: /healthz, interval: 1h}"
        let proxy = try TestProxy([old], upstream: settings)
        try waitUntil("the upstream is checked") { !old.checks.isEmpty }
        try proxy.server.reload(
            TestProxy.configuration(old.origin, upstream: settings, urls: [old.url, new.url]))
        try proxy.untilHealthy(false, new)
        #expect(old.checks.count == 1 && new.checks.count == 1)
    }

    @Test func `a reload without checks forgets what they found, one with them does not`() throws {
        let (sick, well) = (try CheckedOrigin(500), try CheckedOrigin(200))
        let proxy = try TestProxy([sick, well])
        try proxy.untilHealthy(false, sick)
        let urls = [sick.url, well.url]
        try proxy.server.reload(
            TestProxy.configuration(sick.origin, upstream: health, "explain: true", urls: urls))
        #expect(try !proxy.isHealthy(sick.url))
        try proxy.server.reload(TestProxy.configuration(sick.origin, urls: urls))
        #expect(try proxy.isHealthy(sick.url))
        let count = sick.checks.count
        for _ in 0..<8 { #expect(try proxy.fetch("/").text == "well") }
        #expect(!sick.requests.isEmpty)
        #expect(sick.checks.count <= count + 1, "one may have been under way")
    }
}
