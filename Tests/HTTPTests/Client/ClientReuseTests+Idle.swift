import Dispatch
import Glibc
import TestSupport
import Testing

@testable import HTTP

// How many connections are kept, which of them are taken, and for how long.

extension ClientReuseTests {
    @Test func `a kept connection that ends gives its place among all kept ones back`() throws {
        var settings = ClientSettings()
        settings.idleConnections = ConnectionCount()
        settings.idleConnectionsMax = 1
        let upstream = try TestUpstream()
        let client = TestClient(settings)
        for _ in 0..<3 {
            let exchange = try client.begin(to: upstream.endpoint)
            let peer = try upstream.accept()
            peer.send(Self.ok)
            #expect(exchange.outcome() == ["new"] + Self.okLines)
            #expect(client.counts() == [1, 0])
            peer.closeWriting()
            #expect(peer.readToEnd().ending == .closed)
            #expect(client.counts() == [0, 0])
        }
    }

    @Test func `a kept connection that is taken again gives its place among all kept ones back`() throws {
        var settings = ClientSettings()
        settings.idleConnections = ConnectionCount()
        settings.idleConnectionsMax = 1
        let (upstream, client, peer) = try kept(settings)
        for _ in 0..<3 {
            #expect(client.counts() == [1, 0])
            let next = try client.begin(to: upstream.endpoint)
            #expect(peer.readHead().hasPrefix("GET / "))
            peer.send(Self.ok)
            #expect(next.outcome() == ["reused"] + Self.okLines)
        }
        #expect(client.counts() == [1, 0])
    }

    @Test func `no more connections are kept than all pools may have`() throws {
        var settings = ClientSettings()
        settings.idleConnections = ConnectionCount()
        settings.idleConnectionsMax = 1
        let upstream = try TestUpstream()
        let client = TestClient(settings)
        let exchanges = try (0..<3).map { _ in try client.begin(to: upstream.endpoint) }
        let peers = try exchanges.map { _ in try upstream.accept() }
        for peer in peers { peer.send(Self.ok) }
        for exchange in exchanges { #expect(exchange.outcome().last == "end") }
        #expect(client.counts() == [1, 0])
        withExtendedLifetime(peers) {}
    }

    @Test func `of several kept connections the one that was used last is taken`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        var pairs: [(TestExchange, WireSocket)] = []
        for _ in 0..<2 { pairs.append((try client.begin(to: upstream.endpoint), try upstream.accept())) }
        for (exchange, peer) in pairs {
            #expect(peer.readHead().hasPrefix("GET / "))
            peer.send(Self.ok)
            #expect(exchange.outcome().last == "end")
        }
        let next = try client.begin(to: upstream.endpoint)
        #expect(pairs[1].1.readHead().hasPrefix("GET / "))
        pairs[1].1.send(Self.ok)
        #expect(next.outcome() == ["reused"] + Self.okLines)
    }

    @Test(arguments: [(0, 0), (1, 3), (2, 3), (3, 3), (100, 3)])
    func `as many idle connections are kept as were busy of late, and none where that is the setting`(
        setting: Int, kept: Int
    ) throws {
        var settings = ClientSettings()
        settings.keepAliveMax = setting
        let upstream = try TestUpstream()
        let client = TestClient(settings)
        let exchanges = try (0..<3).map { _ in try client.begin(to: upstream.endpoint) }
        let peers = try exchanges.map { _ in try upstream.accept() }
        #expect(client.counts() == [0, 3])
        for peer in peers { peer.send(Self.ok) }
        for exchange in exchanges { #expect(exchange.outcome().last == "end") }
        #expect(client.counts() == [kept, 0])
    }

    @Test func `a peak counts for ten seconds at least and twenty at most`() {
        var peak = RecentPeak()
        let window: Int64 = 10_000
        peak.note(7, now: 1_000)
        peak.note(3, now: 2_000)
        #expect(peak.value(now: 2_000) == 7)
        #expect(peak.value(now: 1_000 + window) == 7)
        peak.note(4, now: 1_000 + window)
        #expect(peak.value(now: 999 + 2 * window) == 7)
        #expect(peak.value(now: 1_000 + 2 * window) == 4)
        #expect(peak.value(now: 1_000 + 9 * window) == 0)
    }

    @Test func `an idle connection is closed when its time is over`() throws {
        var settings = ClientSettings()
        settings.keepAliveTimeout = 100
        let (_, client, peer) = try kept(settings)
        #expect(peer.readToEnd() == ("", .closed))
        #expect(client.counts() == [0, 0])
    }

    @Test func `closing what is idle leaves what is under way`() throws {
        let (upstream, other) = (try TestUpstream(), try TestUpstream())
        let client = TestClient()
        let elsewhere = try client.begin(to: other.endpoint)
        let otherPeer = try other.accept()
        otherPeer.send(Self.ok)
        #expect(elsewhere.outcome() == ["new"] + Self.okLines)
        let both = try (0..<2).map { _ in try client.begin(to: upstream.endpoint) }
        let peers = try both.map { _ in try upstream.accept() }
        peers[0].send(Self.ok)
        _ = both[0].journal.wait { _ in both.contains { $0.journal.all.last == "end" } }
        client.withPool { pool, _ in pool.closeIdle() }
        #expect(client.counts() == [0, 1])
        peers[1].send(Self.ok)
        for exchange in both { #expect(exchange.outcome() == ["new"] + Self.okLines) }
    }

    @Test func `a connection to an address that has gone is closed behind its answer`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("GET / "))
        client.withPool { pool, _ in pool.keep([]) }
        #expect(client.counts() == [0, 1], "the request under way goes on")
        peer.send(Self.ok)
        #expect(exchange.outcome() == ["new"] + Self.okLines)
        #expect(client.counts() == [0, 0])
        #expect(peer.readToEnd() == ("", .closed))
    }

    @Test
    func `kept connections stay while their address does, go with it, and are kept again if it comes back`()
        throws
    {
        let (upstream, client, peer) = try kept()
        let endpoint = upstream.endpoint
        client.withPool { pool, _ in
            pool.keep([UpstreamTarget(scheme: .http, authority: endpoint.text, endpoint: endpoint)])
        }
        #expect(client.counts() == [1, 0])
        client.withPool { pool, _ in pool.keep([]) }
        #expect(client.counts() == [0, 0])
        #expect(peer.readToEnd() == ("", .closed))
        let next = try client.begin(to: endpoint)
        let fresh = try upstream.accept()
        #expect(fresh.readHead().hasPrefix("GET / "))
        fresh.send(Self.ok)
        #expect(next.outcome() == ["new"] + Self.okLines)
        #expect(client.counts() == [1, 0])
    }
}
