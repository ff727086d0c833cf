import Dispatch
import Foundation
import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreDiskFailureTests {
    @Test func `a folder that cannot be written leaves a store in memory, and says what to do`() async throws
    {
        let folder = try StoreFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
        // Permissions do not bind root, but even root cannot make files in /proc.
        let path = geteuid() == 0 ? "/proc/dictum.sqlite" : folder.database
        let events = StoreEvents()
        let store = try DictionaryStore.open(path, log: events.log)
        #expect(events.errors.count == 1)
        #expect(events.errors.first?.contains("store.path") == true)
        let version = store.admit(sampleBody(1))
        #expect(!store.upkeep.flush())
        #expect(store.finds(sampleBody(1)))
        #expect(store.hotBody(of: version)?.bytes == sampleBody(1).bytes)
        #expect(await store.loaded(version)?.bytes == sampleBody(1).bytes)
        #expect(store.statistics.writeErrors >= 2)
        #expect(events.errors.count == 1, "the same trouble is reported once a minute")
    }

    @Test func `while nothing can be written, memory stays within its budget and the oldest go`() throws {
        let store = try DictionaryStore.open("/proc/dictum.sqlite", memoryBytes: 100_000)
        for seed in 0..<200 {
            store.admit(
                sampleBody(seed), chain: ChainKey(authority: "api.example", match: "/\(seed)"),
                url: "/\(seed)")
            if seed % 10 == 0 { store.upkeep.flush() }
        }
        store.upkeep.flush()
        let statistics = store.statistics
        #expect(statistics.memoryBytes + statistics.indexBytes <= 100_000)
        // This is half of what the index leaves, which was larger before they went; the exact size depends on
        // the moment.
        #expect((9...39).contains(statistics.versions))
        #expect(statistics.evictions == [.memory: 200 - statistics.versions])
        #expect(statistics.pendingWrites == statistics.versions)
        let newest = store.reader().version(
            chain: ChainKey(authority: "api.example", match: "/199"), digest: sampleBody(199).digest)
        #expect(newest.flatMap { store.hotBody(of: $0) } != nil)
    }

    @Test func `a folder that appears later gets what memory has`() async throws {
        let folder = try StoreFolder()
        let path = folder.path + "/later/dictum.sqlite"
        let events = StoreEvents()
        let store = try DictionaryStore.open(path, log: events.log)
        store.admit(sampleBody(1))
        #expect(!store.upkeep.flush())
        try FileManager.default.createDirectory(
            atPath: folder.path + "/later", withIntermediateDirectories: false)
        #expect(store.upkeep.flush())
        #expect(events.all.last == .info("the store \(path) can be written again"))
        let subjects = events.subjects
        #expect(subjects.count == 2 && subjects[0] != nil && subjects[0] == subjects[1], "one ends the other")
        store.close()
        let reopened = try DictionaryStore.open(path)
        #expect(
            await reopened.reader().version(chain: feedChain, digest: sampleBody(1).digest).loaded(reopened))
    }

    @Test func `a store that could not be opened is put under what memory has, once it can`() async throws {
        let folder = try StoreFolder()
        let (home, hidden) = (folder.path + "/home", folder.path + "/hidden")
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        let first = try DictionaryStore.open(home + "/dictum.sqlite")
        first.admit(sampleBody(1), now: 1000)
        first.admit(sampleBody(2), now: 1000)
        first.close()
        try FileManager.default.moveItem(atPath: home, toPath: hidden)

        let store = try DictionaryStore.open(home + "/dictum.sqlite")
        store.admit(sampleBody(2), now: 2000)
        store.admit(sampleBody(3), now: 2000)
        #expect(!store.upkeep.flush())
        try FileManager.default.moveItem(atPath: hidden, toPath: home)
        #expect(store.upkeep.flush())
        #expect(store.statistics.versions == 3)
        #expect(store.hot.withLock { $0.pinnedBytes } == 0, "nothing waits, not even what the file had too")
        for seed in 1...3 {
            #expect(
                await store.reader().version(chain: feedChain, digest: sampleBody(seed).digest).loaded(store))
        }
        #expect(
            store.reader().newest(VersionKey(chain: feedChain, url: "/feed", variant: ""))?.digest
                == sampleBody(3).digest
        )
        let count = ["\(home)/dictum.sqlite", "SELECT count(*) FROM version"]
        #expect(try runCommand("sqlite3", count) == "3")
    }

    @Test func `a store that another process has locked is written once it is free`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        let holder = try LockHolder(of: folder, "BEGIN IMMEDIATE;")
        store.admit(sampleBody(1))
        #expect(!store.upkeep.flush(timeoutSeconds: 30))
        #expect(store.finds(sampleBody(1)))
        try holder.end()
        #expect(store.upkeep.flush(timeoutSeconds: 30))
        #expect(try folder.sqlite("SELECT count(*) FROM version") == "1")
    }

    @Test func `in the pause after another process had locked the store, memory stays within its budget`()
        throws
    {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, memoryBytes: 100_000)
        let holder = try LockHolder(of: folder, "BEGIN IMMEDIATE;")
        store.admit(sampleBody(0))
        #expect(!store.upkeep.flush(timeoutSeconds: 30))
        for seed in 1..<80 {
            let chain = ChainKey(authority: "api.example", match: "/\(seed)")
            let candidate = VersionCandidate(
                sampleBody(seed), key: VersionKey(chain: chain, url: "/\(seed)", variant: ""),
                policy: AdmissionPolicy())
            // The store refuses while it has counted its index and the oldest have not gone yet.
            try waitUntil("there is room") { (try? store.admission.admit(candidate, now: 1000)) != nil }
            // This is about half of what the index leaves.
            try waitUntil("the oldest have gone") { store.statistics.versions < 45 }
        }
        try holder.end()
    }

    @Test func `a removal that cannot be made at once is made later, though nobody writes any more`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, retrySeconds: 0.1)
        let version = store.admit(sampleBody(1))
        #expect(store.upkeep.flush())
        let order = "BEGIN IMMEDIATE; INSERT INTO removal (version) VALUES (\(version.id)); COMMIT;"
        let holder = try LockHolder(of: folder, "\(order) BEGIN IMMEDIATE;")
        store.lookNow()
        try waitUntil("it has tried") { store.statistics.writeErrors > 0 }
        try holder.end()
        try waitUntil("it is removed") {
            store.lookNow()
            return try folder.sqlite("SELECT count(*) FROM version") == "0"
        }
    }

    @Test func `a hand-over ends though the disk hangs`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        store.admit(sampleBody(1))
        store.writeQueue.suspend()
        store.handOver(timeoutSeconds: 0.1)
        store.writeQueue.resume()
        // Whatever it waited for, it lets go of the store.
        store.writeQueue.sync {}
        let successor = try DictionaryStore.open(folder.database)
        #expect(successor.finds(sampleBody(1)) && successor.upkeep.flush())
    }

    @Test func `on a full disk the store goes on from memory and writes once there is room`() async throws {
        let folder = try StoreFolder(sharedAs: "full")
        // The test runs in a process of its own, because the limit that imitates a full disk holds for a
        // whole process.
        await #expect(processExitsWith: .success) {
            let events = StoreEvents()
            let former = try DictionaryStore.open(StoreFolder.sharedDatabase("full"))
            former.admit(sampleBody(0, count: 50_000))
            try #require(former.upkeep.flush())
            former.close()
            let store = try DictionaryStore.open(StoreFolder.sharedDatabase("full"), log: events.log)

            signal(SIGXFSZ, SIG_IGN)
            limitFileSize(to: 200_000)
            for seed in 1...10 { store.admit(sampleBody(seed, count: 50_000)) }
            try #require(!store.upkeep.flush())
            try #require(events.errors.count == 1)
            for seed in 0...10 { try #require(store.finds(sampleBody(seed, count: 50_000))) }
            // What is only on the disk can still be read.
            let cold = store.reader().version(chain: feedChain, digest: sampleBody(0, count: 50_000).digest)
            try #require(await cold.loaded(store))

            limitFileSize(to: rlim_t.max)
            try #require(store.upkeep.flush())
            try #require(events.all.count == 2)
            store.close()
        }
        let store = try DictionaryStore.open(folder.database)
        #expect(store.statistics.versions == 11)
        for seed in 0...10 {
            #expect(
                await store.reader().version(chain: feedChain, digest: sampleBody(seed, count: 50_000).digest)
                    .loaded(store))
        }
    }
}

/// Another process that holds the lock of a store's database.
private struct LockHolder {
    private let process = Process()
    private let input = Pipe()

    /// Runs statements, of which the last takes the lock.
    init(of folder: StoreFolder, _ statements: String) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sqlite3", folder.database]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(
            contentsOf: Data(".timeout 60000\n\(statements) SELECT 'locked';\n".utf8))
        #expect(output.fileHandleForReading.availableData == Data("locked\n".utf8))
    }

    func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

/// Lets this process write no file beyond so many bytes.
private func limitFileSize(to bytes: rlim_t) {
    var limit = rlimit(rlim_cur: bytes, rlim_max: rlim_t.max)
    // Safe: the pointer is used during the call only.
    let code = unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    precondition(code == 0)
}
