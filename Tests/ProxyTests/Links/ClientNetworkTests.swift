internal import HTTP
internal import Testing

@testable import Proxy

/// An IPv6 client is its /48, wherever clients are counted.
struct ClientNetworkTests {
    private static let addresses = ["2001:db8:1::1", "2001:db8:1:ffff:ffff:ffff:ffff:ffff", "2001:db8:2::1"]

    /// Returns whether the first address is the same client as each of the others, by a rule.
    private func areSame(_ client: (ClientPeer) throws -> UInt128?) throws -> [Bool] {
        let clients = try Self.addresses.map { text in
            try client(ClientPeer(.ip(try #require(IPAddress(text)), port: 1), trusting: []))
        }
        return clients.dropFirst().map { $0 == clients[0] }
    }

    @Test func `the addresses of a 48-bit prefix are one client, and those of the next one another`() throws {
        let headers = Headers()
        #expect(try areSame { $0.linkClient(headers).address } == [true, false], "proofs, pages and budgets")
        #expect(
            try areSame { $0.clientAddress(headers) } == [true, false], "deltas that several clients ask for")
        var limits = Configuration.ClientLimits()
        limits.rate = Configuration.Rate("1/s")
        let rate = try #require(RateLimit(limits))
        #expect(try areSame { rate.client(headers, $0) } == [true, false], "rates")
        #expect(Configuration().limits.client.ipv6Prefix == IPAddress.clientPrefix, "connections")
    }

    @Test func `the setting says which prefix shares what clients have in common`() throws {
        let resources = ClientResources(memory: MemoryBudget(bytes: 1 << 20))
        for (prefix, isOne) in [(32, [true, true]), (48, [true, false]), (64, [false, false])] {
            let uses = try Self.addresses.map { text in
                let peer = ClientPeer(
                    .ip(try #require(IPAddress(text)), port: 1), trusting: [], ipv6Prefix: prefix)
                return peer.share(Headers(), of: resources).use
            }
            #expect(uses.dropFirst().map { $0 === uses[0] } == isOne, "/\(prefix)")
        }
    }

    @Test func `an IPv4 address is a client`() throws {
        let one = try #require(IPAddress("192.0.2.1")), other = try #require(IPAddress("192.0.2.2"))
        #expect(one.clientBits() != other.clientBits())
        #expect(one.clientBits() == IPAddress("::ffff:192.0.2.1")?.clientBits())
    }
}
