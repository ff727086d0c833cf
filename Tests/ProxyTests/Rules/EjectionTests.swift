internal import Dictionaries
internal import Glibc
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// The response of a healthy `MoodyOrigin`.
private let well = wire("HTTP/1.1 200 OK", body: [UInt8]("well".utf8))

/// An upstream that does as it is told.
final class MoodyOrigin: Sendable {
    /// The reaction to a request.
    enum Mood: Sendable {
        case well
        /// It closes the connection without a response.
        case closing
        /// It sends bytes that are not HTTP.
        case babbling
        /// It sends no response.
        case silent
    }

    let origin: Origin
    private let mood: Guarded<Mood>

    init(_ mood: Mood = .well) throws {
        let current = Guarded(mood)
        self.mood = current
        origin = try Origin { _, connection in
            switch current.withLock({ $0 }) {
            case .well: connection.send(well)
            case .closing: connection.finish()
            case .babbling: connection.send("what?\r\n\r\n")
            case .silent: _ = connection.receiveAll()
            }
        }
    }

    deinit { origin.stop() }

    func become(_ mood: Mood) { self.mood.withLock { $0 = mood } }

    var url: String { "http://127.0.0.1:\(origin.port)" }
    var count: Int { origin.requests.count }
}

extension TestProxy {
    /// Starts before several upstreams.
    convenience init(
        _ origins: [MoodyOrigin], upstream: String = "", _ settings: String = "",
        change: (inout Configuration) -> Void = { _ in }
    ) throws {
        try self.init(
            origins[0].origin, upstream: upstream, settings, urls: origins.map(\.url), change: change)
    }

    /// Returns true if requests go to the upstream.
    func isHealthy(_ url: String) throws -> Bool {
        try metric(#"dictum_upstream_healthy{upstream="\#(url)",address="\#(url.dropFirst(7))"}"#) == 1
    }

    /// Returns the events that name the upstream.
    func told(of url: String) -> [OperatorEvent] {
        events.withLock { $0 }.filter { String(describing: $0).contains(url) }
    }
}

/// Returns a URL of this machine on which no process listens.
func deadURL() throws -> String {
    let origin = try Origin([UInt8]())
    origin.stop()
    // The thread that accepts closes the socket a moment later.
    try waitUntil("nobody listens any more") { (try? WireSocket(port: origin.port)) == nil }
    return "http://127.0.0.1:\(origin.port)"
}

@Suite(.timeLimit(.minutes(40))) struct EjectionTests {
    @Test(arguments: ["GET", "POST"])
    func `an upstream that is dead from the start costs no request`(method: String) throws {
        let dead = try deadURL()
        let alive = try MoodyOrigin()
        let proxy = try TestProxy(alive.origin, urls: [dead, alive.url])
        for _ in 0..<20 {
            let answer = try proxy.fetch("/", method: method, body: method == "POST" ? [1, 2, 3] : nil)
            #expect(answer.text == "well")
        }
        #expect(alive.count == 20)
        #expect(try !proxy.isHealthy(dead))
        #expect(try proxy.isHealthy(alive.url))
        #expect(proxy.told(of: dead).count == 1, "an ejection is told once")
        #expect(try proxy.metric(#"dictum_upstream_retries_total{reason="connect"}"#) >= 3)
    }

    @Test func `an upstream that dies on its way costs no request that may be repeated`() throws {
        let (one, two) = (try MoodyOrigin(), try MoodyOrigin())
        let proxy = try TestProxy([one, two], upstream: "fail_timeout: 1h")
        let client = try proxy.connect()
        for number in 0..<40 {
            if number == 10 { one.become(.closing) }
            client.send(request("/", []))
            #expect(try client.receive().text == "well")
        }
        #expect(try !proxy.isHealthy(one.url))
        // Five turns before; the kept connection that proved closed; three failures that took it out.
        #expect(one.count == 9)
        #expect(two.count == 35)
    }

    @Test func `where all are out the least bad is asked, and one that answers is back at once`() throws {
        let both = [try MoodyOrigin(.closing), try MoodyOrigin(.closing)]
        let proxy = try TestProxy(both, upstream: "{fail_timeout: 1h, max_failures: 1}".unbraced)
        #expect(try proxy.fetch("/").status == 502)
        for origin in both { #expect(try !proxy.isHealthy(origin.url)) }
        #expect(try proxy.fetch("/").status == 502)
        for origin in both { origin.become(.well) }
        #expect(try proxy.fetch("/").text == "well")
        #expect(try both.filter { try proxy.isHealthy($0.url) }.count == 1)
        // The other upstream is still ejected, so all requests go to this one.
        let counts = both.map(\.count)
        for _ in 0..<4 { #expect(try proxy.fetch("/").text == "well") }
        #expect(zip(both, counts).map { $0.count - $1 }.sorted() == [0, 4])
    }

    @Test func `after its back-off an upstream is tried by a request, and is back when it answers`() throws {
        let (one, two) = (try MoodyOrigin(.closing), try MoodyOrigin())
        let proxy = try TestProxy([one, two], upstream: "{fail_timeout: 20ms, max_failures: 1}".unbraced)
        #expect(try proxy.fetch("/").text == "well")
        #expect(one.count == 1)
        // Trials that fail are sent to the other.
        try waitUntil("the ejected upstream is tried twice more") { () throws -> Bool in
            #expect(try proxy.fetch("/").text == "well")
            return one.count >= 3
        }
        one.become(.well)
        try waitUntil("the upstream is healthy again") { () throws -> Bool in
            #expect(try proxy.fetch("/").text == "well")
            return try proxy.isHealthy(one.url)
        }
        #expect(
            proxy.told(of: one.url).map { "\($0)".contains("answers again") } == [false, true],
            "out and in again are told once each")
    }

    @Test func `garbage takes an upstream out, and is never asked for twice`() throws {
        let (one, two) = (try MoodyOrigin(.babbling), try MoodyOrigin())
        let proxy = try TestProxy([one, two], upstream: "fail_timeout: 1h")
        let client = try proxy.connect()
        var statuses: [Int] = []
        for _ in 0..<10 {
            client.send(request("/", []))
            statuses.append(try client.receive().status)
        }
        #expect(statuses.filter { $0 == 502 }.count == 3)
        #expect(statuses.suffix(5) == [200, 200, 200, 200, 200])
        #expect(one.count == 3)
    }

    @Test func `a body that breaks is not held against an upstream whose head was well`() throws {
        let broken = try Origin { _, connection in
            let head = wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Transfer-Encoding: chunked")
            connection.send(head + Array("what?\r\n".utf8))
        }
        let (url, alive) = (broken.url, try MoodyOrigin())
        let proxy = try TestProxy(
            broken, upstream: "{fail_timeout: 1h, max_failures: 1}".unbraced, urls: [url, alive.url])
        for _ in 0..<4 { _ = try? proxy.fetch("/") }
        try waitUntil("the fault is counted") {
            try proxy.metric(#"dictum_upstream_errors_total{kind="malformed"}"#) > 0
        }
        #expect(try proxy.isHealthy(url))
    }

    @Test func `an upstream that is silent is passed over, and its request goes to another`() throws {
        let (one, two) = (try MoodyOrigin(.silent), try MoodyOrigin())
        let proxy = try TestProxy(
            [one, two], upstream: "{fail_timeout: 1h, max_failures: 1, response_timeout: 2s}".unbraced)
        #expect(try proxy.fetch("/").text == "well")
        #expect(try !proxy.isHealthy(one.url))
        #expect(try proxy.fetch("/").text == "well")
        #expect(one.count == 1)
    }

    @Test func `with max_failures 0 an upstream keeps its turn whatever it does`() throws {
        let (one, two) = (try MoodyOrigin(.closing), try MoodyOrigin())
        let proxy = try TestProxy([one, two], upstream: "{max_failures: 0, retries: 1}".unbraced)
        let client = try proxy.connect()
        for _ in 0..<10 {
            client.send(request("/", []))
            #expect(try client.receive().text == "well")
        }
        #expect(one.count >= 5)
        #expect(try proxy.isHealthy(one.url))
    }

    @Test func `an only upstream is asked every time, and the answer says what is wrong`() throws {
        let proxy = try TestProxy(try Origin(well), urls: [try deadURL()])
        for _ in 0..<10 {
            let answer = try proxy.fetch("/")
            #expect(answer.status == 502)
            #expect(answer.text.contains("cannot be reached"))
        }
        #expect(try proxy.metric(#"dictum_upstream_errors_total{kind="connect"}"#) == 10)
    }

    @Test func `a reload keeps what is known of upstreams that stay`() throws {
        let (one, two) = (try MoodyOrigin(.closing), try MoodyOrigin())
        let settings = "{fail_timeout: 1h, max_failures: 1}".unbraced
        let proxy = try TestProxy([one, two], upstream: settings)
        #expect(try proxy.fetch("/").text == "well")
        let third = try MoodyOrigin()
        let urls = [one.url, two.url, third.url]
        try proxy.server.reload(
            TestProxy.configuration(one.origin, upstream: settings, "explain: true", urls: urls))
        #expect(try !proxy.isHealthy(one.url))
        let before = two.count
        let client = try proxy.connect()
        for _ in 0..<6 {
            client.send(request("/", []))
            #expect(try client.receive().text == "well")
        }
        #expect([one.count, two.count - before, third.count] == [1, 3, 3])
        // An upstream that was removed and added again starts healthy.
        try proxy.reload("", upstream: settings, before: two.origin)
        try proxy.server.reload(TestProxy.configuration(one.origin, upstream: settings, urls: urls))
        #expect(try proxy.isHealthy(one.url))
    }
}

extension String {
    /// Settings written on one line, as lines below `upstream`.
    var unbraced: String {
        trimmingPrefix("{").split(separator: "}")[0].split(separator: ", ").joined(separator: "\n  ")
    }
}
