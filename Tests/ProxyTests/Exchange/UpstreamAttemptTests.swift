internal import Primitives
internal import Testing

@testable import HTTP
@testable import Proxy

/// What one request holds of its upstreams comes back once, whatever its way was.
@Suite struct UpstreamAttemptTests {
    private func address(_ port: UInt16) throws -> LoopAddress {
        let loopback = try #require(IPAddress("127.0.0.1"))
        let target = UpstreamTarget(
            scheme: .http, authority: "a.test", endpoint: .ip(loopback, port: port))
        return LoopAddress(UpstreamServer(target, url: "http://a.test"), TargetPool(target))
    }

    @Test func `only the server that has the request now counts it as load`() throws {
        let (first, second) = (try address(80), try address(81))
        var attempt = UpstreamAttempt()
        attempt.enter(first, countsLoad: true)
        #expect(first.server.activeCount == 1)
        attempt.enter(second, countsLoad: true)
        #expect(first.server.activeCount == 0, "the request has left it")
        #expect(second.server.activeCount == 1)
        attempt.enter(first, countsLoad: false)
        #expect(first.server.activeCount == 0 && second.server.activeCount == 0)
        #expect(attempt.server === first.server)
    }

    @Test func `a server is left once, at the end at the latest`() throws {
        let one = try address(80)
        var (left, ended) = (UpstreamAttempt(), UpstreamAttempt())
        left.enter(one, countsLoad: true)
        ended.enter(one, countsLoad: true)
        #expect(one.server.activeCount == 2)
        left.leaveServer()
        left.end()
        #expect(one.server.activeCount == 1, "the other request goes on")
        ended.end()
        #expect(one.server.activeCount == 0)
    }

    @Test func `a place is given back once`() throws {
        let (places, client) = (UpstreamPlaces(.init(countMax: 90)), ClientUse())
        let demand = UpstreamPlaces.Demand(
            client: client, upstream: FairHolding(), upstreamMax: nil, portsMax: .max, isOnlyUpstream: true)
        for _ in 0..<2 { try places.take(demand) }
        var attempt = UpstreamAttempt()
        attempt.place = .taken(demand)
        for _ in 0..<2 { attempt.leavePlace(places) }
        #expect(places.counts.taken == 1, "the other request has its place")
        #expect(client.requests.amount == 1)
    }

    @Test func `the wait for a place ends with the attempt`() throws {
        let (places, client) = (UpstreamPlaces(.init(countMax: 1)), ClientUse())
        let demand = UpstreamPlaces.Demand(
            client: client, upstream: FairHolding(), upstreamMax: nil, portsMax: .max, isOnlyUpstream: true)
        try places.take(demand)
        let waiter = try #require(places.wait(demand) {})
        var attempt = UpstreamAttempt()
        attempt.place = .waiting(waiter)
        #expect(attempt.isWaiting)
        attempt.leavePlace(places)
        #expect(!attempt.isWaiting && places.counts.waiting == 0)
        #expect(places.counts.taken == 1)
    }
}
