import Testing

@testable import Dictionaries

/// Evictions, advertisements and admissions as the store joins them.
@Suite struct StoreChurnTests {
    private let other = ChainKey(authority: "api.example", match: "/other")
    private let bodies = (0..<40).map { sampleBody($0) }

    private func store(_ policy: ChurnPolicy = ChurnPolicy(), maxChains: Int = 1000) throws -> DictionaryStore
    {
        var configuration = StoreConfiguration(path: ":memory:", maxChains: maxChains)
        configuration.churn = policy
        return try DictionaryStore(configuration: configuration)
    }

    /// Says that a client advertised a body that is not found.
    private func isEvicted(
        _ body: Body, _ store: DictionaryStore, chain: ChainKey = feedChain, now: Int = 1000
    )
        -> Bool
    {
        store.noteMissing(body.digest, chain: chain, path: "/feed", query: nil, now: now, route: "/feed")
    }

    @Test func `a version beyond those that a chain keeps is known to be evicted`() throws {
        let store = try store()
        for body in bodies[0..<5] { store.admit(body, keep: 3) }
        #expect(isEvicted(bodies[0], store))
        #expect(isEvicted(bodies[1], store))
        #expect(!isEvicted(bodies[9], store))
        #expect(store.statistics.tombstones == 2)
        #expect(store.statistics.advertisedEvicted == 2)
        #expect(store.statistics.advertisedUnknown == 1)
    }

    @Test(arguments: [
        ChainKey(authority: "api.example", match: "/other"), ChainKey(authority: "b.example", match: "/feed"),
        ChainKey(authority: "api.example", match: "/feed", matchDest: ["script"]),
    ])
    func `an evicted version is known in its own chain only`(chain: ChainKey) throws {
        let store = try store()
        store.admit(bodies[20], chain: chain)
        for body in bodies[0..<2] { store.admit(body, keep: 1) }
        #expect(isEvicted(bodies[0], store))
        #expect(!isEvicted(bodies[0], store, chain: chain))
    }

    @Test func `what one identity had is known in no other's chain, nor in a public one`() throws {
        let own = try PrivateStore(":memory:")
        let (alice, bob) = (try own.chain("alice"), try own.chain("bob"))
        for body in bodies[0..<2] { own.store.admit(body, chain: alice, keep: 1) }
        for chain in [bob, feedChain] { own.store.admit(bodies[20], chain: chain) }
        #expect(isEvicted(bodies[0], own.store, chain: alice))
        #expect(!isEvicted(bodies[0], own.store, chain: bob))
        #expect(!isEvicted(bodies[0], own.store))
    }

    @Test func `what is known of a chain goes with its last version`() throws {
        let store = try store()
        for body in bodies[0..<3] { store.admit(body, keep: 1, maxAge: 10) }
        #expect(store.statistics.tombstones == 2)
        store.sweep(now: 1010)
        #expect(store.statistics.chains == 0)
        #expect(store.statistics.tombstones == 0)
        store.admit(bodies[5])
        #expect(!isEvicted(bodies[0], store))
    }

    @Test func `a version that was too old counts as unknown`() throws {
        let store = try store()
        store.admit(bodies[0], maxAge: 10)
        store.admit(bodies[1], maxAge: 1000)
        store.sweep(now: 1010)
        #expect(store.statistics.versions == 1)
        #expect(!isEvicted(bodies[0], store))
    }

    @Test func `all chains together remember so many digests`() throws {
        var policy = ChurnPolicy()
        policy.tombstonesMax = 10
        let store = try store(policy)
        let chains = (0..<4).map { ChainKey(authority: "api.example", match: "/\($0)") }
        for round in 0..<10 {
            for chain in chains {
                store.admit(bodies[round], chain: chain, keep: 1)
                #expect(store.statistics.tombstones <= 10)
            }
        }
        #expect(store.statistics.tombstones > 0)
    }

    @Test func `digests are forgotten after a day, by the sweep`() throws {
        let store = try store()
        for body in bodies[0..<3] { store.admit(body, keep: 1, maxAge: 1_000_000) }
        #expect(store.statistics.tombstones == 2)
        store.sweep(now: 1000 + 2 * 86_400)
        #expect(store.statistics.tombstones == 0)
    }

    @Test func `a chain whose versions are gone when clients return is admitted to at intervals`() throws {
        let store = try store()
        for body in bodies[0..<3] { store.admit(body, keep: 1) }
        #expect(store.claimAdmission(of: bodies[4].digest, to: feedChain, now: 1000))
        for _ in 0..<200 { #expect(isEvicted(bodies[0], store)) }
        #expect(store.statistics.chainsSlowed == 1)
        #expect(store.claimAdmission(of: bodies[5].digest, to: feedChain, now: 1001))
        #expect(!store.claimAdmission(of: bodies[6].digest, to: feedChain, now: 1001))
        #expect(store.claimAdmission(of: bodies[6].digest, to: other, now: 1001))
        #expect(store.claimAdmission(of: bodies[7].digest, to: feedChain, now: 1002))
        #expect(store.statistics.admissionsDeferred == 1)
    }

    @Test func `the interval goes with the chain`() throws {
        let store = try store()
        for body in bodies[0..<3] { store.admit(body, keep: 1, maxAge: 10) }
        for _ in 0..<200 { _ = isEvicted(bodies[0], store) }
        #expect(store.statistics.chainsSlowed == 1)
        store.sweep(now: 1010)
        #expect(store.statistics.chainsSlowed == 0)
    }

    @Test func `a chain that is too wide offers nothing until its rest is over`() throws {
        let events = StoreEvents()
        var configuration = StoreConfiguration(path: ":memory:", log: events.log)
        configuration.churn = ChurnPolicy()
        let store = try DictionaryStore(configuration: configuration)
        let wide = ChainKey(authority: "api.example", match: "/items/*")
        store.admit(bodies[0], chain: wide)
        #expect(!store.isTooWide(wide, now: 1000))
        for number in 0..<64 {
            store.noteMissing(
                bodies[1].digest, chain: wide, path: "/items/\(number % 40)", query: nil, now: 1000,
                route: "/items/*")
        }
        #expect(store.isTooWide(wide, now: 1899))
        #expect(!store.isTooWide(other, now: 1000))
        #expect(store.statistics.chainsTooWide == 1)
        #expect(!store.isTooWide(wide, now: 1900))
        store.sweep(now: 1900)
        #expect(store.statistics.chainsTooWide == 0)
        #expect(store.statistics.chainStops == 1)
        #expect(events.all.count == 1)
        guard case .warning(let text)? = events.all.first else { return #expect(Bool(false)) }
        #expect(text.contains("/items/*"))
    }

    @Test func `many chains of one route that stop are one line in the log`() throws {
        let events = StoreEvents()
        let store = try DictionaryStore.open(":memory:", log: events.log)
        for route in ["/a/*", "/b/*"] {
            for number in 0..<20 {
                let chain = ChainKey(authority: "\(number).example", match: route)
                store.admit(bodies[0], chain: chain)
                for url in 0..<64 {
                    store.noteMissing(
                        bodies[1].digest, chain: chain, path: "/\(url)", query: nil, now: 1000, route: route)
                }
            }
        }
        #expect(store.statistics.chainsTooWide == 40)
        #expect(events.all.count == 2)
    }
}
