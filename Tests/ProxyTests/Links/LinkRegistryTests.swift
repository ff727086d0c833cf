internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// The order in which a page announces what its clients fetch, and what that may cost.
@Suite(.timeLimit(.minutes(40))) struct LinkRegistryTests {
    private static let page = LearnedPages.Key(authority: "api.test", match: "/")
    private let body = Body(Feed.bytes(version: 0, items: 10))

    private func chain(_ match: String) -> ChainKey { ChainKey(authority: "api.test", match: match) }

    /// Has clients fetch a chain after the page, at this cost each.
    private func fetch(
        _ registry: LinkRegistry, _ match: String, clients: Range<Int>, sentBytes: Int, at now: Int
    ) {
        for number in clients {
            let client = UInt128(number)
            let sighting = LinkRegistry.Sighting(
                body: body, chain: chain(match), variant: "", url: match, keptSeconds: 0,
                client: LinkClient(address: client, isNamed: true), source: (Self.page, client))
            _ = registry.record(sighting, now: now)
            registry.changeLedger(of: chain(match).hashValue) {
                $0.recordFetch(sentBytes, of: client, at: now)
            }
        }
    }

    @Test func `what pays is announced before what more clients have asked for`() throws {
        let proxy = try TestProxy(json(Feed.bytes(version: 0, items: 10)))
        let registry = proxy.server.context.linkRegistry
        fetch(registry, "/feed", clients: 0..<40, sentBytes: 2_000, at: 0)
        registry.changeLedger(of: chain("/feed").hashValue) {
            for client in 0..<40 {
                $0.recordCost(2_000, of: UInt128(client), at: 0)
                $0.recordSaving(6_000, of: UInt128(client))
            }
            $0.recordCost(2_000, of: 1 << 80, at: 601)
        }
        let exports = (1...4).map { "/export/\($0)" }
        for export in exports {
            fetch(registry, export, clients: 1_000..<1_060, sentBytes: 500_000, at: 700)
        }
        let order = registry.chains(after: Self.page, client: nil, now: 700)
        #expect(order.first?.match == "/feed" && Set(order.dropFirst().map(\.match)) == Set(exports))
        // Visitors download all that is announced to them.
        var wasted = 0
        for visitor in 2_000..<4_000 {
            for chain in registry.chains(after: Self.page, client: nil, now: 701)
            where registry.knowledge(of: chain).ledger.mayAnnounce(at: 701) && chain.match != "/feed" {
                registry.changeLedger(of: chain.hashValue) {
                    $0.recordCost(500_000, of: UInt128(visitor), at: 701)
                }
                wasted += 500_000
            }
        }
        #expect(wasted == 2 * 4 * 60 * 500_000)
        // A failed expectation shows the values in it, and a registry has no readable ones.
        let announced = (["/feed"] + exports).filter {
            registry.knowledge(of: chain($0)).ledger.mayAnnounce(at: 701)
        }
        #expect(announced == ["/feed"])
    }

    @Test func `savings of bodies under a thousand bytes count`() throws {
        let proxy = try TestProxy(json(Feed.bytes(version: 0, items: 10)))
        let (store, registry) = (proxy.server.context.store, proxy.server.context.linkRegistry)
        let (items, now) = (chain("/items/*"), SystemClock.unixSeconds)
        let version = try store.admission.admit(
            VersionCandidate(
                body, key: VersionKey(chain: items, url: "/items/*", variant: ""), policy: AdmissionPolicy(),
                contentType: "application/json"), now: now)
        _ = registry.named(version, index: store.reader(), lifeSeconds: 86_400, now: now)
        fetch(registry, "/items/*", clients: 0..<40, sentBytes: 100, at: now)
        for client in 0..<20 as Range<UInt128> {
            registry.recordDownload(of: version, sentBytes: 100, client: client, now: now)
            for _ in 1...5 {
                registry.recordSaving(over: version, bodyBytes: 900, sentBytes: 50, client: client)
            }
        }
        registry.recordDownload(of: version, sentBytes: 100, client: 1 << 80, now: now + 601)
        let pays = registry.knowledge(of: items).ledger.mayAnnounce(at: now + 601)
        #expect(pays)
    }

    @Test(arguments: [(86_400, 86_400), (600, 600), (172_800, 86_400)])
    func `a name is advertised for its own life, and no longer than its route allows now`(
        allowed: Int, life: Int
    ) throws {
        let proxy = try TestProxy(json(Feed.bytes(version: 0, items: 10)))
        let (store, registry) = (proxy.server.context.store, proxy.server.context.linkRegistry)
        let now = SystemClock.unixSeconds
        let version = try store.admission.admit(
            VersionCandidate(
                body, key: VersionKey(chain: chain("/feed"), url: "/feed", variant: ""),
                policy: AdmissionPolicy(), contentType: "application/json"), now: now)
        _ = registry.named(version, index: store.reader(), lifeSeconds: 86_400, now: now)
        #expect(registry.life(of: version, atMost: allowed) == life)
        let ends = store.reader().named(of: chain("/feed"), now: now).map { $0.pinnedUntil - now }
        #expect(ends == [172_800], "the last client can use it for as long as it was told")
    }

    @Test func `a page announces what lives longer than what responses carry themselves`() throws {
        let proxy = try TestProxy(json(Feed.bytes(version: 0, items: 10)))
        let (store, now) = (proxy.server.context.store, SystemClock.unixSeconds)
        let registry = LinkRegistry(store: store, worker: BackgroundWorker())
        let feed = chain("/feed")
        let version = try store.admission.admit(
            VersionCandidate(
                body, key: VersionKey(chain: feed, url: "/feed", variant: ""), policy: AdmissionPolicy(),
                contentType: "application/json"), now: now)
        try #require(store.demand.nameInLinks(version, replacing: nil, until: now + 172_800, now: now))
        func isAnnounced(isLearned: Bool = false, lifeSeconds: Int = 600) -> Bool {
            registry.announced(
                feed, variant: "", isLearned: isLearned, index: store.reader(), lifeSeconds: lifeSeconds,
                now: now) != nil
        }
        // After a restart nothing is known but the name.
        #expect(isAnnounced() && !isAnnounced(isLearned: true))
        let sighting = LinkRegistry.Sighting(
            body: body, chain: feed, variant: "", url: "/feed", keptSeconds: 600,
            client: LinkClient(address: 1, isNamed: true), source: nil)
        _ = registry.record(sighting, now: now)
        #expect(!isAnnounced() && isAnnounced(lifeSeconds: 601))
        #expect(!isAnnounced(isLearned: true, lifeSeconds: 601), "nobody has fetched it after a page")
    }

    @Test func `hosts beyond sixty-four get no built dictionary, and the first ones keep theirs`() throws {
        let proxy = try TestProxy(json(Feed.bytes(version: 0, items: 10)))
        let registry = proxy.server.context.linkRegistry
        let now = SystemClock.unixSeconds
        let hasOne = (0..<65).map { number in
            let built = ChainKey(authority: "h\(number).test", match: "/*")
            return registry.version(
                with: body, as: VersionKey(builtOf: built), AdmissionPolicy(), now: now) != nil
        }
        #expect(hasOne.firstIndex(of: false) == 64)
        let hosts = ["h0.test", "h63.test", "h64.test"].filter { registry.hasPlaceForBuilt(of: $0) }
        #expect(hosts == ["h0.test", "h63.test"])
    }

    @Test func `a name that wastes much keeps its time while no other body is proven`() throws {
        let proxy = try TestProxy(json(Feed.bytes(version: 0, items: 10)))
        let (store, worker) = (proxy.server.context.store, BackgroundWorker())
        let registry = LinkRegistry(store: store, worker: worker)
        let (feed, now) = (chain("/feed"), SystemClock.unixSeconds)
        let noise = Noise.bytes(10_000, seed: 2)
        let bodies = [Noise.bytes(10_000, seed: 1), noise, noise + [1]].map { Body($0) }
        let versions = try bodies.map { body in
            try store.admission.admit(
                VersionCandidate(
                    body, key: VersionKey(chain: feed, url: "/feed", variant: ""), policy: AdmissionPolicy(),
                    contentType: "application/json"), now: now)
        }
        try #require(store.demand.nameInLinks(versions[0], replacing: nil, until: now + 172_800, now: now))
        _ = registry.named(feed, variant: "", index: store.reader(), lifeSeconds: 86_400, now: now)
        for client in 0..<4 as Range<UInt128> { registry.recordUser(of: versions[0], client: client) }
        let sighting = LinkRegistry.Sighting(
            body: bodies[2], chain: feed, variant: "", url: "/feed", keptSeconds: 0, client: nil, source: nil)
        registry.consider(sighting, index: store.reader(), lifeSeconds: 86_400, now: now + 20_000)
        #expect(worker.finish(), "it is measured")
        let named = store.reader().named(of: feed, now: now + 20_000)
        let ends = named.map { $0.pinnedUntil - now }
        #expect(ends == [172_800])
    }

    @Test func `a name from before a restart gives way, too, and a body is measured once`() throws {
        let proxy = try TestProxy(json(Feed.bytes(version: 0, items: 10)))
        let (store, worker) = (proxy.server.context.store, BackgroundWorker())
        let registry = LinkRegistry(store: store, worker: worker)
        let (feed, now) = (chain("/feed"), SystemClock.unixSeconds)
        let key = VersionKey(chain: feed, url: "/feed", variant: "")
        // All but the first differ little from each other.
        let noise = Noise.bytes(10_000, seed: 2)
        let bodies = [Noise.bytes(10_000, seed: 1), noise, noise + [1], noise + [2]].map { Body($0) }
        func admit(_ body: Body) throws -> Version {
            try store.admission.admit(
                VersionCandidate(body, key: key, policy: AdmissionPolicy(), contentType: "application/json"),
                now: now)
        }
        func named(at time: Int) -> Digest? {
            store.reader().named(chain: feed, variant: "", now: time)?.digest
        }
        func consider(_ body: Body, at time: Int) {
            let sighting = LinkRegistry.Sighting(
                body: body, chain: feed, variant: "", url: "/feed", keptSeconds: 0, client: nil, source: nil)
            registry.consider(sighting, index: store.reader(), lifeSeconds: 86_400, now: time)
            #expect(worker.finish(), "it is measured, if that is due")
        }
        let versions = try bodies.prefix(3).map(admit)
        try #require(store.demand.nameInLinks(versions[0], replacing: nil, until: now + 172_800, now: now))
        for client in 1...3 as ClosedRange<UInt128> {
            let sighting = LinkRegistry.Sighting(
                body: bodies[2], chain: feed, variant: "", url: "/feed", keptSeconds: 0,
                client: LinkClient(address: client, isNamed: true), source: nil)
            _ = registry.record(sighting, now: now)
        }
        // From here on it counts who uses the name.
        consider(bodies[2], at: now)
        for client in 0..<4 as Range<UInt128> { registry.recordUser(of: versions[0], client: client) }
        consider(bodies[2], at: now + 100)
        #expect(named(at: now + 100) == bodies[0].digest)
        _ = try admit(bodies[3])
        consider(bodies[3], at: now + 200)
        #expect(named(at: now + 200) == bodies[2].digest, "the newest that is proven")
    }

    @Test(arguments: [(700, true), (100, false)])
    func `a built dictionary pays by the bytes of its own route's responses`(plain: Int, pays: Bool) throws {
        let proxy = try TestProxy(json(Feed.bytes(version: 0, items: 10)))
        let context = proxy.server.context
        let registry = context.linkRegistry
        let now = SystemClock.unixSeconds
        let built = chain("/items/*")
        let version = try #require(
            registry.version(
                with: body, as: VersionKey(builtOf: built), AdmissionPolicy(), now: now))
        _ = registry.named(version, index: context.store.reader(), lifeSeconds: 86_400, now: now)
        for client in 0..<32 as Range<UInt128> {
            registry.recordFirst(of: built, over: nil, bodyBytes: 1_000, sentBytes: plain, client: client)
        }
        for client in 0..<20 as Range<UInt128> {
            registry.recordDownload(of: version, sentBytes: 1_000, client: client, now: now)
            // Small bodies count, too.
            for _ in 1...5 {
                registry.recordSaving(over: version, bodyBytes: 700, sentBytes: 150, client: client)
            }
        }
        registry.recordDownload(of: version, sentBytes: 1_000, client: 1 << 80, now: now + 601)
        registry.recordDownload(of: version, sentBytes: 1_000, client: 1 << 81, now: now + 1_202)
        let isAnnounced = registry.knowledge(of: built).ledger.pays(at: now + 1_202)
        #expect(isAnnounced == pays)
    }

    @Test func `after a restart downloads of a named version cost, and deltas over it save`() throws {
        let proxy = try TestProxy(json(Feed.bytes(version: 0, items: 10)))
        let (store, now) = (proxy.server.context.store, SystemClock.unixSeconds)
        let feed = chain("/feed")
        let version = try store.admission.admit(
            VersionCandidate(
                body, key: VersionKey(chain: feed, url: "/feed", variant: ""), policy: AdmissionPolicy(),
                contentType: "application/json"), now: now)
        try #require(store.demand.nameInLinks(version, replacing: nil, until: now + 172_800, now: now))
        for (savedBytes, pays) in [(0, false), (900, true)] {
            let registry = LinkRegistry(store: store, worker: BackgroundWorker())
            fetch(registry, "/feed", clients: 0..<40, sentBytes: 100, at: now)
            _ = registry.named(feed, variant: "", index: store.reader(), lifeSeconds: 86_400, now: now)
            for client in 0..<20 as Range<UInt128> {
                registry.recordDownload(of: version, sentBytes: 100, client: client, now: now)
                registry.recordSaving(over: version, bodyBytes: 5 * savedBytes, sentBytes: 0, client: client)
            }
            registry.recordDownload(of: version, sentBytes: 100, client: 1 << 80, now: now + 601)
            registry.recordDownload(of: version, sentBytes: 100, client: 1 << 81, now: now + 1_202)
            let isAnnounced = registry.knowledge(of: feed).ledger.pays(at: now + 1_202)
            #expect(isAnnounced == pays)
        }
    }

    @Test func `thousands of paths do not push out what is known of a built dictionary`() throws {
        let proxy = try TestProxy(json(Feed.bytes(version: 0, items: 10)))
        let (registry, now) = (proxy.server.context.linkRegistry, SystemClock.unixSeconds)
        let built = chain("/items/*")
        registry.recordFirst(of: built, over: nil, bodyBytes: 1_000, sentBytes: 100, client: 1)
        registry.changeLedger(of: built.hashValue) { ledger in
            for client in 0..<20 as Range<UInt128> { ledger.recordCost(1_000, of: client, at: now) }
            for time in [601, 1_202] { ledger.recordCost(1_000, of: 1 << 80, at: now + time) }
        }
        let rests = !registry.knowledge(of: built).ledger.pays(at: now + 1_202)
        try #require(rests)
        for path in 0..<10_000 {
            fetch(registry, "/items/\(path)", clients: path..<path + 1, sentBytes: 100, at: now)
        }
        let stillRests = !registry.knowledge(of: built).ledger.pays(at: now + 1_202)
        #expect(stillRests)
    }
}
