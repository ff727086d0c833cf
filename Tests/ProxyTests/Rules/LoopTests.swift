internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// An upstream that is Dictum itself.
@Suite(.timeLimit(.minutes(40))) struct LoopTests {
    @Test func `a request that comes back is a 508, and the log says why once a minute`() throws {
        let port = Guarded<UInt16>(0)
        // Some other proxy in between, as a name that leads to a balancer in front of Dictum.
        let origin = try Origin { request, connection in
            let lines = [request.startLine] + request.fields.map { "\($0.name): \($0.value)" }
            let client = try? WireSocket(port: port.withLock { $0 })
            client?.send(wire(lines.joined(separator: "\r\n")))
            guard let answer = try? client?.receive() else { return connection.finish() }
            connection.send(
                wire("HTTP/1.1 \(answer.status) Loop", "Content-Type: text/plain", body: answer.body))
        }
        let proxy = try TestProxy(origin)
        port.withLock { $0 = (try? TestProxy.port(proxy.server.endpoints.first)) ?? 0 }
        for _ in 0..<2 {
            let answer = try proxy.fetch("/")
            #expect(answer.status == 508)
            #expect(answer.text.contains("has been here before"))
        }
        #expect(origin.requests.count == 2, "each goes round once")
        #expect(try proxy.metric(#"dictum_rejected_requests_total{reason="loop"}"#) == 2)
        #expect(
            proxy.events.withLock { $0 }.filter { "\($0)".contains("came back to this proxy") }.count == 1)
    }

    @Test(arguments: [
        "1.1 dictum-00000001", "1.1 dictum", "dictum-00000000", "1.1 edge (dictum-00000000)",
        "1.1 edge, 1.1 other",
    ])
    func `another instance in the way is no loop`(via: String) {
        var headers = Headers()
        headers.append(.via, via)
        #expect(!Via(pseudonym: "dictum-00000000").isLoop(headers))
    }

    @Test(arguments: [
        "1.1 dictum-00000000", "1.1 edge, HTTP/1.0 dictum-00000000 (x)", "1.1 a,1.1\tdictum-00000000",
    ])
    func `its own name in any place is a loop`(via: String) {
        var headers = Headers()
        headers.append(.via, "1.1 first")
        headers.append(.via, via)
        #expect(Via(pseudonym: "dictum-00000000").isLoop(headers))
    }

    @Test(arguments: [(HTTPVersion.http10, "1.0 x"), (.http11, "1.1 x"), (.http2, "2.0 x")])
    func `its line names the version of the request`(version: HTTPVersion, line: String) {
        #expect(Via(pseudonym: "x").line(receivedBy: version).values(.via) == [line])
    }

    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1:80", true), ("127.0.0.1:80", "127.0.0.1:81", false),
        ("127.0.0.1:80", "0.0.0.0:80", true), ("127.9.9.9:80", "0.0.0.0:80", true),
        ("[::1]:80", "0.0.0.0:80", false), ("[::1]:80", "[::]:80", true), ("127.0.0.1:80", "[::]:80", true),
        ("0.0.0.0:80", "0.0.0.0:80", true), ("192.0.2.1:80", "0.0.0.0:80", false),
        ("127.0.0.2:80", "127.0.0.1:80", false),
    ])
    func `an address leads to a listener at it, or at the wildcard of this machine`(
        address: String, listener: String, leads: Bool
    ) throws {
        func endpoint(_ text: String) throws -> Endpoint {
            guard case .tcp(let host, let port)? = ConfiguredAddress(text) else {
                throw WireError.cannotConnect(0)
            }
            return .ip(try #require(IPAddress(host)), port: port)
        }
        #expect(try endpoint(address).leads(to: endpoint(listener)) == leads)
    }

    @Test func `a reload that has the proxy be its own upstream is refused`() throws {
        let proxy = try TestProxy(json([1, 2, 3]))
        let own = try #require(proxy.server.urls.first)
        let named = "upstreams: {a: {urls: [\"\(own)\"]}}\nroutes: [{match: \"/*\", upstream: a}]"
        #expect {
            try proxy.reload(named)
        } throws: { "\($0)".contains("check `upstreams.a.urls`") }
        #expect {
            try proxy.server.reload(TestProxy.configuration(proxy.origin, urls: [own]))
        } throws: { error in
            "\(error)".contains("leads to") && "\(error)".contains("where this proxy itself listens")
        }
        #expect(try proxy.fetch("/").status == 200)
    }
}
