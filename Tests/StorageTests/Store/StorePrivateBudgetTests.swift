import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StorePrivateBudgetTests {
    @Test func `private versions keep to their budget, the oldest go, and public ones stay`() throws {
        let folder = try StoreFolder()
        let store = try PrivateStore(folder.database, privateBytesMax: 1 << 20)
        for seed in 0..<50 {
            let chain = ChainKey(authority: "api.example", match: "/\(seed)")
            store.store.admit(sampleBody(seed, count: 10_000), chain: chain, now: 1)
        }
        for seed in 0..<200 {
            let body = sampleBody(1000 + seed, count: 10_000)
            store.store.admit(body, chain: try store.chain("user \(seed)"), keep: 1, now: 1000 + seed)
        }
        #expect(store.store.upkeep.flush())
        let statistics = store.store.statistics
        #expect(statistics.evictions.keys.map(\.rawValue) == ["private"])
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "50", "wanted the longest ago of all")
        let stored = try #require(Int(try folder.sqlite("SELECT sum(length(sealed)) FROM private_body")))
        #expect(stored <= 1 << 20)
        #expect(stored > 1 << 19, "and it is used")
        #expect(try store.finds(sampleBody(1199, count: 10_000), "user 199"))
        #expect(try !store.finds(sampleBody(1000, count: 10_000), "user 0"))
        store.store.close()
    }

    @Test func `a smaller budget holds from the next start on`() throws {
        let folder = try StoreFolder()
        let before = try PrivateStore(folder.database)
        for seed in 0..<200 {
            before.store.admit(
                sampleBody(seed, count: 10_000), chain: try before.chain("user \(seed)"), now: 1000 + seed)
        }
        before.store.close()
        let after = try PrivateStore(folder.database, privateBytesMax: 1 << 20)
        #expect(after.store.upkeep.flush())
        #expect(
            try #require(Int(try folder.sqlite("SELECT sum(length(sealed)) FROM private_body"))) <= 1 << 20)
        #expect(try after.finds(sampleBody(199, count: 10_000), "user 199"))
        after.store.close()
    }

    @Test func `after a restart those go first, too, that clients came for the longest ago`() throws {
        let folder = try StoreFolder()
        let before = try PrivateStore(folder.database)
        for seed in 0..<200 {
            before.store.admit(
                sampleBody(seed, count: 10_000), chain: try before.chain("user \(seed)"), now: 1000 + seed)
        }
        before.store.admit(sampleBody(0, count: 10_000), chain: try before.chain("user 0"), now: 5000)
        before.store.close()
        let after = try PrivateStore(folder.database, privateBytesMax: 1 << 20)
        #expect(after.store.upkeep.flush())
        #expect(try after.finds(sampleBody(0, count: 10_000), "user 0"))
        #expect(try !after.finds(sampleBody(1, count: 10_000), "user 1"))
        after.store.close()
    }

    @Test func `private chains are as many as their bytes allow, and take no place of public ones`() throws {
        let store = try PrivateStore(":memory:", maxChains: 100)
        for number in 0..<60 {
            store.store.admit(
                sampleBody(number), chain: ChainKey(authority: "api.example", match: "/\(number)"), now: 1)
        }
        for number in 0..<500 {
            store.store.admit(sampleBody(7), chain: try store.chain("user \(number)"), now: 1000 + number)
        }
        #expect(store.store.upkeep.flush())
        #expect(store.store.statistics.chains == 560)
        #expect(store.store.statistics.evictions.isEmpty)
        for user in [0, 499] { #expect(try store.finds(sampleBody(7), "user \(user)")) }
        store.store.close()
    }

    @Test(arguments: [false, true])
    func `made-up logins of one network push out each other, and nobody else's`(comeBack: Bool) throws {
        // The budget holds two hundred versions of 2 KiB with their rows.
        let store = try PrivateStore(":memory:", privateBytesMax: 200 * 3100)
        let users = (0..<100).map { sampleBody($0, count: 2000) }
        let newcomers = (100..<105).map { sampleBody($0, count: 2000) }
        for (number, body) in users.enumerated() {
            try store.give(body, network: number, comesBack: true, now: 1000)
        }
        for (number, body) in newcomers.enumerated() {
            try store.give(body, network: 200 + number, now: 1000)
        }
        for number in 0..<2000 {
            try store.give(
                sampleBody(1000 + number, count: 2000), network: 500, comesBack: comeBack, now: 2000 + number)
            if number % 50 == 0 { #expect(store.store.upkeep.flush()) }
        }
        #expect(store.store.upkeep.flush())
        #expect(try users.allSatisfy { try store.held($0) != nil })
        #expect(try newcomers.allSatisfy { try store.held($0) != nil })
        #expect(try store.held(sampleBody(1000, count: 2000)) == nil)
        #expect(try store.held(sampleBody(2999, count: 2000)) != nil)
        #expect(store.store.statistics.evictions.keys.map(\.rawValue) == ["private"])
        store.store.close()
    }

    @Test func `without pressure one network may have all of the budget`() throws {
        let store = try PrivateStore(":memory:", privateBytesMax: 1 << 20)
        let bodies = (0..<300).map { sampleBody($0, count: 2000) }
        for body in bodies { try store.give(body, network: 1, now: 1000) }
        #expect(store.store.upkeep.flush())
        #expect(try bodies.allSatisfy { try store.held($0) != nil })
        store.store.close()
    }

    @Test func `newcomers of many networks leave those who have come back`() throws {
        let store = try PrivateStore(":memory:", privateBytesMax: 200 * 3100)
        let users = (0..<100).map { sampleBody($0, count: 2000) }
        // The users share one address, as in an office.
        for body in users { try store.give(body, network: 1, comesBack: true, now: 1000) }
        for number in 0..<2000 {
            try store.give(sampleBody(1000 + number, count: 2000), network: number, now: 2000 + number)
            if number % 50 == 0 { #expect(store.store.upkeep.flush()) }
        }
        #expect(store.store.upkeep.flush())
        #expect(try users.allSatisfy { try store.held($0) != nil })
        store.store.close()
    }

    @Test func `who has come back to another node stays as who has come back here`() throws {
        let store = try PrivateStore(":memory:", privateBytesMax: 200 * 3100)
        let users = (0..<100).map { sampleBody($0, count: 2000) }
        for body in users {
            try store.give(body, network: 1, now: 1000)
            let version = try #require(try store.held(body))
            let name = try #require(version.sharedName(store.store.keys))
            store.store.sharing.add(SharedDemand(name: name, change: 0, contact: 1000), to: version)
        }
        for number in 0..<2000 {
            try store.give(sampleBody(1000 + number, count: 2000), network: number, now: 2000 + number)
            if number % 50 == 0 { #expect(store.store.upkeep.flush()) }
        }
        #expect(store.store.upkeep.flush())
        #expect(try users.allSatisfy { try store.held($0) != nil })
        store.store.close()
    }

    @Test func `once it is written, a version counts with its sealed size`() throws {
        let store = try PrivateStore(":memory:", privateBytesMax: 1 << 20)
        // Twice the budget as plain bytes, a fifth of it as sealed ones with their rows.
        let bodies = (0..<100).map { Body(Array(String(repeating: "item \($0), ", count: 2_000).utf8)) }
        for (number, body) in bodies.enumerated() {
            try store.give(body, network: number, now: 1000)
            if number % 10 == 0 { #expect(store.store.upkeep.flush()) }
        }
        #expect(store.store.upkeep.flush())
        #expect(store.store.statistics.evictions.isEmpty)
        #expect(try bodies.allSatisfy { try store.held($0) != nil })
        let counted = ChainListing(of: store.store, by: .bytes, offset: 0, limit: 0).private.storedBytes
        #expect(100 * 1024...100 * 2500 ~= counted, "\(counted)")
        store.store.close()
    }

    @Test func `a body that is large for the budget gets no place`() throws {
        let store = try PrivateStore(":memory:", privateBytesMax: 1 << 20)
        let chain = try store.chain("ann")
        #expect(store.store.slot(chain: chain, bytes: 1 << 18).isGranted)
        #expect(!store.store.slot(chain: chain, url: "/other", bytes: (1 << 18) + 1).isGranted)
        #expect(store.store.slot(bytes: (1 << 18) + 1).isGranted)
    }

    @Test func `an identity keeps as many versions of a chain as it may`() throws {
        let store = try PrivateStore(":memory:")
        for seed in 0..<5 {
            for user in ["ann", "bob"] {
                store.store.admit(sampleBody(seed), chain: try store.chain(user), keep: 2, now: seed)
            }
        }
        for user in ["ann", "bob"] {
            let found = try (0..<5).filter { try store.finds(sampleBody($0), user) }
            #expect(found == [3, 4])
        }
    }
}
