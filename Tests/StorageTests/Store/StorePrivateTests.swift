import Foundation
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StorePrivateTests {
    private let one = sampleBody(1)

    @Test func `a digest is found by the identity whose body it is, and by nobody else`() throws {
        let store = try PrivateStore(":memory:")
        store.store.admit(one, chain: try store.chain("ann"))
        #expect(try store.finds(one, "ann"))
        #expect(try !store.finds(one, "bob"))
        #expect(try !store.finds(one, "ann", authority: "other.example"))
        #expect(!store.store.finds(one), "not by a public route")
        #expect(store.store.reader().contains(chain: try store.chain("ann"), digest: one.digest))
        #expect(!store.store.reader().contains(chain: try store.chain("bob"), digest: one.digest))
    }

    @Test func `a public body is not found by a private route`() throws {
        let store = try PrivateStore(":memory:")
        store.store.admit(one)
        #expect(store.store.finds(one))
        #expect(try !store.finds(one, "ann"))
    }

    @Test func `a private version finds its way by URL, variant and entity tag, none of which can be read`()
        throws
    {
        let store = try PrivateStore(":memory:")
        let chain = try store.chain("ann")
        let version = store.store.admit(
            one, chain: chain, url: "/feed?who=ann", variant: "6:accept=1:x;", etag: "v1")
        let reader = store.store.reader()
        let newest = reader.newest(VersionKey(chain: chain, url: "/feed?who=ann", variant: "6:accept=1:x;"))
        #expect(newest === version)
        #expect(
            reader.newest(VersionKey(chain: chain, url: "/feed?who=bob", variant: "6:accept=1:x;")) == nil)
        #expect(
            reader.version(
                VersionKey(chain: chain, url: "/feed?who=ann", variant: "6:accept=1:x;"), etag: "v1")
                === version)
        #expect(
            reader.version(
                VersionKey(chain: chain, url: "/feed?who=ann", variant: "6:accept=1:x;"), etag: "v2") == nil)
        for (digest, etag, isFound) in [
            (one.digest, "v1", true), (one.digest, "v2", false), (sampleBody(2).digest, "v1", false),
        ] {
            let same = reader.newest(
                VersionKey(chain: chain, url: "/feed?who=ann", variant: "6:accept=1:x;"), digest: digest,
                etag: etag)
            #expect((same != nil) == isFound)
        }
        for text in [version.url, version.variant, version.etag ?? ""] {
            #expect(text.utf8.count == 43, "the base64url of 32 bytes")
        }
        #expect(version.digest != one.digest)
    }

    @Test func `a private chain that goes leaves the name of the public one beside it`() throws {
        let store = try PrivateStore(":memory:")
        let version = store.store.admit(one)
        store.store.admit(one, chain: try store.chain("ann"), maxAge: 10, now: 1000)
        #expect(store.store.demand.nameInLinks(version, until: 5000, now: 1000))
        let path = DictionaryPath(chainName: feedChain.name, digest: one.digest)
        #expect(store.store.reader().linked(path, authority: "api.example", now: 1500) === version)
        store.store.upkeep.sweep(now: 1500)
        #expect(try !store.finds(one, "ann"))
        #expect(store.store.reader().linked(path, authority: "api.example", now: 1500) === version)
    }

    @Test func `the same text has another name for another identity, and in another place`() throws {
        let store = try PrivateStore(":memory:")
        let (ann, bob) = (try store.scope("ann"), try store.scope("bob"))
        let names = [
            ann.name(of: "x", as: .url, store.keys), ann.name(of: "x", as: .variant, store.keys),
            ann.name(of: "x", as: .entityTag, store.keys), bob.name(of: "x", as: .url, store.keys),
        ]
        #expect(Set(names).count == 4)
        #expect(ann.name(of: one.digest, store.keys) != bob.name(of: one.digest, store.keys))
    }

    @Test func `names and values of an identity cannot be shifted into each other`() throws {
        let keys = try PrivateStore.keys()
        func tag(_ items: [(String, String)], _ authority: String = "a") -> IdentityTag? {
            keys.identityTag(
                authority: authority, items: items.map { (name: $0.0, value: Array($0.1.utf8)) })
        }
        let tags = [
            tag([("cookie:a", "bc")]), tag([("cookie:ab", "c")]), tag([("cookie:a", "b"), ("c", "")]),
            tag([("header:a", "bc")]), tag([("cookie:a", "bc")], "b"), tag([("cookie:a", "b"), ("", "c")]),
        ]
        #expect(Set(tags).count == 6)
        #expect(tag([("cookie:a", "bc")]) == tags[0])
        #expect(
            try PrivateStore.keys(2).identityTag(authority: "a", items: [("cookie:a", Array("bc".utf8))])
                != tags[0])
    }

    @Test func `two identities with the same body have a row each, and both find theirs after a restart`()
        async throws
    {
        let folder = try StoreFolder()
        let first = try PrivateStore(folder.database)
        for user in ["ann", "bob"] { first.store.admit(one, chain: try first.chain(user)) }
        first.store.close()
        #expect(
            try folder.sqlite("SELECT count(DISTINCT name), count(DISTINCT chain) FROM private_version")
                == "2|2")
        #expect(try folder.sqlite("SELECT count(DISTINCT sealed) FROM private_body") == "2")
        let second = try PrivateStore(folder.database)
        for user in ["ann", "bob"] {
            let version = try #require(try second.version(one, user))
            #expect(second.store.hotBody(of: version) == nil)
            let body = await second.store.loaded(version)
            #expect(body?.bytes == one.bytes && body?.digest == one.digest)
        }
        #expect(try !second.finds(one, "eve"))
        #expect(!second.store.finds(one))
        second.store.close()
    }

    @Test
    func `a body that returns after a restart is the same version, and what is evicted leaves the disk`()
        throws
    {
        let folder = try StoreFolder()
        let first = try PrivateStore(folder.database)
        let before = first.store.admit(one, chain: try first.chain("ann"), etag: "a", now: 1000)
        first.store.close()
        let second = try PrivateStore(folder.database)
        let after = second.store.admit(one, chain: try second.chain("ann"), etag: "b", now: 2000)
        #expect(after.id == before.id)
        second.store.demand.touch(after, now: 5000)
        #expect(second.store.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*), max(last_wanted) FROM private_version") == "1|5000")
        second.store.admit(sampleBody(2), chain: try second.chain("ann"), keep: 1, now: 6000)
        #expect(second.store.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM private_body") == "1")
        second.store.upkeep.sweep(now: 10_000)
        #expect(second.store.upkeep.flush())
        for table in ["private_version", "private_body", "private_chain"] {
            #expect(try folder.sqlite("SELECT count(*) FROM \(table)") == "0")
        }
        second.store.close()
    }

    @Test func `of ten thousand identities with the same body each finds its own`() throws {
        let store = try PrivateStore(":memory:", maxChains: 100_000)
        let count = 10_000
        for number in 0..<count { store.store.admit(one, chain: try store.chain("\(number)")) }
        let reader = store.store.reader()
        var found = Set<Int64>()
        let clock = ContinuousClock()
        let finding = try clock.measure {
            for number in 0..<count {
                let version = reader.find(
                    digest: one.digest, authority: "api.example", scope: try store.scope("\(number)"),
                    url: PathAndQuery(path: "/feed"))
                if let version { found.insert(version.id) }
            }
        }
        #expect(found.count == count)
        print("\(count) identities: tag and look-up \(finding / count) each")
    }

    @Test func `nothing on disk can be read, while it runs and after`() throws {
        let folder = try StoreFolder()
        let text = Array("a body that says what it is, and says it again and again. ".utf8)
        let body = Body([UInt8]((0..<40).flatMap { _ in text }))
        let store = try PrivateStore(folder.database)
        let chain = ChainKey(
            authority: "mail.example", scope: try store.scope("ann"), match: "/inbox?folder=secret",
            matchDest: ["document"])
        store.store.admit(
            body, chain: chain, url: "/inbox?folder=secret", variant: "10:x-language=2:tlh;",
            etag: "etag-of-hers")
        #expect(store.store.upkeep.flush())
        let secrets: [[UInt8]] = [
            text, body.digest.bytes, Array(body.digest.hex.utf8), Array(body.digest.base64URL.utf8),
            Array("ann-token".utf8), Array("/inbox".utf8), Array("folder=secret".utf8), Array("tlh".utf8),
            Array("etag-of-hers".utf8), Array("mail.example".utf8),
        ]
        func check() throws {
            #expect(folder.files.contains("dictum.sqlite"))
            for file in folder.files {
                let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(file)"))
                for (index, secret) in secrets.enumerated() {
                    #expect(data.range(of: Data(secret)) == nil, "\(index) in \(file)")
                }
            }
        }
        let log = try Data(contentsOf: URL(fileURLWithPath: folder.database + "-wal"))
        #expect(log.count > body.count, "the log has it already")
        try check()
        store.store.close()
        try check()
    }
}
