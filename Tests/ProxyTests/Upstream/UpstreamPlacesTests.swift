internal import Primitives
internal import Testing

@testable import Proxy

/// The places for requests at upstreams, without sockets.
struct UpstreamPlacesTests {
    private let load = FairHolding()

    private func demand(
        _ client: ClientUse, at other: FairHolding? = nil, max: Int? = nil, ports: Int = .max,
        isOnly: Bool = true
    ) -> UpstreamPlaces.Demand {
        UpstreamPlaces.Demand(
            client: client, upstream: other ?? load, upstreamMax: max, portsMax: ports, isOnlyUpstream: isOnly
        )
    }

    /// Takes as many places as there are, and returns their number and the reason that none came after them.
    private func fill(
        _ places: UpstreamPlaces, _ demand: @autoclosure () -> UpstreamPlaces.Demand
    ) -> (Int, UpstreamPlaces.Shortage?) {
        for count in 0..<10_000 {
            do throws(UpstreamPlaces.Shortage) {
                try places.take(demand())
            } catch {
                return (count, error)
            }
        }
        return (10_000, nil)
    }

    /// A connection of a trusted peer that names no client.
    private var anybody: ClientUse { ClientUse(isKnown: false) }

    @Test func `one client gets a ninth of the places, and what it gives back is there again`() {
        let (places, client) = (UpstreamPlaces(.init(countMax: 90)), ClientUse())
        #expect(fill(places, demand(client)) == (10, .client))
        #expect(places.counts.taken == 10)
        for _ in 0..<10 { places.leave(demand(client)) }
        #expect(places.counts.taken == 0)
        #expect(client.requests.amount == 0)
        #expect(load.amount == 0)
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
        let client = ClientUse()
        #expect(fill(places, demand(client)) == (3, .client))
    }

    @Test func `a connection without a known client has a share, but no maximum per client`() {
        let places = UpstreamPlaces(.init(countMax: 90, clientMax: 3))
        let connection = anybody
        #expect(fill(places, demand(connection)) == (10, .client))
        #expect(fill(places, demand(anybody)) == (80, .upstream), "each connection counts by itself")
    }

    @Test func `an upstream has its own maximum, of which a client gets half`() {
        let (places, client) = (UpstreamPlaces(.init(countMax: 100)), ClientUse())
        #expect(fill(places, demand(client, max: 10)) == (5, .client))
        #expect(fill(places, demand(anybody, max: 10)) == (5, .upstream))
        let other = FairHolding()
        #expect(
            fill(places, demand(client, at: other, max: 10)) == (5, .client), "each upstream counts by itself"
        )
        for left in (0..<5).reversed() {
            places.leave(demand(client, max: 10))
            #expect(client.requests(at: ObjectIdentifier(load)) == left)
        }
    }

    @Test func `an address gets no more requests than there are ports`() {
        let places = UpstreamPlaces(.init(countMax: 100))
        #expect(fill(places, demand(anybody, ports: 7)) == (7, .upstream))
    }

    @Test func `a slow upstream leaves a fifth of the places to the others`() {
        let places = UpstreamPlaces(.init(countMax: 100))
        #expect(fill(places, demand(anybody, isOnly: false)) == (80, .upstream))
        #expect(fill(places, demand(anybody, at: FairHolding(), isOnly: false)).0 >= 16)
    }

    // MARK: Waiting

    @Test func `who waits while a place is free has it at once`() throws {
        let places = UpstreamPlaces(.init(countMax: 1))
        let count = Guarded(0)
        let waiter = try #require(places.wait(demand(anybody)) { count.withLock { $0 += 1 } })
        #expect(count.withLock { $0 } == 1)
        #expect(places.counts.taken == 1 && places.counts.waiting == 0)
        places.cancel(waiter)
        #expect(places.counts.taken == 0)
    }

    @Test func `the first that may have a free place gets it, once`() throws {
        let places = UpstreamPlaces(.init(countMax: 3, clientMax: 1))
        let (greedy, other) = (ClientUse(), ClientUse())
        try places.take(demand(greedy))
        try places.take(demand(other))
        try places.take(demand(anybody))
        let granted = Guarded<[String]>([])
        let first = try #require(places.wait(demand(greedy)) { granted.withLock { $0.append("greedy") } })
        _ = try #require(places.wait(demand(other)) { granted.withLock { $0.append("other") } })
        _ = try #require(places.wait(demand(anybody)) { granted.withLock { $0.append("unknown") } })
        #expect(places.counts.waiting == 3)
        places.leave(demand(other))
        #expect(granted.withLock { $0 } == ["other"], "the first has its share already")
        places.leave(demand(anybody))
        #expect(granted.withLock { $0 } == ["other", "unknown"])
        places.leave(demand(greedy))
        #expect(granted.withLock { $0 } == ["other", "unknown", "greedy"])
        #expect(greedy.waiting.amount == 0)
        places.cancel(first)
        #expect(places.counts.taken == 2, "a wait that has ended gives back its place")
    }

    @Test func `a place that another upstream gets is one that a third request may have, too`() throws {
        let (places, slow, fast) = (UpstreamPlaces(.init(countMax: 10)), load, FairHolding())
        // The slow upstream has its four fifths of the places.
        #expect(fill(places, demand(anybody, at: slow, isOnly: false)) == (8, .upstream))
        for _ in 0..<2 { try places.take(demand(anybody, at: fast)) }
        let granted = Guarded<[String]>([])
        _ = places.wait(demand(anybody, at: fast)) { granted.withLock { $0.append("fast") } }
        _ = places.wait(demand(anybody, at: slow)) { granted.withLock { $0.append("slow") } }
        places.leave(demand(anybody, at: slow))
        places.leave(demand(anybody, at: slow))
        #expect(granted.withLock { $0 } == ["fast", "slow"])
        #expect(places.counts.waiting == 0)
    }

    @Test func `who leaves an upstream to another client may go on elsewhere`() throws {
        let places = UpstreamPlaces(.init(countMax: 100, clientMax: 1))
        let (leaving, other) = (ClientUse(), ClientUse())
        try places.take(demand(leaving, ports: 1))
        let granted = Guarded<[String]>([])
        _ = places.wait(demand(other, ports: 1)) { granted.withLock { $0.append("other") } }
        _ = places.wait(demand(leaving, at: FairHolding())) { granted.withLock { $0.append("elsewhere") } }
        #expect(places.counts.waiting == 2)
        places.leave(demand(leaving, ports: 1))
        #expect(granted.withLock { $0 } == ["other", "elsewhere"])
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

    @Test func `all clients together wait in bounded number, and no client has all turns`() {
        let places = UpstreamPlaces(.init(countMax: 0))
        let most = 1_024
        func wait(_ client: ClientUse) -> Int {
            (0..<most).prefix { _ in places.wait(demand(client)) {} != nil }.count
        }
        let clients = (0..<8).map { _ in ClientUse() }
        #expect((most / 9...most / 9 + 1).contains(wait(clients[0])))
        for client in clients { _ = wait(client) }
        #expect(wait(ClientUse()) > 10, "eight greedy clients leave turns to the next one")
        for _ in 0..<(2 * most) { _ = places.wait(demand(anybody)) {} }
        #expect(places.counts.waiting == most)
    }

    @Test func `a reload that allows more lets those go on that wait`() throws {
        let places = UpstreamPlaces(.init(countMax: 1))
        try places.take(demand(anybody))
        let count = Guarded(0)
        _ = try #require(places.wait(demand(anybody)) { count.withLock { $0 += 1 } })
        places.adopt(.init(countMax: 2))
        #expect(count.withLock { $0 } == 1)
        places.adopt(.init(countMax: 1))
        #expect(places.counts.taken == 2 && places.counts.max == 1)
        places.leave(demand(anybody))
        #expect(fill(places, demand(anybody)).0 == 0, "fewer places count at once")
    }

    @Test func `a reload that allows more lets as many go on as there are places`() throws {
        let places = UpstreamPlaces(.init(countMax: 1))
        try places.take(demand(anybody))
        let count = Guarded(0)
        for _ in 0..<3 { _ = try #require(places.wait(demand(anybody)) { count.withLock { $0 += 1 } }) }
        places.adopt(.init(countMax: 3))
        #expect(count.withLock { $0 } == 2)
        #expect(places.counts.taken == 3 && places.counts.waiting == 1)
    }

    @Test func `a client is crowded with its ninth request`() {
        let client = ClientUse()
        client.requests.add(8)
        #expect(!client.isCrowded)
        client.requests.add(1)
        #expect(client.isCrowded)
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
