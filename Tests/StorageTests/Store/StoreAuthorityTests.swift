import Testing

@testable import Dictionaries
@testable import Storage

/// Clients can invent hosts: authorities without a returned client share a twentieth of the store.
@Suite struct StoreAuthorityTests {
    private func chain(_ number: Int, _ authority: String) -> ChainKey {
        ChainKey(authority: authority, match: "/\(number)")
    }

    private func finds(_ store: DictionaryStore, _ chain: ChainKey, _ body: Body) -> Bool {
        store.reader().version(chain: chain, digest: body.digest) != nil
    }

    @Test func `a flood of made-up Hosts leaves the chains of an authority to which clients come back`()
        throws
    {
        let store = try DictionaryStore.open(":memory:", maxChains: 400)
        let honest = (0..<50).map { number in
            store.admit(
                sampleBody(number), chain: chain(number, "api.example"), url: "/\(number)", now: 1000)
        }
        for version in honest.prefix(1) { store.demand.advertised(version, now: 1001) }
        for number in 0..<2000 {
            store.admit(
                sampleBody(1000 + number), chain: chain(1, "host\(number).example"), url: "/1", now: 1002)
            #expect(store.statistics.chains <= 50 + 20)
        }
        for number in 0..<50 { #expect(finds(store, honest[number].chainKey, sampleBody(number))) }
        #expect(store.statistics.evictions == [.authority: 1980])
    }

    @Test func `a new authority works at once, and for good when a client comes back to it`() throws {
        let store = try DictionaryStore.open(":memory:", maxChains: 400)
        store.demand.advertised(
            store.admit(sampleBody(1), chain: chain(1, "api.example"), now: 1000), now: 1000)
        let new = store.admit(sampleBody(2), chain: chain(1, "new.example"), now: 1001)
        #expect(finds(store, new.chainKey, sampleBody(2)))
        store.demand.advertised(new, now: 1002)
        for number in 0..<500 {
            store.admit(sampleBody(1000 + number), chain: chain(1, "host\(number).example"), now: 1003)
        }
        #expect(finds(store, new.chainKey, sampleBody(2)))
    }

    @Test func `as long as nobody has come back, all authorities are alike`() throws {
        let store = try DictionaryStore.open(":memory:", maxChains: 400)
        for number in 0..<400 {
            store.admit(sampleBody(number), chain: chain(1, "host\(number).example"), now: 1000)
        }
        #expect(store.statistics.chains == 400)
    }

    @Test func `large bodies of made-up Hosts take a twentieth of the bytes`() throws {
        let store = try DictionaryStore.open(":memory:", maxBytes: 8 << 20)
        store.demand.advertised(
            store.admit(sampleBody(1), chain: chain(1, "api.example"), now: 1000), now: 1000)
        for number in 0..<100 {
            store.admit(
                sampleBody(number, count: 30_000), chain: chain(1, "host\(number).example"), now: 1001)
        }
        #expect(store.statistics.versions <= 1 + (8 << 20) / 20 / 30_000)
        #expect(store.finds(sampleBody(1)) || finds(store, chain(1, "api.example"), sampleBody(1)))
    }

    @Test func `made-up paths push out each other before the chains to which a client has come back`() throws
    {
        let store = try DictionaryStore.open(":memory:", maxChains: 400)
        let honest = (0..<50).map { number in
            store.admit(sampleBody(number), chain: chain(number, "api.example"), url: "/\(number)", now: 1000)
        }
        for version in honest { store.demand.advertised(version, now: 1001) }
        for number in 100..<2100 {
            store.admit(sampleBody(1000 + number), chain: chain(number, "api.example"), now: 1002)
            #expect(store.statistics.chains <= 400)
        }
        for number in 0..<50 { #expect(finds(store, honest[number].chainKey, sampleBody(number))) }
    }

    @Test func `what clients came back to before a restart goes after what nobody came back to`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, maxChains: 20)
        let proven = store.admit(sampleBody(0), chain: chain(0, "api.example"), now: 1000)
        store.demand.advertised(proven, now: 1001)
        for number in 1..<20 {
            store.admit(sampleBody(number), chain: chain(number, "api.example"), now: 1002)
        }
        #expect(store.upkeep.flush())
        store.close()
        let reopened = try DictionaryStore.open(folder.database, maxChains: 20)
        for number in 20..<60 {
            reopened.admit(sampleBody(number), chain: chain(number, "api.example"), now: 1003)
        }
        #expect(finds(reopened, proven.chainKey, sampleBody(0)))
        #expect(reopened.statistics.chains == 20)
    }

    @Test func `what is counted of an authority goes with its last chain`() {
        var authorities = Authorities()
        authorities.count("a", chains: 1, bytes: 10)
        authorities.count("b", chains: 1, bytes: 5)
        #expect(!authorities.hasReturns)
        authorities.noteReturn("a")
        authorities.noteReturn("a")
        authorities.noteReturn("nobody")
        #expect(authorities.hasReturns && authorities.hasReturned("a") && !authorities.hasReturned("b"))
        #expect((authorities.chainsWithoutReturn, authorities.bytesWithoutReturn) == (1, 5))
        authorities.count("a", chains: -1, bytes: -10)
        #expect(!authorities.hasReturns && !authorities.hasReturned("a"))
        authorities.count("b", chains: -1, bytes: -5)
        #expect((authorities.chainsWithoutReturn, authorities.bytesWithoutReturn) == (0, 0))
        // Private chains have a budget of their own, and are no reason to forget the authority.
        authorities.count("c", chains: 1, bytes: 0, isSealed: true)
        #expect(authorities.chainsWithoutReturn == 0)
        authorities.noteReturn("c")
        #expect(authorities.hasReturned("c"))
        authorities.count("c", chains: -1, bytes: 0, isSealed: true)
        #expect(!authorities.hasReturns && authorities.chainsWithoutReturn == 0)
    }
}
