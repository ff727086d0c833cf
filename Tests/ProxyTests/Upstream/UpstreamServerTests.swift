internal import HTTP
internal import Primitives
internal import Storage
internal import Testing

@testable import Proxy

/// One address of an upstream: its health, and what the log says of it.
@Suite struct UpstreamServerTests {
    private func server(_ url: String = "http://a.test", of name: String = "") throws -> UpstreamServer {
        let loopback = try #require(IPAddress("127.0.0.1"))
        let target = UpstreamTarget(
            scheme: .http, authority: "a.test", endpoint: .ip(loopback, port: 80))
        return UpstreamServer(target, url: url, of: name)
    }

    @Test(arguments: [
        ("http://a.test", "", "http://a.test (127.0.0.1:80)"),
        ("http://a.test", "api", "api at http://a.test (127.0.0.1:80)"),
        ("http://127.0.0.1:80", "", "http://127.0.0.1:80"),
    ])
    func `the log names the upstream, its URL, and the address unless the URL has it`(
        url: String, name: String, text: String
    ) throws {
        #expect(try server(url, of: name).text == text)
    }

    @Test func `an answer between failures begins the count anew, and one after an ejection ends it`() throws
    {
        let one = try server()
        let policy = EndpointHealth.Policy(failuresMax: 2, backOff: 100)
        for _ in 0..<3 {
            #expect(one.change { $0.failed(now: 0, policy) } == nil)
            #expect(one.succeeded() == nil)
        }
        _ = one.change { $0.failed(now: 0, policy) }
        #expect(one.isHealthy)
        #expect(one.change { $0.failed(now: 0, policy) } == .ejected(milliseconds: 100, failures: 2))
        #expect(!one.isHealthy && one.standing(now: 99) == .out(badness: 100))
        #expect(one.standing(now: 100) == .due)
        #expect(one.beginTrial(now: 100))
        #expect(one.succeeded() == .readmitted)
        #expect(one.isHealthy && one.standing(now: 100) == .up)
    }

    @Test(
        arguments: [
            (.connectTimeout, "no connection within upstream.connect_timeout"),
            (.headTimeout, "no response within upstream.response_timeout"),
            (.idleTimeout, "silent for upstream.idle_timeout"),
            (.malformed(.headTooLarge), "a response head of more than limits.response_head"),
        ] as [(UpstreamError, String)])
    func `the log names the setting that a failed request has come up against`(
        error: UpstreamError, text: String
    ) throws {
        let one = try server()
        let failure = OperatorEvent.failure(error, of: one, status: .badGateway)
        #expect(failure.text.hasPrefix("upstream \(one.text): \(text): a client got 502."))
        let ejection = OperatorEvent.change(
            .ejected(milliseconds: 10_000, failures: 3), of: one, because: error)
        #expect(ejection.text.contains("failed 3 times in a row (\(text)): others"), "\(ejection.text)")
    }

    @Test func `what the log says of failed requests is over with an answer, of failed checks with a check`()
        throws
    {
        let one = try server()
        let events = RecentEvents()
        func note(_ change: EndpointHealth.Change, isOnlyOne: Bool = false) -> [String] {
            events.note(.change(change, of: one, isOnlyOne: isOnlyOne), now: 1_000)
            return events.entries(now: 1_000).map(\.text)
        }
        let address = "upstream http://a.test (127.0.0.1:80)"
        let requests = "\(address) failed 3 times in a row: others are preferred for 10s"
        let checks = "\(address) does not pass its health check: others are preferred"
        #expect(note(.ejected(milliseconds: 10_000, failures: 3)) == [requests])
        #expect(note(.checkedOut) == [checks, requests])
        #expect(note(.checkedIn) == [requests])
        #expect(note(.readmitted) == [])
        let alone =
            note(.checkedOut, isOnlyOne: true) + note(.checkedIn)
            + note(.ejected(milliseconds: 10_000, failures: 3), isOnlyOne: true)
        let ends = alone.map { $0.hasSuffix(": there is no other upstream") }
        #expect(ends == [true, true])
    }
}
