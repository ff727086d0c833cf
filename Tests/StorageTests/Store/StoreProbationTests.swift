import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreProbationTests {
    private func chain(_ number: Int) -> ChainKey {
        ChainKey(authority: "api.example", match: "/\(number)")
    }

    @discardableResult
    private func admit(_ number: Int, to store: DictionaryStore, count: Int = 1000, now: Int = 1000)
        -> Version
    {
        store.admit(
            sampleBody(number, count: count), chain: chain(number), url: "/\(number)", isImplied: true,
            now: now)
    }

    private func holds(_ number: Int, _ store: DictionaryStore, count: Int = 1000) -> Bool {
        store.reader().contains(chain: chain(number), digest: sampleBody(number, count: count).digest)
    }

    @Test func `chains in probation get a fifth of the chains, and of them the least wanted goes`() throws {
        let store = try DictionaryStore.open(":memory:", maxChains: 50)
        for number in 0..<10 { admit(number, to: store, now: 1000 + number) }
        // A second request does not establish it yet.
        admit(0, to: store, now: 2000)
        #expect(store.statistics.chainsInProbation == 10)
        admit(10, to: store, now: 2001)
        #expect(store.statistics.chainsInProbation == 10)
        #expect(holds(0, store))
        #expect(!holds(1, store))
        #expect(holds(2, store))
        #expect(store.statistics.evictions == [.probation: 1])
    }

    @Test func `their bodies get a fifth of the size`() throws {
        let store = try DictionaryStore.open(":memory:", maxBytes: 5 << 20)
        for number in 0..<30 { admit(number, to: store, count: 99_000, now: 1000 + number) }
        // 1 MiB holds ten of them with their rows.
        #expect(store.statistics.versions == 10)
        #expect(holds(29, store, count: 99_000))
        #expect(!holds(19, store, count: 99_000))
        #expect(store.statistics.evictions == [.probation: 20])
    }

    @Test func `a chain whose dictionary is advertised is established, and leaves the share`() throws {
        let store = try DictionaryStore.open(":memory:", maxChains: 50)
        let advertised = admit(0, to: store)
        store.demand.advertised(advertised, now: 1000)
        for number in 1..<100 { admit(number, to: store, now: 1000 + number) }
        #expect(holds(0, store))
        #expect(store.statistics.chainsInProbation == 10)
        #expect(store.statistics.chains == 11)
    }

    @Test(arguments: [(1, false), (2, true)])
    func `the third request establishes a chain, whether its body changes or not`(
        more: Int, isEstablished: Bool
    ) throws {
        let store = try DictionaryStore.open(":memory:", maxChains: 50)
        let touched = admit(0, to: store)
        for _ in 0..<more { store.demand.touch(touched, now: 1000) }
        admit(1, to: store)
        for round in 0..<more {
            store.admit(sampleBody(1000 + round), chain: chain(1), url: "/1", isImplied: true)
        }
        for number in 2..<100 { admit(number, to: store, now: 2000) }
        #expect(holds(0, store) == isEstablished)
        #expect(holds(1, store) == isEstablished)
    }

    @Test func `chains of written routes are established at once, also those that were not`() throws {
        let store = try DictionaryStore.open(":memory:", maxChains: 50)
        admit(0, to: store)
        #expect(store.statistics.chainsInProbation == 1)
        store.admit(sampleBody(0), chain: chain(0), url: "/0")
        store.admit(sampleBody(1), chain: chain(1), url: "/1")
        #expect(store.statistics.chainsInProbation == 0)
    }

    @Test func `established chains leave the share to those in probation`() throws {
        let store = try DictionaryStore.open(":memory:", maxChains: 10)
        for number in 0..<20 {
            store.demand.advertised(admit(number, to: store, now: 1000 + number), now: 1000 + number)
        }
        for number in 20..<40 { admit(number, to: store, now: 2000) }
        #expect(store.statistics.chains == 10)
        #expect((12..<20).allSatisfy { holds($0, store) })
        #expect(store.statistics.evictions == [.chains: 12, .probation: 18])
    }

    @Test(arguments: [false, true])
    func `what is established stays so when the store is opened again`(isWrittenBefore: Bool) throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, maxChains: 50)
        let advertised = admit(0, to: store)
        admit(1, to: store)
        if isWrittenBefore { #expect(store.upkeep.flush()) }
        store.demand.advertised(advertised, now: 1000)
        store.close()
        #expect(try folder.sqlite("SELECT \"match\", established FROM chain ORDER BY 1") == "/0|1\n/1|0")
        let reopened = try DictionaryStore.open(folder.database, maxChains: 50)
        #expect(reopened.statistics.chainsInProbation == 1)
        for number in 2..<100 { admit(number, to: reopened, now: 3000) }
        #expect(holds(0, reopened))
        #expect(!holds(1, reopened))
    }
}
