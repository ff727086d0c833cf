import Testing

@testable import Dictionaries
@testable import Storage

/// The chains as the admin listener lists them.
@Suite struct ChainListingTests {
    private func chain(_ number: Int) -> ChainKey { ChainKey(authority: "api.example", match: "/\(number)") }

    @Test func `an entry has the versions, the holders, the bytes and the times of its chain`() throws {
        let store = try DictionaryStore.open(":memory:")
        let first = store.admit(sampleBody(1), now: 1000)
        store.demand.advertised(first, now: 1010)
        let second = store.admit(sampleBody(2), over: first, now: 1020)
        store.demand.offered(second, over: nil, now: 1030)
        let listing = ChainListing(of: store, by: .wanted, offset: 0, limit: 10, now: 1050)
        #expect(listing.total == 1)
        let entry = try #require(listing.entries.first)
        #expect(entry.authority == "api.example" && entry.match == "/feed" && !entry.needsID)
        #expect(entry.versions == 2)
        #expect(entry.holders == first.holders + second.holders && entry.holders >= 2)
        #expect(!entry.holdersPartial)
        #expect(entry.storedBytes == first.storedBytes + second.storedBytes)
        #expect(entry.newestAgeSeconds == 30)
        #expect(entry.wantedAgeSeconds == max(0, 1050 - first.chain.wantedUntil))
    }

    @Test(arguments: [0, 1, 999, 1000, 1001, 2500])
    func `pages neither repeat a chain nor leave one out`(count: Int) throws {
        let store = try DictionaryStore.open(":memory:", maxChains: 10_000)
        for number in 0..<count {
            store.admit(sampleBody(number, count: 300), chain: chain(number), url: "/\(number)")
        }
        var matches: [String] = []
        while true {
            let page = ChainListing(of: store, by: .versions, offset: matches.count, limit: 170)
            #expect(page.total == count)
            matches += page.entries.map(\.match)
            if page.entries.count < 170 { break }
        }
        #expect(matches.count == count && Set(matches).count == count)
        #expect(ChainListing(of: store, by: .bytes, offset: count + 1, limit: 10).entries.isEmpty)
    }

    @Test func `each order has the greatest value first`() throws {
        let store = try DictionaryStore.open(":memory:")
        for number in 0..<3 {
            for version in 0...number {
                store.admit(
                    sampleBody(10 * number + version, count: 4000 - 1500 * number), chain: chain(number),
                    url: "/\(number)", now: 1000 + (number + 1) % 3)
            }
        }
        func matches(_ order: ChainListing.Order) -> [String] {
            ChainListing(of: store, by: order, offset: 0, limit: 10).entries.map(\.match)
        }
        #expect(matches(.versions) == ["/2", "/1", "/0"])
        #expect(matches(.wanted) == ["/1", "/0", "/2"])
        let bytes = ChainListing(of: store, by: .bytes, offset: 0, limit: 10).entries.map(\.storedBytes)
        #expect(bytes == bytes.sorted(by: >) && bytes.count == 3)
    }

    @Test func `of a chain with very many versions the holders of the latest are counted, and it says so`()
        throws
    {
        let store = try DictionaryStore.open(":memory:")
        let count = ChainListing.holdersCountedMax + 5
        for number in 0..<count {
            store.admit(sampleBody(number, count: 64), keep: 100_000, now: 1000 + number)
        }
        let entry = try #require(
            ChainListing(of: store, by: .wanted, offset: 0, limit: 1, now: 9000).entries.first)
        #expect(entry.versions == count)
        #expect(entry.holdersPartial)
        #expect(entry.newestAgeSeconds == 9000 - (1000 + count - 1))
        #expect(entry.holders <= ChainListing.holdersCountedMax)
    }

    @Test func `chains that belong to one client are counted and not listed`() throws {
        let secret = try PrivateStore(":memory:")
        secret.store.admit(sampleBody(1), chain: try secret.chain("ann"))
        secret.store.admit(sampleBody(2), chain: try secret.chain("ann"))
        secret.store.admit(sampleBody(3), chain: try secret.chain("bob"))
        try secret.give(sampleBody(4), network: 1, now: 1000)
        secret.store.admit(
            sampleBody(5), chain: ChainKey(authority: "api.example", scope: .unlisted, match: "/feed"))
        let listing = ChainListing(of: secret.store, by: .wanted, offset: 0, limit: 10)
        #expect(listing.private.chains == 3)
        #expect(listing.private.versions == 4)
        #expect(listing.private.storedBytes > 4000)
        #expect(listing.entries.count == 1 && listing.total == 1)
        #expect(listing.entries.first?.needsID == true)
    }
}
