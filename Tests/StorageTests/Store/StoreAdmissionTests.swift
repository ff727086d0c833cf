import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreAdmissionTests {
    private let store: DictionaryStore

    init() throws {
        store = try DictionaryStore.open(":memory:")
    }

    @Test func `an admitted body is found and hot before admit returns`() {
        let reader = store.reader()
        #expect(reader.newest(VersionKey(chain: feedChain, url: "/feed", variant: "")) == nil)
        let one = sampleBody(1)
        let version = store.admit(one, etag: "a")
        #expect(
            reader.find(digest: one.digest, authority: "api.example", url: PathAndQuery("/feed?x=1"))
                === version
        )
        #expect(reader.newest(VersionKey(chain: feedChain, url: "/feed", variant: "")) === version)
        #expect(reader.contains(chain: feedChain, digest: one.digest))
        #expect(store.hotBody(of: version)?.bytes == one.bytes)
    }

    @Test func `a known body that comes under another media type has that from then on, on disk too`() throws
    {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        let key = VersionKey(chain: feedChain, url: "/feed", variant: "")
        for type in ["text/plain", "application/json"] {
            try store.admission.admit(
                VersionCandidate(
                    sampleBody(1), key: key, policy: AdmissionPolicy(versions: 16, maxAge: 1000), etag: "a",
                    contentType: type), now: 1000)
            #expect(store.upkeep.flush())
            #expect(store.reader().newest(key)?.contentType == type)
            #expect(try folder.sqlite("SELECT content_type FROM version") == type)
        }
    }

    @Test(arguments: [
        ("other.example", "/feed"), ("api.example", "/feed2"), ("api.example", "/"), ("API.example", "/feed"),
    ])
    func `a digest is not found for another authority or path`(authority: String, path: String) {
        let one = sampleBody(1)
        store.admit(one)
        #expect(
            store.reader().find(digest: one.digest, authority: authority, url: PathAndQuery(path: path))
                == nil)
    }

    @Test func `a digest is found through whichever chain covers the path`() {
        let one = sampleBody(1)
        for match in ["/other", "/app/*", "/feed"] {
            store.admit(one, chain: ChainKey(authority: "api.example", match: match))
        }
        let found = store.reader().find(
            digest: one.digest, authority: "api.example", url: PathAndQuery(path: "/app/x"))
        #expect(found?.chainKey.match == "/app/*")
    }

    @Test func `a match that is no pattern covers nothing`() {
        let one = sampleBody(1)
        store.admit(one, chain: ChainKey(authority: "api.example", match: "/feed(["))
        #expect(!store.finds(one))
    }

    @Test func `chains differ by match-dest`() {
        let script = ChainKey(authority: "api.example", match: "/feed", matchDest: ["script"])
        let one = sampleBody(1)
        store.admit(one, chain: script)
        #expect(!store.reader().contains(chain: feedChain, digest: one.digest))
        #expect(store.reader().contains(chain: script, digest: one.digest))
    }

    @Test func `of a chain the newest versions are kept, whatever their URL`() {
        let bodies = (0..<5).map { sampleBody($0) }
        for (number, body) in bodies.enumerated() {
            store.admit(body, url: "/feed?\(number)", keep: 3)
        }
        #expect(bodies.map { store.finds($0) } == [false, false, true, true, true])
        #expect(store.statistics.evictions == [.versions: 2])
    }

    @Test func `a body that comes again under other URLs pushes no other body out`() {
        let bodies = (0..<3).map { sampleBody($0) }
        for body in bodies { store.admit(body, keep: 3) }
        for number in 0..<10 { store.admit(bodies[2], url: "/feed?_=\(number)", keep: 3) }
        #expect(bodies.map { store.finds($0) } == [true, true, true])
        #expect(store.statistics.versions == 3)
        #expect(store.reader().newest(VersionKey(chain: feedChain, url: "/feed?_=9", variant: "")) != nil)
        store.admit(sampleBody(3), keep: 3)
        #expect(bodies.map { store.finds($0) } == [false, true, true], "then the oldest goes")
    }

    @Test func `fewer versions are kept once fewer are asked for, and one at least`() {
        let bodies = (0..<5).map { sampleBody($0) }
        for body in bodies { store.admit(body) }
        store.admit(sampleBody(5), keep: 0)
        #expect(store.statistics.versions == 1)
        #expect(store.finds(sampleBody(5)))
    }

    @Test func `a body that returns becomes the newest again and no new version`() {
        let (one, two) = (sampleBody(1), sampleBody(2))
        let first = store.admit(one, etag: "1", now: 1000)
        store.admit(two, etag: "2", now: 1001)
        let back = store.admit(one, etag: "1", now: 1002)
        #expect(back.id == first.id)
        #expect(store.reader().newest(VersionKey(chain: feedChain, url: "/feed", variant: "")) === back)
        #expect(store.statistics.versions == 2)
        #expect(store.statistics.returns == 1)
        store.admit(sampleBody(3), keep: 2)
        #expect(store.finds(one))
        #expect(!store.finds(two))
    }

    @Test func `a body that returns keeps all that is known of its clients and of the deltas over it`() {
        let first = store.admit(sampleBody(1), now: 1000)
        store.demand.offered(first, over: nil, now: 1000)
        first.recordDelta(bytes: 500)
        first.recordDelta(bytes: 700)
        let second = store.admit(sampleBody(2), over: first, now: 1002)
        let back = store.admit(sampleBody(1), now: 1004)
        #expect(back !== first && back.id == first.id)
        #expect(back.firstDeltaBytes == 500 && back.lastDeltaBytes == 700)
        #expect(back.isShared && back.holders == 2 && back.hasReturned == first.hasReturned)
        #expect(back.successor == second.id && back.handedOnAt == 1002)
        #expect(back.lastOffered == 1004 && back.admittedAt == 1000)
    }

    @Test func `whoever found a version before its body returned offers the one that is there now`() {
        let found = store.admit(sampleBody(1), etag: "1", now: 1000)
        let present = store.admit(sampleBody(1), etag: "2", now: 1001)
        #expect(found !== present)
        store.demand.offered(found, over: nil, now: 1002)
        store.demand.advertised(found, now: 1005)
        #expect(present.holders == 3 && present.lastOffered == 1002 && present.lastContact == 1005)
        store.admit(sampleBody(2), over: found, now: 1006)
        #expect(present.holders == 2 && present.handedOnAt == 1006)
    }

    @Test func `bodies that alternate are among the latest once each`() {
        for round in 0..<10 { store.admit(sampleBody(round % 2), now: 1000 + round) }
        #expect(
            store.reader().recent(of: feedChain).map(\.digest)
                == [sampleBody(1).digest, sampleBody(0).digest])
    }

    @Test func `an entity tag leads to the version that had it, the first of all as well`() {
        for seed in 0..<3 { store.admit(sampleBody(seed), etag: "\(seed)") }
        for seed in 0..<3 {
            let found = store.reader().version(
                VersionKey(chain: feedChain, url: "/feed", variant: ""), etag: "\(seed)")
            #expect(found?.digest == sampleBody(seed).digest)
        }
    }

    @Test func `a body that is the newest already is only touched`() {
        let first = store.admit(sampleBody(1), now: 1000)
        let again = store.admit(sampleBody(1), now: 1100)
        #expect(first === again)
        #expect(again.lastWanted == 1100)
    }

    @Test func `a body that returns with another entity tag has that one`() {
        store.admit(sampleBody(1), etag: "old")
        let again = store.admit(sampleBody(1), etag: "new")
        let reader = store.reader()
        #expect(
            reader.version(VersionKey(chain: feedChain, url: "/feed", variant: ""), etag: "new") === again)
        #expect(reader.version(VersionKey(chain: feedChain, url: "/feed", variant: ""), etag: "old") == nil)
        #expect(store.statistics.versions == 1)
    }

    @Test func `URL and variant have a newest each`() {
        let german = store.admit(sampleBody(1), variant: "de")
        let english = store.admit(sampleBody(2), variant: "en")
        let query = store.admit(sampleBody(3), url: "/feed?p=2", variant: "de")
        let reader = store.reader()
        #expect(reader.newest(VersionKey(chain: feedChain, url: "/feed", variant: "de")) === german)
        #expect(reader.newest(VersionKey(chain: feedChain, url: "/feed", variant: "en")) === english)
        #expect(reader.newest(VersionKey(chain: feedChain, url: "/feed?p=2", variant: "de")) === query)
    }

    @Test func `the version before is the newest again when the newest goes`() {
        let first = store.admit(sampleBody(1), maxAge: 500, now: 1000)
        store.admit(sampleBody(2), maxAge: 50, now: 1000)
        store.upkeep.sweep(now: 1050)
        #expect(store.reader().newest(VersionKey(chain: feedChain, url: "/feed", variant: "")) === first)
    }

    @Test func `one body in a thousand chains is found in its own`() {
        let one = sampleBody(1)
        for number in 0..<1000 {
            store.admit(
                one, chain: ChainKey(authority: "api.example", match: "/\(number)"), url: "/\(number)")
        }
        let reader = store.reader()
        for number in 0..<1000 {
            let found = reader.find(
                digest: one.digest, authority: "api.example", url: PathAndQuery(path: "/\(number)"),
                ownChain: ChainKey(authority: "api.example", match: "/\(number)"))
            #expect(found?.url == "/\(number)")
        }
        #expect(store.statistics.memoryBytes == 1256)
    }

    @Test func `an admission is seen at once by readers on other threads`() async {
        let bodies = (0..<200).map { sampleBody($0) }
        let published = Guarded<Digest?>(nil)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<2 {
                group.addTask { [store] in
                    let reader = store.reader()
                    let end = ContinuousClock.now + .seconds(300)
                    while .now < end {
                        // The digest is published after its admission, so the reader must find it.
                        guard let digest = published.withLock({ $0 }) else { continue }
                        if !reader.contains(chain: feedChain, digest: digest) { return false }
                        if digest == bodies.last?.digest { return true }
                    }
                    return false
                }
            }
            for body in bodies {
                store.admit(body, keep: 1000)
                published.withLock { $0 = body.digest }
            }
            for await sawAll in group { #expect(sawAll) }
        }
    }
}
