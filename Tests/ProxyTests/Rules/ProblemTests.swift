internal import HTTP
internal import TestSupport
internal import Testing

@testable import Proxy

private let json200 = json(Feed.bytes(version: 0, items: 2))

@Suite(.timeLimit(.minutes(40))) struct ProblemTests {
    /// Sends raw bytes, and returns the response.
    private func answer(_ bytes: String, _ settings: String = "") throws -> WireMessage {
        let proxy = try TestProxy(json200, settings)
        let client = try proxy.connect()
        client.send(bytes)
        let answer = try client.receive()
        #expect(proxy.origin.requests.isEmpty, "it is not forwarded")
        return answer
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: a\n\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400
        ),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 501), ("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", 501),
    ])
    func `a malformed or unsupported request is refused with its status`(bytes: String, status: Int) throws {
        let answer = try answer(bytes)
        #expect(answer.status == status)
        #expect(answer["Cache-Control"] == "no-store")
        #expect(answer["Content-Type"] == "text/plain; charset=utf-8")
        #expect(answer.text.split(separator: "\n").count == 1)
    }

    @Test(arguments: [
        ("GET /\(String(repeating: "a", count: 40_000)) HTTP/1.1\r\nHost: a\r\n\r\n", [414, 431]),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 40_000))\r\n\r\n", [431]),
    ])
    func `a head that is too large is refused`(bytes: String, statuses: [Int]) throws {
        #expect(try statuses.contains(answer(bytes).status))
    }

    @Test func `a body that is too large is refused, by its length or as it comes`() throws {
        let settings = "limits: {request_body: 1KiB}"
        let head = "POST / HTTP/1.1\r\nHost: a\r\n"
        #expect(try answer(head + "Content-Length: 1025\r\n\r\n", settings).status == 413)
        let origin = try Origin { request, connection in connection.send(json200) }
        let proxy = try TestProxy(origin, settings)
        let client = try proxy.connect()
        client.send(wire("POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked"))
        client.send(chunk([UInt8](repeating: 0x61, count: 1025)))
        #expect(try client.receive().status == 413)
        let exact = try proxy.fetch("/", method: "POST", body: [UInt8](repeating: 0x61, count: 1024))
        #expect(exact.status == 200)
    }

    @Test func `a head that does not come in time is refused`() throws {
        #expect(try answer("GET / HTTP/1.1\r\nHos", "limits: {head_timeout: 2s}").status == 408)
    }

    @Test(arguments: ["/.dictum/", "/.dictum", "/.dictum/chain/digest", "/.dictum/../feed"])
    func `below the reserved path nothing is proxied`(target: String) throws {
        let proxy = try TestProxy(json200)
        let answer = try proxy.fetch(target)
        #expect(answer.status == 404)
        #expect(answer["Cache-Control"] == "no-store")
        #expect(proxy.origin.requests.isEmpty)
    }

    @Test(arguments: [
        ("application/json", true), ("*/*", true), ("text/html, application/problem+json", true),
        ("application/*", true), ("text/plain, */*", false), ("text/html", false),
        ("Application/JSON", true), ("text/html, application/*", true),
    ])
    func `a problem is JSON for who accepts it, else a line of text`(accept: String, isJSON: Bool) throws {
        let answer = try TestProxy(json200).fetch("/.dictum/x", "Accept: \(accept)")
        #expect(
            answer["Content-Type"] == (isJSON ? "application/problem+json" : "text/plain; charset=utf-8"))
        #expect(
            answer.text
                == (isJSON
                    ? #"{"type":"about:blank","title":"Not Found","status":404,"detail":"There is no such dictionary."}"#
                    : "404 Not Found: There is no such dictionary.") + "\n")
    }

    @Test func `what a problem quotes is one string of JSON`() {
        let problem = ProblemResponse(status: .badRequest, detail: "a\"b\\c\u{1}\u{10}\u{1f}é")
        let text = String(decoding: problem.rendered(accept: "application/json").body, as: UTF8.self)
        let detail = #"a\"b\\c\u0001\u0010\u001fé"#
        #expect(
            text == #"{"type":"about:blank","title":"Bad Request","status":400,"detail":"\#(detail)"}"# + "\n"
        )
    }

    @Test(
        arguments: [
            (.connectTimeout, 504, "The upstream did not answer in time; try again later."),
            (.headTimeout, 504, "The upstream did not answer in time; try again later."),
            (.idleTimeout, 504, "The upstream did not answer in time; try again later."),
            (.malformed(.malformedStatusLine), 502, "The upstream sent a malformed response."),
            (.stale, 502, "The upstream closed the connection before its response was whole."),
            (.closedBeforeHead, 502, "The upstream closed the connection before its response was whole."),
            (.truncated, 502, "The upstream closed the connection before its response was whole."),
        ] as [(UpstreamError, Int, String)])
    func `each failure of an upstream has its status and its sentence`(
        error: UpstreamError, status: Int, detail: String
    ) {
        let problem = ProblemResponse(error)
        #expect(Int(problem.status.rawValue) == status && problem.detail == detail)
    }

    @Test(
        arguments: [
            (.headTimeout, 408, "The request did not arrive in time."),
            (.tooManyConnections, 503, "There are too many connections; try again later."),
            (.tooManyConnectionsOfClient, 503, "This client has too many connections; close one first."),
            (.badProxyHeader, 400, "The connection has no valid PROXY protocol header."),
            (
                .malformed(.unsupportedExpectation), 417,
                "The request was refused: the expectation is not supported."
            ),
        ] as [(Refusal, Int, String)])
    func `each refusal of a connection has its status and its sentence`(
        refusal: Refusal, status: Int, detail: String
    ) {
        let problem = ProblemResponse(refusal)
        #expect(Int(problem.status.rawValue) == status && problem.detail == detail)
    }

    @Test func `the problem of a HEAD has no body`() throws {
        let answer = try TestProxy(json200).fetch("/.dictum/x", method: "HEAD")
        #expect(answer.status == 404)
        #expect(answer.body.isEmpty)
    }

    @Test func `a dead upstream is a 502 that tells nothing of the inside`() throws {
        let origin = try Origin(json200)
        let proxy = try TestProxy(origin)
        origin.stop()
        let answer = try proxy.fetch("/feed", "Accept: application/json")
        #expect(answer.status == 502)
        #expect(answer["Content-Type"] == "application/problem+json")
        for secret in ["127.0.0.1", "\(origin.port)", "errno", "refused", "Swift"] {
            #expect(!answer.text.contains(secret))
        }
        #expect(try proxy.metrics().contains(#"dictum_upstream_errors_total{kind="connect"} 1"#))
    }

    @Test func `an upstream that does not answer in time is a 504`() throws {
        let gate = Gate()
        let origin = try Origin { _, _ in gate.wait() }
        let proxy = try TestProxy(origin, upstream: "response_timeout: 100ms")
        #expect(try proxy.fetch("/feed").status == 504)
        gate.open()
    }

    @Test func `an upstream that answers nonsense is a 502`() throws {
        for nonsense in [
            "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\n",
        ] {
            let origin = try Origin { _, connection in
                connection.send(nonsense)
                connection.finish()
            }
            #expect(try TestProxy(origin).fetch("/feed").status == 502)
        }
    }

    /// RFC 9110 section 9.3.6: what follows is for a tunnel, and may be written by somebody else than the client.
    @Test func `what follows a refused CONNECT is no request`() throws {
        let proxy = try TestProxy(json200)
        let client = try proxy.connect()
        client.send(
            wire("CONNECT a.test:80 HTTP/1.1", "Host: a.test:80") + wire("GET /feed HTTP/1.1", "Host: a.test")
        )
        let answer = try client.receive()
        #expect(answer.status == 501 && answer.members("Connection") == ["close"])
        #expect(client.receiveAll().isEmpty)
        #expect(proxy.origin.requests.isEmpty)
    }

    @Test func `after a problem the connection serves the next request`() throws {
        let proxy = try TestProxy(json200)
        let client = try proxy.connect()
        client.send(request("/.dictum/x", []))
        #expect(try client.receive().status == 404)
        client.send(request("/feed", []))
        #expect(try client.receive().status == 200)
    }
}
