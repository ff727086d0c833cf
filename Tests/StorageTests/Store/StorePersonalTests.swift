import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

/// Personal bodies on disk: each has a chain in memory, and those of one resource share a row of chains.
@Suite struct StorePersonalTests {
    private func body(_ number: Int) -> Body {
        let items = (0..<100).map {
            #"{"id":\#($0),"owner":"user \#(number)","note":"an item that says little"}"#
        }
        return Body(Array(items.joined(separator: ",").utf8))
    }

    @Test func `personal bodies are compressed before they are sealed, and found again after a restart`()
        async throws
    {
        let folder = try StoreFolder()
        let before = try PrivateStore(folder.database)
        for number in 0..<50 { try before.give(body(number), network: number, now: 1000) }
        before.store.close()
        #expect(try folder.sqlite("SELECT count(*) FROM private_chain") == "1", "one resource")
        #expect(try folder.sqlite("SELECT count(DISTINCT name) FROM private_version") == "50")
        let sealed = try #require(Int(try folder.sqlite("SELECT max(length(sealed)) FROM private_body")))
        #expect(sealed < body(0).count / 4)
        #expect(
            try folder.sqlite("SELECT sum(stored) FROM private_version")
                == folder.sqlite("SELECT sum(length(sealed)) FROM private_body"))
        let after = try PrivateStore(folder.database)
        for number in 0..<50 {
            let version = try #require(try after.held(body(number)))
            let loaded = await after.store.loaded(version)
            #expect(loaded?.bytes == body(number).bytes && loaded?.digest == body(number).digest)
        }
        #expect(try after.held(body(50)) == nil)
        #expect(after.store.state.withLock { $0.privateOrder.bytes } <= 50 * (sealed + 1024))
        after.store.close()
    }

    @Test func `the same bytes at two resources are two versions, and evicting one leaves the other`() throws
    {
        let folder = try StoreFolder()
        let store = try PrivateStore(folder.database)
        let chains = try ["/feed", "/inbox"].map { try store.personal(body(1), match: $0) }
        let versions = chains.map { store.store.admit(body(1), chain: $0, url: $0.match) }
        #expect(store.store.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM private_chain") == "2")
        store.store.evict([versions[0]], reason: .removed)
        #expect(store.store.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM private_version") == "1")
        #expect(try folder.sqlite("SELECT count(*) FROM private_chain") == "1")
        let reader = store.store.reader()
        #expect(reader.version(chain: chains[0], digest: body(1).digest) == nil)
        #expect(reader.version(chain: chains[1], digest: body(1).digest) != nil)
        store.store.close()
    }

    @Test func `whoever was given the bytes shares one version, whatever query or variant the request had`()
        throws
    {
        let folder = try StoreFolder()
        let store = try PrivateStore(folder.database)
        let chain = try store.personal(body(1))
        let first = store.store.admit(body(1), chain: chain, url: "/feed?a", variant: "6:accept=1:x;")
        #expect(store.store.admit(body(1), chain: chain, url: "/feed?b", variant: "").id == first.id)
        #expect(store.store.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM private_version") == "1")
        store.store.close()
    }

    @Test
    func `a long first delta renews a personal dictionary once, and from then on what deltas took before`()
        throws
    {
        let store = try PrivateStore(":memory:")
        func isDue(_ version: Version, _ bytes: Int) -> Bool {
            Renewal(of: version, lifeSeconds: nil, deltaBytes: bytes, now: 1010).isDue
        }
        let first = store.store.admit(body(1), chain: try store.personal(body(1)))
        let long = first.bytes / 4
        first.recordDelta(bytes: long)
        #expect(isDue(first, long), "nothing tells what a fresh one takes")
        let second = try store.store.admission.admit(
            VersionCandidate(
                body(2), key: VersionKey(chain: store.personal(body(2)), url: "/feed", variant: ""),
                policy: AdmissionPolicy()), over: first, now: 1000)
        second.recordDelta(bytes: long)
        #expect(!isDue(second, long), "it gained nothing")
        let third = try store.store.admission.admit(
            VersionCandidate(
                body(3), key: VersionKey(chain: store.personal(body(3)), url: "/feed", variant: ""),
                policy: AdmissionPolicy()), over: second, now: 1000)
        third.recordDelta(bytes: 100)
        #expect(!isDue(third, 200))
        #expect(isDue(third, long), "deltas have become long")
        // A public chain learns from other clients.
        let open = store.store.admit(body(1))
        open.recordDelta(bytes: long)
        #expect(!isDue(open, long))
    }

    @Test(arguments: [
        // The rows of two persons are exchanged, their names are, or one loses its name.
        "UPDATE private_body SET sealed = (SELECT sealed FROM private_body AS o WHERE o.id <> private_body.id)",
        "UPDATE private_version SET name = (SELECT name FROM private_version AS o WHERE o.id <> private_version.id)",
        "UPDATE private_version SET name = zeroblob(32)",
        "UPDATE private_chain SET facts = zeroblob(length(facts))",
    ])
    func `a row that was changed by hand gives nobody another's body`(change: String) async throws {
        let folder = try StoreFolder()
        let before = try PrivateStore(folder.database)
        for number in 0..<2 { try before.give(body(number), network: number, now: 1000) }
        before.store.close()
        try folder.sqlite("DROP TRIGGER IF EXISTS private_version_deleted; \(change)")
        let after = try PrivateStore(folder.database)
        for number in 0..<2 {
            guard let version = try after.held(body(number)) else { continue }
            let loaded = await after.store.loaded(version)
            #expect(loaded == nil || loaded?.bytes == body(number).bytes)
        }
        after.store.close()
    }
}
