import Dispatch
import Foundation
import Primitives
import Synchronization
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// Several stores on one file, as in a process and its successor: one writes, the others wait.
@Suite(.timeLimit(.minutes(40))) final class StoreWriterTests {
    private let folder: StoreFolder
    private let events = StoreEvents()
    private let first: DictionaryStore

    init() throws {
        folder = try StoreFolder()
        first = try .open(folder.database)
    }

    private func open() throws -> DictionaryStore { try .open(folder.database, log: events.log) }

    private func writes(_ store: DictionaryStore) -> Bool {
        store.writeQueue.sync { store.writer.status.value.lock != nil }
    }

    /// Checks the lock until a store writes.
    private func awaitTurn(of store: DictionaryStore) throws {
        let end = DispatchTime.now() + .seconds(60)
        while !writes(store) {
            store.lookNow()
            try #require(DispatchTime.now() < end, "the store has not got the lock within a minute")
        }
    }

    private func find(_ seed: Int, in store: DictionaryStore) -> Version? {
        store.reader().version(chain: feedChain, digest: sampleBody(seed).digest)
    }

    private func digests(_ store: DictionaryStore) -> [Digest] {
        store.index.versions(of: feedChain).map(\.digest)
    }

    // MARK: Turns

    @Test func `one that finds another at work reads what is there, and writes nothing`() async throws {
        first.admit(sampleBody(1))
        #expect(first.upkeep.flush())
        let second = try open()
        #expect(writes(first) && !writes(second))
        #expect(await second.loaded(try #require(find(1, in: second)))?.bytes == sampleBody(1).bytes)
        second.admit(sampleBody(2))
        #expect(!second.upkeep.flush())
        #expect(second.finds(sampleBody(2)), "from memory")
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "1")
        second.close()
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "1")
        first.admit(sampleBody(3))
        #expect(first.upkeep.flush())
    }

    @Test func `it writes once the other has ended, and knows all that the other wrote`() async throws {
        first.admit(sampleBody(1))
        #expect(first.upkeep.flush())
        let second = try open()
        first.admit(sampleBody(2))
        second.admit(sampleBody(3))
        first.close()
        try awaitTurn(of: second)
        #expect(second.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*), count(DISTINCT body) FROM version") == "3|3")
        for seed in 1...3 {
            let version = try #require(find(seed, in: second))
            #expect(await second.loaded(version)?.bytes == sampleBody(seed).bytes)
        }
        #expect(events.errors == [])
    }

    @Test func `what the other removed before it ended is gone, and what it renewed is newer`() throws {
        for seed in 1...3 { first.admit(sampleBody(seed), maxAge: seed == 1 ? 10 : 1000, now: 1000) }
        #expect(first.upkeep.flush())
        let second = try open()
        #expect(second.finds(sampleBody(1)))
        first.upkeep.sweep(now: 1010)
        first.admit(sampleBody(2), etag: "again", now: 1010)
        first.close()
        try awaitTurn(of: second)
        #expect(!second.finds(sampleBody(1)))
        #expect(digests(second) == [3, 2].map { sampleBody($0).digest })
        #expect(find(2, in: second)?.etag == "again")
    }

    @Test(arguments: [true, false])
    func `a body that both have admitted is one row, with what is newer`(isLater: Bool) throws {
        let second = try open()
        func admit() {
            let version = second.admit(sampleBody(1), etag: "second", maxAge: 10, isImplied: true, now: 1000)
            #expect(second.demand.nameInLinks(version, until: 5000, now: 1000))
            second.demand.advertised(version, now: 1000)
        }
        if !isLater { admit() }
        first.admit(sampleBody(1), etag: "first", maxAge: 10, isImplied: true, now: 1000)
        #expect(first.upkeep.flush())
        if isLater { admit() }
        first.close()
        try awaitTurn(of: second)
        #expect(second.upkeep.flush())
        let etag = isLater ? "second" : "first"
        #expect(
            try folder.sqlite("SELECT count(*), max(etag), max(pinned_until) FROM version")
                == "1|\(etag)|5000")
        #expect(try folder.sqlite("SELECT count(*), (SELECT established FROM chain) FROM body") == "1|1")
        #expect(second.index.versionCount == 1)
        // The row is removed by its number on disk.
        second.upkeep.sweep(now: 5000)
        #expect(second.upkeep.flush())
        #expect(
            try folder.sqlite("SELECT (SELECT count(*) FROM version) + (SELECT count(*) FROM body)") == "0")
    }

    @Test func `many that open one store at once write one after the other, and all of it is there`() throws {
        let path = folder.database
        first.close()
        let stores = Guarded<[DictionaryStore]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { seed in
            guard let store = try? DictionaryStore.open(path) else { return }
            store.admit(sampleBody(seed))
            stores.withLock { $0.append(store) }
        }
        let all = stores.withLock { $0 }
        try #require(all.count == 4)
        #expect(all.count(where: writes) == 1)
        var left = all
        while !left.isEmpty {
            let place = try #require(left.firstIndex(where: writes))
            #expect(left[place].upkeep.flush())
            left.remove(at: place).close()
            for store in left { store.lookNow() }
        }
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "4")
        #expect(try folder.sqlite("PRAGMA integrity_check") == "ok")
    }

    @Test func `one that waits for long says for whom, once, and says when it is over`() async throws {
        let second = try open()
        try waitUntil("a warning") { !events.all.isEmpty }
        for _ in 0..<5 { second.lookNow() }
        #expect(events.all.count == 1)
        let warning = try #require(events.all.first)
        #expect(warning.level == .warning)
        #expect(warning.text.contains("process \(getpid()) writes the store \(folder.database)"))
        first.close()
        try awaitTurn(of: second)
        let over = try #require(events.all.last)
        #expect(over.level == .info && over.text.contains("this process now writes"))
        let subjects = events.subjects
        #expect(subjects[0] != nil && subjects[0] == subjects.last, "one ends the other")
    }

    @Test func `private versions are read by their identity alone, and survive one without keys`() throws {
        first.close()
        let private1 = try PrivateStore(folder.database)
        private1.store.admit(sampleBody(1), chain: try private1.chain("ann"))
        #expect(private1.store.upkeep.flush())
        let private2 = try PrivateStore(folder.database)
        #expect(try private2.finds(sampleBody(1), "ann") && !private2.finds(sampleBody(1), "bob"))
        #expect(!private2.store.finds(sampleBody(1)), "nor a public route")
        // It would remove them if it were the writer.
        var configuration = StoreConfiguration(path: folder.database)
        configuration.privateRows = .removed
        let without = try DictionaryStore(configuration: configuration)
        #expect(without.statistics.versions == 0)
        #expect(try folder.sqlite("SELECT count(*) FROM private_version") == "1")
        without.close()
        private1.store.close()
        try awaitTurn(of: private2.store)
        private2.store.admit(sampleBody(1), chain: try private2.chain("ann"), etag: "again")
        #expect(private2.store.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM private_version") == "1")
        #expect(try folder.sqlite("SELECT count(*) FROM private_body") == "1")
    }

    // MARK: Hand-over

    @Test func `a hand-over waits for what was offered, and refuses what is new`() throws {
        let slot = try first.slot(bytes: 1000).get()
        let second = try open()
        let done = DispatchSemaphore(value: 0)
        let store = first
        DispatchQueue.global().async {
            store.handOver(timeoutSeconds: 60)
            done.signal()
        }
        try waitUntil("the hand-over begins") { first.memory.isLeaving.load(ordering: .relaxed) }
        guard case .failure(.leaving) = first.slot(url: "/feed?2", bytes: 1000) else {
            Issue.record("a slot was given during a hand-over")
            return
        }
        #expect(writes(first))
        _ = try first.admission.admit(
            VersionCandidate(
                sampleBody(1), key: VersionKey(chain: feedChain, url: "/feed", variant: ""),
                policy: AdmissionPolicy()), slot: slot, now: 1000)
        try #require(done.wait(timeout: .now() + 60) == .success)
        #expect(!writes(first))
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "1")
        try awaitTurn(of: second)
        #expect(second.finds(sampleBody(1)))
        // A touch after the hand-over changes memory only and is never written.
        first.demand.touch(try #require(find(1, in: first)), now: 5000)
        #expect(!first.upkeep.flush())
        first.lookNow()
        #expect(!writes(first) && writes(second))
        second.admit(sampleBody(2), now: 1000)
        #expect(second.upkeep.flush())
        first.close()
        #expect(try folder.sqlite("SELECT count(*), max(last_wanted) FROM version") == "2|1000")
    }

    @Test func `a hand-over does not wait for ever for a body that does not come`() throws {
        let slot = try first.slot(bytes: 1000).get()
        first.admit(sampleBody(1), url: "/feed?1")
        first.handOver(timeoutSeconds: 0.1)
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "1")
        let second = try open()
        #expect(writes(second))
        slot.release()
    }

    // MARK: Files

    @Test func `a lock whose file is removed is taken anew`() throws {
        try FileManager.default.removeItem(atPath: folder.database + ".lock")
        first.lookNow()
        #expect(writes(first))
        #expect(folder.files.contains("dictum.sqlite.lock"))
        first.admit(sampleBody(1))
        #expect(first.upkeep.flush())
        let second = try open()
        #expect(!writes(second))
    }

    @Test func `one whose lock another has got by then waits for its turn`() throws {
        try FileManager.default.removeItem(atPath: folder.database + ".lock")
        let second = try open()
        #expect(writes(second))
        first.lookNow()
        #expect(!writes(first))
        first.admit(sampleBody(1))
        #expect(!first.upkeep.flush())
        second.close()
        try awaitTurn(of: first)
        #expect(first.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "1")
    }

    @Test func `a file that is set aside leaves the lock where it is, and the new one's log stays`() throws {
        first.admit(sampleBody(1))
        #expect(first.upkeep.flush())
        first.writeQueue.sync { first.writer.failed(.damaged("as the test says")) }
        first.admit(sampleBody(2))
        #expect(first.upkeep.flush())
        let second = try open()
        #expect(writes(first) && !writes(second))
        #expect(second.finds(sampleBody(1)) && second.finds(sampleBody(2)))
        first.close()
        #expect(try folder.sqlite("PRAGMA integrity_check; SELECT count(*) FROM version") == "ok\n2")
        let setAside = folder.files.filter { $0.contains("damaged") }
        #expect(setAside.count { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") } == 1)
    }

    @Test func `a file that is removed is made anew with what is in memory`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, log: events.log)
        store.admit(sampleBody(1))
        store.upkeep.flush()
        for file in folder.files { try FileManager.default.removeItem(atPath: folder.path + "/" + file) }
        store.lookNow()
        #expect(store.upkeep.flush())
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "1")
        #expect(events.errors.count == 1)
    }

    // MARK: Commands

    private func remove(_ seeds: Int..., sparingWanted: Bool = false) throws -> [Digest] {
        let catalogue = try StoreCatalogue(path: folder.database)
        defer { catalogue.close() }
        let digests = seeds.map { sampleBody($0).digest }
        return try catalogue.remove(
            catalogue.versions().filter { digests.contains($0.digest) }, sparingWanted: sparingWanted
        ).map(\.digest)
    }

    @Test func `the process that writes removes what a command asks for, and uses it no longer`() throws {
        for seed in 1...3 { first.admit(sampleBody(seed)) }
        #expect(first.upkeep.flush())
        #expect(try remove(1, 3) == [1, 3].map { sampleBody($0).digest })
        #expect(digests(first) == [sampleBody(2).digest])
        #expect(first.statistics.evictions == [.removed: 2])
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "1")
        #expect(try folder.sqlite("SELECT count(*) FROM removal") == "0")
    }

    @Test func `it spares what was wanted, renewed or named since the command has read it`() throws {
        let versions = (1...5).map { first.admit(sampleBody($0), now: 1000) }
        #expect(first.upkeep.flush())
        let catalogue = try StoreCatalogue(path: folder.database)
        defer { catalogue.close() }
        let read = try catalogue.versions()
        // None of these changes is on disk yet.
        first.writeQueue.suspend()
        first.demand.touch(versions[1], now: 2000)
        first.admit(sampleBody(3), etag: "again", now: 1000)
        #expect(first.demand.nameInLinks(versions[3], until: 2000, now: 1000))
        first.writeQueue.resume()
        #expect(
            try catalogue.remove(read, sparingWanted: true).map(\.digest)
                == [1, 5].map { sampleBody($0).digest })
        #expect(first.index.versionCount == 3)
        #expect(try catalogue.remove(read).count == 3, "unless it is to go in any case")
        #expect(first.index.versionCount == 0)
    }

    @Test func `where nobody writes, the command does, and a proxy that starts meanwhile waits`() throws {
        for seed in 1...2 { first.admit(sampleBody(seed)) }
        first.close()
        let catalogue = try StoreCatalogue(path: folder.database)
        let going = try catalogue.versions().filter { $0.digest == sampleBody(1).digest }
        #expect(try catalogue.remove(going).count == 1)
        let second = try open()
        #expect(!writes(second))
        catalogue.close()
        try awaitTurn(of: second)
        #expect(digests(second) == [sampleBody(2).digest])
    }

    @Test func `what the process that writes removes for a command is in no file afterwards`() throws {
        let words = Array("the removed one, ".utf8)
        let body = Body((0..<40_000).flatMap { _ in words })
        for seed in 1...20 {
            first.admit(sampleBody(seed, count: 40_000), url: "/kept?\(seed)", keep: 100)
            if seed == 10 { first.admit(body, url: "/removed", keep: 100) }
            #expect(first.upkeep.flush())
        }
        let catalogue = try StoreCatalogue(path: folder.database)
        #expect(try catalogue.remove(catalogue.versions().filter { $0.url == "/removed" }).count == 1)
        catalogue.close()
        first.lookNow()
        for file in folder.files {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + file))
            #expect(bytes.range(of: Data("the removed one".utf8)) == nil, "\(file)")
        }
        #expect(folder.bytesOnDisk < 2_000_000, "and its room is given back")
    }

    @Test func `a flush ends though changes never do`() throws {
        for seed in 0..<200 { first.admit(sampleBody(seed), url: "/\(seed)") }
        let versions = first.index.allVersions()
        let isOver = Guarded(false)
        let ended = Gate()
        Thread.detachNewThread { [first] in
            var now = 2_000
            while !isOver.withLock({ $0 }) {
                now += 1_000
                for version in versions { first.demand.touch(version, now: now) }
            }
            ended.open()
        }
        first.upkeep.flush(timeoutSeconds: 60)
        let free = Gate()
        first.writeQueue.async { free.open() }
        #expect(free.wait(), "the writer is still at it")
        isOver.withLock { $0 = true }
        #expect(ended.wait())
    }

    @Test func `a writer that does not come to it is told of, and the request is taken back`() throws {
        first.admit(sampleBody(1))
        #expect(first.upkeep.flush())
        first.writeQueue.suspend()
        defer { first.writeQueue.resume() }
        do {
            _ = try remove(1)
            Issue.record("it was removed")
        } catch let error as StoreCatalogueError {
            #expect("\(error)".contains("process \(getpid()) writes it, and has not removed"))
        }
        #expect(try folder.sqlite("SELECT count(*) FROM removal") == "0")
    }
}
