internal import Primitives
internal import Testing

@testable import Dictionaries
@testable import Storage

/// The ids of dictionaries that are not public.
struct StoreCapabilityTests {
    private let keys: StoreKeys
    private let digest = Digest(of: Array("body".utf8).span)
    private let other = Digest(of: Array("other".utf8).span)

    init() throws {
        keys = try #require(StoreKeys(key: Array(repeating: 7, count: 32)))
    }

    private func chain(
        _ match: String = "/a", authority: String = "a.test", scope: ChainKey.Scope = .unlisted,
        matchDest: [String] = []
    ) -> ChainKey {
        ChainKey(authority: authority, scope: scope, match: match, matchDest: matchDest)
    }

    @Test func `an id is 128 bits of base64url, the same for the same bytes in the same chain`() throws {
        let id = keys.dictionaryID(of: digest, in: chain())
        #expect(Base64.decodeURL(id)?.count == 16)
        #expect(id.utf8.count == 22)
        #expect(keys.dictionaryID(of: digest, in: chain()) == id)
        let again = try #require(StoreKeys(key: Array(repeating: 7, count: 32)))
        #expect(again.dictionaryID(of: digest, in: chain()) == id, "after a restart, too")
    }

    @Test func `an id and the tag of a user are those that other releases gave out and wrote`() throws {
        #expect(keys.dictionaryID(of: digest, in: chain()) == "833vtrlcbhs1twPqtcEqRg")
        let tag = keys.identityTag(
            authority: "a.test", items: [("authorization", Array("Bearer alice".utf8))])
        #expect(tag.map { Base64.encodeURL($0.bytes) } == "3rv52K_j1Ntd3QsR7XobKPx3AUUb13xMXnavXHIh7qE")
    }

    /// Whoever changes one of these makes all private rows on disk useless.
    @Test func `names and seals of private rows are those that other releases wrote`() throws {
        let tag = try #require(
            keys.identityTag(authority: "a.test", items: [("authorization", Array("Bearer alice".utf8))]))
        let own = chain(scope: .private(tag))
        #expect(Base64.encodeURL(keys.rowName(of: own)) == "yahcbZrjfGv-Yhc9CBPrZ8keEsYG3LJX3pZbH5JgdEQ")
        let personal = try #require(
            keys.personalChain(of: digest, like: ChainKey(authority: "a.test", match: "/a")))
        #expect(
            personal.scope.tag.map { Base64.encodeURL($0.bytes) }
                == "mFLkRN0fckJxbJK_G05T4O6BYv7iyTj7oS0ptPvq-Y4")
        #expect(
            Base64.encodeURL(keys.rowName(of: personal)) == "gUhTSf_xH4Cp-2iIL7xCnDjfwJsrHebyW1TIHfQqtAg")
        let row = keys.name(of: digest, tag)
        #expect(row.base64URL == "4lf0mjGkUrxAwH9xm64wj5fQJN2xSYJnCW0jvNAaToc")
        #expect(keys.name(of: "/a?x", as: .url, tag) == "8Xtsh6MR2cSPxaJJ-kbzyos-BMR1f2j5QDV-V8EvnoU")
        #expect(keys.name(of: "/a?x", as: .entityTag, tag) == "-YEhq385rWD3KRxeVTTL_Y7g8NCGmCyEsV-CpEAVAlY")
        #expect(keys.name(of: "/a?x", as: .variant, tag) == "HBZG7UX2q0Mf8wWK_J2ofZ33c7D1P78JIEDCxYoAxoE")
        let facts = try #require(Base64.decodeURL("AAECAwQFBgcICQoLJ81uE0LxbKfV_cSdoflgmtkrSx7l"))
        #expect(keys.seal(ofChain: [1, 2]).open(facts) == Array("facts".utf8))
        let body = try #require(Base64.decodeURL("AAECAwQFBgcICQoLaYlzZWyoJ0MmbscaHhSLvDgnGvU"))
        #expect(keys.seal(ofRow: digest, inChain: [1, 2]).open(body) == Array("text".utf8))
        let number: UInt64 = 10_810_958_311_827_469_971
        #expect(keys.clientNumber(of: [1, 2, 3]) == number)
    }

    @Test func `deltas of what is unlisted or private are kept apart from public ones, and by chain`() throws
    {
        let users = try PrivateStore(":memory:")
        #expect(feedChain.deltaScope(users.keys) == .public)
        #expect(chain().deltaScope(users.keys) == .unlisted)
        let body = sampleBody(1)
        let chains = try [
            users.chain("ann"), users.chain("ann", match: "/inbox"), users.chain("bob"),
            users.personal(body), users.personal(body, match: "/inbox"), users.personal(sampleBody(2)),
        ]
        let scopes = chains.map { $0.deltaScope(users.keys) }
        #expect(Set(scopes).count == scopes.count)
        #expect(!scopes.contains(.public) && !scopes.contains(.unlisted))
    }

    @Test func `whatever differs makes another id`() throws {
        let strangers = try #require(StoreKeys(key: Array(repeating: 8, count: 32)))
        let tag = try #require(IdentityTag(bytes: Array(repeating: 1, count: 32)))
        let ids = [
            keys.dictionaryID(of: digest, in: chain()), keys.dictionaryID(of: other, in: chain()),
            keys.dictionaryID(of: digest, in: chain("/b")),
            keys.dictionaryID(of: digest, in: chain(authority: "b.test")),
            keys.dictionaryID(of: digest, in: chain(matchDest: ["script"])),
            keys.dictionaryID(of: digest, in: chain(matchDest: ["script", "style"])),
            keys.dictionaryID(of: digest, in: chain(matchDest: ["scriptstyle"])),
            keys.dictionaryID(of: digest, in: chain(scope: .private(tag))),
            strangers.dictionaryID(of: digest, in: chain()),
        ]
        #expect(Set(ids).count == ids.count)
    }

    @Test func `the chain of a personal body is that body's, at one resource of one authority`() throws {
        func personal(_ digest: Digest, _ match: String = "/a", _ authority: String = "a.test") throws
            -> ChainKey
        {
            try #require(
                keys.personalChain(of: digest, like: ChainKey(authority: authority, match: match)))
        }
        let chain = try personal(digest)
        #expect(chain.scope.isSealed)
        #expect(try personal(digest) == chain)
        #expect(try personal(other) != chain)
        #expect(try personal(digest, "/b").scope != chain.scope)
        #expect(try personal(digest, "/a", "b.test").scope != chain.scope)
        let provisional = [0, 1].map { _ in
            keys.provisionalChain(like: ChainKey(authority: "a.test", match: "/a"))
        }
        #expect(provisional[0] != nil)
        #expect(provisional[0] != provisional[1], "nobody else names it")
    }

    @Test(arguments: [
        ("abc", "abc", true), ("", "", true), ("abc", "abd", false), ("abc", "ab", false), ("", "a", false),
        ("bbc", "abc", false), ("abc\u{E9}", "abce", false),
    ])
    func `ids are compared whole`(sent: String, right: String, isEqual: Bool) {
        #expect(StoreKeys.areEqual(sent, right) == isEqual)
    }

    @Test func `no wrong id passes for the right one`() {
        let right = keys.dictionaryID(of: digest, in: chain())
        for number in 0..<10_000 {
            let body = Digest(of: Array("\(number)".utf8).span)
            let wrong = keys.dictionaryID(of: body, in: chain())
            #expect(!StoreKeys.areEqual(wrong, right))
        }
    }

    @Test func `no look-up by digest finds an unlisted version, and its own chain does, also when reopened`()
        throws
    {
        let folder = try StoreFolder()
        let body = sampleBody(1)
        let sibling = chain("/sibling")
        for turn in 0..<2 {
            let store = try DictionaryStore.open(folder.database)
            if turn == 0 {
                store.admit(body, chain: chain(), url: "/a")
                store.admit(body, chain: sibling, url: "/sibling")
            }
            let reader = store.reader()
            #expect(
                reader.find(digest: body.digest, authority: "a.test", url: PathAndQuery(path: "/a")) == nil)
            #expect(reader.version(chain: chain(), digest: body.digest) != nil)
            #expect(reader.version(chain: sibling, digest: body.digest) != nil)
            #expect(reader.version(chain: chain(scope: .public), digest: body.digest) == nil)
            #expect(store.upkeep.flush())
            store.close()
        }
        #expect(try folder.sqlite("SELECT DISTINCT scope FROM chain") == "unlisted")
        #expect(try folder.sqlite("SELECT count(*) FROM body") == "1", "the body is stored once")
    }
}
