import Glibc
import Testing

@testable import HTTP
@testable import Proxy

/// The share of the process's descriptors that clients may use.
struct DescriptorLimitTests {
    @Test(arguments: [0, 64, 1024, 20_000, 1 << 20])
    func `each client has a descriptor for itself and one for its upstream, besides the reserve`(
        descriptors: Int
    ) {
        let clients = DescriptorLimit.clientsMax(descriptors: descriptors)
        let reserve = DescriptorLimit.reserve
        #expect(clients >= 16)
        #expect(clients == 16 || 2 * clients + reserve <= descriptors)
        #expect(2 * (clients + 1) + reserve > descriptors)
    }

    @Test(arguments: [1024, 4096, 65_536, 1 << 20], [16, 10_000, 1_000_000])
    func `clients, requests at upstreams and idle connections fit together, and accepting has the reserve`(
        descriptors: Int, connections: Int
    ) {
        let clients = min(connections, DescriptorLimit.clientsMax(descriptors: descriptors))
        let share = DescriptorLimit.upstreamShare(descriptors: descriptors, clients: connections)
        #expect(clients + share.requests + share.idle + DescriptorLimit.reserve <= descriptors)
        #expect(share.requests >= 3 * share.idle)
        #expect(share.idle == (share.requests + share.idle) / 4)
        #expect(share.requests >= (descriptors - DescriptorLimit.reserve) / 4)
    }

    @Test func `the soft limit becomes the hard limit`() throws {
        DescriptorLimit.raise()
        var limit = rlimit()
        // Safe: `limit` is local and outlives the call.
        try #require(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        #expect(limit.rlim_cur == limit.rlim_max)
        #expect(DescriptorLimit.current == Int(clamping: limit.rlim_max))
    }

    @Test func `a configuration that names no number is told only of very few clients`() throws {
        let configuration = try Configuration.implied(upstream: "http://127.0.0.1:1", listen: "127.0.0.1:0")
        let enough = 2 * 1000 + DescriptorLimit.reserve
        #expect(DescriptorLimit.shortage(of: configuration, descriptors: enough) == nil)
        let warning = try #require(DescriptorLimit.shortage(of: configuration, descriptors: enough - 2))
        #expect(warning.contains("allows only 999 clients"))
    }

    @Test func `a configuration that wants more than the limit allows is told both numbers`() throws {
        var configuration = try Configuration.implied(upstream: "http://127.0.0.1:1", listen: "127.0.0.1:0")
        DescriptorLimit.raise()
        let possible = DescriptorLimit.clientsMax(descriptors: DescriptorLimit.current)
        configuration.limits.connections = possible
        #expect(DescriptorLimit.shortage(of: configuration) == nil)
        configuration.limits.connections = possible + 1
        let warning = try #require(DescriptorLimit.shortage(of: configuration))
        #expect(
            warning.contains("limits.connections is \(possible + 1)")
                && warning.contains("descriptor limit (\(DescriptorLimit.current)) allows only \(possible)"))
    }
}
