import Foundation
import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreDurabilityTests {
    @Test func `every transaction is synced to the disk`() throws {
        let folder = try StoreFolder()
        let database = try StoreDatabase(path: folder.database)
        // FULL is required: with NORMAL or OFF a loss of power, which no test can cause, would take the last
        // batches.
        #expect(try StoreDatabase.setting("synchronous", of: database.connection) == 2)
    }

    @Test func `everything admitted is there after reopening, in its order and with its facts`() async throws
    {
        let folder = try StoreFolder()
        let chain = ChainKey(authority: "api.example", match: "/feed", matchDest: ["", "script"])
        let store = try DictionaryStore.open(folder.database)
        for seed in 0..<20 {
            store.admit(
                sampleBody(seed), chain: chain, url: "/feed?\(seed % 2)", variant: "1:a;", etag: "e\(seed)")
        }
        store.admit(sampleBody(7), chain: chain, url: "/feed?1", variant: "1:a;", etag: "again")
        store.close()

        let reopened = try DictionaryStore.open(folder.database)
        let reader = reopened.reader()
        #expect(reopened.statistics.versions == 16)
        let newest = try #require(reader.newest(VersionKey(chain: chain, url: "/feed?1", variant: "1:a;")))
        #expect(newest.digest == sampleBody(7).digest)
        #expect(newest.had(etag: "again"))
        #expect(newest.contentType == "application/json")
        #expect(newest.bytes == 1000)
        #expect((newest.admittedAt, newest.lastWanted, newest.maxAge) == (1000, 1000, 1000))
        #expect(
            reader.newest(VersionKey(chain: chain, url: "/feed?0", variant: "1:a;"))?.digest
                == sampleBody(18).digest)
        #expect(reopened.hotBody(of: newest) == nil)
        #expect(await reopened.loaded(newest)?.bytes == sampleBody(7).bytes)
        #expect(reopened.hotBody(of: newest)?.bytes == sampleBody(7).bytes)
        for seed in 5..<20 {
            #expect(await reader.version(chain: chain, digest: sampleBody(seed).digest).loaded(reopened))
        }
    }

    @Test func `admissions reach the disk by themselves and outlive SIGKILL`() async throws {
        let folder = try StoreFolder(sharedAs: "killed")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            alarm(60)
            let store = try DictionaryStore.open(StoreFolder.sharedDatabase("killed"))
            for seed in 0..<50 { store.admit(sampleBody(seed), keep: 100) }
            // Nobody flushes: the store writes by itself, and the rule allows it 100 ms.
            while store.statistics.pendingWrites > 0 { usleep(1000) }
            kill(getpid(), SIGKILL)
        }
        let store = try DictionaryStore.open(folder.database)
        #expect(store.statistics.versions == 50)
        for seed in 0..<50 {
            #expect(
                await store.reader().version(chain: feedChain, digest: sampleBody(seed).digest).loaded(store))
        }
    }

    @Test func `a kill at any moment of writing leaves whole versions only`() async throws {
        let folder = try StoreFolder(sharedAs: "writing")
        var rows = 0
        for _ in 0..<5 {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                alarm(60)
                let store = try DictionaryStore.open(StoreFolder.sharedDatabase("writing"), maxBytes: 8 << 20)
                // Something is on the disk before the time begins.
                store.admit(sampleBody(0, count: 20_000))
                store.upkeep.flush()
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(.random(in: 30...300))) {
                    kill(getpid(), SIGKILL)
                }
                for seed in 0... {
                    store.admit(
                        sampleBody(seed, count: 20_000), url: "/feed?\(seed % 7)", keep: 50, now: 1000 + seed)
                    while store.statistics.pendingWrites > 40 { usleep(1000) }
                }
            }
            #expect(try folder.sqlite("PRAGMA integrity_check; PRAGMA foreign_key_check") == "ok")
            let store = try DictionaryStore.open(folder.database)
            rows = store.statistics.versions
            for version in store.index.allVersions() {
                #expect(await store.loaded(version) != nil)
            }
            #expect(store.statistics.loadFailures == 0)
            store.close()
        }
        #expect(rows > 0 && rows <= 50)
    }

    @Test func `bodies are kept once on disk and go with their last version`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        let other = ChainKey(authority: "api.example", match: "/other")
        let short = store.admit(sampleBody(1), maxAge: 10)
        store.admit(sampleBody(1), url: "/feed?2", maxAge: 20)
        store.admit(sampleBody(1), chain: other, maxAge: 30)
        let counts =
            "SELECT (SELECT count(*) FROM chain), (SELECT count(*) FROM body), (SELECT count(*) FROM version)"
        store.upkeep.flush()
        #expect(try folder.sqlite(counts) == "2|1|3")
        store.upkeep.sweep(now: short.lastWanted + 20)
        store.upkeep.flush()
        #expect(try folder.sqlite(counts) == "1|1|1")
        store.upkeep.sweep(now: short.lastWanted + 30)
        store.upkeep.flush()
        #expect(try folder.sqlite(counts) == "0|0|0")
    }

    @Test func `a body that leaves and returns in one batch is still there after reopening`() async throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        store.admit(sampleBody(1), keep: 1)
        store.upkeep.flush()
        store.admit(sampleBody(2), keep: 1)
        let back = store.admit(sampleBody(1), keep: 1)
        store.close()
        let reopened = try DictionaryStore.open(folder.database)
        #expect(reopened.statistics.versions == 1)
        #expect(
            reopened.reader().newest(VersionKey(chain: feedChain, url: "/feed", variant: ""))?.id == back.id)
        #expect(await reopened.loaded(back)?.bytes == sampleBody(1).bytes)
    }

    @Test func `last wanted is written at most once a minute`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        let version = store.admit(sampleBody(1), now: 1000)
        store.upkeep.flush()
        for now in 1001...1170 { store.demand.touch(version, now: now) }
        #expect(version.lastWanted == 1170)
        store.upkeep.flush()
        #expect(try folder.sqlite("SELECT last_wanted FROM version") == "1120")
    }

    @Test func `many loads of one body read it once and all get it`() throws {
        let folder = try StoreFolder()
        let first = try DictionaryStore.open(folder.database)
        let version = first.admit(sampleBody(1))
        first.close()
        let store = try DictionaryStore.open(folder.database)
        let answers = Guarded<[Body?]>([])
        // All callers ask before the first completion runs.
        store.readQueue.suspend()
        for _ in 0..<100 { store.load(version) { body in answers.withLock { $0.append(body) } } }
        store.readQueue.resume()
        store.readQueue.sync {}
        #expect(
            answers.withLock { $0.map { $0?.bytes } } == Array(repeating: sampleBody(1).bytes, count: 100))
        #expect(store.statistics.loads == 1)
        #expect(store.statistics.loadFailures == 0)
    }

    @Test func `of too many loads of one body the last are told at once that there is no place`() throws {
        let store = try DictionaryStore.open(":memory:")
        let version = store.admit(sampleBody(1))
        let answers = Guarded<[Body?]>([])
        store.readQueue.suspend()
        for _ in 0..<1_030 { store.load(version) { body in answers.withLock { $0.append(body) } } }
        store.readQueue.resume()
        try waitUntil("all have an answer") { answers.withLock { $0.count } == 1_030 }
        #expect(answers.withLock { $0.count { $0 == nil } } == 6)
    }

    @Test func `the files can be read by their owner only`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        store.admit(sampleBody(1))
        store.upkeep.flush()
        for file in folder.files {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + file)
            #expect((attributes[.posixPermissions] as? Int) == 0o600, "\(file)")
        }
    }
}

extension Optional<Version> {
    /// Returns true if there is a version and its body loads.
    func loaded(_ store: DictionaryStore) async -> Bool {
        guard let self else { return false }
        return await store.loaded(self)?.digest == self.digest
    }
}
