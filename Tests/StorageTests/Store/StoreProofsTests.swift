import Testing

@testable import Dictionaries
@testable import Storage

/// Versions whose bodies are proven to be public.
@Suite struct StoreProofsTests {
    private func isProven(_ store: DictionaryStore, _ seed: Int, in chain: ChainKey = feedChain) -> Bool {
        store.reader().version(chain: chain, digest: sampleBody(seed).digest)?.isProvenPublic == true
    }

    @Test(arguments: [true, false])
    func `a proof is written with its version or after it, and read again`(isWritten: Bool) throws {
        let folder = try StoreFolder()
        let first = try DictionaryStore.open(folder.database)
        let version = first.admit(sampleBody(1))
        let other = first.admit(sampleBody(2))
        if isWritten { first.upkeep.flush() }
        first.demand.provePublic(version)
        // Another change of a row proves nothing.
        first.demand.touch(other, now: 1_000_000)
        first.close()
        #expect(try folder.sqlite("SELECT group_concat(is_proven_public) FROM version") == "1,0")
        let second = try DictionaryStore.open(folder.database)
        #expect(isProven(second, 1) && !isProven(second, 2))
    }

    @Test func `a body that returns keeps its proof, and one that comes anew has none`() throws {
        let store = try DictionaryStore.open(":memory:")
        store.demand.provePublic(store.admit(sampleBody(1), keep: 2))
        store.admit(sampleBody(2), keep: 2)
        store.admit(sampleBody(1), etag: "\"new\"", keep: 2)
        #expect(isProven(store, 1))
        for seed in 3...4 { store.admit(sampleBody(seed), keep: 2) }
        store.admit(sampleBody(1), keep: 2)
        #expect(!isProven(store, 1), "its version was gone")
    }

    @Test func `a version that needs an id is never proven to be public`() throws {
        let store = try DictionaryStore.open(":memory:")
        let chain = ChainKey(authority: "api.example", scope: .unlisted, match: "/feed")
        store.demand.provePublic(store.admit(sampleBody(1), chain: chain))
        #expect(!isProven(store, 1, in: chain))
    }
}
