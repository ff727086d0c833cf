internal import Dictionaries
internal import HTTP
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

@Suite(.timeLimit(.minutes(40))) struct UpstreamAddressTests {
    /// Returns a proxy whose upstream has an address that refuses connections, and then the origin's address.
    private static func proxy(before origin: Origin) throws -> ProxyServer {
        let gone = try Origin([UInt8]())
        let refusing = gone.port
        gone.stop()
        var configuration = try Configuration.implied(upstream: "http://two.test:1", listen: "127.0.0.1:0")
        configuration.admin = nil
        configuration.store.path = ":memory:"
        let loopback = try #require(IPAddress("127.0.0.1"))
        let both = [refusing, origin.port].map { Endpoint.ip(loopback, port: $0) }
        let context = try ProxyContext.open(
            configuration, log: { _ in }, loopCount: 1, resolver: NameResolver { _, _ in both })
        return try ProxyServer(context: context, accessLog: nil)
    }

    private static func connect(to server: ProxyServer) throws -> WireSocket {
        guard case .ip(_, let port)? = server.endpoints.first else { throw WireError.cannotConnect(0) }
        return try WireSocket(port: port)
    }

    @Test(arguments: ["GET", "POST"])
    func `where one address refuses the next is tried, with the request whole`(method: String) throws {
        let origin = try Origin(wire("HTTP/1.1 200 OK", body: [UInt8]("hi".utf8)))
        let server = try Self.proxy(before: origin)
        defer {
            server.stop(drainMilliseconds: 1_000)
            origin.stop()
        }
        let body = method == "POST" ? [UInt8]("a body that has come with the head".utf8) : nil
        let client = try Self.connect(to: server)
        for _ in 0..<3 {
            client.send(request("/x", [], method: method, body: body))
            #expect(try client.receive().text == "hi")
        }
        #expect(origin.requests.map(\.method) == [method, method, method])
        #expect(origin.requests.allSatisfy { $0.body == body ?? [] })
    }

    @Test func `the connections to an upstream have its own times, and the bounds of all upstreams`() throws {
        let proxy = try TestProxy(
            try Origin([UInt8]()),
            upstream: "{connect_timeout: 5s, response_timeout: 3s, idle_timeout: 4s}".unbraced,
            "limits: {response_head: 9KiB, body_rate: 77}")
        let group = try #require(proxy.server.context.upstreams[nil])
        let settings = group.connections
        #expect(settings.connectTimeout == 5_000)
        #expect(settings.responseTimeout == 3_000)
        #expect(settings.idleTimeout == 4_000)
        #expect(settings.bodyRate == 77 && settings.limits.headBytes == 9 << 10)
        #expect(settings.limits.fieldCount == 1_000)
    }

    @Test func `a loop whose reload is on its way keeps the upstreams that it can speak to`() throws {
        let loopback = try #require(IPAddress("127.0.0.1"))
        let resolver = NameResolver { _, port in [Endpoint.ip(loopback, port: port)] }
        let former = [try UpstreamURL("http://one.test:1")]
        let next = [try UpstreamURL("https://two.test:2")]
        let directory = UpstreamDirectory("", resolver)
        directory.adopt(former, try directory.servers(of: former))
        #expect(directory.servers(standingFor: former)?.count == 1)
        directory.adopt(next, try directory.servers(of: next))
        // A loop with the former configuration may lack a TLS context.
        #expect(directory.servers(standingFor: former) == nil)
        #expect(directory.servers(standingFor: next)?.map(\.target.scheme) == [.https])
    }
}
