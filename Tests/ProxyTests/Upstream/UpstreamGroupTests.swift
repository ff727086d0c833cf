internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage
internal import Testing

@testable import Proxy

/// The upstreams of a configuration, and what they keep over a reload.
@Suite struct UpstreamGroupTests {
    private func groups(
        _ url: String, keepAlive: Int = 256, loopCount: Int = 1, after former: UpstreamGroups? = nil
    ) throws -> UpstreamGroups {
        var configuration = Configuration()
        configuration.upstream.urls = [try UpstreamURL(url)]
        configuration.upstream.keepAlive = keepAlive
        let resolver = NameResolver { _, port in
            guard let loopback = IPAddress("127.0.0.1") else { return [] }
            return [.ip(loopback, port: port)]
        }
        let shared = UpstreamGroups.Shared(resolver: resolver, loopCount: loopCount)
        let groups = try UpstreamGroups(configuration, shared, after: former, report: { _ in })
        groups.adopt()
        return groups
    }

    @Test(arguments: [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2)])
    func `four loops share the idle connections of an upstream, and none is left without if there are any`(
        keepAlive: Int, ofLoop: Int
    ) throws {
        let group = try #require(try groups("http://a.test", keepAlive: keepAlive, loopCount: 4)[nil])
        #expect(group.connections.keepAliveMax == ofLoop)
    }

    @Test func `the places that requests have, and the health of an address, stay over a reload`() throws {
        let first = try groups("http://a.test")
        let former = try #require(first[nil])
        let server = try #require(first.servers.first)
        let second = try groups("http://a.test", after: first)
        #expect(second[nil]?.load === former.load)
        #expect(second.servers.count == 1 && second.servers.first === server)
    }

    @Test func `an upstream without TLS keeps that of former addresses for requests in progress`() throws {
        let first = try groups("https://a.test")
        let former = try #require(first[nil]?.tls)
        let second = try groups("http://a.test", after: first)
        #expect(second[nil]?.tls === former && second[nil]?.connections.tls === former)
        #expect(try groups("http://a.test")[nil]?.tls == nil)
    }
}
