internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 40)
private let head = wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Content-Length: 100")

/// Each upstream failure is counted under its kind, and the next request succeeds.
@Suite(.timeLimit(.minutes(40))) struct UpstreamFailureMetricTests {
    /// A way in which an upstream fails to respond.
    enum Fault: String, CaseIterable {
        case resets, closes, stalls, garbles, resetsInBody, stallsInBody, drips, shortens

        var kind: String {
            switch self {
            case .resets, .closes, .resetsInBody, .shortens: "reset"
            case .stalls: "response-timeout"
            case .garbles: "malformed"
            case .stallsInBody, .drips: "idle-timeout"
            }
        }

        /// The status; nil if the head is sent before the fault, so that the response breaks off.
        var status: Int? {
            switch self {
            case .resets, .closes, .garbles: 502
            case .stalls: 504
            case .resetsInBody, .stallsInBody, .drips, .shortens: nil
            }
        }

        /// The time-outs that it is to run into; any other would come first on a busy machine.
        var timeouts: String {
            switch self {
            case .stalls: "response_timeout: 300ms"
            case .stallsInBody, .drips: "idle_timeout: 300ms"
            case .resets, .closes, .garbles, .resetsInBody, .shortens: "idle_timeout: 60s"
            }
        }

        func happen(on connection: WireSocket) {
            switch self {
            case .resets: connection.reset()
            case .closes: connection.finish()
            case .stalls: _ = connection.receiveAll()
            case .garbles: connection.send("\u{1}\u{2}\r\n\r\n")
            case .resetsInBody:
                connection.send(head + [1, 2, 3])
                pauseBeyondTheHold()
                connection.reset()
            case .stallsInBody:
                connection.send(head + [1, 2, 3])
                _ = connection.receiveAll()
            case .drips:
                connection.send(head)
                while connection.isQuiet(milliseconds: 50) { connection.send([1]) }
            case .shortens:
                connection.send(head + [1, 2, 3])
                pauseBeyondTheHold()
                connection.finish()
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `an upstream's fault is counted under its kind, and the next request is served`(fault: Fault) throws
    {
        let origin = try Origin { request, connection in
            guard request.target == "/fault" else {
                connection.send(json(body))
                return
            }
            fault.happen(on: connection)
        }
        let proxy = try TestProxy(
            origin, upstream: "retries: 0\n  \(fault.timeouts)", "limits: {body_rate: 1KiB}")
        let client = try proxy.connect()
        client.send(request("/fault", []))
        let answer = try? client.receive()
        if let status = fault.status {
            #expect(answer?.status == status)
        } else {
            #expect(answer?.isWhole != true)
            #expect(client.ending == .reset)
        }
        #expect(try proxy.metric(#"dictum_upstream_errors_total{kind="\#(fault.kind)"}"#) == 1)
        #expect(try proxy.metric("dictum_aborted_responses_total") == (fault.status == nil ? 1 : 0))
        try proxy.reload("")
        #expect(try proxy.fetch("/feed").carries(body))
    }

    @Test func `an upstream that nobody is behind is counted as one that cannot be connected to`() throws {
        let origin = try Origin(json(body))
        let proxy = try TestProxy(origin)
        origin.stop()
        #expect(try proxy.fetch("/feed").status == 502)
        #expect(try proxy.metric(#"dictum_upstream_errors_total{kind="connect"}"#) == 1)
    }

    @Test func `a GET whose kept connection is closed at that moment is sent again, and is no failure`()
        throws
    {
        let hasClosed = Guarded(false)
        let origin = try Origin { request, connection in
            let closesNow = hasClosed.withLock { hasClosed in
                defer { hasClosed = hasClosed || request.target == "/second" }
                return request.target == "/second" && !hasClosed
            }
            if closesNow { connection.finish() } else { connection.send(json(body)) }
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        for target in ["/first", "/second", "/third"] {
            client.send(request(target, []))
            #expect(try client.receive().carries(body), "\(target)")
        }
        #expect(origin.requests.map(\.target) == ["/first", "/second", "/second", "/third"])
        #expect(try proxy.metric(#"dictum_upstream_errors_total{kind="reset"}"#) == 0)
    }

    @Test func `a POST whose kept connection is closed at that moment is not sent again`() throws {
        let origin = try Origin { request, connection in
            if request.method == "POST" { connection.finish() } else { connection.send(json(body)) }
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        client.send(request("/first", []))
        #expect(try client.receive().carries(body))
        client.send(request("/order", [], method: "POST", body: [1, 2, 3]))
        #expect(try client.receive().status == 502)
        #expect(origin.requests.count { $0.method == "POST" } == 1, "it might have been carried out")
        #expect(try proxy.metric(#"dictum_upstream_errors_total{kind="reset"}"#) == 1)
    }
}
