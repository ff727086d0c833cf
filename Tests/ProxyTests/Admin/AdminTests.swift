internal import HTTP
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 4)
private let token = "0123456789abcdef"
private let withToken = #"admin: {token: "0123456789abcdef"}"#
private let off = "POST /dictionaries/off HTTP/1.1"
private let typed = "Content-Type: application/json"

@Suite(.timeLimit(.minutes(40))) struct AdminTests {
    // MARK: Refused clients

    @Test(arguments: [
        "Host: attacker.test", "Host: attacker.test:9901", "Host: 127.0.0.1.attacker.test",
        "Host: localhost.attacker.test", "Host: 192.0.2.1", "Host: 10.0.0.1:9901", "Host: [2001:db8::1]",
        "Host: 0.0.0.0", "Host: 128.0.0.1", "Host: [::]",
    ])
    func `a name that a page could have resolve to this machine is refused (DNS rebinding)`(
        host: String
    ) throws {
        let proxy = try TestProxy(json(body))
        let answer = try proxy.admin(off, host, typed)
        #expect(answer.status == 403)
        // The page is of the same origin as its name: that does not help it.
        let origin = "Origin: http://" + host.dropFirst(6)
        #expect(try proxy.admin(off, host, typed, origin).status == 403)
        for path in ["/dictionaries", "/metrics"] {
            #expect(try proxy.admin("GET \(path) HTTP/1.1", host).status == 403, "\(path)")
        }
        for path in ["/healthz", "/readyz"] {
            #expect(try proxy.admin("GET \(path) HTTP/1.1", host).status == 200, "\(path)")
        }
        #expect(
            try proxy.admin("GET /dictionaries HTTP/1.1", "Host: localhost").text
                .contains(#""dictionaries":"on""#))
    }

    @Test(arguments: [
        ["Origin: http://attacker.test"], ["Origin: null"], ["Origin: https://localhost.attacker.test"],
        ["Origin: http://localhost:8080"], ["Origin: http://127.0.0.1"], ["Origin: https://localhost"],
        ["Origin: http://localhost:9901", "Origin: http://attacker.test"], ["Origin: localhost:9901"],
        ["Origin:"], ["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site"],
    ])
    func `a page of another origin is refused (CSRF), with the token too`(fields: [String]) throws {
        let proxy = try TestProxy(json(body), withToken)
        let lines = [off, "Host: localhost:9901", typed] + fields
        #expect(try proxy.admin(lines.joined(separator: "\r\n")).status == 403)
        let authorized = lines + ["Authorization: Bearer \(token)"]
        #expect(try proxy.admin(authorized.joined(separator: "\r\n")).status == 403)
    }

    @Test(arguments: [
        [], ["Content-Type: text/plain"], ["Content-Type: application/x-www-form-urlencoded"],
        ["Content-Type: multipart/form-data; boundary=x"], ["Content-Type: application/jsonp"],
        ["Content-Type: text/plain; application/json"], [typed, "Content-Type: text/plain"],
    ])
    func `what a form can send is refused with 415`(fields: [String]) throws {
        let proxy = try TestProxy(json(body))
        let lines = [off, "Host: localhost"] + fields
        let answer = try proxy.admin(lines.joined(separator: "\r\n"), body: [0x7b, 0x7d])
        #expect(answer.status == 415)
        #expect(answer["Accept"] == "application/json")
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] != nil)
    }

    @Test(arguments: [
        [], ["Authorization: Bearer"], ["Authorization: Bearer \(token)x"], ["Authorization: Basic \(token)"],
        ["Authorization: Bearer \(token.dropLast())"], ["Authorization: \(token)"],
        ["Authorization: Bearer \(token)", "Authorization: Bearer \(token)"],
    ])
    func `elsewhere a wrong token is refused with 401 and a challenge`(fields: [String]) throws {
        let proxy = try TestProxy(json(body), withToken)
        let lines = [off, "Host: admin.test", typed] + fields
        let answer = try proxy.admin(lines.joined(separator: "\r\n"))
        #expect(answer.status == 401)
        #expect(answer["WWW-Authenticate"] == #"Bearer realm="dictum""#)
    }

    @Test func `a wrong token is refused on localhost too`() throws {
        let proxy = try TestProxy(json(body), withToken)
        #expect(
            try proxy.admin(off, "Host: localhost", typed, "Authorization: Bearer \(token)x").status == 401)
    }

    @Test func `without Host nothing is changed`() throws {
        let proxy = try TestProxy(json(body))
        #expect(try proxy.admin("POST /dictionaries/off HTTP/1.0", typed).status == 403)
    }

    @Test(arguments: [
        ("POST", "/healthz", "GET, HEAD"), ("POST", "/readyz", "GET, HEAD"), ("PUT", "/metrics", "GET, HEAD"),
        ("DELETE", "/dictionaries", "GET, HEAD"), ("GET", "/dictionaries/off", "POST"),
        ("OPTIONS", "/dictionaries/on", "POST"), ("HEAD", "/dictionaries/off", "POST"),
    ])
    func `a wrong method is 405 with Allow`(method: String, path: String, allow: String) throws {
        let proxy = try TestProxy(json(body))
        let client = try WireSocket(port: TestProxy.port(proxy.server.adminEndpoint))
        client.send(wire("\(method) \(path) HTTP/1.1", "Host: localhost", typed))
        let answer = try client.receive(isBodiless: method == "HEAD")
        #expect(answer.status == 405)
        #expect(answer["Allow"] == allow)
    }

    @Test func `refusals are problem documents for clients of JSON, else a line`() throws {
        let proxy = try TestProxy(json(body))
        let document = try proxy.admin(off, "Host: x.test", typed, "Accept: application/json")
        #expect(document["Content-Type"] == "application/problem+json")
        #expect(document.text.contains(#""status":403"#))
        #expect(try proxy.admin("GET /nothing HTTP/1.1", "Host: x").text.hasPrefix("404 Not Found: "))
    }

    @Test func `a body that is too large or malformed changes nothing`() throws {
        let proxy = try TestProxy(json(body))
        let large = [UInt8](repeating: 0x20, count: 65 * 1024)
        let refusal = try proxy.admin(
            off, "Host: localhost", typed, "Accept: application/json", body: large)
        #expect(refusal.status == 413 && refusal["Content-Type"] == "application/problem+json")
        let client = try WireSocket(port: TestProxy.port(proxy.server.adminEndpoint))
        client.send(wire(off, "Host: localhost", typed, "Transfer-Encoding: chunked") + [0x78, 0x0d, 0x0a])
        #expect(try client.receive().status == 400)
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] != nil)
    }

    // MARK: Clients that leave

    @Test func `no report is made for a client that has gone while others were served`() throws {
        let proxy = try TestProxy(json(body))
        let (begun, gate) = (Gate(), Gate())
        let reports = CallCounter()
        let status = AdminStatus(
            context: proxy.server.context, loops: [], sink: nil, logThreshold: LogThreshold(.info)
        ) {
            if reports.next() == 1 {
                begun.open()
                gate.wait()
            }
            return LoopReading(counters: [], silentLoops: 0)
        }
        let address = Endpoint.ip(try #require(IPAddress("127.0.0.1")), port: 0)
        let socket = try #require(try ListeningSocket.open(address, count: 1).first)
        let loop = EventLoop(label: "test.admin")
        defer {
            loop.stop()
            loop.join()
        }
        let connections = ConnectionCount()
        loop.execute { core in
            let admin = AdminApplication(status: status, pulse: LoopPulse([], core: core), core: core)
            let listener = Listener(
                sockets: [socket], application: admin, settings: ServerSettings(), count: connections)
            listener.start(on: core)
        }
        func connect() throws -> WireSocket { try WireSocket(port: TestProxy.port(socket.endpoint)) }
        let report = wire("GET /metrics HTTP/1.1", "Host: localhost")
        let probe = try connect()
        let first = try connect()
        first.send(report)
        begun.wait()
        let leaving = try (0..<4).map { _ in try connect() }
        for client in leaving { client.send(report) }
        try waitUntil("they are served") { connections.current == 6 }
        for client in leaving { client.reset() }
        try waitUntil("they have left") { connections.current == 2 }
        // The loop responds once it has dealt with the last of them.
        probe.send(wire("GET /readyz HTTP/1.1", "Host: localhost"))
        #expect(try probe.receive().status == 200)
        gate.open()
        #expect(try first.receive().status == 200)
        let last = try connect()
        last.send(report)
        #expect(try last.receive().status == 200)
        #expect(reports.next() == 3, "one report for each of the two that waited")
    }

    // MARK: Accepted clients

    @Test(arguments: [
        ["Host: localhost"], ["Host: LOCALHOST:9901"], ["Host: 127.0.0.1:9901"], ["Host: 127.255.0.1"],
        ["Host: [::1]:9901"], ["Host: localhost:9901", "Origin: http://localhost:9901"],
        ["Host: localhost", "Origin: http://localhost:80"],
        ["Host: localhost", "Sec-Fetch-Site: same-origin"], ["Host: localhost", "Authorization: Basic eDp5"],
    ])
    func `this machine's own names may turn the switch`(fields: [String]) throws {
        let proxy = try TestProxy(json(body))
        let lines = [off, "Content-Type: Application/JSON; charset=utf-8"] + fields
        let answer = try proxy.admin(lines.joined(separator: "\r\n"), body: [0x7b, 0x7d])
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "application/json")
        #expect(answer.text == #"{"configured":"on","dictionaries":"off"}"# + "\n")
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] == nil)
    }

    @Test func `the token allows it under any name, in either case of its scheme`() throws {
        let proxy = try TestProxy(json(body), withToken)
        for scheme in ["Bearer", "bearer"] {
            let answer = try proxy.admin(off, "Host: x.test", typed, "Authorization: \(scheme) \(token)")
            #expect(answer.status == 200)
        }
        #expect(try proxy.admin(off, "Host: localhost", typed).status == 200, "or localhost without one")
    }

    @Test func `a connection stays for the next request`() throws {
        let proxy = try TestProxy(json(body))
        let client = try WireSocket(port: TestProxy.port(proxy.server.adminEndpoint))
        for word in ["off", "on"] {
            client.send(
                wire(
                    "POST /dictionaries/\(word) HTTP/1.1", "Host: localhost", typed, "Expect: 100-continue",
                    body: [0x7b, 0x7d]))
            #expect(try client.receiveHead().status == 100)
            #expect(try client.receive().text.contains(#""dictionaries":"\#(word)""#))
        }
    }

    @Test func `metrics and the status are read under another name with the token alone`() throws {
        let proxy = try TestProxy(json(body), withToken)
        for path in ["/metrics", "/dictionaries"] {
            let lines = ["GET \(path) HTTP/1.1", "Host: node7.test:9901"]
            #expect(try proxy.admin(lines.joined(separator: "\r\n")).status == 401)
            let wrong = lines + ["Authorization: Bearer \(token)x"]
            #expect(try proxy.admin(wrong.joined(separator: "\r\n")).status == 401)
            let right = lines + ["Authorization: Bearer \(token)", "Origin: http://x.test"]
            let answer = try proxy.admin(right.joined(separator: "\r\n"))
            #expect(answer.status == 200)
            #expect(answer["Access-Control-Allow-Origin"] == nil)
        }
    }

    @Test(arguments: [
        "0123456789abcde", "0123456789 abcdef", String(repeating: "x", count: 1025), "é0123456789abcdef",
    ])
    func `a token that is short or not visible ASCII is a mistake that no text repeats`(token: String) throws
    {
        let text = "upstream: {urls: [\"http://127.0.0.1:9\"]}\nadmin: {token: \"\(token)\"}\n"
        let error = try #require(throws: ConfigurationError.self) {
            try Configuration.parse(Array(text.utf8))
        }
        #expect(error.problems.count == 1)
        #expect(error.problems.first?.text.contains("16 to 1024") == true)
        #expect(error.problems.first?.text.contains(token.prefix(10)) == false)
    }

    @Test func `a token may come from the environment`() throws {
        let text = "upstream: {urls: [\"http://127.0.0.1:9\"]}\nadmin: {token: \"${SECRET}\"}\n"
        let read = try Configuration.parse(Array(text.utf8), environment: ["SECRET": token])
        #expect(read.admin?.token == token)
        #expect(read.admin?.address == Configuration.Admin().address)
    }

    @Test func `the page has a URL at an IP address alone`() throws {
        let folder = try TemporaryFolder()
        let proxy = try TestProxy(json([]))
        let port = try TestProxy.port(proxy.server.adminEndpoint)
        #expect(proxy.server.adminURL == "http://127.0.0.1:\(port)/")
        let local = try TestProxy(
            proxy.origin, change: { $0.admin?.address = .unix(path: folder.file("admin")) })
        #expect(local.server.adminURL == nil)
    }
}
