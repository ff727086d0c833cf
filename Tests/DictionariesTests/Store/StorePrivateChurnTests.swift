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
}
