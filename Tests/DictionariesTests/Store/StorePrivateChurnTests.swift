import Testing

@testable import Dictionaries

@Suite struct StorePrivateChurnTests {
    @Test func `an evicted private version is remembered for its identity, and for nobody else`() throws {
        let store = try PrivateStore(":memory:")
        for user in ["ann", "bob"] {
            store.store.admit(sampleBody(user == "ann" ? 1 : 9), chain: try store.chain(user), keep: 1)
            store.store.admit(sampleBody(2), chain: try store.chain(user), keep: 1)
        }
        func isRemembered(_ body: Body, _ user: String) throws -> Bool {
            store.store.noteMissing(
                body.digest, chain: try store.chain(user), path: "/feed", query: nil, now: 1000,
                route: "/feed")
        }
        #expect(try isRemembered(sampleBody(1), "ann"))
        #expect(try !isRemembered(sampleBody(1), "bob"))
        #expect(try isRemembered(sampleBody(9), "bob"))
        #expect(try !isRemembered(sampleBody(3), "ann"))
    }

    @Test func `a version that the budget of private ones evicts is remembered`() throws {
        let store = try PrivateStore(":memory:", privateBytesMax: 1 << 20)
        let chain = try store.chain("ann")
        store.store.admit(sampleBody(1, count: 100_000), chain: chain, now: 1999)
        store.store.admit(sampleBody(2, count: 100_000), chain: chain, now: 2001)
        for seed in 10..<20 {
            store.store.admit(
                sampleBody(seed, count: 100_000), chain: try store.chain("user \(seed)"), now: 2000)
        }
        #expect(store.store.flush())
        #expect(try !store.finds(sampleBody(1, count: 100_000), "ann"))
        func isRemembered(_ seed: Int) -> Bool {
            store.store.noteMissing(
                sampleBody(seed, count: 100_000).digest, chain: chain, path: "/feed", query: nil, now: 2000,
                route: "/feed")
        }
        #expect(isRemembered(1))
        #expect(!isRemembered(3))
    }
}
