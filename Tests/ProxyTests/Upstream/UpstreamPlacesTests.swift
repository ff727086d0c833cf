internal import Primitives
internal import Testing

@testable import Proxy

/// The places for requests at upstreams, without sockets.
struct UpstreamPlacesTests {
    private let load = UpstreamLoad()

    private func demand(
        _ client: ClientUse?, at other: UpstreamLoad? = nil, max: Int? = nil, ports: Int = .max,
        isOnly: Bool = true
    ) -> UpstreamPlaces.Demand {
        UpstreamPlaces.Demand(
            client: client, upstream: other ?? load, upstreamMax: max, portsMax: ports, isOnlyUpstream: isOnly
        )
    }

    /// Takes as many places as there are, and returns their number and the reason that none came after them.
    private func fill(_ places: UpstreamPlaces, _ demand: UpstreamPlaces.Demand) -> (
        Int, UpstreamPlaces.Shortage?
    ) {
        for count in 0..<10_000 {
            do throws(UpstreamPlaces.Shortage) {
                try places.take(demand)
            } catch {
                return (count, error)
            }
        }
        return (10_000, nil)
    }

    @Test func `one client gets a ninth of the places, and what it gives back is there again`() {
        let (places, client) = (UpstreamPlaces(.init(countMax: 90)), ClientUse())
        #expect(fill(places, demand(client)) == (10, .client))
        #expect(places.counts.taken == 10)
        for _ in 0..<10 { places.leave(demand(client)) }
        #expect(places.counts.taken == 0)
        #expect(client.requests.amount == 0)
        #expect(load.count == 0)
    }

    @Test(arguments: [2, 12, 24])
    func `many greedy clients leave a place for the next one`(count: Int) {
        let places = UpstreamPlaces(.init(countMax: 348))
        let clients = (0..<count).map { _ in ClientUse() }
        for client in clients { _ = fill(places, demand(client)) }
        #expect(places.counts.taken < 348)
        #expect(fill(places, demand(ClientUse())).0 >= 1)
    }

    @Test func `a maximum per client counts`() {
        let places = UpstreamPlaces(.init(countMax: 100, clientMax: 3))
        #expect(fill(places, demand(ClientUse())) == (3, .client))
    }

    @Test func `requests without a client share by upstream alone`() {
        let places = UpstreamPlaces(.init(countMax: 100, clientMax: 3))
        #expect(fill(places, demand(nil)) == (100, .upstream))
    }

    @Test func `an upstream has its own maximum, of which a client gets half`() {
        let (places, client) = (UpstreamPlaces(.init(countMax: 100)), ClientUse())
        #expect(fill(places, demand(client, max: 10)) == (5, .client))
        #expect(fill(places, demand(nil, max: 10)) == (5, .upstream))
        let other = UpstreamLoad()
        #expect(
            fill(places, demand(client, at: other, max: 10)) == (5, .client), "each upstream counts by itself"
        )
        for _ in 0..<5 { places.leave(demand(client, max: 10)) }
        #expect(client.requests(at: ObjectIdentifier(load)) == 0)
    }

    @Test func `an address gets no more requests than there are ports`() {
        let places = UpstreamPlaces(.init(countMax: 100))
        #expect(fill(places, demand(nil, ports: 7)) == (7, .upstream))
    }

    @Test func `a slow upstream leaves a fifth of the places to the others`() {
        let places = UpstreamPlaces(.init(countMax: 100))
        #expect(fill(places, demand(nil, isOnly: false)) == (80, .upstream))
        #expect(fill(places, demand(nil, at: UpstreamLoad(), isOnly: false)).0 >= 16)
    }

    // MARK: Waiting

    @Test func `the first that may have a free place gets it, once`() throws {
        let places = UpstreamPlaces(.init(countMax: 3, clientMax: 1))
        let (greedy, other) = (ClientUse(), ClientUse())
        try places.take(demand(greedy))
        try places.take(demand(other))
        try places.take(demand(nil))
        let granted = Guarded<[String]>([])
        let first = try #require(places.wait(demand(greedy)) { granted.withLock { $0.append("greedy") } })
        _ = try #require(places.wait(demand(other)) { granted.withLock { $0.append("other") } })
        _ = try #require(places.wait(demand(nil)) { granted.withLock { $0.append("unknown") } })
        #expect(places.counts.waiting == 3)
        places.leave(demand(other))
        #expect(granted.withLock { $0 } == ["other"], "the first has its share already")
        places.leave(demand(nil))
        #expect(granted.withLock { $0 } == ["other", "unknown"])
        places.leave(demand(greedy))
        #expect(granted.withLock { $0 } == ["other", "unknown", "greedy"])
        #expect(greedy.waiting.amount == 0)
        places.cancel(first)
        #expect(places.counts.taken == 2, "a wait that has ended gives back its place")
    }

    @Test func `who gives up waiting gets nothing, and leaves nothing`() throws {
        let (places, client) = (UpstreamPlaces(.init(countMax: 1)), ClientUse())
        #expect(fill(places, demand(client)).0 == 1)
        let waiter = try #require(places.wait(demand(client)) { Issue.record("granted") })
        places.cancel(waiter)
        #expect(client.waiting.amount == 0)
        places.leave(demand(client))
        #expect(places.counts.taken == 0)
        #expect(places.counts.waiting == 0)
    }

    @Test func `one client and all clients wait in bounded number`() {
        let places = UpstreamPlaces(.init(countMax: 0))
        let client = ClientUse()
        let most = UpstreamPlaces.waitingPerClientMax
        #expect((0...most).filter { _ in places.wait(demand(client)) {} != nil }.count == most)
        let others = (0..<20).map { _ in ClientUse() }
        for other in others { for _ in 0..<most { _ = places.wait(demand(other)) {} } }
        #expect(places.counts.waiting == UpstreamPlaces.waitingMax)
    }

    @Test func `a reload that allows more lets those go on that wait`() throws {
        let places = UpstreamPlaces(.init(countMax: 1))
        try places.take(demand(nil))
        let count = Guarded(0)
        _ = try #require(places.wait(demand(nil)) { count.withLock { $0 += 1 } })
        places.adopt(.init(countMax: 2))
        #expect(count.withLock { $0 } == 1)
        places.adopt(.init(countMax: 1))
        places.leave(demand(nil))
        #expect(fill(places, demand(nil)).0 == 0, "fewer places count at once")
    }

    @Test func `a client is the same as long as somebody holds it`() {
        let uses = ClientUses()
        var first: ClientUse? = uses.use(of: 7)
        #expect(uses.use(of: 7) === first)
        #expect(uses.count == 1)
        first?.requests.add(1)
        first = nil
        #expect(uses.count == 0)
        #expect(uses.use(of: 7).requests.amount == 0)
        for client in 0..<UInt128(100_000) { _ = uses.use(of: client) }
        #expect(uses.count == 0, "nobody holds them")
    }
}
