import Foundation
import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

/// Versions that no present route would make.
@Suite struct StoreRestrictionTests {
    private let feed = "/feed"
    private let other = ChainKey(authority: "api.example", match: "/other")

    private func filled() throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        store.admit(sampleBody(1), etag: "one")
        store.admit(sampleBody(2), chain: other, url: "/other")
        store.close()
        return folder
    }

    private func open(_ folder: StoreFolder, only match: String, _ events: StoreEvents = StoreEvents()) throws
        -> DictionaryStore
    {
        var configuration = StoreConfiguration(path: folder.database, log: events.log)
        configuration.isCurrent = { $0.chainKey.match == match }
        return try DictionaryStore(configuration: configuration)
    }

    @Test func `no look-up finds a version that no route makes, and each finds it again with its route`()
        throws
    {
        let store = try DictionaryStore.open(":memory:")
        let (body, key) = (sampleBody(1), VersionKey(chain: feedChain, url: "/feed", variant: ""))
        let version = try store.admission.admit(
            VersionCandidate(body, key: key, policy: AdmissionPolicy(), etag: "e", head: [1]), now: 1000)
        #expect(store.demand.nameInLinks(version, until: 9000, now: 1000))
        let reader = store.reader()
        func found() -> [Bool] {
            let path = DictionaryPath(chainName: feedChain.name, digest: body.digest)
            let all: [Version?] = [
                reader.newest(key), reader.newest(key, digest: body.digest, etag: "e"),
                reader.version(key, etag: "e"), reader.version(key, digest: body.digest),
                reader.version(row: version.id), reader.version(chain: feedChain, digest: body.digest),
                reader.newestWithHead(chain: feedChain, url: "/feed", values: { _ in nil }),
                reader.named(chain: feedChain, variant: "", now: 1000),
                reader.linked(path, authority: "api.example", now: 1000),
                reader.recent(of: feedChain).first, reader.named(of: feedChain, now: 1000).first,
                reader.find(
                    digest: body.digest, authority: "api.example", url: PathAndQuery(path: "/feed")),
            ]
            return all.map { $0 != nil }
        }
        for isCurrent in [true, false, true] {
            store.upkeep.restrict { _ in isCurrent }
            #expect(found() == Array(repeating: isCurrent, count: 12))
        }
    }

    @Test func `a version of no route is not found by anything when the store is opened`() throws {
        let folder = try filled()
        let events = StoreEvents()
        let store = try open(folder, only: "/other", events)
        let reader = store.reader()
        #expect(!store.finds(sampleBody(1)))
        #expect(reader.newest(VersionKey(chain: feedChain, url: feed, variant: "")) == nil)
        #expect(reader.version(VersionKey(chain: feedChain, url: feed, variant: ""), etag: "one") == nil)
        #expect(!reader.contains(chain: feedChain, digest: sampleBody(1).digest))
        #expect(reader.contains(chain: other, digest: sampleBody(2).digest))
        #expect(events.all.contains { "\($0)".contains("1 of 2 versions") })
    }

    @Test func `it stays on disk and is used again when its route comes back`() throws {
        let folder = try filled()
        let store = try open(folder, only: "/none")
        store.upkeep.flush()
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "2")
        #expect(!store.finds(sampleBody(1)))
        store.upkeep.restrict { $0.chainKey.match == "/feed" }
        #expect(store.finds(sampleBody(1)))
        store.upkeep.restrict { _ in false }
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `it goes when its time is over, like any other`() throws {
        let folder = try filled()
        let store = try open(folder, only: "/none")
        store.upkeep.sweep(now: 5000)
        store.upkeep.flush()
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "0")
    }

    @Test func `an answer that is under way while the routes change makes nothing that is used`() throws {
        let store = try DictionaryStore.open(":memory:")
        store.upkeep.restrict { $0.chainKey.match != "/feed" }
        store.admit(sampleBody(1))
        #expect(!store.finds(sampleBody(1)))
    }

    @Test func `a reload has the last word where it comes while a former rule judges`() throws {
        let reload = Guarded<ReloadOnce>(ReloadOnce())
        var configuration = StoreConfiguration(path: ":memory:")
        configuration.isCurrent = { _ in
            reload.withLock { $0.store.take() }?.upkeep.restrict { _ in false }
            return true
        }
        let store = try DictionaryStore(configuration: configuration)
        reload.withLock { $0.store = store }
        store.admit(sampleBody(1))
        #expect(reload.withLock { $0.store == nil })
        #expect(!store.finds(sampleBody(1)))
    }

    /// A store whose routes change while the rule is applied.
    private struct ReloadOnce {
        var store: DictionaryStore?
    }

    @Test func `what the process before admits during a hand-over is judged too`() throws {
        let folder = try filled()
        let former = try DictionaryStore.open(folder.database)
        let store = try open(folder, only: "/other")
        former.admit(sampleBody(3))
        former.admit(sampleBody(4), chain: other, url: "/other")
        former.close()
        store.lookNow()
        #expect(store.statistics.versions == 4)
        #expect(!store.finds(sampleBody(3)))
        #expect(store.reader().contains(chain: other, digest: sampleBody(4).digest))
    }

    @Test func `who named the chain is remembered`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        try store.admission.admit(
            VersionCandidate(
                sampleBody(1), key: VersionKey(chain: feedChain, url: feed, variant: ""),
                policy: AdmissionPolicy(versions: 4, maxAge: 100), isUpstreamMatch: true), now: 1000)
        store.admit(sampleBody(2))
        store.close()
        let reopened = try DictionaryStore.open(folder.database)
        let versions = reopened.index.versions(of: feedChain)
        #expect(versions.map(\.isUpstreamMatch) == [true, false])
    }

    @Test func `sealed versions that are kept as records stay in use whatever the rule says of URLs`() throws
    {
        let folder = try StoreFolder()
        let before = try PrivateStore(folder.database)
        for number in 0..<10 {
            try before.give(sampleBody(number), network: number, now: 1000)
            before.store.admit(
                sampleBody(100 + number), chain: try before.chain("ann"), url: "/feed?\(number)")
        }
        before.store.close()
        let users = try PrivateStore(folder.database, versionsInUseMax: 1)
        func findsAll() throws -> Bool {
            try (0..<10).allSatisfy {
                try users.held(sampleBody($0)) != nil && users.finds(sampleBody(100 + $0), "ann")
            }
        }
        #expect(try findsAll())
        for number in 0..<50 { users.store.admit(sampleBody(200 + number), url: "/feed?\(number)") }
        let records = users.store.index.allVersions().count { $0.isFromRecord }
        #expect(records > 10)
        users.store.upkeep.restrict { _ in true }
        #expect(try findsAll())
        users.store.close()
    }
}
