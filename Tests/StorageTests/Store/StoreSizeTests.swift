import Foundation
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreSizeTests {
    @Test(arguments: [
        (1 << 20, 100...400), (1 << 20, 1000...250_000), (3 << 20, 10...9000), (8 << 20, 1...900_000),
    ])
    func `the file never passes max size, nor the log its own`(maxBytes: Int, bodies: ClosedRange<Int>)
        throws
    {
        let folder = try StoreFolder()
        let events = StoreEvents()
        let store = try DictionaryStore.open(
            folder.database, maxBytes: maxBytes, memoryBytes: maxBytes, log: events.log)
        let sampler = FileSizeSampler(folder.database)
        let randomSeed = UInt64.random(in: 0...UInt64.max)
        print("StoreSizeTests seed \(randomSeed)")
        var random = SplitMix(seed: randomSeed)
        var (admitted, bytes, seed) = (0, 0, 0)
        // Admit several times as much as fits.
        while bytes < 3 * maxBytes, admitted < 1500 {
            seed += 1
            let count = Int.random(in: bodies, using: &random)
            let chain = ChainKey(authority: "api.example", match: "/\(seed % 97)")
            let url = "/\(seed % 97)?" + String(repeating: "q", count: seed % 11 == 0 ? 3000 : seed % 7)
            do throws(AdmissionRefusal) {
                try store.admission.admit(
                    VersionCandidate(
                        Body(Noise.bytes(count, seed: UInt64(seed))),
                        key: VersionKey(chain: chain, url: url, variant: ""),
                        policy: AdmissionPolicy(versions: 1000, startsInProbation: seed % 3 == 0),
                        etag: "\(seed)", contentType: "application/json"), now: 1000 + seed)
                (admitted, bytes) = (admitted + 1, bytes + count)
            } catch {
                // Admit as fast as the disk allows.
                #expect(error == .memory || error == .size)
                #expect(store.upkeep.flush(timeoutSeconds: 60))
            }
        }
        #expect(store.upkeep.flush(timeoutSeconds: 60))
        let largest = sampler.stop()
        #expect(largest.file <= maxBytes)
        #expect(largest.file > maxBytes / 2)
        #expect(largest.log <= DiskBudget.logBytesMax)
        #expect(events.errors == [])
        let versions = store.statistics.versions
        print("\(maxBytes >> 20) MiB: \(admitted) admitted, \(versions) stay, at most \(largest)")
        store.close()
        #expect(
            try folder.sqlite("PRAGMA integrity_check; SELECT count(*) FROM version") == "ok\n\(versions)")
    }

    @Test func `pages that evictions left are given back within max size`() throws {
        let folder = try StoreFolder()
        let limit = 24 << 20
        let store = try DictionaryStore.open(folder.database, maxBytes: limit)
        var seed = 0
        while store.statistics.evictions.isEmpty {
            for _ in 0..<20 {
                store.admit(sampleBody(seed, count: 60_000), keep: 10_000, now: 1000 + seed)
                seed += 1
            }
            #expect(store.upkeep.flush(timeoutSeconds: 60))
        }
        let versions = store.index.versions(of: feedChain)
        let sampler = FileSizeSampler(folder.database)
        // Remove versions all over the file, so that pages must move before it can shrink.
        store.evict(versions.enumerated().filter { $0.offset % 2 == 0 }.map(\.element), reason: .damaged)
        for _ in 0..<20 { #expect(store.upkeep.flush(timeoutSeconds: 60)) }
        #expect(sampler.stop().file <= limit)
        store.close()
        #expect(folder.bytesOnDisk < limit * 9 / 10)
        #expect(try folder.sqlite("PRAGMA integrity_check") == "ok")
    }

    @Test func `a file that a reader keeps from shrinking counts with its size on disk`() throws {
        let folder = try StoreFolder()
        let database = try StoreDatabase(path: folder.database)
        try folder.sqlite("CREATE TABLE t (b); INSERT INTO t VALUES (zeroblob(1000000)); DROP TABLE t")
        try database.checkpoint()
        let reader = try StoreDatabase(path: folder.database, isVisitor: true)
        try reader.read {
            _ = try StoreDatabase.schema(of: $0)
            try database.giveBack(pages: 1000)
            let size = try database.size()
            #expect(size.file > 1_000_000 && size.file == StoreFile.bytes(of: folder.database))
        }
    }

    @Test func `while another process reads for long, the log keeps to its limit and the store waits`() throws
    {
        let folder = try StoreFolder()
        let events = StoreEvents()
        let store = try DictionaryStore.open(folder.database, maxBytes: 64 << 20, log: events.log)
        store.admit(sampleBody(0))
        #expect(store.upkeep.flush())
        let reader = Process()
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        reader.arguments = ["sqlite3", folder.database]
        let (input, output) = (Pipe(), Pipe())
        (reader.standardInput, reader.standardOutput) = (input, output)
        try reader.run()
        input.fileHandleForWriting.write(Data("BEGIN; SELECT count(*) FROM version;\n".utf8))
        _ = output.fileHandleForReading.availableData
        let sampler = FileSizeSampler(folder.database)
        for seed in 1..<80 { store.admit(sampleBody(seed, count: 600_000), keep: 1000, now: 1000 + seed) }
        #expect(!store.upkeep.flush(timeoutSeconds: 60))
        #expect(
            events.errors.first?.contains("another process that reads it") == true, "it waits in memory only")
        try input.fileHandleForWriting.close()
        reader.waitUntilExit()
        #expect(store.upkeep.flush(timeoutSeconds: 60))
        #expect(sampler.stop().log <= DiskBudget.logBytesMax)
        #expect(store.finds(sampleBody(79, count: 600_000)))
        #expect(store.statistics.pendingWrites == 0)
    }

    private func budget(file: Int, log: Int = 0, free: Int = 0, limit: Int = 1 << 30) -> DiskBudget {
        DiskBudget(
            StoreDatabase.Size(file: file, log: log, index: 0, free: free, page: 4096),
            batch: PendingWrites.Batch(), limit: limit)
    }

    /// The file and its unused part in pages of 4 KiB, and the pages that are given back.
    private static let spare: [(file: Int, free: Int, limit: Int, pages: Int)] = [
        (1024, 256, 1024, 0), (1025, 256, 1024, 256),
        (4096, 2048, 1 << 18, 0), (4096, 2049, 1 << 18, 1024),
        (10240, 2560, 1 << 18, 0), (10240, 2561, 1 << 18, 1024),
    ]

    @Test(arguments: spare)
    func `pages are given back where the file is too large, or much larger than its content`(
        file: Int, free: Int, limit: Int, pages: Int
    ) {
        let page = 4096
        #expect(budget(file: page * file, free: page * free, limit: page * limit).sparePages == pages)
    }

    @Test func `a batch needs what its bodies take on disk, packed or whole, and a page for each`() {
        let body = sampleBody(1)
        let facts = VersionFacts(digest: body.digest, url: "/", bytes: 1_000, maxAge: 10)
        let version = Version(facts, id: 1, rank: 1, chain: Chain(feedChain), .held(at: 0))
        let whole = PendingWrites.Insertion(version: version, body: body)
        var packed = whole
        packed.packed = PackedBody(
            frame: [UInt8](repeating: 0, count: 100), base: nil, count: 1_000, digest: body.digest)
        func missing(_ insertions: [PendingWrites.Insertion], limit: Int) -> Int {
            let size = StoreDatabase.Size(file: 8_192, log: 0, index: 0, free: 4_096, page: 4_096)
            return DiskBudget(size, batch: PendingWrites.Batch(insertions: insertions), limit: limit)
                .missingBytes
        }
        #expect(missing([], limit: 4_096) == 0)
        #expect(missing([whole], limit: 4_096) == version.storedBytes + 4_096)
        #expect(missing([whole, packed], limit: 4_096) == 2 * version.storedBytes - 900 + 8_192)
    }

    @Test func `what is used may be all of the limit, and the log half of its own before it is emptied`() {
        #expect(budget(file: 1 << 20, free: 4096, limit: (1 << 20) - 4096).fits)
        #expect(budget(file: 1 << 20, free: 4096, limit: (1 << 20) - 4097).missingBytes == 1)
        #expect(!budget(file: 1 << 20, free: 4096, limit: (1 << 20) - 4097).fits)
        #expect(!budget(file: 0, log: DiskBudget.logBytesMax / 2).isLogFull)
        #expect(budget(file: 0, log: DiskBudget.logBytesMax / 2 + 1).isLogFull)
    }
}
